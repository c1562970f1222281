"""What the modes promise, kept in thousands of simulated worlds."""

import os
import warnings

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from tests.figures import note
from tests.lazy import worlds
from tests.lazy.worlds import at_most

from quorate import LazyClassifier, PrunedClassifier
from quorate.exceptions import QuorateWarning

# `make simulate` draws more of each.
N_WORLDS = int(os.environ.get("QUORATE_WORLDS", "200"))
LOOKED_UP = {
    "equal": worlds.equal,
    "nearly equal": worlds.nearly_equal,
    "nearly equal, 101": worlds.nearly_equal_many,
    "skill": worlds.skilled,
}
TRAINED = {"boosting": worlds.boosting, "forest": worlds.forest}
N_TRAINED = 20  # ensembles; many draws of samples from each


def calibrated(world, rng, n_rows, **options):
    """Fit on rows drawn from a world, and look at all of it.

    Returns the share of rows that changes, what is promised, the share that changes and
    is decided by the first tenth of the members, and the share that is decided so.
    """
    lazy = LazyClassifier(world.ensemble, "calibrated", random_state=0, **options)
    lazy.fit(world.draw(rng, n_rows))
    assert lazy.expected_disagreement_ <= options["epsilon"]
    changed = lazy.predict(world.rows) != world.answers
    soon = lazy.members_asked(world.rows) <= np.ceil(lazy.n_members_ / 10)
    promised = lazy.expected_disagreement_
    return changed.mean(), promised, (changed & soon).mean(), soon.mean()


def simulate(kind, n_worlds, n_rows, **options):
    """Return what :func:`calibrated` does, a row for each of the four."""
    found = []
    trained = []
    if kind in TRAINED:
        trained = [TRAINED[kind](seed) for seed in range(N_TRAINED)]
    for seed in range(n_worlds):
        rng = np.random.default_rng([seed, len(kind)])
        world = trained[seed % N_TRAINED] if trained else LOOKED_UP[kind](rng)
        found.append(calibrated(world, rng, n_rows, **options))
    return np.array(found).T


# Calibrated: on average


# Where the order is what matters; the slow tests below have all kinds and orders.
@pytest.mark.parametrize("kind", ["nearly equal", "skill"])
def test_calibrated_keeps_its_promise_on_average(kind):
    changed, promised, *_ = simulate(kind, 150, 19, epsilon=0.05)
    assert at_most(changed - promised, 0)
    assert changed.mean() > 0.01  # and the promise is used


@pytest.mark.slow
@pytest.mark.parametrize("order", ["auto", "given", "random"])
@pytest.mark.parametrize("kind", [*LOOKED_UP, *TRAINED])
def test_calibrated_keeps_its_promise_in_many_worlds(kind, order):
    for n_rows in (19, 60) if order == "auto" else (19,):
        how = {"epsilon": 0.05, "order": order}
        changed, promised, early, soon = simulate(kind, N_WORLDS, n_rows, **how)
        case = f"{kind}, {n_rows} samples, order {order}"
        note("calibrated: changed on average", case, changed, 0.05)
        if soon.any():
            first = early / soon.mean()
            note("calibrated: changed of those decided first", case, first, None)
        note("calibrated: single fits above 0.05", case, changed > 0.05, None)
        assert at_most(changed, 0.05)
        assert at_most(changed - promised, 0)


def test_calibration_rows_do_not_choose_the_order():
    rng = np.random.default_rng(0)
    world = worlds.skilled(rng)
    orders = [
        LazyClassifier(world.ensemble, "calibrated", epsilon=0.05)
        .fit(world.draw(rng, 30))
        .order_
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*orders)
    weights = world.ensemble.weights_[orders[0]]
    assert (np.diff(weights) <= 0).all()


# Calibrated: for the single fit


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*LOOKED_UP, *TRAINED])
def test_single_fits_keep_their_promise_in_many_worlds(kind):
    for guarantee, n_rows in ((0.9, 22), (0.9, 60), (0.95, 100)):
        how = {"epsilon": 0.1, "guarantee": guarantee}
        changed, promised, *_ = simulate(kind, N_WORLDS, n_rows, **how)
        broken = changed > promised
        case = f"{kind}, {n_rows} samples, guarantee {guarantee:g}"
        note("calibrated: single fits above", case, broken, 1 - guarantee)
        assert at_most(broken, 1 - guarantee)


# Calibrated: after pruning


def pruned(make, method, n_worlds):
    """Prune on 40 rows, calibrate on 40 others; return changes in each world."""
    found = []
    for seed in range(n_worlds):
        rng = np.random.default_rng(seed)
        world = make(rng, 101)
        noise = rng.integers(0, 2, worlds.N_KINDS)
        y = np.where(rng.random(worlds.N_KINDS) < 0.3, noise, world.answers)
        drawn = rng.integers(0, worlds.N_KINDS, 80)
        choosing, others = drawn[:40], drawn[40:]
        small = PrunedClassifier(
            FrozenEstimator(world.ensemble), method, 15, random_state=seed
        ).fit(world.rows[choosing], y[choosing])
        lazy = LazyClassifier(small, "calibrated", epsilon=0.05, random_state=seed)
        lazy.fit(world.rows[others])
        whole = small.predict(world.rows)
        found.append(np.mean(lazy.predict(world.rows) != whole))
    return found


def test_a_pruned_ensemble_calibrated_on_other_rows_keeps_its_promise():
    assert at_most(pruned(worlds.equal, "best", 60), 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["best", "mdm"])
@pytest.mark.parametrize("make", [worlds.equal, worlds.nearly_equal])
def test_a_pruned_classifier_keeps_its_promise_in_many_worlds(make, method):
    found = pruned(make, method, N_WORLDS)
    name = make.__name__.replace("_", " ")
    case = f"{name}, 15 of 101 by {method}, 80 samples"
    note("pruned and calibrated: changed on average", case, found, 0.05)
    assert at_most(found, 0.05)


def test_too_few_samples_for_a_single_fit():
    rng = np.random.default_rng(0)
    world = worlds.equal(rng)
    lazy = LazyClassifier(world.ensemble, "calibrated", epsilon=0.05, guarantee=0.95)
    with pytest.raises(ValueError, match=r"58 samples.*least 59, or .* of 0\.051 or"):
        lazy.fit(world.draw(rng, 58))
    lazy.fit(world.draw(rng, 59))
    assert 0.049 < lazy.expected_disagreement_ <= 0.05


# Bayes


def bayes(world, confidence, seed, **options):
    with warnings.catch_warnings(action="ignore", category=QuorateWarning):
        lazy = LazyClassifier(
            world.ensemble, "bayes", confidence, random_state=seed, **options
        ).fit()
    return world.changed(lazy)


def rising(rng, n_members=61):
    """Members that know more the later they come."""
    skills = np.linspace(0, 0.9, n_members) ** 3
    shares = rng.choice([0.0, 1.0], worlds.N_KINDS)
    return worlds.world_of(worlds.coins(rng, n_members, shares, skills))


def uniform(rng, n_members=61):
    """Rows as the prior has them."""
    return worlds.world_of(worlds.coins(rng, n_members, rng.random(worlds.N_KINDS)))


def in_line(rng, n_members=61):
    """Rows as the prior has them, and those who vote for class 1 come first."""
    ones = rng.integers(0, n_members + 1, worlds.N_KINDS)
    return worlds.world_of((np.arange(n_members)[:, None] < ones).astype(np.intp))


def near_coins(rng, n_members=101):
    return worlds.world_of(worlds.coins(rng, n_members, np.full(worlds.N_KINDS, 0.5)))


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.9, 0.99, 0.999])
@pytest.mark.parametrize("make", [uniform, in_line])
def test_bayes_keeps_its_promise_where_the_prior_is_right(make, confidence):
    found = [
        bayes(make(np.random.default_rng(seed)), confidence, seed)
        for seed in range(N_WORLDS)
    ]
    note("bayes: changed", f"{make.__name__}, {confidence:g}", found, 1 - confidence)
    assert at_most(found, 1 - confidence)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["forest", "extra_trees", "bagging"])
def test_bayes_keeps_its_promise_on_bagged_trees(kind):
    """Forests, extra trees and bagging of deep trees, with something to learn.

    Some of the labels, 5 % or 30 %, are noise.
    """
    for confidence in (0.9, 0.99, 0.999):
        found = []
        for seed in range(20):
            world = getattr(worlds, kind)(seed, 60, [0.05, 0.3][seed // 2 % 2])
            orders = range(max(N_WORLDS // 20, 1))
            found += [bayes(world, confidence, again) for again in orders]
        note("bayes: changed", f"{kind}, {confidence:g}", found, 1 - confidence)
        assert at_most(found, 1 - confidence)


@pytest.mark.slow
def test_where_bayes_does_not_keep_its_promise():
    """Members near a coin, labels of noise, boosting: what the guide says of them."""
    seeds, few = range(100), range(20)
    boosted = [bayes(worlds.boosting(s, d, 60), 0.9, s) for s in few for d in (1, 3)]
    broken = {
        "near a coin, 0.9": [
            bayes(near_coins(np.random.default_rng(s)), 0.9, s) for s in seeds
        ],
        "rising skill, random order, 0.9": [
            bayes(rising(np.random.default_rng(s)), 0.9, s) for s in seeds
        ],
        "forests on noise, 0.9": [
            bayes(worlds.forest(s, 60, 1.0), 0.9, s) for s in few
        ],
        "boosting, the worst of 40, 0.9": [max(boosted)],
        "votes for one class first, order given, 0.999": [
            bayes(in_line(np.random.default_rng(s)), 0.999, s, order="given")
            for s in seeds
        ],
    }
    what = "bayes: changed where nothing is promised"
    note(what, "boosting, 0.9", boosted, None)
    for case, found in broken.items():
        note(what, case, found, None)
        assert np.mean(found) > (0.2 if "coin" in case else 0.1)
    assert np.mean(broken["rising skill, random order, 0.9"]) > 0.13


def test_bayes_promises_nothing_for_an_order_of_ones_own():
    world = rising(np.random.default_rng(0))
    shuffled = LazyClassifier(world.ensemble, "bayes", 0.999, random_state=0).fit()
    assert shuffled.expected_disagreement_ == pytest.approx(0.001)
    for order in ("given", np.arange(61)):
        lazy = LazyClassifier(world.ensemble, "bayes", 0.999, order=order)
        with pytest.warns(QuorateWarning, match="members in random order"):
            lazy.fit()
        assert lazy.expected_disagreement_ is None
    random = LazyClassifier(world.ensemble, "bayes", 0.999, order="random").fit()
    assert random.expected_disagreement_ == pytest.approx(0.001)


def test_bayes_promises_nothing_for_unequal_weights():
    world = worlds.skilled(np.random.default_rng(0))
    lazy = LazyClassifier(world.ensemble, "bayes", 0.9, random_state=0)
    with pytest.warns(QuorateWarning, match="votes of equal weight; use mode='cal"):
        lazy.fit()
    assert lazy.expected_disagreement_ is None
    lazy.set_params(confidence=0.999).fit(world.rows)  # measured, and all is well
    assert lazy.expected_disagreement_ is None
    assert lazy.measured_disagreement_ <= 0.001
    boosting = worlds.boosting(0, 3, 60)  # 0.12 of 0.10
    lazy = LazyClassifier(boosting.ensemble, "bayes", 0.9, random_state=0)
    with pytest.warns(QuorateWarning, match=r"weight, and \d+ of 600 predictions"):
        lazy.fit(boosting.rows)


def test_bayes_is_checked_on_the_rows_given_to_fit():
    world = near_coins(np.random.default_rng(0))
    lazy = LazyClassifier(world.ensemble, "bayes", 0.9, random_state=0)
    assert lazy.fit().expected_disagreement_ == pytest.approx(0.1)
    with pytest.warns(QuorateWarning, match="more than the confidence allows"):
        lazy.fit(world.rows)
    assert lazy.expected_disagreement_ is None
    good = uniform(np.random.default_rng(0))
    lazy = LazyClassifier(good.ensemble, "bayes", 0.9, random_state=0).fit(good.rows)
    assert lazy.expected_disagreement_ == pytest.approx(0.1)
