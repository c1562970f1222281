"""Methods by name, for the command line, configuration files and people."""

import inspect
import re
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from quorate._messages import unknown_name
from quorate._output import escape
from quorate.pruning._base import Pruner
from quorate.pruning._complement import MRMC, Complementariness
from quorate.pruning._concurrency import Concurrency, UncertaintyWeighted
from quorate.pruning._discep import DiscEP
from quorate.pruning._divergence import KLDivergence
from quorate.pruning._drep import DREP
from quorate.pruning._evolution import PEP, SEP
from quorate.pruning._farthest import FarthestFirst, LocalSearch
from quorate.pruning._forward import ForwardSearch
from quorate.pruning._ges import GreedySelection
from quorate.pruning._instance import EPBD, FTAD
from quorate.pruning._kappa import KappaPruning
from quorate.pruning._margin_distance import MarginDistance
from quorate.pruning._margin_loss import MarginLoss
from quorate.pruning._mrmr import MRMR
from quorate.pruning._quadratic import BrierSelection, Herding
from quorate.pruning._rankings import (
    MDEP,
    UMEP,
    IndividualContribution,
    OrientationOrdering,
)
from quorate.pruning._reduced_error import OrderedError, ReducedError
from quorate.pruning._simple import BestMembers, EarlyStopping, RandomSubset
from quorate.pruning._simplex import SimplexWeights
from quorate.pruning._sparse import SparseWeights
from quorate.pruning._tags import PrunerTags
from quorate.pruning._twostage import TwoStageAccuracy, TwoStageDistance

METHODS: dict[str, type[Pruner]] = {
    # the paper's own
    "epbd": EPBD,
    "ftad": FTAD,
    # those it was compared with
    "es": EarlyStopping,
    "kl": KLDivergence,
    "kp": KappaPruning,
    "oo": OrientationOrdering,
    "drep": DREP,
    "sep": SEP,
    "pep": PEP,
    "mrmr": MRMR,
    "mrmc": MRMC,
    "discep": DiscEP,
    "tsp_ap": TwoStageAccuracy,
    "tsp_dp": TwoStageDistance,
    "gma": FarthestFirst,
    "lcs": LocalSearch,
    # the classics
    "re": ReducedError,
    "oep": OrderedError,
    "cm": Complementariness,
    "mdm": MarginDistance,
    "epic": IndividualContribution,
    "umep": UMEP,
    "mdep": MDEP,
    "concurrency": Concurrency,
    "uwa": UncertaintyWeighted,
    "best": BestMembers,
    "random": RandomSubset,
    # beyond: averages, probabilities and new weights
    "brier": BrierSelection,
    "herding": Herding,
    "margin_loss": MarginLoss,
    "l1": SparseWeights,
    "ges": GreedySelection,
    "forward": ForwardSearch,
    "simplex": SimplexWeights,
}

# Packages add methods of their own under this entry point.
ENTRY_POINT = "quorate.pruners"


@dataclass(frozen=True, slots=True)
class Method:
    """One pruning method."""

    name: str
    """The name it is asked for by."""
    cls: type[Pruner]
    """The class that implements it."""

    @property
    def title(self) -> str:
        """Its name in words, such as "reduced error"."""
        return _in_words(self.cls)

    @property
    def long_name(self) -> str:
        """The same as one word, by which it may be asked for too."""
        return self.title.lower().replace(" ", "_")

    @property
    def summary(self) -> str:
        """What it does, in a line."""
        doc = inspect.getdoc(self.cls) or ""
        return doc.partition("\n\n")[0].replace("\n", " ").rstrip(".")

    @property
    def tags(self) -> PrunerTags:
        """What the method declares about itself."""
        return self.cls.tags

    @property
    def finds_size(self) -> bool:
        """Whether ``keep=None`` lets it choose how many to keep."""
        return self.tags.finds_size

    @property
    def honours_keep(self) -> bool:
        """Whether exactly ``keep`` members come out, otherwise at most."""
        return self.tags.honours_keep

    @property
    def uses_weights(self) -> bool:
        """Whether voting weights enter."""
        return self.tags.uses_weights

    @property
    def takes_summary(self) -> bool:
        """Whether a summary of votes is enough for it."""
        return self.tags.takes_summary

    @property
    def is_random(self) -> bool:
        """Whether it takes a seed."""
        return self.tags.is_random


class MethodCatalogue(dict[str, Method]):
    """Methods by name; prints as one line each."""

    def __repr__(self) -> str:
        width = max(map(len, self))
        return "\n".join(f"{name:<{width}}  {m.summary}" for name, m in self.items())

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td><code>{escape(name)}</code></td>"
            f"<td><code>{escape(m.cls.__name__)}</code></td>"
            f"<td>{escape(m.summary)}</td>"
            f"<td>{'yes' if m.takes_summary else ''}</td></tr>"
            for name, m in self.items()
        )
        head = (
            "<th>method</th><th>class</th><th>what it does</th>"
            "<th>chooses from a summary</th>"
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def methods() -> MethodCatalogue:
    """List the pruning methods, those of other packages included.

    Returns
    -------
    dict from name to Method
        It prints as one line each.

    Examples
    --------
    >>> import quorate
    >>> quorate.methods()["re"].cls.__name__
    'ReducedError'
    >>> [name for name, m in quorate.methods().items() if m.is_random]
    ['sep', 'pep', 'gma', 'random', 'ges']
    """
    known = dict(METHODS)
    for point in entry_points(group=ENTRY_POINT):
        if point.name not in known:
            known[point.name] = point.load()
    return MethodCatalogue((name, Method(name, cls)) for name, cls in known.items())


def method_name(name: object) -> str:
    """Return the name a method is listed under, or say which names are near.

    Examples
    --------
    >>> from quorate.pruning import method_name
    >>> method_name("TSP-AP"), method_name("tsp.ap")
    ('tsp_ap', 'tsp_ap')
    >>> method_name("reduced_error"), method_name("ReducedError")
    ('re', 're')
    """
    if isinstance(name, str):
        folded = name.lower().replace("-", "_").replace(".", "_")
        if folded in METHODS:
            return folded
        known = methods()
        if folded in known:
            return folded
        letters = folded.replace("_", "").replace(" ", "")
        for listed, method in known.items():
            if method.cls.__name__.lower() == letters:
                return listed
        titles = [method.title.replace(" ", "_") for method in known.values()]
        problem = unknown_name("method", name, {*titles, *known})
        if "did you mean" in problem:
            raise ValueError(problem)
    raise ValueError(unknown_name("method", name, methods()))


def _in_words(cls: type) -> str:
    """Return the words of a class name; abbreviations stay as they are."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*", cls.__name__)
    return " ".join(part if part.isupper() else part.lower() for part in parts)


def find_method(name: object) -> type[Pruner]:
    """Return the class of that name, or list the nearest names."""
    listed = method_name(name)
    return METHODS[listed] if listed in METHODS else methods()[listed].cls


def make_pruner(method: Any, **parameters: Any) -> Pruner:
    """Return a pruner from a name, with parameters, or a copy of a pruner object.

    Examples
    --------
    >>> import quorate
    >>> quorate.pruning.make_pruner("ftad", measure="kw_variance", keep=5)
    FTAD(keep=5, measure='kw_variance')
    """
    _refuse_class_weight(method, parameters)
    if isinstance(method, Pruner):
        pruner: Pruner = type(method)(**{**method.get_params(deep=False), **parameters})
        return pruner
    cls = find_method(method)
    allowed = set(inspect.signature(cls).parameters)
    for parameter in parameters:
        if parameter not in allowed:
            raise ValueError(
                f"{cls.__name__}: {unknown_name('parameter', parameter, allowed)}"
            )
    return cls(**parameters)


def _refuse_class_weight(method: Any, parameters: dict[str, Any]) -> None:
    """Refuse to count samples by class where a method does not add them up."""
    if parameters.get("class_weight") is None:
        parameters.pop("class_weight", None)
        return
    cls = type(method) if isinstance(method, Pruner) else find_method(method)
    if not cls.tags.takes_class_weight:
        able = [name for name, m in METHODS.items() if m.tags.takes_class_weight]
        raise ValueError(
            f"{cls.__name__}(class_weight={parameters['class_weight']!r}): it is no "
            "plain sum over samples, in which they could count by their class; "
            f"{', '.join(able)} take it."
        )
