"""Methods by name, for the command line, configuration files and people."""

import inspect
import re
import sys
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from quorate._messages import nearest, unknown_name
from quorate._output import Catalogue
from quorate._scoring import EvaluatedScore, counts_every_class, find_score
from quorate._votes import Votes, VoteSource
from quorate.pruning import (
    _evolution,
    _forward,
    _greedy,
    _instance,
    _margins,
    _pairwise,
    _quadratic,
    _ranking,
    _twostage,
    _weights,
)
from quorate.pruning._base import Pruner, PrunerTags
from quorate.pruning._vote_shares import are_a_pool

METHODS: dict[str, type[Pruner]] = {
    # methods of the paper
    "epbd": _instance.EPBD,
    "ftad": _instance.FTAD,
    # methods it is compared with
    "es": _ranking.EarlyStopping,
    "kl": _pairwise.KLDivergence,
    "kp": _pairwise.KappaPruning,
    "oo": _ranking.OrientationOrdering,
    "drep": _greedy.DREP,
    "sep": _evolution.SEP,
    "pep": _evolution.PEP,
    "mrmr": _pairwise.MRMR,
    "mrmc": _greedy.MRMC,
    "discep": _greedy.DiscEP,
    "tsp_ap": _twostage.TwoStageAccuracy,
    "tsp_dp": _twostage.TwoStageDistance,
    "gma": _pairwise.FarthestFirst,
    "lcs": _pairwise.LocalSearch,
    # classical methods
    "re": _greedy.ReducedError,
    "oep": _greedy.OrderedError,
    "cm": _greedy.Complementariness,
    "mdm": _margins.MarginDistance,
    "epic": _ranking.IndividualContribution,
    "umep": _ranking.UMEP,
    "mdep": _ranking.MDEP,
    "best": _ranking.BestMembers,
    "random": _ranking.RandomSubset,
    # other methods: averages, probabilities and new weights
    "brier": _quadratic.BrierSelection,
    "herding": _quadratic.Herding,
    "margin_loss": _margins.MarginLoss,
    "l1": _weights.SparseWeights,
    "ges": _forward.GreedySelection,
    "forward": _forward.ForwardSearch,
    "simplex": _weights.SimplexWeights,
}

# Entry point under which packages register methods.
ENTRY_POINT = "quorate.pruners"


@dataclass(frozen=True, slots=True)
class Method:
    """One pruning method.

    Attributes
    ----------
    name : str
        The name of the method or measure.
    cls : type[Pruner]
        The class that implements it.
    """

    name: str
    cls: type[Pruner]

    @property
    def title(self) -> str:
        """Its name in words, such as "reduced error"; abbreviations stay."""
        parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*", self.cls.__name__)
        return " ".join(part if part.isupper() else part.lower() for part in parts)

    @property
    def summary(self) -> str:
        """One-line description."""
        doc = inspect.getdoc(self.cls) or ""
        return doc.partition("\n\n")[0].replace("\n", " ").rstrip(".")

    @property
    def parameters(self) -> list[str]:
        """Names of its parameters."""
        return list(inspect.signature(self.cls).parameters)

    @property
    def tags(self) -> PrunerTags:
        """Declared properties of the method."""
        return self.cls.tags


def methods() -> Catalogue:
    """List the pruning methods, those of other packages included.

    Returns
    -------
    dict from name to Method
        Prints as one line per entry.

    Examples
    --------
    >>> import quorate
    >>> known = quorate.methods()
    >>> known["re"].cls.__name__
    'ReducedError'
    >>> [name for name in known if "random_state" in known[name].parameters]
    ['sep', 'pep', 'gma', 'random']
    """
    classes = {**METHODS, **_methods_of_packages(tuple(sys.path))}
    return Catalogue((name, Method(name, cls)) for name, cls in classes.items())


@cache
def _methods_of_packages(path: tuple[str, ...]) -> dict[str, type[Pruner]]:
    """Load the methods that packages on this path register, once per path."""
    points = entry_points(group=ENTRY_POINT)
    return {point.name: point.load() for point in points if point.name not in METHODS}


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
    known = methods()
    if isinstance(name, type):
        called = name.__name__
        raise TypeError(f"method is the class {called}; pass an instance, {called}().")
    if isinstance(name, str):
        folded = re.sub(r"[-_. ]", "", name.lower())
        for listed, method in known.items():
            if folded in (listed.replace("_", ""), method.cls.__name__.lower()):
                return listed
        titles = {method.title.replace(" ", "_") for method in known.values()}
        if nearest(name, titles | {*known}):
            raise ValueError(unknown_name("method", name, titles | {*known}))
        raise ValueError(unknown_name("method", name, known))
    raise TypeError(
        "method must be a name such as 'epbd' or a pruner object, got "
        f"{type(name).__name__}."
    )


def make_pruner(method: Any, **parameters: Any) -> Pruner:
    """Return a pruner from a name, with parameters, or a copy of a pruner object.

    Examples
    --------
    >>> import quorate
    >>> quorate.pruning.make_pruner("ftad", measure="kw_variance", keep=5)
    FTAD(keep=5, measure='kw_variance')
    """
    given: dict[str, Any] = {}
    if isinstance(method, Pruner):
        cls, given = type(method), method.get_params(deep=False)
    else:
        cls = methods()[method_name(method)].cls
    allowed = inspect.signature(cls).parameters
    for parameter in parameters:
        if parameter not in allowed:
            problem = unknown_name("parameter", parameter, allowed)
            raise ValueError(f"{cls.__name__}: {problem}")
    return cls(**{**given, **parameters})


def choose_method(votes: Votes, *, scoring: Any = None, **parameters: Any) -> Pruner:
    """Return the method that ``method="auto"`` stands for.

    ================================  ===============================================
    ensemble                          method
    ================================  ===============================================
    forests, bagging                  ``brier``; ``herding`` on training votes, and on
                                      out-of-bag votes that do not cover a class
    boosting                          ``l1``
    voting, pools with probabilities  ``simplex``
    voting, pools without             ``brier``
    votes alone                       ``l1`` if they are weighted, ``simplex`` if they
                                      have probabilities and no mask, else ``brier``
    ================================  ===============================================

    With a score in which every class counts (balanced accuracy, F1 and its kin,
    Matthews' correlation), the same with ``class_weight="balanced"``, which ``herding``
    does not take; with a score that only its scorer knows, ``forward``. Losses of
    probabilities and areas under curves are served by the methods above.

    Parameters
    ----------
    votes : Votes
        The votes to choose on; only what they carry is looked at, above all their
        ``family`` and ``source``.
    scoring : str, scorer, callable or None
        What good means, if not accuracy; see :func:`quorate.select`.
    **parameters
        Parameters of the method.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[0, 1], [1, 1], [0, 0]], [0, 1])
    >>> quorate.pruning.choose_method(votes, keep=2)
    BrierSelection(keep=2)
    >>> weighted = quorate.Votes([[0, 1], [1, 1], [0, 0]], [0, 1], weights=[1, 2, 3])
    >>> quorate.pruning.choose_method(weighted, keep=2)
    SparseWeights(keep=2)
    >>> quorate.pruning.choose_method(votes, scoring="balanced_accuracy")
    BrierSelection(class_weight='balanced')
    """
    family = votes.family
    if are_a_pool(votes):
        family = "pool"
    elif family is None and votes.has_equal_weights:
        family = "bagging"
    if family in (None, "boosting"):
        name = "l1"
    elif family == "bagging":
        # Trees look perfect on their training samples.
        uncovered = votes.source is VoteSource.OUT_OF_BAG and votes.why_unreliable
        blind = votes.source is VoteSource.TRAINING or uncovered
        name = "herding" if blind else "brier"
    else:
        name = "brier" if votes.class_probabilities is None else "simplex"
    score = find_score(scoring, votes.classes, "auto")
    if name != "herding" and isinstance(score, EvaluatedScore) and score.is_own:
        return make_pruner("forward", **parameters)
    if name != "herding" and counts_every_class(score):
        parameters = {"class_weight": "balanced", **parameters}
    return make_pruner(name, **parameters)
