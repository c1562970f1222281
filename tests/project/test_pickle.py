"""Everything that quorate hands out goes through pickle and copy, and is the same."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from tests.study.plans import small_plan

import quorate
from quorate import display, stats
from quorate._votes import with_changes
from quorate.study import Results

X, Y = load_wine(return_X_y=True)
NAMES = np.array(["a", "b", "c"])


def parts(thing):
    """Return what something holds, by name."""
    if dataclasses.is_dataclass(thing) and not isinstance(thing, quorate.Votes):
        return {
            field.name: getattr(thing, field.name)
            for field in dataclasses.fields(thing)
        }
    if isinstance(thing, quorate.Votes):
        names = "codes y classes weights valid names samples rule source family"
        found = {name: getattr(thing, name) for name in names.split()}
        return {**found, "probabilities": thing.probabilities}
    own = {}
    for kind in type(thing).__mro__:
        for name in getattr(kind, "__slots__", ()):
            if hasattr(thing, name):
                own[name] = getattr(thing, name)
    return {**own, **getattr(thing, "__dict__", {})}


def assert_same(one, other, where="it", deep=8):
    """Raise unless two things are of one type and hold the same, all the way down."""
    assert type(one) is type(other), where
    if isinstance(one, np.ndarray) and one.dtype.kind != "O":
        np.testing.assert_array_equal(one, other, err_msg=where)
        assert one.dtype == other.dtype, where
    elif isinstance(one, (list, tuple, np.ndarray)):
        assert len(one) == len(other), where
        for place, pair in enumerate(zip(one, other, strict=True)):
            assert_same(*pair, f"{where}[{place}]", deep)
    elif isinstance(one, dict):
        assert list(one) == list(other), where
        for name in one:
            assert_same(one[name], other[name], f"{where}[{name!r}]", deep)
    elif callable(one) and not parts(one):
        assert one is other or repr(one)[:40] == repr(other)[:40], where
    elif parts(one) and deep:
        assert_same(
            parts(one), parts(other), f"{where}: {type(one).__name__}", deep - 1
        )
    elif type(one).__eq__ is not object.__eq__:
        assert one == other or one != one, where


def forest():
    model = RandomForestClassifier(12, max_depth=3, random_state=0)
    return model.fit(X[::2], NAMES[Y[::2]])


def fresh_votes(model=None):
    return quorate.collect_votes(
        model or forest(), X[1::2], NAMES[Y[1::2]], probabilities=True
    )


THINGS = {
    "votes": fresh_votes,
    "out-of-bag votes": lambda: quorate.collect_votes(
        forest(), X[::2], NAMES[Y[::2]], out_of_bag=True
    ),
    "some votes": lambda: fresh_votes().at(np.arange(0, 80, 3)).keep([3, 1]),
    "weighted votes": lambda: quorate.Votes(
        [[0, 1, 1], [1, 1, 0]], [0, 1, 1], weights=[1, 2.5], names=["p", "q"]
    ),
    "selection": lambda: quorate.select(fresh_votes(), "mdm", "auto"),
    "selection with weights": lambda: quorate.select(fresh_votes(), "simplex", 5),
    "explanation": lambda: quorate.select(fresh_votes(), "re", 5).explain(),
    "certificate": lambda: quorate.certify(fresh_votes(), np.arange(12), tolerance=0.2),
    "comparison": lambda: quorate.compare(
        forest(), quorate.keep_members(forest(), [0, 3]), X[1::2], NAMES[Y[1::2]]
    ),
    "decomposition": lambda: quorate.decompose(fresh_votes()),
    "risk": lambda: quorate.assess_risk(fresh_votes()),
    "diversity": lambda: quorate.diversity(fresh_votes()),
    "measures": quorate.measures,
    "methods": quorate.methods,
    "report": lambda: quorate.report(forest(), X[1::2], NAMES[Y[1::2]]),
    "ranks": lambda: stats.average_ranks(np.random.default_rng(0).random((5, 3))),
    "friedman": lambda: stats.friedman(np.random.default_rng(0).random((5, 3))),
    "nemenyi": lambda: stats.nemenyi(np.random.default_rng(0).random((5, 3))),
    "signed ranks": lambda: stats.wilcoxon_holm(
        np.random.default_rng(0).random((8, 3))
    ),
    "a picture": lambda: display.KappaErrorDisplay.from_votes(fresh_votes()),
    "plan": small_plan,
}


def test_what_differs_is_seen():
    votes = fresh_votes()
    weighted = with_changes(votes, weights=np.arange(1.0, 13))
    for other in (votes.keep(np.arange(11)), votes.at(np.arange(80)), weighted):
        with pytest.raises(AssertionError):
            assert_same(votes, other)
    one, other = (quorate.select(votes, "best", keep) for keep in (3, 4))
    with pytest.raises(AssertionError):
        assert_same(one, other)


@pytest.mark.slow
@pytest.mark.parametrize("name", THINGS)
def test_results_come_back(name):
    thing = THINGS[name]()
    for protocol in (2, pickle.HIGHEST_PROTOCOL):
        again = pickle.loads(pickle.dumps(thing, protocol))
        assert_same(thing, again)
        assert repr(again) == repr(thing)
    assert_same(thing, copy.deepcopy(thing))
    assert_same(thing, copy.copy(thing))


def test_votes_stay_immutable():
    votes = pickle.loads(pickle.dumps(fresh_votes()))
    with pytest.raises(ValueError, match="read-only"):
        votes.codes[0, 0] = 1
    with pytest.raises(AttributeError):
        votes.y = votes.y
    assert votes.error() == fresh_votes().error()


def test_results_of_a_study_come_back(small_store):
    results = Results.read(small_store)
    again = pickle.loads(pickle.dumps(results))
    assert_same(results, again)
    for ask in ("standings", "table"):
        assert_same(getattr(results, ask)(), getattr(again, ask)())


@pytest.mark.parametrize("method", sorted(quorate.pruning.METHODS))
def test_fitted_pruners_come_back(method):
    pruner = quorate.pruning.make_pruner(method)
    if "random_state" in pruner.get_params():
        pruner.set_params(random_state=0)
    masked = pruner.tags.needs_out_of_bag
    votes = THINGS["out-of-bag votes" if masked else "votes"]()
    pruner.fit(votes, X[::2] if masked else X[1::2])
    again = pickle.loads(pickle.dumps(pruner))
    assert_same(pruner, again)
    assert again.was_fitted_on(votes)
