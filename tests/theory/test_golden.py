"""Records of the paper's authors' code and of the specification, matched."""

import numpy as np
import pytest
from tests.golden_files import CASES, golden_votes, read

import quorate
from quorate import risk
from quorate._votes import totals

NAMES = [measure.paper_name for measure in quorate.measures().values()]
TWELVE = [name for name in NAMES if name != "Div"]


@pytest.fixture(params=CASES)
def authors(request):
    return read(f"authors_{request.param}")


@pytest.fixture(params=CASES)
def spec(request):
    return read(f"spec_{request.param}")


def test_there_are_all_cases():
    assert len(CASES) == 22


@pytest.mark.parametrize("outputs", ["oracle", "label_binary", "label_multi"])
@pytest.mark.parametrize("name", TWELVE)
def test_whole_ensemble(authors, outputs, name):
    if outputs not in authors["diversity_whole"]:
        assert outputs == "label_binary"
        assert authors["n_classes"] > 2
        return
    votes = golden_votes(authors)
    ours = "oracle" if outputs == "oracle" else "label"
    if ours == "label" and name in ("QStat", "Corre") and votes.n_classes > 2:
        with pytest.raises(ValueError, match="not defined for"):
            quorate.diversity(votes, name, outputs=ours)
        return
    expected = authors["diversity_whole"][outputs][name]
    found = quorate.diversity(votes, name, outputs=ours)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("outputs", ["oracle", "label"])
@pytest.mark.parametrize("name", TWELVE)
def test_per_sample(authors, outputs, name):
    expected = authors["diversity_per_instance"][outputs][name]
    found = quorate.sample_diversity(golden_votes(authors), name, outputs=outputs)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("outputs", ["oracle", "label"])
def test_pairwise_kappa(authors, outputs):
    expected = np.array(authors["kappa_pairwise"][outputs], dtype=float)
    found = quorate.pairwise_diversity(golden_votes(authors), "kappa", outputs=outputs)
    filled = ~np.isnan(expected)
    assert filled.any() or len(expected) == 1
    np.testing.assert_allclose(found[filled], expected[filled], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(found, found.T)


def test_plurality(authors):
    votes = golden_votes(authors)
    np.testing.assert_array_equal(votes.predict(), authors["voting"]["plurality"])


def test_weighted_plurality(authors):
    weights = authors["voting"]["weights"]
    votes = golden_votes(authors, weights=weights)
    ordered = np.sort(votes.tally(), axis=0)
    clear = np.ones(votes.n_samples, dtype=bool)
    if votes.n_classes > 1:
        clear = ordered[-1] - ordered[-2] > 1e-9
    expected = np.array(authors["voting"]["weighted"])
    np.testing.assert_array_equal(votes.predict()[clear], expected[clear])


def test_signed_vote_with_ties(authors):
    if authors["n_classes"] != 2:
        assert "signed_with_zero_tie" not in authors["voting"]
        return
    votes = golden_votes(authors)
    signed = np.array(authors["voting"]["signed_with_zero_tie"])
    low, high = (0, 1) if authors["labels"] == "01" else (-1, 1)
    truth = np.array(authors["y"])
    expected = np.abs(signed - truth) / (high - low)
    np.testing.assert_array_equal(votes.sample_errors(), expected)


def compare_terms(found, expected):
    for letter, term in (("G", "error"), ("A", "member_error"), ("D", "diversity")):
        samples, mean = getattr(found, f"sample_{term}"), getattr(found, term)
        np.testing.assert_allclose(samples, expected[letter], rtol=0, atol=1e-12)
        assert mean == pytest.approx(expected[f"{letter}_mean"], abs=1e-12)


@pytest.mark.parametrize("kind", ["uniform", "weighted"])
def test_decomposition(spec, kind):
    weights = spec["weights_integer"] if kind == "weighted" else None
    found = quorate.decompose(golden_votes(spec, weights=weights))
    expected = spec["decomposition_01"][kind]
    compare_terms(found, expected)


@pytest.mark.parametrize("credence", [1, 2, 3])
def test_samples_on_which_only_members_without_weight_vote(credence):
    """Nobody says anything there, so every class has the same share."""
    votes = quorate.Votes(
        [["a", "c"], ["b", "c"]], ["a", "b"], weights=[0, 1],
        valid=[[True, True], [False, True]],
    )  # fmt: skip
    found = quorate.decompose(votes, credence=credence)
    one_each = quorate.Votes([["a"], ["b"], ["c"]], ["a"])
    expected = quorate.decompose(one_each, credence=credence)
    assert found.sample_error[0] == pytest.approx(expected.error)
    assert found.sample_member_error[0] == pytest.approx(expected.member_error)


@pytest.mark.parametrize("kind", ["uniform", "weighted"])
@pytest.mark.parametrize("credence", [1, 2, 3])
def test_credences(spec, kind, credence):
    if "credence" not in spec:
        assert spec["n_classes"] <= 2
        return
    weights = spec["weights_integer"] if kind == "weighted" else None
    found = quorate.decompose(golden_votes(spec, weights=weights), credence=credence)
    expected = spec["credence"][f"cred{credence}"][kind]
    compare_terms(found, expected)


def test_counts(spec):
    votes = golden_votes(spec)
    right, asked = totals.sample_counts(votes)
    np.testing.assert_array_equal(right, spec["correct_counts"])
    assert (asked == votes.n_members).all()
    np.testing.assert_array_equal(
        totals.member_counts(votes)[0], spec["member_correct"]
    )
    if "div_per_instance_uniform" in spec:
        gap = quorate.sample_diversity(votes, "error_gap")
        np.testing.assert_allclose(gap, spec["div_per_instance_uniform"], atol=1e-15)


THEOREM = read("spec_theorem2")
INTERVALS = {
    "(-q3,-q2)": 1, "(-q2,-q5)": 2, "(-q5,-q6)": 3, "(-q6,-q1)": 4,
    "(q1,q6)": 5, "(q6,q5)": 6, "(q5,q2)": 7, "(q2,q3)": 8, None: None,
}  # fmt: skip


@pytest.mark.parametrize("row", THEOREM["endpoints"], ids=lambda r: str(r["S"]))
def test_endpoints(row):
    found = risk.endpoints(row["S"], noise=row["epsilon"], radius=row["delta"])
    for name in ("q0", "q1", "q2", "q3", "q4", "q5", "q6", "qv"):
        assert getattr(found, name) == pytest.approx(row[name], rel=1e-10)
    assert found.ordered == row["eq34_corrected"]
    assert found.ordered_as_printed == row["eq34_as_printed"]
    assert found.complete == row["all_eight_intervals_nonempty"]


def test_every_interval_is_among_the_rows():
    assert {row["interval"] for row in THEOREM["rows"]} == set(INTERVALS)


@pytest.mark.parametrize("place", range(len(THEOREM["rows"])))
def test_risk_rows(place):
    row = THEOREM["rows"][place]
    div, setting = row["div"], {"noise": row["epsilon"], "radius": row["delta"]}
    for order, name in enumerate(("R", "R1", "R2", "R3")):
        found = risk.estimate(div, row["S"], order=order, **setting)
        # the slope is zero at q2, where only its size beside the estimate counts
        near_zero = 1e-12 * abs(row["R"])
        assert found == pytest.approx(row[name], rel=1e-10, abs=near_zero)
    assert risk.interval(div, row["S"], **setting) == INTERVALS[row["interval"]]


@pytest.mark.parametrize("place", range(len(THEOREM["rows"])))
def test_bound_rows(place):
    row = THEOREM["rows"][place]
    margin = (1 - 2 * row["epsilon"]) * (np.sign(row["div"]) - 2 * row["div"])
    assert margin == pytest.approx(row["gamma"], rel=1e-10)
    bound = risk.margin_bound(margin, row["S"], radius=row["delta"], failure=row["xi"])
    assert bound.applies == row["lemma_applies"]
    if row["kappa"] == row["kappa_real"] + 1:
        # Rounding noise lifted the ceiling of a whole number in a few records.
        assert row["kappa_real"] == int(row["kappa_real"]) == bound.kappa
        return
    assert bound.kappa == row["kappa"]
    assert bound.bound == pytest.approx(row["bound"], rel=1e-10)
