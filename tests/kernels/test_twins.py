"""Every measure and every count against its slow, literal twin."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import cohen_kappa_score
from tests import strategies, twins

import quorate
from quorate._kernels import counts, pairs

MEASURES = quorate.measures()
PAIRWISE = [name for name, measure in MEASURES.items() if measure.pairwise]
FAST = settings(deadline=None, max_examples=60)


def convention(name, undefined):
    return MEASURES[name].undefined if undefined == "authors" else math.nan


@pytest.mark.parametrize(
    ("measure", "twin", "rtol"),
    [(quorate.diversity, twins.whole, 1e-10),
     (quorate.sample_diversity, twins.per_sample, 1e-12)],
)  # fmt: skip
@pytest.mark.parametrize("undefined", ["authors", "nan"])
@pytest.mark.parametrize("name", MEASURES)
@FAST
@given(votes=strategies.votes(weighted=False))
def test_whole_ensembles_and_samples(name, undefined, measure, twin, rtol, votes):
    lists = twins.as_lists(votes)
    expected = twin(name, *lists, undefined=convention(name, undefined))
    found = measure(votes, name, undefined=undefined)
    assert_allclose(found, expected, rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("name", PAIRWISE)
@FAST
@given(data=st.data())
def test_labels(name, data):
    most = 2 if name in ("q_statistic", "correlation") else 5
    votes = data.draw(strategies.votes(weighted=False, max_classes=most))
    lists = twins.as_lists(votes)
    found = quorate.diversity(votes, name, outputs="label")
    expected = twins.whole(name, *lists, outputs="label")
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-12)
    found = quorate.pairwise_diversity(votes, name, outputs="label")
    expected = twins.pair_matrix(name, *lists, "label", 0.0)
    assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("undefined", ["authors", "nan"])
@pytest.mark.parametrize("name", PAIRWISE)
@FAST
@given(votes=strategies.votes())
def test_pairs(name, undefined, votes):
    expected = twins.pair_matrix(
        name, *twins.as_lists(votes), "oracle", convention(name, undefined)
    )
    found = quorate.pairwise_diversity(votes, name, undefined=undefined)
    assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@FAST
@given(votes=strategies.votes(weighted=False))
def test_single_samples_of_labels(votes):
    expected = twins.per_sample("disagreement", *twins.as_lists(votes), outputs="label")
    found = quorate.sample_diversity(votes, "disagreement", outputs="label")
    assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@settings(deadline=None, max_examples=200)
@given(votes=strategies.votes())
def test_voting_and_decomposition(votes):
    V, y, n_classes = twins.as_lists(votes)
    given_weights = votes.weights if votes.weights is not None else [1] * len(V)
    weights = [Fraction(int(w)) for w in given_weights]
    winners = twins.predictions(V, weights, n_classes)
    assert_array_equal(votes.predict(), votes.classes[winners])
    for ties in ("expected", "lowest"):
        errors = twins.vote_errors(V, y, weights, n_classes, ties)
        assert_array_equal(votes.sample_errors(ties), np.array(errors, dtype=float))
        mean = float(sum(errors) / len(errors))
        assert votes.accuracy(ties) == pytest.approx(1 - mean)
    found = quorate.decompose(votes)
    G, A, D = twins.decomposition(V, y, weights, n_classes)
    assert_allclose(found.sample_error, np.array(G, float), atol=1e-15)
    assert_allclose(found.sample_member_error, np.array(A, float), atol=1e-15)
    assert_allclose(found.sample_diversity, np.array(D, float), atol=1e-15)


@pytest.mark.parametrize("credence", [1, 2, 3])
@FAST
@given(votes=strategies.votes(masked=False))
def test_credences(credence, votes):
    V, y, n_classes = twins.as_lists(votes)
    weights = votes.weights if votes.weights is not None else [1.0] * len(V)
    found = quorate.decompose(votes, credence=credence)
    G, A, D = twins.credence_decomposition(V, y, weights, n_classes, credence)
    assert_allclose(found.sample_error, G, atol=1e-12)
    assert_allclose(found.sample_member_error, A, atol=1e-12)
    assert_allclose(found.sample_diversity, D, atol=1e-12)


@FAST
@given(seed=st.integers(0, 2**32 - 1), n_classes=st.integers(2, 40))
def test_kernels_for_many_classes_equal_those_for_few(seed, n_classes):
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, n_classes, (6, 30)).astype(np.int8)
    expected = np.array([(codes == label).sum(axis=0) for label in range(n_classes)])
    assert_array_equal(counts.tally(codes, n_classes), expected)
    same = np.array(
        [[((a == b) & (a >= 0)).sum() for b in codes] for a in codes.astype(int)]
    )
    assert_array_equal(pairs.agreement(codes, n_classes), same)


def test_counts_of_more_members_than_a_byte_holds():
    codes = np.zeros((600, 3), dtype=np.int8)
    codes[:300, 1] = 1
    assert_array_equal(counts.tally(codes, 2), [[600, 300, 600], [0, 300, 0]])
    assert_array_equal(
        counts.correct_per_sample(codes, np.zeros(3, np.int8)), [600, 300, 600]
    )


def test_blocks_of_samples_cover_all_of_them(monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 5000)
    predictions = np.where(
        rng.random((9, 5000)) < 0.7, y, rng.integers(0, 3, (9, 5000))
    )
    valid = rng.random((9, 5000)) < 0.8
    valid[0] = True
    plain = quorate.diversity(quorate.Votes(predictions, y, valid=valid))
    monkeypatch.setattr(counts, "_BLOCK_BYTES", 1)
    assert sum(1 for _ in counts.column_blocks(9, 5000, 4)) == 20
    assert quorate.diversity(quorate.Votes(predictions, y, valid=valid)) == plain


@FAST
@given(votes=strategies.votes(masked=False))
def test_kappa_equals_scikit_learn(votes):
    found = quorate.pairwise_diversity(votes, "kappa", outputs="label", undefined="nan")
    for t in range(votes.n_members):
        for q in range(votes.n_members):
            if np.unique(np.r_[votes.codes[t], votes.codes[q]]).size == 1:
                assert math.isnan(found[t, q])  # scikit-learn warns and gives NaN
                continue
            expected = cohen_kappa_score(votes.codes[t], votes.codes[q])
            assert found[t, q] == pytest.approx(expected, abs=1e-12)
