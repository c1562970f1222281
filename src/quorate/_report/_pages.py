"""The three kinds of page, each a row of sections."""

from dataclasses import dataclass
from typing import Any

from quorate._blending import Blend
from quorate._report._expected import (
    CertificateSection,
    JudgedSection,
    Measure,
    MethodsSection,
    NoCertificate,
)
from quorate._report._reproduce import ReproduceSection, Settings
from quorate._report._savings import (
    LazySection,
    PruningSection,
)
from quorate._report._sections import (
    ClassRow,
    ConfusionSection,
    DecompositionSection,
    EnsembleSection,
    MeasureRow,
    MemberRow,
    VotesSection,
    Words,
)
from quorate._report._sizes import SizesSection


@dataclass(frozen=True, slots=True)
class Step:
    """Something to do next."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class RivalClassRow:
    """A class, and the share of its samples that is found, by another model too."""

    class_: str
    samples: int
    share: float
    recall: float | None
    recall_rival: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What every page has."""

    format: str = "quorate-report/1"
    title: str
    made: str
    versions: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class VotesPage(Page):
    """What every page about votes has."""

    ensemble: EnsembleSection
    words: Words
    votes: VotesSection
    classes: list[ClassRow] | list[RivalClassRow]
    confusion: ConfusionSection | None
    diversity: list[MeasureRow] | None
    decomposition: DecompositionSection | None
    risk: dict[str, Any] | None
    members: list[MemberRow]
    certificate: CertificateSection | NoCertificate
    reproduce: ReproduceSection
    advice: list[Step]


@dataclass(frozen=True, slots=True, kw_only=True)
class EnsemblePage(VotesPage):
    """The page about an ensemble, or votes of which the models are gone."""

    kind: str = "ensemble"
    blend: Blend | None
    judged: JudgedSection | None
    pruning: PruningSection
    methods: MethodsSection
    lazy: LazySection
    sizes: SizesSection
    settings: Settings

    @property
    def measure(self) -> Measure:
        """How it writes its score."""
        return self.judged or Measure()


@dataclass(frozen=True, slots=True)
class RivalRow:
    """How another model, or the first members of an order, did beside all members."""

    members: int
    accuracy: float
    accuracy_all: float
    agreement: float | None
    only_rival: int
    only_whole: int
    error_limit: float | None
    excess_limit: float | None


@dataclass(frozen=True, slots=True)
class RivalsSection:
    """Another model on the same samples."""

    is_order: bool
    n_members: int
    sizes: list[RivalRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryPage(VotesPage):
    """The page about a summary of votes."""

    kind: str = "summary"
    rivals: RivalsSection | None
