"""Theorem 2 beyond the golden rows: derivatives, intervals, advice, refusals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quorate
from quorate import risk

settings_of_theory = st.fixed_dictionaries(
    {
        "n_samples": st.integers(50, 100_000),
        "noise": st.sampled_from([0.0, 0.01, 0.1, 0.3]),
        "radius": st.sampled_from([0.5, 1.0, 2.0]),
    }
)


@settings(deadline=None)
@given(setting=settings_of_theory, div=st.floats(0.01, 0.45), negative=st.booleans())
def test_derivatives_are_derivatives(setting, div, negative):
    div = -div if negative else div
    step = 1e-5
    for order in (0, 1, 2):
        low, high = risk.estimate([div - step, div + step], **setting, order=order)
        slope = risk.estimate(div, **setting, order=order + 1)
        scale = abs(risk.estimate(div, **setting, order=order)) / 0.05 + abs(slope)
        wanted = pytest.approx(slope, abs=1e-3 * scale + 1e-6)
        assert (high - low) / (2 * step) == wanted


@settings(deadline=None)
@given(setting=settings_of_theory, div=st.floats(-0.49, 0.49))
def test_signs_are_those_of_the_table(setting, div):
    place = risk.interval(div, **setting)
    if place is None:
        return
    signs = {
        1: (1, -1, 1), 2: (-1, -1, 1), 3: (-1, 1, 1), 4: (-1, 1, -1),
        5: (1, 1, 1), 6: (1, 1, -1), 7: (1, -1, -1), 8: (-1, -1, -1),
    }[place]  # fmt: skip
    found = [np.sign(risk.estimate(div, **setting, order=k)) for k in (1, 2, 3)]
    assert tuple(found) == signs


@settings(deadline=None)
@given(setting=settings_of_theory)
def test_endpoints_are_where_they_say(setting):
    q = risk.endpoints(**setting)
    assert q.qv < q.q6 < q.q5 < q.q2 < q.q0
    assert q.q2 == q.q4
    assert q.ordered == (q.q1 <= q.q2 <= q.q3)
    top = 8 * setting["n_samples"] / math.log(2)
    for point, order in ((q.q0, 0), (q.q2, 1), (q.q5, 2), (q.q6, 3)):
        if point > 0.01:
            before = risk.estimate(point - 1e-6, **setting, order=order)
            after = risk.estimate(point + 1e-6, **setting, order=order)
            assert np.sign(before) == -np.sign(after)
    if q.q2 > 0:
        assert risk.estimate(q.q2, **setting) == pytest.approx(top)
    for point in (q.q1, q.q2, q.q3, q.q5, q.q6):
        if q.complete:
            assert risk.interval(point, **setting) is None


def test_estimate_is_even_and_vectorised():
    div = np.linspace(0.01, 0.49, 20)
    np.testing.assert_allclose(risk.estimate(div, 300), risk.estimate(-div, 300))
    slope = risk.estimate([*div, 0.0], 300, order=1)
    np.testing.assert_allclose(slope[:-1], -risk.estimate(-div, 300, order=1))
    assert slope[-1] == pytest.approx(risk.estimate(1e-9, 300, order=1))
    assert risk.estimate(div, 300).shape == (20,)
    assert isinstance(risk.estimate(0.1, 300), float)


def test_zero_margin():
    assert risk.estimate(0.5, 100) == math.inf
    assert math.isnan(risk.estimate(0.5, 100, order=1))
    bound = risk.margin_bound(0.0, 100)
    assert bound.bound == math.inf
    assert not bound.applies
    assert bound.vacuous


def test_bound():
    bound = risk.margin_bound(0.98, 60_000)
    assert round(bound.bound, 2) == 0.66
    assert (bound.applies, bound.vacuous) == (True, False)
    assert risk.margin_bound(0.1, 100).applies is False


class TestAssessment:
    def make(self, right, n=20, m=2000):
        """Return votes: ``right`` of n are right on the first sample, all elsewhere."""
        predictions = np.ones((n, m), dtype=int)
        predictions[right:, 0] = 0
        y = np.ones(m, dtype=int)
        y[1] = 0
        predictions[:, 1] = 0
        return quorate.Votes(predictions, y)

    def test_worst_sample(self):
        found = quorate.assess_risk(self.make(15), noise=0.05)
        assert found.worst_sample == 0
        assert found.diversity == 0.25
        assert found.margin == pytest.approx(0.9 * 0.5)
        assert found.interval == risk.interval(0.25, 2000, noise=0.05)
        for order, value in enumerate((found.risk, found.slope, found.curvature)):
            expected = risk.estimate(0.25, 2000, noise=0.05, order=order)
            assert value == pytest.approx(expected)
        assert found.endpoints == risk.endpoints(2000, noise=0.05)
        assert found.lemma_applies
        assert "raise the risk estimate" in found.advice

    def test_unanimous_samples_do_not_ruin_the_margin(self):
        assert quorate.assess_risk(self.make(20)).margin == pytest.approx(0.98)
        literal = quorate.assess_risk(self.make(20), lambda_="paper")
        assert literal.margin == 0
        assert literal.risk == math.inf

    @pytest.mark.parametrize(
        ("right", "n", "m", "sign", "applies", "advice"),
        [
            (3, 20, 2000, -1, False, "more members are wrong"),
            (10, 20, 2000, 0, False, "The members tie"),
            (11, 20, 50, 1, False, "too small"),
            (20, 3, 200_000, 1, True, "at most"),
        ],
    )
    def test_advice(self, right, n, m, sign, applies, advice):
        found = quorate.assess_risk(self.make(right, n, m))
        assert np.sign(found.margin) == sign
        assert found.lemma_applies == applies
        assert found.paper_says_increase == (found.interval in (3, 4)) == (sign < 0)
        assert advice in found.advice

    def test_repr_ends_with_the_advice(self):
        found = quorate.assess_risk(self.make(15))
        assert " ".join(repr(found).split()).endswith(found.advice)
        assert dict(found.rows())["worst sample"] == "0"

    def test_radius_of_unequal_weights(self):
        votes = quorate.Votes([[0, 1], [1, 1]], [0, 1], weights=[3, 1])
        expected = math.sqrt(2) * math.hypot(0.75, 0.25)
        assert quorate.assess_risk(votes).radius == pytest.approx(expected)
        assert quorate.assess_risk(votes, radius=2).radius == 2


def test_example_of_the_broken_corollary():
    rows = ["111001", "110101", "101001", "100011", "011001"]
    predictions = np.array([[int(bit) for bit in row] for row in rows])
    votes = quorate.Votes(predictions, np.ones(6, dtype=int))
    found = quorate.decompose(votes)
    assert found.error == pytest.approx(1 / 3)
    assert found.member_error == pytest.approx(13 / 30)
    printed = quorate.decompose(votes, lambda_="paper").sample_margin
    assert (1 - printed.mean()) / 2 == pytest.approx(31 / 60)
    assert (1 - np.sign(printed).mean()) / 2 == pytest.approx(5 / 12)
