"""Read XGBoost, LightGBM and HistGradientBoosting, through treelite."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._trees._read import TreeNodes
from quorate._typing import Array, FloatArray

_LINKS = {
    "identity": "identity",
    "sigmoid": "sigmoid",
    "multiclass_ova": "sigmoid",
    "softmax": "softmax",
    "exponential": "exp",
}
_LESS, _LESS_OR_EQUAL = 2, 3
_TINY = float(np.float32(1e-35))


@dataclass
class TreeSum:
    """Trees that add up, as they are in their library."""

    trees: list[TreeNodes]
    held: list[FloatArray]
    targets: list[int]
    base: FloatArray
    link: str
    by_sums: bool
    classes: Array | None
    n_features: int
    alpha: float = 1.0
    divisor: float = 1.0
    single: bool = False
    wide: bool = False
    asked: Any = None
    names: list[str] | None = None

    @property
    def tolerance(self) -> float:
        """How much numbers may differ from those of the model itself."""
        return 1e-6 if self.single else 1e-12


class _Asked:
    """Ask a bare XGBoost Booster as its wrappers are asked."""

    def __init__(self, booster: Any) -> None:
        self._booster = booster

    def predict(self, X: Any) -> Array:
        import xgboost

        return np.asarray(self._booster.predict(xgboost.DMatrix(X)))


def read_booster(model: Any, library: str) -> TreeSum:
    """Read a fitted model of a library, as ``predict`` of the model uses it."""
    try:
        import treelite
        from treelite.sklearn import import_model
    except ImportError as error:
        raise ImportError(
            f"compact: reading {type(model).__name__} needs treelite: pip install "
            "'quorate[boosters]'. Only this step needs it, serving the file does not."
        ) from error
    bare = model
    text = ""
    if library == "lightgbm":
        bare = getattr(model, "booster_", model)
        text = bare.model_to_string()
    elif library == "xgboost":
        bare = _used_part(model)
        if "c" in (bare.feature_types or ()):
            raise refused(model, _CATEGORIES)
    problem = _why_not(model, library, text)
    if problem:
        raise refused(model, problem)
    try:
        if library == "sklearn":
            found = import_model(model)
        elif library == "lightgbm":
            found = treelite.frontend.from_lightgbm(bare)
        else:
            found = treelite.frontend.from_xgboost(bare)
        booster = _read(model, found, library)
    except (treelite.TreeliteError, NotImplementedError) as error:
        raise refused(model, "treelite does not read it (see above)") from error
    if library == "lightgbm":
        alpha = re.search(r"^objective=.* sigmoid:(\S+)", text, re.MULTILINE)
        booster.alpha = float(alpha[1]) if alpha else booster.alpha
        names = None if bare is not model else list(bare.feature_name())
        is_named = names and not all(re.fullmatch(r"Column_\d+", n) for n in names)
        booster.names = names if is_named else None
    elif library == "xgboost" and bare is model:
        booster.asked, booster.names = _Asked(bare), bare.feature_names
    return booster


def _used_part(model: Any) -> Any:
    """Return the booster with the trees that ``predict`` of an XGBoost model uses."""
    if not hasattr(model, "get_booster"):
        return model
    booster = model.get_booster()
    best = (
        getattr(model, "best_iteration", None) if model.early_stopping_rounds else None
    )
    return booster if best is None else booster[: best + 1]


def _why_not(model: Any, library: str, text: str) -> str:
    """Say what in a model cannot be exact; empty if nothing."""
    if callable(getattr(model, "objective", None)):
        return "its objective is a function of yours"
    missing = getattr(model, "missing", None)
    if missing is not None and missing == missing:
        return f"it takes {missing!r} for a missing value; train it with NaN"
    if library == "sklearn" and np.any(getattr(model, "is_categorical_", None)):
        return _CATEGORIES
    if library == "lightgbm":
        if re.search(r"^is_linear=1", text, re.MULTILINE):
            return "its leaves hold linear models (linear_tree)"
        if re.search(r"^num_cat=[1-9]", text, re.MULTILINE):
            return _CATEGORIES
        if re.search(r"^\[zero_as_missing: 1\]", text, re.MULTILINE):
            return "it takes zeros for missing values (zero_as_missing)"
    return ""


_CATEGORIES = (
    "its trees split categories; encode them with an OrdinalEncoder in a pipeline and "
    "train it on the numbers"
)


def _read(model: Any, found: Any, library: str) -> TreeSum:
    """Copy everything while ``found`` lives: its fields are views into it."""
    header = found.get_header_accessor()

    def number(name: str) -> int:
        return int(np.array(header.get_field(name))[0])

    post = str(header.get_field("postprocessor"))
    n_targets, n_classes = (
        number("num_target"),
        int(np.array(header.get_field("num_class")).max()),
    )
    classes = getattr(model, "classes_", None)
    if post not in _LINKS or (classes is not None and post == "identity"):
        raise refused(model, f"its objective is not supported ({post})")
    if n_targets > 1 and n_classes > 1:
        raise refused(model, "it has several outputs")
    targets = np.array(header.get_field("target_id" if n_targets > 1 else "class_id"))
    trees, held = [], []
    single = library == "xgboost"
    for place in range(found.num_tree):
        tree = found.get_tree_accessor(place)
        left, right, columns, cut, missing, value, kind, vector, categories = (
            np.array(tree.get_field(name)) for name in _FIELDS
        )
        if categories.any():
            raise refused(model, _CATEGORIES)
        if vector.size:
            raise refused(model, "its leaves hold several numbers each")
        if not np.isin(kind[left >= 0], (_LESS, _LESS_OR_EQUAL)).all():
            raise refused(model, "its trees compare in a way that is not supported")
        # x < cut if and only if x <= the number before it.
        cut = np.where(kind == _LESS, np.nextafter(cut, cut.dtype.type(-np.inf)), cut)
        if library == "lightgbm":  # which takes tiny values for zeros
            ends = np.where(cut < 0, np.nextafter(-_TINY, -np.inf), _TINY)
            cut = np.where(np.abs(cut) <= _TINY, ends, cut)
        trees.append(TreeNodes(left, right, columns, cut.astype(float), missing))
        held.append(value.astype(float).reshape(-1, 1))
    n_sums = n_targets * n_classes
    base = np.array(header.get_field("base_scores"), dtype=float)[:n_sums]
    averages = number("average_tree_output")
    return TreeSum(
        trees=trees,
        held=held,
        targets=np.maximum(targets, 0).tolist(),
        base=base.astype(np.float32).astype(float) if single else base,
        link=_LINKS[post],
        by_sums=library == "sklearn",
        classes=None if classes is None else np.asarray(classes),
        n_features=number("num_feature"),
        alpha=float(np.array(header.get_field("sigmoid_alpha"))[0]),
        divisor=len(trees) / n_sums if averages else 1.0,
        single=single,
        wide=not single,
    )


_FIELDS = (
    "cleft", "cright", "split_index", "threshold", "default_left", "leaf_value", "cmp",
    "leaf_vector", "has_categorical_split",
)  # fmt: skip


def refused(model: Any, why: str) -> ValueError:
    """Return the error for a model that is not exact as a compact one."""
    return ValueError(
        f"compact: {type(model).__name__} cannot be a compact model, because {why}."
    )
