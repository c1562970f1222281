"""Every pruning method against its slow, literal twin on random votes."""

import warnings

import numpy as np
import pytest
from tests.pruning import slow

import quorate
from quorate import pruning
from quorate.exceptions import QuorateWarning
from quorate.pruning._running_vote import running_vote

N_VOTES = 250
MEASURES = tuple(quorate.measures())

# name -> (pruner from a size, twin from a problem and a size, whether weights enter)
PAIRS = {
    "re": (lambda k: pruning.ReducedError(k), slow.reduced_error, True),
    "re, lowest": (
        lambda k: pruning.ReducedError(k, ties="lowest"),
        lambda p, k: slow.reduced_error(p, k, "lowest"),
        True,
    ),
    "re, backfitting": (
        lambda k: pruning.ReducedError(k, backfitting=True),
        slow.backfitted,
        True,
    ),
    "oep": (lambda k: pruning.OrderedError(), lambda p, k: slow.ordered_error(p), True),
    "oep, at most": (lambda k: pruning.OrderedError(k), slow.ordered_error, True),
    "cm": (lambda k: pruning.Complementariness(k), slow.complementariness, True),
    "cm, lowest": (
        lambda k: pruning.Complementariness(k, ties="lowest"),
        lambda p, k: slow.complementariness(p, k, "lowest"),
        True,
    ),
    "drep": (lambda k: pruning.DREP(), lambda p, k: slow.drep(p), True),
    "drep, at most": (
        lambda k: pruning.DREP(k, rho=0.6),
        lambda p, k: slow.drep(p, k, 0.6),
        True,
    ),
    "drep, lowest": (
        lambda k: pruning.DREP(k, rho=1.0, ties="lowest"),
        lambda p, k: slow.drep(p, k, 1.0, "lowest"),
        True,
    ),
    "mrmc": (lambda k: pruning.MRMC(k), slow.mrmc, True),
    "mrmc, lowest": (
        lambda k: pruning.MRMC(k, ties="lowest"),
        lambda p, k: slow.mrmc(p, k, "lowest"),
        True,
    ),
    "discep": (lambda k: pruning.DiscEP(k), slow.discep, True),
    "concurrency": (lambda k: pruning.Concurrency(k), slow.concurrency, True),
    "uwa": (lambda k: pruning.UncertaintyWeighted(k), slow.uwa, True),
    "kp": (lambda k: pruning.KappaPruning(k), slow.kappa_pruning, False),
    "gma": (lambda k: pruning.FarthestFirst(k), slow.farthest_first, False),
    "lcs": (lambda k: pruning.LocalSearch(k), slow.local_search, False),
    "mrmr": (lambda k: pruning.MRMR(k), slow.mrmr, False),
    "mrmr, bits": (lambda k: pruning.MRMR(k, mi="bits"), slow.mrmr_bits, False),
    "mdm": (lambda k: pruning.MarginDistance(k), slow.margin_distance, False),
    "oo": (lambda k: pruning.OrientationOrdering(k), slow.orientation, False),
    "oo, own size": (
        lambda k: pruning.OrientationOrdering(),
        lambda p, k: slow.orientation(p),
        False,
    ),
    "kl": (lambda k: pruning.KLDivergence(k), slow.kl, False),
    "kl, one way": (
        lambda k: pruning.KLDivergence(k, symmetric=False),
        lambda p, k: slow.kl(p, k, symmetric=False),
        False,
    ),
    "epic": (lambda k: pruning.IndividualContribution(k), slow.epic, False),
    "umep": (lambda k: pruning.UMEP(k), slow.umep, False),
    "smep": (
        lambda k: pruning.UMEP(k, margin="supervised"),
        lambda p, k: slow.umep(p, k, supervised=True),
        False,
    ),
    "mdep": (lambda k: pruning.MDEP(k), slow.mdep, False),
}


@pytest.mark.parametrize("name", PAIRS)
def test_method(name):
    make, twin, weighs = PAIRS[name]
    for seed in range(N_VOTES):
        votes = slow.random_votes(seed, weighted=weighs and seed % 5 == 0)
        size = 1 + seed % votes.n_members
        problem = slow.Problem.of(votes)
        found = make(size).fit(votes)
        assert found.order_.tolist() == twin(problem, size), seed


@pytest.mark.parametrize("stuck", ["skip", "stop"])
@pytest.mark.parametrize("lambda_", ["measure", "ensemble"])
def test_epbd(lambda_, stuck):
    for seed in range(N_VOTES):
        votes = slow.random_votes(seed)
        size = 1 + seed % votes.n_members
        compare(pruning.EPBD(size, lambda_, stuck), votes, size, "error_gap")


@pytest.mark.slow
@pytest.mark.parametrize("lambda_", ["measure", "proposed"])
@pytest.mark.parametrize("measure", MEASURES)
def test_ftad(measure, lambda_):
    for seed in range(N_VOTES):
        votes = slow.random_votes(seed)
        size = 1 + seed % votes.n_members
        stuck = "stop" if seed % 4 == 0 else "skip"
        compare(pruning.FTAD(measure, size, lambda_, stuck), votes, size, measure)


def compare(pruner, votes, size, measure):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", QuorateWarning)
        pruner.fit(votes)
    order, samples, margins = slow.sample_driven(
        slow.Problem.of(votes), size, measure, pruner.lambda_, pruner.stuck
    )
    assert pruner.order_.tolist() == order
    assert pruner.trace_samples_.tolist() == samples
    np.testing.assert_allclose(pruner.trace_margins_, margins, atol=1e-12)


@pytest.mark.parametrize("ties", ["expected", "lowest"])
@pytest.mark.parametrize(
    "weighted", [pytest.param(False, marks=pytest.mark.slow), True]
)
def test_ballot_never_needs_to_vote_again(ties, weighted):
    for seed in range(N_VOTES):
        votes = slow.random_votes(seed, weighted=weighted)
        problem = slow.Problem.of(votes)
        ballot = running_vote(votes, ties)
        rng = np.random.default_rng(seed)
        for _ in range(6):
            ballot.flip(int(rng.integers(votes.n_members)))
            inside = np.flatnonzero(ballot.inside).tolist()
            unit = ballot.scale
            assert ballot.size == len(inside)
            assert ballot.error == pytest.approx(unit * problem.error(inside, ties))
            if not inside:
                continue
            np.testing.assert_allclose(
                np.asarray(ballot.sample_errors(), dtype=float) / unit,
                [float(e) for e in problem.sample_errors(inside, ties)],
            )
            winners = [-1 if w is None else w for w in problem.winners(inside)]
            assert ballot.winners().tolist() == winners
            after = ballot.errors_if_flipped()
            for t in range(votes.n_members):
                changed = [q for q in inside if q != t] + [t] * (t not in inside)
                assert after[t] == pytest.approx(unit * problem.error(changed, ties))
            state = ballot.snapshot()
            member = int(rng.integers(votes.n_members))
            ballot.flip(member)
            ballot.restore(state)
            assert np.flatnonzero(ballot.inside).tolist() == inside
            np.testing.assert_array_equal(ballot.errors_if_flipped(), after)


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
def test_ballots_tie_by_the_share_of_the_total_weight(weights, tied, ties):
    votes = quorate.Votes([[0], [1]], [0], weights=weights)
    ballot = running_vote(votes, ties)
    ballot.become(np.arange(2))
    expected = (0.5 if ties == "expected" else 0) if tied else 1
    assert ballot.error / ballot.scale == expected
    assert ballot.winners().tolist() == [-1 if tied else 1]


@pytest.mark.parametrize("seed", [11, 50, 58])
def test_backfitting_goes_on_while_the_error_falls(seed):
    """Votes on which one round of exchanges is not enough."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 30)
    guesses = rng.random((14, 30)) < 0.5
    votes = quorate.Votes(np.where(guesses, y, rng.integers(0, 3, (14, 30))), y)
    found = pruning.ReducedError(6, backfitting=True).fit(votes)
    assert found.order_.tolist() == slow.backfitted(slow.Problem.of(votes), 6)
