"""What must hold whatever the votes are."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tests import strategies

import quorate
from quorate._votes import totals

MEASURES = quorate.measures()
FAST = settings(deadline=None, max_examples=100)
equal_votes = strategies.votes(weighted=False, masked=False)


def rebuilt(votes, **options):
    """Return the same votes, made of labels, with other options."""
    options = {"valid": votes.valid, **options}
    return quorate.Votes(votes.classes[votes.codes], votes.classes[votes.y], **options)


def close(a, b):
    return a == pytest.approx(b, rel=1e-9, abs=1e-12, nan_ok=True)


@FAST
@given(votes=equal_votes)
def test_identities_between_measures(votes):
    found = quorate.diversity(votes)
    n, p = votes.n_members, float(votes.correct.mean())
    assume(n >= 2)
    assert close(found["kw_variance"], (n - 1) / (2 * n) * found["disagreement"])
    assert close(found["kw_variance"] + found["difficulty"], p * (1 - p))
    assert close(found["double_fault"], (1 - p) - found["disagreement"] / 2)
    if 0 < p < 1:
        spread = found["disagreement"] / (2 * p * (1 - p))
        assert close(found["interrater"], 1 - spread)
    if p < 1:
        assert close(found["generalized"], found["disagreement"] / (2 * (1 - p)))
    right, _ = totals.sample_counts(votes)
    failed = right[right < n]
    if failed.size:
        assert close(found["coincident_failure"], float((failed / (n - 1)).mean()))


@FAST
@given(votes=strategies.votes())
def test_decomposition_adds_up(votes):
    found = quorate.decompose(votes)
    assert_allclose(
        found.sample_error,
        found.sample_member_error - found.sample_diversity,
        atol=1e-15,
    )
    assert close(found.error, found.member_error - found.diversity)
    assert close(found.error, votes.error())
    assert close(found.diversity, quorate.diversity(votes, "error_gap"))


@FAST
@given(votes=strategies.votes())
def test_corollary_holds_for_the_lambda_of_the_ensemble(votes):
    found = quorate.decompose(votes, lambda_="ensemble")
    assert_allclose(found.sample_margin, 1 - 2 * found.sample_member_error, atol=1e-12)
    printed = quorate.decompose(votes, lambda_="paper")
    zero = printed.sample_diversity == 0
    assert (printed.sample_margin[zero] == 0).all()
    assert_array_equal(printed.sample_lambda, np.sign(printed.sample_diversity))


@pytest.mark.parametrize("name", MEASURES)
@FAST
@given(votes=strategies.votes(weighted=False))
def test_values_stay_in_the_range_they_state(name, votes):
    n, n_classes = votes.n_members, votes.n_classes
    ends = {
        "[0, 1]": (0, 1),
        "[-1, 1]": (-1, 1),
        "[0, 1/4]": (0, 0.25),
        "[-1/(n-1), 1]": (-1 / max(1, n - 1), 1),
        "[0, ln min(n, L)]": (0, np.log(min(n, n_classes))),
        "(-1/2, 1 - 1/L)": (-0.5, 1 - 1 / n_classes),
    }
    low, high = ends[MEASURES[name].range]
    if votes.is_masked and name == "interrater":
        low = -np.inf  # the lower end holds for equal numbers of votes only
    value = quorate.diversity(votes, name)
    assert low - 1e-9 <= value <= high + 1e-9


@FAST
@given(data=st.data(), votes=strategies.votes(weighted=False))
def test_order_of_samples_and_members_does_not_matter(data, votes):
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    samples = rng.permutation(votes.n_samples)
    members = rng.permutation(votes.n_members)
    labels = votes.classes[votes.codes][members][:, samples]
    valid = None if votes.valid is None else votes.valid[members][:, samples]
    mixed = quorate.Votes(labels, votes.classes[votes.y][samples], valid=valid)
    first, second = quorate.diversity(votes), quorate.diversity(mixed)
    assert all(close(first[name], second[name]) for name in first)
    for name in ("error_gap", "disagreement", "entropy_cc"):
        assert_array_equal(
            quorate.sample_diversity(votes, name)[samples],
            quorate.sample_diversity(mixed, name),
        )
    kappa = quorate.pairwise_diversity(votes, "kappa")
    assert_array_equal(
        kappa[np.ix_(members, members)], quorate.pairwise_diversity(mixed, "kappa")
    )


@pytest.mark.parametrize("outputs", ["oracle", "label"])
@FAST
@given(data=st.data(), votes=strategies.votes(weighted=False, max_classes=4))
def test_renaming_classes_does_not_matter(outputs, data, votes):
    names = data.draw(st.permutations(["d", "c", "b", "a"]))
    renamed = np.array(names)[: votes.n_classes]
    again = quorate.Votes(renamed[votes.codes], renamed[votes.y], valid=votes.valid)
    for name in MEASURES:
        if outputs == "label" and name in ("q_statistic", "correlation"):
            continue
        assert close(
            quorate.diversity(votes, name, outputs=outputs),
            quorate.diversity(again, name, outputs=outputs),
        )
    assert close(votes.accuracy(), again.accuracy())


@FAST
@given(votes=strategies.votes(weighted=False, masked=False))
def test_a_mask_that_hides_nothing_changes_nothing(votes):
    everything = np.ones((votes.n_members, votes.n_samples), dtype=bool)
    masked = rebuilt(votes, valid=everything)
    assert masked.is_masked
    first, second = quorate.diversity(votes), quorate.diversity(masked)
    assert all(close(first[name], second[name]) for name in first)
    for name in MEASURES:
        assert_array_equal(
            quorate.sample_diversity(votes, name),
            quorate.sample_diversity(masked, name),
        )
    assert_array_equal(votes.predict(), masked.predict())
    assert_array_equal(votes.accuracies, masked.accuracies)
    assert quorate.assess_risk(votes).margin == quorate.assess_risk(masked).margin


@FAST
@given(votes=strategies.votes(weighted=False), weight=st.sampled_from([0.1, 1.0, 3.0]))
def test_equal_weights_are_no_weights(votes, weight):
    weighted = rebuilt(votes, weights=[weight] * votes.n_members)
    assert quorate.diversity(votes) == quorate.diversity(weighted)
    assert_array_equal(votes.sample_errors(), weighted.sample_errors())


@FAST
@given(
    votes=strategies.votes(masked=False, weighted=False, max_members=5), data=st.data()
)
def test_a_weight_is_that_many_members(votes, data):
    weights = data.draw(
        st.lists(st.integers(1, 3), min_size=votes.n_members, max_size=votes.n_members)
    )
    labels, y = votes.classes[votes.codes], votes.classes[votes.y]
    weighted = rebuilt(votes, weights=weights)
    repeated = quorate.Votes(np.repeat(labels, weights, axis=0), y)
    assert_array_equal(weighted.predict(), repeated.predict())
    for name in ("error_gap", "entropy_cc"):
        assert_allclose(
            quorate.sample_diversity(weighted, name),
            quorate.sample_diversity(repeated, name),
            atol=1e-12,
        )
        assert close(
            quorate.diversity(weighted, name), quorate.diversity(repeated, name)
        )


@FAST
@given(votes=equal_votes)
def test_mean_of_samples_is_the_whole_where_it_should_be(votes):
    assume(votes.n_members >= 2)
    for name in ("disagreement", "double_fault", "kw_variance", "entropy_cc",
                 "entropy_sk", "error_gap"):  # fmt: skip
        mean = float(quorate.sample_diversity(votes, name).mean())
        assert close(quorate.diversity(votes, name), mean)


@FAST
@given(votes=equal_votes)
def test_mean_of_pairs_is_the_whole(votes):
    assume(votes.n_members >= 2)
    above = np.triu_indices(votes.n_members, k=1)
    for name in (name for name, measure in MEASURES.items() if measure.pairwise):
        matrix = quorate.pairwise_diversity(votes, name)
        assert close(quorate.diversity(votes, name), float(matrix[above].mean()))


@FAST
@given(votes=strategies.votes())
def test_keeping_everybody_changes_nothing(votes):
    again = votes.keep(np.arange(votes.n_members))
    assert_array_equal(votes.codes, again.codes)
    assert_array_equal(votes.predict(), again.predict())
    assert votes.names == again.names


@FAST
@given(votes=strategies.votes(max_members=6))
def test_float_weights_do_not_let_rounding_decide(votes):
    weights = 1.0 + np.arange(votes.n_members) % 3
    tenths, whole = (rebuilt(votes, weights=w * weights) for w in (0.1, 1.0))
    assert_array_equal(tenths.sample_errors(), whole.sample_errors())
