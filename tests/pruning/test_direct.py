"""Kernels that look up, multiply and pack choose as the plain way does."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
from tests.pruning import direct, slow

import quorate
from quorate import pruning
from quorate._kernels import bits, counts, pairs, sums
from quorate._kernels.information import mutual_information, shared_information
from quorate._kernels.losses import log_of_product, sample_losses
from quorate.pruning._running_average import TwoClassAccuracy, running_average

N_VOTES = 60


@pytest.mark.parametrize("n_classes", [1, 2, 5, 8, 40])
@pytest.mark.parametrize("masked", [False, True])
def test_sums_of_votes(n_classes, masked):
    rng = np.random.default_rng(n_classes)
    codes = rng.integers(-1 if masked else 0, n_classes, (20, 20_001)).astype(np.int8)
    table, weights = rng.normal(size=(n_classes, 20_001)), rng.random(20)
    votes = codes[None] == np.arange(n_classes)[:, None, None]
    found = sums.sum_by_vote(codes, table, masked)
    np.testing.assert_allclose(found, np.einsum("cts,cs->t", votes, table))
    wanted = np.einsum("cts,t->cs", votes, weights)
    found = sums.sum_by_class(codes, weights, n_classes, masked)
    np.testing.assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize("n_words", [1, 1023, 1024, 1025])
def test_counts_are_not_cut_off(n_words):
    flags = np.ones((2, 64 * n_words), dtype=bool)
    assert bits.count(bits.pack(flags)).tolist() == [64 * n_words] * 2


@pytest.mark.parametrize("n_columns", [0, 1, 7, 64, 1001])
def test_log_of_product(n_columns):
    rng = np.random.default_rng(n_columns)
    factors = 10.0 ** rng.uniform(-6, 6, (4, n_columns))
    wanted = np.log(factors).sum(axis=1)
    np.testing.assert_allclose(log_of_product(factors), wanted, atol=1e-9)


@pytest.mark.parametrize(
    ("n_members", "n_samples"), [(1, 333), (30, 333), (30, 4100), (450, 333)]
)
def test_pairs_by_bits_or_by_products(n_members, n_samples):
    rng = np.random.default_rng(0)
    codes = rng.integers(-1, 3, (n_members, n_samples)).astype(np.int8)
    y = rng.integers(0, 3, n_samples).astype(np.int8)
    hit = (codes == y).astype(int)
    np.testing.assert_array_equal(pairs.both_equal(codes, y), hit @ hit.T)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_shared_information(n_classes):
    rng = np.random.default_rng(0)
    codes = rng.integers(-1, n_classes, (7, 300)).astype(np.int8)
    samples = np.flatnonzero(rng.random(300) < 0.7)
    found = shared_information(codes, np.array([5, 0]), n_classes, samples)
    for column, other in enumerate((5, 0)):
        wanted = mutual_information(codes[:, samples], codes[other, samples], n_classes)
        np.testing.assert_allclose(found[:, column], wanted, atol=1e-12)


@pytest.mark.parametrize("loss", ["accuracy", "brier", "log_loss"])
def test_greedy_selection(loss):
    for seed in range(2 * N_VOTES):
        votes = (direct if seed % 2 else slow).random_votes(seed)
        size = 1 + seed % votes.n_members
        fitted = pruning.GreedySelection(size, loss, n_rounds=15).fit(votes)
        counts = direct.greedy_selection(votes, size, loss, n_rounds=15)
        assert fitted.order_.tolist() == list(counts), seed
        found = fitted.weights_[fitted.order_] * sum(counts.values())
        np.testing.assert_allclose(found, list(counts.values()), err_msg=str(seed))


def test_more_rounds_than_a_byte_counts():
    votes = direct.random_votes(1)
    votes = quorate.Votes(votes.codes % 2, votes.y % 2)
    counts = direct.greedy_selection(votes, 2, "accuracy", 300)
    found = pruning.GreedySelection(2, n_rounds=300).fit(votes).weights_
    shares = {t: count / sum(counts.values()) for t, count in counts.items()}
    assert {t: found[t] for t in np.flatnonzero(found)} == pytest.approx(shares)
    long = pruning.GreedySelection(1, n_rounds=300).fit(votes)
    np.testing.assert_allclose(long.losses_, long.losses_[0])


@pytest.mark.parametrize(("slope", "sweeps"), [(3.0, 2), (800.0, 2), (6.0, 0)])
def test_margin_loss(slope, sweeps):
    for seed in range(N_VOTES):
        for draw in (direct.random_votes, partial(slow.random_votes, weighted=True)):
            votes = draw(seed)
            size = 1 + seed % min(5, votes.n_members)
            found = pruning.MarginLoss(size, slope, sweeps).fit(votes).order_.tolist()
            assert found == direct.margin_loss(votes, size, slope, sweeps), seed


@pytest.mark.parametrize("smoothing", [0.3, 0.0])
def test_simplex(smoothing):
    for seed in range(0, N_VOTES, 2):
        votes = direct.random_votes(seed)
        size = 1 + seed % votes.n_members
        found = pruning.SimplexWeights(size, smoothing=smoothing).fit(votes).weights_
        wanted = direct.simplex(votes, size, smoothing)
        np.testing.assert_allclose(found, wanted, atol=2e-6, err_msg=str(seed))


def test_losses_of_many_samples_are_added_up_block_by_block(monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 2_000)
    codes = np.where(
        rng.random((12, y.size)) < 0.6, y, rng.integers(0, 3, (12, y.size))
    )
    votes = quorate.Votes(codes, y)
    whole = pruning.MarginLoss(keep=6, sweeps=0).fit(votes).order_
    monkeypatch.setattr(counts, "_BLOCK_BYTES", 1)  # 256 samples
    assert pruning.MarginLoss(keep=6, sweeps=0).fit(votes).order_.tolist() == list(
        whole
    )


def test_rounding_breaks_no_tie_of_weighted_errors():
    # Thirds added up in another order are another float, as for the first of these.
    for seed in (671, *range(25)):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(8, 24)), 10
        y = rng.integers(0, 3, m)
        y[:3] = np.arange(3)
        codes = np.where(rng.random((n, m)) < 0.5, y, rng.integers(0, 3, (n, m)))
        valid = rng.random((n, m)) < 0.5
        valid[np.arange(n), rng.integers(0, m, n)] = True
        valid[rng.integers(0, n, m), np.arange(m)] = True
        weights = rng.integers(1, 4, n)
        votes = quorate.Votes(codes, y, weights=weights * 0.1, valid=valid)
        problem = slow.Problem.of(votes)
        problem.weights = weights.tolist()
        found = pruning.ReducedError(7).fit(votes).order_.tolist()
        assert found == slow.reduced_error(problem, 7), seed


@pytest.mark.parametrize("n_classes", [2, pytest.param(12, marks=pytest.mark.slow)])
@pytest.mark.parametrize("masked", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize("method", ["simplex", "margin_loss"])
def test_memory(method, masked, n_classes):
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, 20_000)
    codes = np.where(rng.random((150, y.size)) < 0.7, y, 0)
    valid = rng.random(codes.shape) < 0.5 if masked else None
    votes = quorate.Votes(codes, y, valid=valid)
    pruner = pruning.make_pruner(method, keep=3)
    tracemalloc.start()
    pruner.fit(votes)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 2 * votes.codes.nbytes + 8 * y.size * n_classes


def tied_votes(rng, steps, masked, n_members=12, n_samples=300):
    """Return votes whose probabilities take few values, so that many tie, or any."""
    y = rng.integers(0, 2, n_samples)
    lean = np.where(y == 1, 0.15, -0.15)
    shares = np.clip(rng.random((n_members, n_samples)) + lean, 0, 1)
    if steps:
        shares = np.rint(shares * steps) / steps
        shares[0, 0] = 0.75  # where all are sure, votes are counted
    valid = rng.random(shares.shape) < 0.7 if masked else None
    P = np.stack([1 - shares, shares], axis=2)
    return quorate.Votes(P.argmax(axis=2), y, probabilities=P, valid=valid)


def error_of_mean(votes, picks):
    """Return the loss of the mean over the members in a set, those that may vote."""
    P = np.nan_to_num(votes.probabilities.astype(np.float32)).astype(float)
    total = sum(P[t] for t in picks)
    cast = sum((votes.codes[t] >= 0).astype(int) for t in picks)
    means = total / np.maximum(cast, 1)[:, None]
    return float(sample_losses("accuracy", means, votes.y).mean())


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("steps", [0, 1, 2, 10, 1000])
def test_every_round_is_that_of_the_mean(steps, masked):
    rng = np.random.default_rng(steps)
    votes = tied_votes(rng, steps, masked)
    average = running_average(votes, "accuracy", 30)
    assert isinstance(average, TwoClassAccuracy)
    # Members of like mind first: leads grow, and fall again when the others come in.
    gaps = (average.gaps > 0).mean(axis=1)
    few, many = np.argsort(-gaps)[:2], np.argsort(-gaps)
    picks, everybody = [], np.arange(votes.n_members)
    widths = set()
    for member in [*np.tile(few, 6), *np.tile(many[::-1], 2)]:
        expected = [error_of_mean(votes, [*picks, t]) for t in everybody]
        np.testing.assert_allclose(average.losses(everybody), expected, atol=1e-12)
        some = everybody[1::3]
        np.testing.assert_array_equal(
            average.losses(some), average.losses(everybody)[some]
        )
        average.add(int(member))
        picks.append(int(member))
        assert average.loss() == pytest.approx(error_of_mean(votes, picks), abs=1e-12)
        widths.add(average.samples.size)
    assert len(widths) > 3  # samples were left out, and came back
