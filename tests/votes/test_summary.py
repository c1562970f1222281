"""Summaries: whatever the split and the order, the answers are those of all votes."""

import itertools
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import votes as any_votes
from tests.votes.same import are_same

import quorate
from quorate._kernels import losses, sums
from quorate._votes import (
    Summary,
    VoteSource,
    predicted_codes,
    renumber,
    totals,
    with_changes,
)
from quorate.exceptions import FileFormatError

PAIRWISE = [name for name, m in quorate.measures().items() if m.pairwise]


@st.composite
def splits(draw, n_samples):
    """Draw the samples cut into batches, in any order."""
    order = draw(st.permutations(range(n_samples)))
    cuts = draw(st.lists(st.integers(0, n_samples), max_size=4))
    edges = sorted({0, n_samples, *cuts})
    return [sorted(order[start:end]) for start, end in itertools.pairwise(edges)]


def same(one, two, tolerance=0.0):
    """Compare numbers: to the bit where they come from counts."""
    return one == pytest.approx(two, rel=0, abs=tolerance, nan_ok=True)


def diversities(counted, **options):
    with warnings.catch_warnings(action="ignore"):
        return quorate.diversity(counted, **options)


def assert_says_the_same(summary, votes, *, places=True):
    """Check that a summary answers everything as the votes on all samples do."""
    # sums of weights may differ in the last bit from batch to batch
    tolerance = 0.0 if votes.has_equal_weights else 1e-12
    for options in ({}, {"outputs": "label"}, {"undefined": "nan"}, {"base": 2}):
        mine, whole = diversities(summary, **options), diversities(votes, **options)
        for name, value in whole.items():
            assert same(mine[name], value, tolerance), name
    mine, whole = quorate.decompose(summary), quorate.decompose(votes)
    for name in ("error", "member_error", "diversity"):
        assert same(getattr(mine, name), getattr(whole, name), tolerance)
    assert mine.n_samples == whole.n_samples == votes.n_samples
    np.testing.assert_array_equal(summary.accuracies, votes.accuracies)
    for total in (totals.class_counts, totals.member_counts, totals.agreement):
        np.testing.assert_array_equal(total(summary), total(votes))
    for outputs, name in itertools.product(("oracle", "label"), PAIRWISE):
        if outputs == "oracle" or votes.n_classes <= 2 or name[0] not in "qc":
            np.testing.assert_array_equal(
                quorate.pairwise_diversity(summary, name, outputs=outputs),
                quorate.pairwise_diversity(votes, name, outputs=outputs),
            )
    mine, whole = totals.histogram(summary), totals.histogram(votes)
    for name in ("c", "n", "times"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(whole, name))
    for lambda_ in ("ensemble", "paper"):
        mine = quorate.assess_risk(summary, lambda_=lambda_)
        whole = quorate.assess_risk(votes, lambda_=lambda_)
        assert not places or mine.worst_sample == votes.samples[whole.worst_sample]
        assert mine.interval == whole.interval
        for name in ("margin", "diversity"):
            assert same(getattr(mine, name), getattr(whole, name), tolerance)
        assert mine.risk == pytest.approx(whole.risk, rel=1e-9, nan_ok=True)
    for rule, ties in itertools.product((None, "heads"), (None, "expected", "lowest")):
        assert same(summary.accuracy(ties, rule), votes.accuracy(ties, rule), 1e-12)
        assert same(summary.error(ties, rule), votes.error(ties, rule), 1e-12)
        table = np.zeros((votes.n_classes, votes.n_classes), dtype=int)
        np.add.at(table, (votes.y, predicted_codes(votes, rule)), 1)
        np.testing.assert_array_equal(summary.confusion(rule), table)


@st.composite
def votes_and_batches(draw, **options):
    votes = draw(any_votes(max_samples=20, **options))
    return votes, draw(splits(votes.n_samples))


def summed(votes, batches):
    # Votes.at keeps the positions of the samples, so no start is needed.
    return sum(votes.at(batch).summary() for batch in batches)


@given(votes_and_batches())
def test_any_split_in_any_order_gives_the_whole(drawn):
    votes, batches = drawn
    summary = summed(votes, batches)
    assert are_same(summary, votes.summary()) or not votes.has_equal_weights
    assert_says_the_same(summary, votes)
    assert_says_the_same(summary.unweighted(), votes.unweighted())


@given(votes_and_batches(), st.sampled_from(["ensemble", "paper"]))
def test_the_risk_does_not_depend_on_where_samples_stand(drawn, lambda_):
    votes, batches = drawn
    own = np.zeros(votes.samples.max() + 1, dtype=int)
    parts = []
    for batch in batches:
        part = votes.at(batch)
        own[part.samples] = np.arange(part.n_samples)  # as if it had come alone
        parts.append(renumber(part, own).summary())
    mine = quorate.assess_risk(sum(parts), lambda_=lambda_)
    whole = quorate.assess_risk(votes, lambda_=lambda_)
    for name in ("margin", "diversity", "risk"):
        one, two = getattr(mine, name), getattr(whole, name)
        assert one == pytest.approx(two, abs=1e-9, nan_ok=True)
    assert mine.interval == whole.interval


@pytest.mark.parametrize("weights", [None, [1.0, 1.0, 1.0 + 1e-15]])
def test_of_equal_margins_the_vote_that_is_worse(weights):
    # A tie of three and two against one: both have a margin of -1/3.
    columns = {"tie": [0, 1, 2], "wrong": [0, 1, 1]}
    for names in itertools.permutations(columns):
        predictions = np.array([columns[name] for name in names]).T
        votes = quorate.Votes(predictions, [0, 0], weights)
        alone = [
            quorate.Votes(predictions[:, [at]], [0], weights).summary() for at in (0, 1)
        ]
        for counted in (votes, votes.summary(), sum(alone), alone[1] + alone[0]):
            found = totals.smallest_margin(counted)
            assert found.margin == pytest.approx(-1 / 3)
            assert found.diversity == pytest.approx(-1 / 3)
        assert totals.smallest_margin(votes).place == names.index("wrong")


def test_weights_that_round_leave_no_diversity():
    # Added up in another order, 0.1 + 0.2 + 0.3 is not 0.6.
    off = np.array([0.1 + 0.2 + 0.3 - 0.6, 0.6 - (0.1 + 0.2 + 0.3), 0.0, 0.1, -0.1])
    assert off[0] > 0 > off[1]
    found = losses.vote_sign(np.zeros(5), off, "paper")
    assert found.tolist() == [0.0, 0.0, 0.0, 1.0, -1.0]


def without_unvoted(votes, batch):
    """Return the votes of a batch as if it had come alone, with its own classes."""
    part = votes.at(batch)
    labels = votes.classes[np.where(part.codes < 0, 0, part.codes)]
    return quorate.Votes(
        labels,
        votes.classes[part.y],
        weights=votes.weights,
        valid=part.valid,
        names=votes.names,
    )


@given(votes_and_batches(masked=False))
def test_classes_first_seen_in_a_later_batch_are_fine(drawn):
    votes, batches = drawn
    parts = [without_unvoted(votes, batch) for batch in batches]
    summary = sum(part.summary() for part in parts)
    # a class nobody votes for and that never is true cannot be known
    np.testing.assert_array_equal(
        summary.classes, np.unique(np.concatenate([part.classes for part in parts]))
    )
    whole = without_unvoted(votes, list(range(votes.n_samples)))
    assert_says_the_same(summary, whole, places=False)


@given(votes_and_batches())
def test_adding_is_associative_and_commutative(drawn):
    votes, batches = drawn
    parts = [votes.at(batch).summary() for batch in batches]
    forwards = sum(parts)
    backwards = parts[-1]
    for part in parts[-2::-1]:
        backwards = backwards + part
    folded = list(parts)
    while len(folded) > 1:  # a tree, as a cluster would
        folded = [sum(folded[at : at + 2]) for at in range(0, len(folded), 2)]
    assert are_same(forwards, backwards)
    assert are_same(forwards, folded[0])


@pytest.mark.parametrize("n_classes", [2, 3, 7, 50])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_classes_masks_and_weights(n_classes, masked, weighted):
    rng = np.random.default_rng([n_classes, masked, weighted])
    n, m = 23, 1500
    y = rng.integers(0, n_classes, m)
    codes = np.where(rng.random((n, m)) < 0.5, y, rng.integers(0, n_classes, (n, m)))
    votes = quorate.Votes(
        codes,
        y,
        weights=rng.random(n) if weighted else None,
        valid=rng.random((n, m)) < 0.4 if masked else None,
    )
    batches = np.array_split(rng.permutation(votes.n_samples), 11)
    summary = summed(votes, map(np.sort, batches))
    assert_says_the_same(summary, votes)
    assert_says_the_same(summary.unweighted(), votes.unweighted())


def average_votes(n_samples=400, seed=0, weights=None):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(3), (5, n_samples))
    return quorate.Votes(
        shares.argmax(axis=2),
        rng.integers(0, 3, n_samples),
        probabilities=shares,
        weights=weights,
    )


@pytest.mark.parametrize("weights", [None, [1, 2, 3, 4, 0.5]])
def test_the_ensembles_own_rule_adds_up(weights):
    votes = average_votes(weights=weights)
    heads = votes.accuracy(rule="heads")
    assert votes.accuracy() != heads
    summary = votes.at(range(150)).summary() + votes.at(range(150, 400)).summary()
    assert summary.rule == "average"
    assert average_votes(weights=[2] * 5).summary().unweighted().weights is None
    assert summary.accuracy() == votes.accuracy()
    assert summary.accuracy(rule="heads") == pytest.approx(heads, abs=1e-12)
    assert summary.by_plurality().accuracy() == summary.accuracy(rule="heads")
    assert np.trace(summary.confusion()) == np.sum(votes.predict() == votes.y)
    if weights is not None:
        equal = summary.unweighted()
        assert equal.accuracy(rule="heads") == votes.unweighted().accuracy(rule="heads")
        why = "this summary does not contain the predictions"
        with pytest.raises(ValueError, match=why):
            equal.accuracy()


def test_samples_without_a_vote_of_weight():
    votes = quorate.Votes(
        [[1, 1, 1, 2], [2, 0, 2, 1], [0, 0, 2, 2]],
        [1, 0, 2, 1],
        weights=[0, 1, 1],
        valid=np.array(1) == [[1, 1, 1, 1], [0, 1, 1, 1], [0, 1, 1, 1]],
    )
    assert_says_the_same(summed(votes, ([0, 1], [2, 3])), votes)
    nobody = votes.unweighted().keep([1, 2])  # nobody is left for the first sample
    both = summed(nobody, ([0, 1], [2, 3]))
    for ties in ("lowest", "expected"):
        assert both.accuracy(ties) == pytest.approx(nobody.accuracy(ties))


def test_the_source_of_a_sum_is_the_weaker_one():
    votes = quorate.Votes([[0, 1], [1, 1]], [0, 1])
    new, assumed, training = (
        with_changes(votes, source=source).summary()
        for source in (VoteSource.NEW, VoteSource.ASSUMED_NEW, VoteSource.TRAINING)
    )
    assert (new + assumed).source is (assumed + new).source is VoteSource.ASSUMED_NEW
    assert (training + new).source is VoteSource.TRAINING
    assert (new + votes.summary()).source is None


def test_single_samples_are_gone_and_it_says_so():
    summary = quorate.Votes([[0, 1], [1, 1]], [0, 1]).summary()
    words = r"needs the votes on single.*max_s"
    with pytest.raises(TypeError, match=words):
        quorate.sample_diversity(summary, "disagreement")
    with pytest.raises(TypeError, match=words):
        quorate.decompose(summary, credence=1)
    assert not hasattr(quorate.decompose(summary), "sample_error")


@given(any_votes(max_samples=20))
def test_a_file_gives_it_back(tmp_path_factory, votes):
    path = tmp_path_factory.mktemp("summary") / "one.npz"
    summary = votes.summary(start=2**45)
    summary.save(path)
    back = Summary.load(path)
    assert are_same(back, summary)
    assert repr(back) == repr(summary)
    values = diversities(summary)
    assert all(same(value, values[name]) for name, value in diversities(back).items())
    assert (back + back).n_samples == 2 * votes.n_samples


def test_a_file_that_is_something_else_is_refused(tmp_path):
    votes = quorate.Votes([[0, 1], [1, 1]], [0, 1])
    votes.save(tmp_path / "votes.npz")
    with pytest.raises(FileFormatError, match=r"was it written by Summary\.save"):
        Summary.load(tmp_path / "votes.npz")
    votes.summary().save(tmp_path / "summary.npz")
    with pytest.raises(FileFormatError, match=r"was it written by Votes\.save"):
        quorate.Votes.load(tmp_path / "summary.npz")
    whole = (tmp_path / "summary.npz").read_bytes()
    for size in range(0, len(whole), 97):
        (tmp_path / "cut.npz").write_bytes(whole[:size])
        with pytest.raises(FileFormatError):
            Summary.load(tmp_path / "cut.npz")


@pytest.mark.parametrize("weights", [None, [1, 2, 4]])
def test_positions_count_from_where_a_batch_starts(weights):
    votes = quorate.Votes([[0, 1, 1], [0, 0, 1], [1, 0, 1]], [0, 1, 1], weights)
    here = totals.smallest_margin(votes.summary())
    assert here.place == totals.smallest_margin(votes).place
    for there in (votes.summary(start=50), votes.summary(start=8).shifted(42)):
        for lambda_ in ("ensemble", "paper"):
            assert totals.smallest_margin(there, lambda_).place == (
                totals.smallest_margin(votes, lambda_).place + 50
            )


def test_it_cannot_be_changed_and_reads_well():
    votes = quorate.Votes([[0, 1], [1, 1], [0, 1]], [0, 1], names=["<a>", "b", "c"])
    summary = votes.summary()
    with pytest.raises(AttributeError):
        summary.names = ("x",)
    assert repr(summary) == (
        "Summary(3 members, 2 samples, 2 classes; members 83.3 % correct, "
        "their vote 100.0 %)"
    )
    assert ">Summary<" in summary._repr_html_()
    training = with_changes(votes, source=VoteSource.TRAINING).summary()
    assert "which say nothing about accuracy" in repr(training)


@given(
    st.lists(
        st.tuples(st.floats(-8000, 8000), st.integers(0, 2**20)), min_size=1, max_size=9
    )
)
def test_sums_in_whole_steps_are_those_of_fractions(drawn):
    values, times = (np.array(column) for column in zip(*drawn, strict=True))
    # scaling by a power of two is exact, so each value is rounded once
    exact = sum(round(Fraction(value) * 2**48) * int(count) for value, count in drawn)
    assert sums.whole_steps(values, times) == exact
    assert sums.as_float(exact) == float(Fraction(exact, 2**48))


@given(any_votes(max_samples=20))
def test_means_of_the_decomposition_are_those_of_its_samples(votes):
    parts = quorate.decompose(votes)
    for name in ("error", "member_error", "diversity"):
        samples = getattr(parts, f"sample_{name}")
        assert getattr(parts, name) == pytest.approx(samples.mean(), abs=1e-12)
    found = quorate.decompose(votes.summary())
    assert found.error == pytest.approx(found.member_error - found.diversity, abs=1e-12)
