"""The registry of ensemble kinds."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from quorate._checks import check_type
from quorate._ensembles._bagging import Bagging
from quorate._ensembles._boosting import Boosting
from quorate._ensembles._forest import Forest
from quorate._ensembles._kind import Ensemble, Kind
from quorate._ensembles._pool import Pool, declared_type
from quorate._ensembles._voting import Voting
from quorate._ensembles._weighted_voting import WeightedVotes
from quorate._ensembles._wrappers import read_through, unwrapped

# To add a kind, write one module and add one line here.
KINDS: tuple[Kind, ...] = (
    Forest(),
    Bagging(),
    Boosting(),
    Voting(),
    WeightedVotes(),
)
POOL = Pool()

# Kinds for other libraries, by the package of the model's class. Each module imports
# its library, which is installed if such a model exists.
LIBRARIES = {
    "imblearn": "quorate._ensembles._imbalanced",
    "sklearnex": "quorate._ensembles._intelex",
}

# Entry point under which packages register kinds.
ENTRY_POINT = "quorate.ensembles"

READABLE = (
    "a fitted BaggingClassifier, RandomForestClassifier, ExtraTreesClassifier, "
    "AdaBoostClassifier or VotingClassifier, a Pipeline that ends in one, "
    "or a list or dict of fitted classifiers"
)


# Models of scikit-learn that contain an ensemble, and what to pass instead.
_INSIDE = {
    "CalibratedClassifierCV": "the estimator of one of its calibrated_classifiers_",
    "FixedThresholdClassifier": "its estimator_",
    "TunedThresholdClassifierCV": "its estimator_",
    "OneVsRestClassifier": "its estimators_ one by one, with y == their class",
    "OneVsOneClassifier": "its estimators_ one by one, with rows of their two classes",
    "MultiOutputClassifier": "its estimators_ one by one",
    "SelfTrainingClassifier": "its estimator_",
    "StackingClassifier": (
        "its estimators_ one by one, or a dict of quorate.as_member(member, "
        "classes=model.classes_) for its named_estimators_"
    ),
}
# Gradient boosting libraries, whose trees add up to a score.
_ADDITIVE = ("xgboost", "lightgbm", "catboost")


def read_ensemble(model: Any) -> Ensemble:
    """Read a fitted ensemble, or raise an error if it has no members.

    Parameters
    ----------
    model : fitted ensemble, list or dict
        A bagging, forest, extra trees, AdaBoost or voting classifier, one of a
        registered kind, a pipeline that ends in one, a fitted search over its
        parameters, a list or dict of fitted classifiers. An ``Ensemble`` is
        returned unchanged.

    Raises
    ------
    TypeError
        If it has no members that vote, or if it is a subclass that may predict
        differently from its parent.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from quorate.ensembles import read_ensemble
    >>> forest = RandomForestClassifier(5).fit(*load_wine(return_X_y=True))
    >>> ensemble = read_ensemble(forest)
    >>> ensemble.kind.name, ensemble.n_members, ensemble.rule.name
    ('forest', 5, 'average')
    """
    if isinstance(model, Ensemble):
        return model
    found = read_through(model, read_ensemble)
    if found is not None:
        return found
    kind = find_kind(model)
    if kind is None:
        raise TypeError(_why_not(model))
    if kind is POOL:
        return kind.read(model)
    check_is_fitted(model)
    classes = getattr(model, "classes_", None)
    if isinstance(classes, list):
        raise TypeError(
            f"{type(model).__name__} was fitted on {len(classes)} outputs; quorate "
            "supports only ensembles with one output."
        )
    ensemble = kind.read(model)
    kind.refuse_another_kind(model, ensemble.n_members)
    return ensemble


def find_kind(model: Any) -> Kind | None:
    """Return the kind of an ensemble, fitted or not, inside any wrappers, or None.

    The nearest class in the method resolution order counts, so a kind for a subclass
    takes precedence over that of its parent.
    """
    core = unwrapped(model)
    if isinstance(core, (list, tuple, Mapping)):
        return POOL
    classes = _kinds_by_class()
    for cls in type(core).__mro__:
        library = cls.__module__.partition(".")[0]
        if library in LIBRARIES:
            _load_library(library)
        if cls in classes:
            return classes[cls]
    return None


def member_objects(model: Any) -> list[Any]:
    """Return the member objects of an ensemble, to detect later changes.

    Cheap enough to call on every prediction.
    """
    own = getattr(model, "__dict__", {}).get("estimators_")
    if type(own) is list:
        return own
    core = unwrapped(model)
    if isinstance(core, Mapping):
        return list(core.values())
    if isinstance(core, (list, tuple)):
        return list(core)
    kind = find_kind(core)
    return [] if kind is None else list(getattr(core, kind.per_member[0], ()))


def register_kind(kind: Kind | type[Kind]) -> None:
    """Register a kind of ensemble for this process.

    Packages register theirs under the entry point ``quorate.ensembles``.

    Parameters
    ----------
    kind : Kind
        The kind, or its class. It takes precedence over earlier ones for the same
        class.

    Examples
    --------
    >>> from sklearn.ensemble import BaggingClassifier
    >>> from quorate.ensembles import read_ensemble, register_kind
    >>> model = BaggingClassifier(n_estimators=2).fit([[0], [1]], [0, 1])
    >>> known = read_ensemble(model).kind
    >>> register_kind(known)
    >>> read_ensemble(model).kind is known
    True
    """
    found = kind() if isinstance(kind, type) else kind
    check_type("register_kind", found, Kind, "derive from quorate.ensembles.Kind")
    _kinds_by_class().update(dict.fromkeys(found.models, found))


@cache
def _load_library(library: str) -> None:
    """Register the kinds of a library, unless others were registered before."""
    known = _kinds_by_class()
    own = {type(kind) for kind in KINDS}
    for kind in import_module(LIBRARIES[library]).KINDS:
        for model in kind.models:
            # Patched scikit-learn exposes the library's classes under its own names.
            if model not in known or type(known[model]) in own:
                known[model] = kind


@cache
def _kinds_by_class() -> dict[type, Kind]:
    kinds = list(KINDS)
    for point in entry_points(group=ENTRY_POINT):
        found = point.load()
        kinds.append(found() if isinstance(found, type) else found)
    return {model: kind for kind in kinds for model in kind.models}


def _why_not(model: Any) -> str:
    name = type(model).__name__
    if isinstance(model, type):
        return f"{model.__name__} is a class, not a fitted ensemble."
    for cls in type(model).__mro__:
        library = cls.__module__.partition(".")[0]
        if library == "sklearn" and cls.__name__ in _INSIDE:
            return (
                f"{name} decides by more than a vote of its members; pass "
                f"{_INSIDE[cls.__name__]}."
            )
        if library in _ADDITIVE or "GradientBoosting" in cls.__name__:
            served = "quorate.compact makes a small fast file of it, and "
            return (
                f"{name}: its trees add up to a score and do not vote for classes; "
                f"{served * (library != 'catboost')}as a whole it can be a member: put "
                "it in a list or dict with others."
            )
    if hasattr(model, "file_start"):
        return (
            f"{name}: contains only the arrays of its members; use the ensemble it was "
            "made from."
        )
    if hasattr(model, "refit") and hasattr(model, "estimator"):
        raise NotFittedError(
            f"{name} has no best_estimator_; fit it first, with refit=True."
        )
    kind = declared_type(model)
    if kind in ("regressor", "clusterer"):
        small = "; quorate.compact takes regressors of trees" * (kind == "regressor")
        return f"{name} is a {kind}: its members do not vote for classes{small}."
    return f"{name} is not an ensemble whose members vote; pass {READABLE}."
