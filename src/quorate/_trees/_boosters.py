"""Read XGBoost, LightGBM and HistGradientBoosting, through treelite."""

import itertools
import json
import re
from copy import copy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from quorate._trees._read import TreeNodes
from quorate._typing import Array, FloatArray, IntArray

_LINKS = {
    "identity": "identity",
    "sigmoid": "sigmoid",
    "multiclass_ova": "sigmoid",
    "softmax": "softmax",
    "exponential": "exp",
}
_LESS, _LESS_OR_EQUAL = 2, 3
_COMPARES, _IN_SET = 1, 2  # types of nodes
_MOST_WORDS = 2**24  # that a threshold of 32 bits can count
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
    above: bool = False
    single: bool = False
    wide: bool = False
    asked: Any = None
    names: list[str] | None = None
    steps: list[Any] = field(default_factory=list)
    sets: Array = field(default_factory=lambda: np.empty(0, np.uint32))
    listed: tuple[Array, Array] = (np.empty(0, int), np.empty(0))

    @property
    def tolerance(self) -> float:
        """How much numbers may differ from those of the model itself."""
        return 1e-6 if self.single else 1e-12


class _Asked(NamedTuple):
    """Ask a bare XGBoost Booster as its wrappers are asked."""

    booster: Any
    has_categories: bool

    def predict(self, X: Any) -> Array:
        import xgboost

        types = getattr(X, "dtypes", ())
        kinds = zip(self.booster.feature_types or (), types, strict=False)
        if self.has_categories and any(k == "c" and t != "category" for k, t in kinds):
            raise ValueError("it would take categories for codes")
        rows = xgboost.DMatrix(X, enable_categorical=True)
        return np.asarray(self.booster.predict(rows))


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
    try:
        if library == "sklearn":
            booster = _read_histogram(model, import_model)
        elif library == "lightgbm":
            booster = _read_lightgbm(model, treelite.frontend.from_lightgbm)
        else:
            booster = _read_xgboost(model, treelite.frontend)
    except (treelite.TreeliteError, NotImplementedError) as error:
        raise refused(model, "treelite does not read it (see above)") from error
    return booster


def _read_histogram(model: Any, read: Any) -> TreeSum:
    _refuse_objective(model)
    plain, encoder, categories = copy(model), getattr(model, "_preprocessor", None), {}
    if encoder is not None:
        plain._preprocessor = None  # its trees know codes, with categories first
        known = encoder.named_transformers_["encoder"].categories_
        places = np.flatnonzero(model.is_categorical_).tolist()
        categories = dict(zip(places, (row.tolist() for row in known), strict=True))
    found = _read(model, read(plain), by_sums=True)
    found.steps = _encode(model, categories, found.n_features, np.nan)
    return found


def _read_lightgbm(model: Any, read: Any) -> TreeSum:
    bare = getattr(model, "booster_", model)
    text = bare.model_to_string()
    _refuse_objective(model)
    if re.search(r"^is_linear=1", text, re.MULTILINE):
        raise refused(model, "its leaves hold linear models (linear_tree)")
    if re.search(r"^\[zero_as_missing: 1\]", text, re.MULTILINE):
        raise refused(model, "it takes zeros for missing values (zero_as_missing)")
    chosen = re.search(r"^\[categorical_feature: ([\d,]+)\]", text, re.MULTILINE)
    places = [int(place) for place in chosen[1].split(",")] if chosen else []
    known = bare.pandas_categorical or []
    if known and len(known) != len(places):
        raise refused(
            model, f"its frame had {len(known)} columns of categories, but its trees "
            f"take {len(places)}; make ordered categories numbers, and numbers named "
            "in categorical_feature categories, and train it again"
        )  # fmt: skip
    categories = dict(zip(places, known, strict=True)) if known else {}
    booster = _read(model, read(bare), categories, tiny=True)
    booster.steps = _encode(model, categories, booster.n_features, np.nan)
    alpha = re.search(r"^objective=.* sigmoid:(\S+)", text, re.MULTILINE)
    booster.alpha = float(alpha[1]) if alpha else booster.alpha
    names = None if bare is not model else list(bare.feature_name())
    is_named = names and not all(re.fullmatch(r"Column_\d+", n) for n in names)
    booster.names = names if is_named else None
    return booster


def _read_xgboost(model: Any, frontend: Any) -> TreeSum:
    whole = model.get_booster() if hasattr(model, "get_booster") else model
    best = None
    if getattr(model, "early_stopping_rounds", None):
        best = getattr(model, "best_iteration", None)
    used = whole if best is None else whole[: best + 1]
    _refuse_objective(model)
    categories = {}
    if "c" not in (whole.feature_types or ()):
        read = frontend.from_xgboost(used)
    else:
        document, part = _as_json(whole)
        for place, coded in enumerate(part["cats"]["enc"] if "cats" in part else []):
            if coded["values"]:
                categories[place] = _decode(coded)
        document, part = _as_json(used)  # which has no categories, if it is a part
        part["cats"] = {"enc": [], "feature_segments": [], "sorted_idx": []}
        read = frontend.from_xgboost_json(json.dumps(document))
    booster = _read(model, read, categories, single=True)
    booster.steps = _encode(model, categories, booster.n_features, None)
    if whole is model:
        booster.names = model.feature_names
        booster.asked = _Asked(model, bool(categories))
    return booster


def _as_json(booster: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return an XGBoost model, and the part of it that holds trees and categories."""
    document = json.loads(booster.save_raw("json"))
    part = document["learner"]["gradient_booster"]
    return document, part.get("gbtree", part)["model"]


def _decode(coded: dict[str, Any]) -> list[Any]:
    """Return categories as XGBoost writes them: numbers, or text by its bytes.

    Bytes beyond ASCII are None: it counts letters where it should count bytes.
    """
    values, ends = coded["values"], coded.get("offsets")
    if ends is None:
        return list(values)
    text = "".join(map(chr, values)) if min(values) >= 0 else None
    return [text and text[a:b] for a, b in itertools.pairwise(ends)]


def _encode(
    model: Any, categories: dict[int, list[Any]], n_columns: int, unknown: float | None
) -> list[Any]:
    """Return the steps that replace categories by codes, and put them first."""
    for place, known in categories.items():
        strange = [value for value in known if not isinstance(value, (str, float, int))]
        if strange:
            name = getattr(model, "feature_names_in_", range(n_columns))[place]
            what = "text beyond ASCII, which XGBoost stores damaged"
            if strange[0] is not None:
                what = f"categories of type {type(strange[0]).__name__}"
            raise refused(
                model,
                f"column {str(name)!r} has {what}; replace them by plain text or "
                "numbers, and train it again",
            )
    if not categories:
        return []
    order = _categories_first(categories, n_columns)
    n_known = len(categories)
    lists, codes = [], []
    for known in categories.values():
        there = [value for value in known if value == value]
        lists.append([*there, np.nan, None])
        codes.append([*map(float, range(len(there))), np.nan, np.nan])
    others = None if unknown is None else [unknown] * n_known
    coded = [list(range(n_known)), [["lookup", lists, codes, others, "<f8"]]]
    rest = [list(range(n_known, n_columns)), []]
    return [["take", order], ["columns", [coded, rest][: 1 + bool(rest[0])]]]


def _categories_first(categories: Any, n_columns: int) -> list[int]:
    return [*categories, *(p for p in range(n_columns) if p not in categories)]


def _refuse_objective(model: Any) -> None:
    if callable(getattr(model, "objective", None)):
        raise refused(model, "its objective is a function of yours")
    missing = getattr(model, "missing", None)
    if missing is not None and missing == missing:
        raise refused(
            model, f"it takes {missing!r} for a missing value; train it with NaN"
        )


def _read(
    model: Any,
    found: Any,
    categories: Any = (),
    *,
    by_sums: bool = False,
    single: bool = False,
    tiny: bool = False,
) -> TreeSum:
    """Copy everything while ``found`` lives: its fields are views into it.

    Parameters
    ----------
    categories : collection of int
        Columns that come first when rows reach the trees.
    by_sums, single : bool
        As in :class:`TreeSum`.
    tiny : bool
        Whether the library takes tiny values for zeros, and numbers between -1 and 0
        for the first category.
    """
    header = found.get_header_accessor()

    def number(name: str) -> int:
        return int(np.array(header.get_field(name)).max())

    post = str(header.get_field("postprocessor"))
    n_targets, n_classes = number("num_target"), number("num_class")
    classes = getattr(model, "classes_", None)
    if post not in _LINKS or (classes is not None and post == "identity"):
        raise refused(model, f"its objective is not supported ({post})")
    if n_targets > 1 and n_classes > 1:
        raise refused(model, "it has several outputs")
    targets = np.array(header.get_field("target_id" if n_targets > 1 else "class_id"))
    parts = []
    n_features = number("num_feature")
    moved = np.argsort(_categories_first(categories, n_features))
    for place in range(found.num_tree):
        tree = found.get_tree_accessor(place)
        part = {name: np.array(tree.get_field(name)) for name in _FIELDS}
        kind, cut = part["cmp"], part["threshold"]
        if part["leaf_vector"].size:
            raise refused(model, "its leaves hold several numbers each")
        compares = kind[part["node_type"] == _COMPARES]
        if not np.isin(compares, (_LESS, _LESS_OR_EQUAL)).all():
            raise refused(model, "its trees compare in a way that is not supported")
        # x < cut if and only if x <= the number before it.
        cut = np.where(kind == _LESS, np.nextafter(cut, cut.dtype.type(-np.inf)), cut)
        if tiny:
            ends = np.where(cut < 0, np.nextafter(-_TINY, -np.inf), _TINY)
            cut = np.where(np.abs(cut) <= _TINY, ends, cut)
        part["threshold"] = cut.astype(float)
        part["in_set"] = part["node_type"] == _IN_SET
        part["split_index"] = moved[np.maximum(part["split_index"], 0)]
        parts.append(part)
    n_sums = n_targets * n_classes
    base = np.array(header.get_field("base_scores"), dtype=float)[:n_sums]
    averages = number("average_tree_output")
    sets, listed = _read_sets(parts, -1.0 if tiny else -5e-324)
    if sets.size > _MOST_WORDS:
        raise refused(
            model,
            "it has too many sets of categories; encode them with a "
            "TargetEncoder in a pipeline and train it on the numbers",
        )
    return TreeSum(
        trees=[TreeNodes(*(part[name] for name in _OF_NODES)) for part in parts],
        held=[part["leaf_value"].astype(float).reshape(-1, 1) for part in parts],
        targets=np.maximum(targets, 0).tolist(),
        base=base.astype(np.float32).astype(float) if single else base,
        link=_LINKS[post],
        by_sums=by_sums,
        above=by_sums,
        classes=None if classes is None else np.asarray(classes),
        n_features=n_features,
        alpha=float(np.array(header.get_field("sigmoid_alpha"))[0]),
        divisor=len(parts) / n_sums if averages else 1.0,
        single=single,
        wide=not single or sets.size > 0,
        sets=sets,
        listed=listed,
    )


def _read_sets(
    parts: list[dict[str, Array]], zero: float
) -> tuple[Array, tuple[IntArray, FloatArray]]:
    """Return the sets of categories that go left, and thresholds that tell them apart.

    A set has a bit for each interval between the thresholds of its column. The number
    of the word in which it begins stands in the threshold of its nodes.

    Parameters
    ----------
    zero : float
        The largest number that is below the first category, which is 0.
    """
    nodes, listed = [], dict[int, list[Array]]()
    for part in parts:
        for node in np.flatnonzero(part["in_set"]):
            column = int(part["split_index"][node])
            start, end = (part[f"category_list_{at}"][node] for at in ("begin", "end"))
            members = part["category_list"][start:end].astype(float)
            listed.setdefault(column, []).append(members)
            nodes.append((part, node, column, members))
    cuts = {}
    for column, rows in listed.items():
        known = np.unique(np.concatenate(rows))
        ends = np.nextafter([known, known + 1], -np.inf)
        cuts[column] = np.unique(np.where(ends < 0, zero, ends))
    words, places, n_words = [np.empty(0, np.uint32)], dict[bytes, int](), 0
    for part, node, column, members in nodes:
        others = bool(part["category_list_right_child"][node])
        is_left = np.full(cuts[column].size // 32 * 32 + 32, others)
        is_left[np.searchsorted(cuts[column], members)] = not others
        row = np.packbits(is_left, bitorder="little").view("<u4")
        part["threshold"][node] = place = places.setdefault(row.tobytes(), n_words)
        if place == n_words:
            words.append(row)
            n_words += row.size
    columns = np.repeat([*cuts], [row.size for row in cuts.values()]).astype(int)
    ends = np.concatenate([*cuts.values(), np.empty(0)])
    return np.concatenate(words), (columns, ends)


_OF_NODES = (
    "cleft", "cright", "split_index", "threshold", "default_left", "in_set",
)  # fmt: skip
_FIELDS = (
    *_OF_NODES[:-1], "leaf_value", "cmp", "leaf_vector", "node_type", "category_list",
    "category_list_begin", "category_list_end", "category_list_right_child",
)  # fmt: skip


def refused(model: Any, why: str) -> ValueError:
    """Return the error for a model that is not exact as a compact one."""
    return ValueError(
        f"compact: {type(model).__name__} cannot be a compact model, because {why}."
    )
