"""Every pruning method against its slow, literal twin on random votes."""

import warnings

import numpy as np
import pytest
from tests.pruning import slow

import quorate
from quorate import pruning
from quorate._votes import totals
from quorate.exceptions import QuorateWarning
from quorate.pruning._running import running_vote

N_VOTES = 250
MEASURES = tuple(quorate.measures())

LOWEST = {"ties": "lowest"}
ANY_SIZE = {"keep": None}, {"size": None}
# name -> (class, twin, options of the class, options of the twin if they differ)
PAIRS = {
    "re": (pruning.ReducedError, slow.reduced_error),
    "re, lowest": (pruning.ReducedError, slow.reduced_error, LOWEST),
    "re, mended": (pruning.ReducedError, slow.backfitted, {"backfitting": True}, {}),
    "oep": (pruning.OrderedError, slow.ordered_error, *ANY_SIZE),
    "oep, at most": (pruning.OrderedError, slow.ordered_error),
    "cm": (pruning.Complementariness, slow.complementariness),
    "cm, lowest": (pruning.Complementariness, slow.complementariness, LOWEST),
    "drep": (pruning.DREP, slow.drep, *ANY_SIZE),
    "drep, at most": (pruning.DREP, slow.drep, {"rho": 0.6}),
    "drep, lowest": (pruning.DREP, slow.drep, {"rho": 1.0, **LOWEST}),
    "mrmc": (pruning.MRMC, slow.mrmc),
    "mrmc, lowest": (pruning.MRMC, slow.mrmc, LOWEST),
    "discep": (pruning.DiscEP, slow.discep),
    "kp": (pruning.KappaPruning, slow.kappa_pruning),
    "gma": (pruning.FarthestFirst, slow.farthest_first),
    "gma, from the first": (pruning.FarthestFirst, slow.farthest_first, {"start": 0}),
    "lcs": (pruning.LocalSearch, slow.local_search),
    "mrmr": (pruning.MRMR, slow.mrmr),
    "mrmr, bits": (pruning.MRMR, slow.mrmr_bits, {"mi": "bits"}, {}),
    "mdm": (pruning.MarginDistance, slow.margin_distance),
    "oo": (pruning.OrientationOrdering, slow.orientation),
    "oo, own size": (pruning.OrientationOrdering, slow.orientation, *ANY_SIZE),
    "kl": (pruning.KLDivergence, slow.kl),
    "kl, one way": (pruning.KLDivergence, slow.kl, {"symmetric": False}),
    "epic": (pruning.IndividualContribution, slow.epic),
    "umep": (pruning.UMEP, slow.umep),
    "smep": (pruning.UMEP, slow.umep, {"margin": "supervised"}, {"supervised": True}),
    "mdep": (pruning.MDEP, slow.mdep),
}


@pytest.mark.parametrize("name", PAIRS)
def test_method(name):
    cls, twin, options, *theirs = (*PAIRS[name], {})[: max(3, len(PAIRS[name]))]
    theirs = theirs[0] if theirs else options
    for seed in range(N_VOTES):
        weighted = cls.tags.uses_weights and seed % 5 == 0
        votes = slow.random_votes(seed, weighted=weighted)
        size = 1 + seed % votes.n_members
        fitted = cls(**{"keep": size, **options}).fit(votes)
        expected = twin(slow.Problem.of(votes), **{"size": size, **theirs})
        assert fitted.order_.tolist() == expected, seed


@pytest.mark.parametrize("stuck", ["skip", "stop"])
@pytest.mark.parametrize("lambda_", ["measure", "ensemble"])
def test_epbd(lambda_, stuck):
    for seed in range(N_VOTES):
        votes = slow.random_votes(seed)
        size = 1 + seed % votes.n_members
        compare(pruning.EPBD(size, lambda_, stuck), votes, size, "error_gap")


@pytest.mark.parametrize("lambda_", ["measure", "ensemble"])
def test_epbd_that_searches_contested_samples(lambda_):
    for seed in range(2 * N_VOTES):
        votes = slow.random_votes(seed)
        size = 1 + seed % votes.n_members
        stuck = "stop" if seed % 4 == 0 else "skip"
        pruner = pruning.EPBD(size, lambda_, stuck, search="contested")
        compare(pruner, votes, size, "error_gap")


def test_those_votes_are_of_every_kind():
    seen = [slow.random_votes(seed) for seed in range(2 * N_VOTES)]
    kinds = {
        "binary": [votes.n_classes == 2 for votes in seen],
        "multi-class": [votes.n_classes > 2 for votes in seen],
        "masked": [votes.is_masked for votes in seen],
        "tied": [has_tie(votes) for votes in seen],
    }
    assert {kind for kind, found in kinds.items() if sum(found) >= 100} == set(kinds)


def has_tie(votes):
    """Return whether members split evenly between right and wrong on some sample."""
    right, asked = totals.sample_counts(votes)
    return bool((2 * right == asked).any())


@pytest.mark.slow
@pytest.mark.parametrize("search", ["printed", "contested"])
@pytest.mark.parametrize("lambda_", ["measure", "proposed"])
@pytest.mark.parametrize("measure", MEASURES)
def test_ftad(measure, lambda_, search):
    for seed in range(N_VOTES):
        votes = slow.random_votes(seed)
        size = 1 + seed % votes.n_members
        stuck = "stop" if seed % 4 == 0 else "skip"
        pruner = pruning.FTAD(measure, size, lambda_, stuck, search)
        compare(pruner, votes, size, measure)


def compare(pruner, votes, size, measure):
    with warnings.catch_warnings(action="ignore", category=QuorateWarning):
        pruner.fit(votes)
    how = slow.Problem.of(votes), size, measure
    found = slow.sample_driven(*how, pruner.lambda_, pruner.stuck, pruner.search)
    order, samples, margins = found
    assert pruner.order_.tolist() == order
    assert pruner.trace_samples_.tolist() == samples
    np.testing.assert_allclose(pruner.trace_margins_, margins, atol=1e-12)


@pytest.mark.parametrize("ties", ["expected", "lowest"])
@pytest.mark.parametrize(
    "weighted", [pytest.param(False, marks=pytest.mark.slow), True]
)
def test_running_never_needs_to_vote_again(ties, weighted):
    for seed in range(N_VOTES):
        votes = slow.random_votes(seed, weighted=weighted)
        problem = slow.Problem.of(votes)
        running = running_vote(votes, ties)
        rng = np.random.default_rng(seed)
        for _ in range(6):
            running.flip(int(rng.integers(votes.n_members)))
            inside = np.flatnonzero(running.inside).tolist()
            unit = running.scale
            assert running.size == len(inside)
            assert running.error == pytest.approx(unit * problem.error(inside, ties))
            if not inside:
                continue
            np.testing.assert_allclose(
                np.asarray(running.sample_errors(), dtype=float) / unit,
                [float(e) for e in problem.sample_errors(inside, ties)],
            )
            winners = [-1 if w is None else w for w in problem.winners(inside)]
            assert running.winners().tolist() == winners
            after = running.errors_if_flipped()
            for t in range(votes.n_members):
                changed = [q for q in inside if q != t] + [t] * (t not in inside)
                assert after[t] == pytest.approx(unit * problem.error(changed, ties))
            state = running.snapshot()
            member = int(rng.integers(votes.n_members))
            running.flip(member)
            running.restore(state)
            assert np.flatnonzero(running.inside).tolist() == inside
            np.testing.assert_array_equal(running.errors_if_flipped(), after)


def test_margin_distance_schedule():
    for seed in range(60):
        votes = slow.random_votes(seed, masked=False)
        n = votes.n_members
        signs = np.where(votes.correct, 1.0, -1.0)
        picked, total = [], np.zeros(votes.n_samples)
        for step in range(n):
            goal = 2 * np.sqrt(2 * (step + 1)) / n
            gaps = np.linalg.norm(goal - (total + signs) / n, axis=1)
            gaps[picked] = np.inf
            member = int(np.flatnonzero(gaps <= gaps.min() * (1 + 1e-12))[0])
            picked.append(member)
            total += signs[member]
        found = pruning.MarginDistance(1.0, p="schedule").fit(votes)
        assert found.order_.tolist() == picked


@pytest.mark.parametrize("ties", ["expected", "lowest"])
@pytest.mark.parametrize(
    ("weights", "tied"),
    [
        ([1e6, 1e6 + 5e-7], True),
        ([3e9, 3e9 + 2e-3], True),
        ([1e-9, 1e-9 * (1 + 1e-13)], True),
        ([1e-6, 1e-6 + 5e-13], False),
        ([1.0, 1.0 + 1e-8], False),
    ],
)
def test_runnings_tie_by_the_share_of_the_total_weight(weights, tied, ties):
    votes = quorate.Votes([[0], [1]], [0], weights=weights)
    running = running_vote(votes, ties)
    running.become(np.arange(2))
    expected = (0.5 if ties == "expected" else 0) if tied else 1
    assert running.error / running.scale == expected
    assert running.winners().tolist() == [-1 if tied else 1]


@pytest.mark.parametrize("seed", [11, 50, 58])
def test_backfitting_goes_on_while_the_error_falls(seed):
    """Votes on which one round of exchanges is not enough."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 30)
    guesses = rng.random((14, 30)) < 0.5
    votes = quorate.Votes(np.where(guesses, y, rng.integers(0, 3, (14, 30))), y)
    found = pruning.ReducedError(6, backfitting=True).fit(votes)
    assert found.order_.tolist() == slow.backfitted(slow.Problem.of(votes), 6)
