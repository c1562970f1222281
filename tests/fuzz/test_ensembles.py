"""Random ensembles of all kinds through every public function, or a known refusal."""

import re
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.tree import DecisionTreeClassifier
from skops import io as skops

import quorate
from quorate.exceptions import QuorateWarning

pytestmark = pytest.mark.slow

N_TRAIN = 150


def tree(rng, **options):
    depth = [None, 1, 3, 6][rng.integers(4)]
    return DecisionTreeClassifier(max_depth=depth, random_state=0, **options)


def members(rng, is_sparse):
    several = [
        ("tree", tree(rng)),
        ("stump", DecisionTreeClassifier(max_depth=1, random_state=1)),
        ("knn", KNeighborsClassifier(3)),
        ("other tree", DecisionTreeClassifier(max_depth=4, random_state=2)),
        ("nb", GaussianNB()),
    ]
    return several[: int(rng.integers(2, 5 if is_sparse else 6))]


def some_ensemble(rng, is_sparse, has_missing):
    """Return an ensemble of some kind, not fitted, and how to call it."""
    size = int(rng.integers(2, 14))
    weights = [None, "balanced"][rng.integers(2)]
    forests = {
        "forest": RandomForestClassifier(
            size, max_depth=4, class_weight=weights, random_state=0
        ),
        "forest without bootstrap": RandomForestClassifier(
            size, bootstrap=False, max_features=2, random_state=0
        ),
        "extra trees": ExtraTreesClassifier(
            size, bootstrap=bool(rng.integers(2)), class_weight=weights, random_state=0
        ),
        "bagging": BaggingClassifier(
            tree(rng), size, max_features=float(rng.uniform(0.4, 1)), random_state=0
        ),
    }
    others = {
        "adaboost": AdaBoostClassifier(tree(rng), n_estimators=size, random_state=0),
        "voting": VotingClassifier(
            members(rng, is_sparse), voting=["hard", "soft"][rng.integers(2)]
        ),
        "list": [member for _, member in members(rng, is_sparse)],
        "dict": dict(members(rng, is_sparse)),
    }
    known = forests if has_missing else {**forests, **others}
    name = str(rng.choice(sorted(known)))
    made = known[name]
    if name == "voting" and rng.integers(2):
        made.set_params(weights=rng.integers(1, 5, len(made.estimators)).tolist())
    if name not in ("list", "dict") and not has_missing and rng.random() < 0.3:
        made = make_pipeline(MaxAbsScaler(), made)
        name = f"{name} in a pipeline"
    return name, made


def some_data(rng):
    n_classes = int(rng.integers(2, 6))
    X, y = make_classification(
        N_TRAIN + 200,
        8,
        n_informative=6,
        n_classes=n_classes,
        flip_y=float(rng.uniform(0, 0.4)),
        random_state=int(rng.integers(2**31)),
    )
    labels = [
        np.arange(n_classes) * 3 - 4,
        np.array(["é", "b b", "<c>", "d", "0"])[:n_classes],
        np.arange(n_classes).astype(np.uint8),
        np.arange(n_classes) + 0.5 if n_classes == 2 else np.arange(n_classes) * 1.0,
        np.array([f"{place:03d}" for place in range(n_classes)], dtype=object),
    ][rng.integers(5)]
    if labels.dtype.kind == "f":
        labels = labels.astype(int)  # scikit-learn takes fractions for regression
    form = rng.choice(["dense", "dense", "missing", "sparse"])
    X = X.astype([np.float32, np.float64][rng.integers(2)])
    if form == "missing":
        X[rng.random(X.shape) < 0.05] = np.nan
    if form == "sparse":
        X[np.abs(X) < 0.5] = 0
        X = sparse.csr_matrix(X)
    return X, labels[y], str(form)


def fitted(ensemble, X, y):
    if isinstance(ensemble, dict):
        return {name: one.fit(X, y) for name, one in ensemble.items()}
    if isinstance(ensemble, list):
        return [one.fit(X, y) for one in ensemble]
    return ensemble.fit(X, y)


# What may be refused, in words that say why.
REFUSALS = {
    "collect_votes": (),
    "prune": (
        "must be 1 to|needs out-of-bag|do not estimate errors|more members than|"
        "training votes|tell nothing|do not estimate"
    ),
    "oob": "out-of-bag|bootstrap|drew|too few|has no vote|not the training",
    "certify": "cannot certify any|masked|would satisfy it as well",
    "lazy": "no predict of its own|needs a fitted ensemble|list|predict",
    "calibrated": "too few for this guarantee",
    "onnx": "cannot convert|cannot run|knows only some|array of numbers",
    "pairs": "two members|at least 2",
}


def attempt(refusal, function):
    """Call it; return None where it refuses in a sentence that is expected here."""
    try:
        with warnings.catch_warnings(action="ignore", category=QuorateWarning):
            # What quorate warns of is said on purpose; nobody else has anything to say.
            return function()
    except (ValueError, TypeError) as error:
        said = str(error)
        if refusal and re.search(REFUSALS[refusal], said) and "\n" not in said:
            return None
        raise


def through_everything(seed, tmp_path):
    rng = np.random.default_rng(seed)
    X, y, form = some_data(rng)
    name, ensemble = some_ensemble(rng, form == "sparse", form == "missing")
    try:
        model = fitted(ensemble, X[:N_TRAIN], y[:N_TRAIN])
    except ValueError as error:
        if "not in class_weight" not in str(error):  # which bootstraps may lack
            raise
        return name, "not fitted"
    new, truth = X[N_TRAIN:], y[N_TRAIN:]
    is_pool = isinstance(model, (list, dict))
    votes = quorate.collect_votes(model, new, truth)
    n = votes.n_members
    if not is_pool:
        assert (votes.predict() == model.predict(new)).all(), name
        assert votes.accuracy() == model.score(new, truth), name
    if attempt("oob", lambda: quorate.collect_votes(
        model, X[:N_TRAIN], y[:N_TRAIN], out_of_bag=True
    )) is not None:  # fmt: skip
        assert "bag" in name or "forest" in name or "extra" in name
    found = attempt("pairs", lambda: quorate.diversity(votes))
    assert found is None or len(found) == 13
    attempt("pairs", lambda: quorate.pairwise_diversity(votes, "kappa"))
    assert quorate.sample_diversity(votes, "error_gap").shape == (votes.n_samples,)
    parts = quorate.decompose(votes)
    assert parts.error == pytest.approx(parts.member_error - parts.diversity)
    quorate.assess_risk(votes)
    repr(votes), votes._repr_html_()
    votes.save(tmp_path / "votes.npz")
    again = quorate.Votes.load(tmp_path / "votes.npz")
    assert (again.codes == votes.codes).all()
    assert again.classes.tolist() == votes.classes.tolist()
    # choosing
    methods = sorted(set(quorate.methods()) - {"tsp_ap", "tsp_dp"})
    method = str(rng.choice(methods))
    keep = int(rng.integers(1, n + 1))
    selection = attempt("prune", lambda: quorate.select(votes, quick(method), keep))
    if selection is not None:
        assert 1 <= selection.n_kept <= n
        repr(selection), selection._repr_html_()
        selection.explain(n_random=3)
    small, chosen = attempt(None, lambda: quorate.prune(
        model, new, truth, keep=keep, distil=False, return_selection=True
    ))  # fmt: skip
    distilled = attempt(None, lambda: quorate.prune(model, new, truth, keep=keep))
    kept = quorate.keep_members(model, chosen.members)
    if not is_pool:
        assert (small.predict(new) == chosen.applied_to(votes).predict()).all()
        kept.predict(new)
        assert set(distilled.predict(new)) <= set(votes.classes)
        compared = quorate.compare(model, small, new, truth)
        repr(compared), compared._repr_html_()
        with pytest.raises(ValueError, match="members were chosen, or their leaves"):
            quorate.certify(model, small, new, truth)
        attempt("certify", lambda: quorate.certify(model, kept, new, truth))
    for size in ("auto", None):
        attempt("prune", lambda size=size: quorate.prune(
            model, new, truth, "re", keep=size or 0.5, tolerance=None
        ))  # fmt: skip
    attempt("certify", lambda: quorate.certify(votes, np.arange(n), tolerance=0.1))
    # lazily
    if not is_pool:
        for mode in ("exact", "bayes", "calibrated"):
            lazy = quorate.LazyClassifier(model, mode, epsilon=0.1, random_state=0)
            got = attempt("calibrated", lambda lazy=lazy: lazy.fit(new))
            if got is not None and mode == "exact":
                assert (got.predict(new) == model.predict(new)).all()
    # files
    quorate.save(model, tmp_path / "model.skops")
    path = tmp_path / "model.skops"
    back = quorate.load(path, skops.get_untrusted_types(file=path))
    assert (quorate.collect_votes(back, new, truth).codes == votes.codes).all()
    if form == "dense" and not is_pool:
        attempt("onnx", lambda: quorate.to_onnx(model, new[:2]))
    return name, form


def quick(method):
    """Return a method, quick if it is slow."""
    return quorate.pruning.PEP(n_iter=50) if method == "pep" else method


@pytest.mark.parametrize("block", range(8))
def test_random_ensembles_through_everything(block, tmp_path):
    tried = {
        through_everything(seed, tmp_path)
        for seed in range(12 * block, 12 * block + 12)
    }
    assert len(tried) > 3


@pytest.mark.parametrize("seed", range(4))
def test_random_ensembles_have_a_report(seed):
    rng = np.random.default_rng([seed, 7])
    X, y, form = some_data(rng)
    _, ensemble = some_ensemble(rng, form == "sparse", form == "missing")
    model = fitted(ensemble, X[:N_TRAIN], y[:N_TRAIN])
    page = attempt(None, lambda: quorate.report(
        model, X[N_TRAIN:], y[N_TRAIN:]
    ))  # fmt: skip
    page.html.encode("utf-8")
