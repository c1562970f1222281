"""Selectors that average and choose weights: twins, optimality, refusals, records."""

import numpy as np
import pytest
from tests.pruning import slow, slow_selectors
from tests.pruning.slow_selectors import Shares

import quorate
from quorate import pruning
from quorate._kernels import counts
from quorate._votes import votes_from_codes, with_changes
from quorate.pruning._vote_shares import brier_products
from quorate.results import VoteSource

N_VOTES = 60


def random_votes(seed):
    """Return votes of every third kind with probabilities."""
    votes = slow.random_votes(seed)
    seen = np.unique(np.concatenate([votes.codes[votes.codes >= 0], votes.y]))
    if seed % 3 or seen.size < votes.n_classes:
        return votes
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(votes.n_classes), votes.codes.shape)
    # float32 beforehand, so that twins see the same numbers
    options = {"valid": votes.valid, "probabilities": shares.astype(np.float32)}
    return quorate.Votes(votes.classes[votes.codes], votes.classes[votes.y], **options)


@pytest.mark.parametrize(
    ("cls", "twin", "options"),
    [
        (pruning.BrierSelection, slow_selectors.brier, {}),
        (pruning.BrierSelection, slow_selectors.brier, {"target": "soft", "sweeps": 1}),
        (pruning.BrierSelection, slow_selectors.brier, {"sweeps": 0}),
        (pruning.Herding, slow_selectors.herding, {}),
    ],
)
def test_order(cls, twin, options):
    for seed in range(N_VOTES):
        votes = random_votes(seed)
        size = 1 + seed % votes.n_members
        found = cls(size, **options).fit(votes).order_.tolist()
        assert found == twin(Shares.of(votes), size, **options), seed


def test_brier_on_unlabelled_samples():
    for seed in range(0, N_VOTES, 2):
        votes = slow.random_votes(seed)
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, votes.n_classes, (votes.n_members, 15))
        codes[:, : votes.n_classes] = np.arange(votes.n_classes)
        more = quorate.Votes(codes, codes[0])
        size = 1 + seed % votes.n_members
        S, U = Shares.of(votes), Shares.of(more)
        fitted = pruning.BrierSelection(size, mix=0.3).fit(votes, unlabelled=more)
        wanted = slow_selectors.brier(S, size, mix=0.3, unlabelled=U)
        assert fitted.order_.tolist() == wanted
        herd = pruning.Herding(size).fit(votes, unlabelled=more)
        assert herd.order_.tolist() == slow_selectors.herding(U, size)


def test_brier_is_the_brier_score():
    for seed in range(20):
        votes = slow.random_votes(seed, masked=False)
        fitted = pruning.BrierSelection(min(3, votes.n_members)).fit(votes)
        S = Shares.of(votes)
        score = slow_selectors.brier_score(S, S.mean(fitted.order_))
        assert fitted.loss_ == pytest.approx(score - 1)


def test_herding_ignores_labels():
    votes = slow.random_votes(3, masked=False)
    other = quorate.Votes(votes.codes, np.roll(votes.y, 1))
    first, second = (pruning.Herding(2).fit(v).order_ for v in (votes, other))
    np.testing.assert_array_equal(first, second)


def test_pairs_without_a_common_sample_count_as_the_others():
    valid = [[True, True, False], [False, False, True], [True, True, True]]
    votes = quorate.Votes([[0, 1, 0], [0, 1, 1], [0, 0, 1]], [0, 1, 1], valid=valid)
    # with themselves 1, (0, 2) agree once in two, (1, 2) always, (0, 1) never met
    known = (1 + 1 + 1 + 2 * 0.5 + 2 * 1) / 7
    products, right = brier_products(votes)
    assert products[0, 1] == pytest.approx(known)
    np.testing.assert_allclose(right, [1, 1, 2 / 3])


def test_sparse_weights_climb_down_the_steepest_member():
    for seed in range(12):
        votes = random_votes(seed)
        S = Shares.of(votes)
        size = 1 + seed % votes.n_members
        fitted = pruning.SparseWeights(size, ridge=0.05).fit(votes)
        picked, path = fitted.path()
        if fitted.n_kept_ == 1 and len(path) == 1:
            continue  # maybe the fallback, which has a test of its own
        for step, member in enumerate(picked):
            before = path[step - 1] if step else []
            slopes = slow_selectors.softmax_slopes(S, picked[:step], before)
            rest = [t for t in range(S.n) if t not in picked[:step]]
            assert slopes[member] <= min(slopes[t] for t in rest) + 2e-6
            weights = path[step]
            slopes = slow_selectors.softmax_slopes(S, picked[: step + 1], weights)
            for t, weight in zip(picked[: step + 1], weights, strict=True):
                pull = slopes[t] + 2 * 0.05 * weight
                assert pull > -1e-4
                assert pull * weight == pytest.approx(0, abs=1e-4)
        last = path[-1] / path[-1].sum()
        np.testing.assert_allclose(fitted.weights_[picked], last, atol=1e-5)


def test_sparse_weights_fall_back_on_the_best_member():
    votes = quorate.Votes([[1, 0, 1, 1], [1, 1, 0, 1]], [0, 0, 0, 0])
    fitted = pruning.SparseWeights(2).fit(votes)
    assert fitted.order_.tolist() == [0]
    assert fitted.weights_.tolist() == [1, 0]
    assert [part.tolist() for part in fitted.path()[1]] == [[1]]


def test_simplex_log_loss_is_at_rest():
    smoothing = 0.2
    for seed in range(0, N_VOTES, 3):
        votes = random_votes(seed)
        S = Shares.of(votes)
        fitted = pruning.SimplexWeights(None, smoothing=smoothing).fit(votes)
        weights = fitted.weights_
        assert weights.sum() == pytest.approx(1)
        grown = explained(S, weights)
        wanted = (grown / grown.sum() + smoothing / S.n) / (1 + smoothing)
        np.testing.assert_allclose(weights, wanted, atol=2e-4)


def test_simplex_weights_of_probabilities_are_of_all_blocks_of_samples(monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    shares = rng.dirichlet([1, 1], (5, 600))
    shares[0, 256:] = np.eye(2)[y[256:]]  # seen by who looks beyond the first block
    votes = quorate.Votes(shares.argmax(axis=2), y, probabilities=shares)
    whole = pruning.SimplexWeights(None).fit(votes).weights_
    monkeypatch.setattr(counts, "_BLOCK_BYTES", 1)
    parts = pruning.SimplexWeights(None).fit(votes).weights_
    np.testing.assert_allclose(parts, whole, atol=1e-9)


def explained(S, weights):
    """Return the share of each member in explaining the (doubted) labels."""
    m = len(S.y)
    doubt = 1 / (m + 1) if S.n_classes > 1 else 0
    found = np.zeros(S.n)
    for i, truth in enumerate(S.y):
        cast = [t for t in range(S.n) if S.P[t][i] is not None]
        whole = sum(weights[t] for t in cast)
        for c in range(S.n_classes):
            chance = 1 - doubt if c == truth else doubt / (S.n_classes - 1)
            said = {t: max(float(S.P[t][i][c]), 1e-6) for t in cast}
            mean = sum(weights[t] * said[t] for t in cast) / whole
            for t in range(S.n):
                ratio = said[t] / mean if t in said else 1.0
                found[t] += weights[t] * chance * ratio / m
    return found


def test_simplex_drops_members_until_few_are_left():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    sure = np.full((200, 3), 0.1)
    sure[np.arange(200), y] = 0.8
    noise = rng.dirichlet(np.ones(3), (9, 200))
    shares = np.concatenate([noise[:4], [sure], noise[4:]])
    votes = quorate.Votes(shares.argmax(2), y, probabilities=shares)
    fitted = pruning.SimplexWeights(3, smoothing=0.01).fit(votes)
    assert fitted.order_[0] == 4
    assert fitted.n_kept_ <= 3
    assert fitted.weights_[4] > 0.8


def test_probabilities_matter():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 100)
    vague = np.where(y[:, None] == [0, 1], 0.55, 0.45)
    sure = np.where(y[:, None] == [0, 1], 0.95, 0.05)
    plain = quorate.Votes([y, y], y)
    soft = quorate.Votes([y, y], y, probabilities=[vague, sure])
    for pruner in (
        pruning.BrierSelection(1),
        pruning.MarginLoss(1),
        pruning.SparseWeights(1),
        pruning.GreedySelection(1, loss="log_loss"),
        pruning.SimplexWeights(1),
    ):
        assert pruner.fit(plain).order_.tolist() == [0], pruner
        assert pruner.fit(soft).order_.tolist() == [1], pruner


class TestChooseMethod:
    votes = quorate.Votes([[0, 1], [1, 1], [0, 0]], [0, 1])
    soft = quorate.Votes(
        [[0, 1], [1, 1]], [0, 1], probabilities=np.full((2, 2, 2), 0.5)
    )

    @pytest.mark.parametrize(
        ("family", "source", "name"),
        [
            ("bagging", VoteSource.OUT_OF_BAG, "BrierSelection"),
            ("bagging", VoteSource.ASSUMED_NEW, "BrierSelection"),
            ("bagging", VoteSource.TRAINING, "Herding"),
            ("boosting", VoteSource.TRAINING, "SparseWeights"),
            ("pool", VoteSource.NEW, "BrierSelection"),
            ("pool", None, "BrierSelection"),
            (None, None, "BrierSelection"),
        ],
    )
    def test_families(self, family, source, name):
        parts = self.votes.codes, self.votes.y, self.votes.classes
        votes = votes_from_codes(*parts, family=family, source=source)
        chosen = pruning.choose_method(votes, keep=2)
        assert (type(chosen).__name__, chosen.keep) == (name, 2)

    def test_what_votes_carry(self):
        valid = np.ones((2, 2), dtype=bool)
        shares = self.soft.probabilities
        masked = quorate.Votes(
            self.soft.codes, [0, 1], valid=valid, probabilities=shares
        )
        for votes, cls in (
            (self.soft, pruning.SimplexWeights),
            (with_changes(self.votes, weights=[1, 2, 3]), pruning.SparseWeights),
            (masked, pruning.BrierSelection),
        ):
            assert isinstance(pruning.choose_method(votes), cls)


def test_simplex_by_name_does_for_a_pool_what_auto_does():
    """No pull towards equal weights, which cost log-loss where qualities differ."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 900)
    tables = []
    for quality in (3.0, 1.0, 0.5, 0.2):
        scores = np.exp(quality * np.eye(3)[y] + rng.normal(size=(900, 3)))
        tables.append(scores / scores.sum(axis=1, keepdims=True))
    tables = np.stack(tables)

    def weights(rows, method):
        codes, truth = tables[:, rows].argmax(axis=2), y[rows]
        votes = quorate.Votes(codes, truth, probabilities=tables[:, rows])
        return quorate.select(votes, method, keep=None).pruner.weights_

    def loss(weights, rows):
        mixed = np.tensordot(weights, tables[:, rows], 1)
        return -np.log(mixed[np.arange(len(mixed)), y[rows]]).mean()

    half, rest = slice(450), slice(450, None)
    by_name, auto = weights(half, "simplex"), weights(half, "auto")
    np.testing.assert_array_equal(by_name, auto)
    pulled = weights(half, pruning.SimplexWeights(smoothing=0.3))
    assert loss(by_name, rest) < loss(pulled, rest) - 0.02


@pytest.mark.parametrize(
    ("family", "masked", "smoothing"),
    [(None, False, 0.0), (None, True, 0.3), ("pool", True, 0.0), ("pool", False, 0.0),
     ("bagging", False, 0.3), ("boosting", False, 0.3)],
)  # fmt: skip
def test_whom_weights_are_pulled_together_for(family, masked, smoothing):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    codes = np.where(rng.random((4, 60)) < 0.7, y, 1 - y)
    valid = np.arange(60) % 5 != np.arange(4)[:, None] if masked else None
    plain = quorate.Votes(codes, y, valid=valid)
    votes = with_changes(plain, family=family)
    usual = pruning.SimplexWeights(None).fit(votes).weights_
    asked = pruning.SimplexWeights(None, smoothing=smoothing).fit(votes).weights_
    np.testing.assert_array_equal(usual, asked)
    other = pruning.SimplexWeights(None, smoothing=0.3 - smoothing).fit(votes).weights_
    assert np.abs(usual - other).max() > 0.01
