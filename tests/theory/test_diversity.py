"""Names, options and refusals of the three questions."""

import math

import numpy as np
import pytest

import quorate
from quorate._theory import diagnose
from quorate.exceptions import QuorateWarning

MEASURES = quorate.measures()


@pytest.fixture
def votes():
    return quorate.Votes([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 1]], [1, 1, 1, 1])


@pytest.mark.parametrize("name", MEASURES)
def test_both_names_in_any_case(name, votes):
    value = quorate.diversity(votes, name)
    for alias in (MEASURES[name].paper_name, name.upper()):
        assert quorate.diversity(votes, alias) == value


def test_the_list_of_measures():
    quorate.measures().clear()  # which spoils nothing
    assert len(MEASURES) == len(quorate.measures()) == 13
    assert sum(measure.pairwise for measure in MEASURES.values()) == 5
    for name, measure in MEASURES.items():
        assert measure.name == name
        assert measure.direction in ("higher", "lower", "not monotone")
        assert measure.reference
    assert len(repr(MEASURES).splitlines()) == 13
    assert MEASURES._repr_html_().count("<tr>") == 13


@pytest.mark.parametrize("name", MEASURES)
def test_uninformative_measures_are_constant_on_samples(name, votes):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    many = quorate.Votes(np.where(rng.random((6, 200)) < 0.6, y, 1 - y), y)
    values = quorate.sample_diversity(many, name)
    assert (np.unique(values).size > 1) == MEASURES[name].informative_per_sample


def test_not_pairwise(votes):
    with pytest.raises(ValueError, match="difficulty is not defined for two members"):
        quorate.pairwise_diversity(votes, "difficulty")


@pytest.mark.parametrize("base", [0, 1, -2, math.nan])
def test_bad_base(base, votes):
    with pytest.raises(ValueError, match="base"):
        quorate.diversity(votes, "entropy_cc", base=base)


def test_base_of_entropy(votes):
    natural = quorate.diversity(votes, "entropy_cc")
    assert quorate.diversity(votes, "entropy_cc", base=2) == pytest.approx(
        natural / math.log(2)
    )
    samples = quorate.sample_diversity(votes, "entropy_cc", base=2)
    assert samples.max() <= 1


class TestWeights:
    @pytest.fixture
    def weighted(self, votes):
        return quorate.Votes(votes.codes, votes.y, weights=[1, 2, 3])

    @pytest.mark.parametrize("name", MEASURES)
    def test_honoured_or_refused(self, name, votes, weighted):
        if MEASURES[name].weighted:
            assert quorate.diversity(weighted, name) != quorate.diversity(votes, name)
            return
        for ask in (quorate.diversity, quorate.sample_diversity):
            with pytest.raises(ValueError, match=f"{name}.*not defined for weighted"):
                ask(weighted, name)
        plain = quorate.diversity(weighted.unweighted(), name)
        assert plain == quorate.diversity(votes, name)

    def test_all_at_once(self, weighted):
        with pytest.warns(QuorateWarning, match=r"unweighted\(\)"):
            found = quorate.diversity(weighted)
        defined = {name for name, value in found.items() if not math.isnan(value)}
        assert defined == {"entropy_cc", "error_gap"}

    def test_pairs_do_not_care(self, votes, weighted):
        np.testing.assert_array_equal(
            quorate.pairwise_diversity(weighted, "kappa"),
            quorate.pairwise_diversity(votes, "kappa"),
        )


class TestLabels:
    @pytest.fixture
    def three(self):
        rng = np.random.default_rng(0)
        y = rng.integers(0, 3, 50)
        return quorate.Votes(rng.integers(0, 3, (4, 50)), y)

    @pytest.mark.parametrize("name", ["q_statistic", "correlation"])
    def test_refused_for_three_classes(self, name, three):
        for ask in (quorate.diversity, quorate.pairwise_diversity):
            with pytest.raises(ValueError, match="not defined for 3 classes"):
                ask(three, name, outputs="label")

    def test_all_at_once(self, three):
        with pytest.warns(QuorateWarning, match="q_statistic, correlation"):
            found = quorate.diversity(three, outputs="label")
        assert math.isnan(found["q_statistic"])
        assert math.isfinite(found["kappa"])

    def test_only_four_measures_differ(self, three):
        oracle = quorate.diversity(three)
        for name in MEASURES:
            if name not in ("disagreement", "kappa", "q_statistic", "correlation"):
                assert quorate.diversity(three, name, outputs="label") == oracle[name]


@pytest.mark.parametrize("undefined", ["authors", "nan"])
@pytest.mark.parametrize("name", [n for n, m in MEASURES.items() if m.pairwise])
def test_pairs_that_never_voted_on_the_same_sample_do_not_count(name, undefined):
    pair = np.array([[1, 1, 0, 1, 0], [1, 0, 1, 1, 0]])
    both = quorate.Votes(pair, np.ones(5, int))
    third = quorate.Votes(
        np.hstack([np.vstack([pair, [[0] * 5]]), [[0], [0], [1]]]),
        np.ones(6, int),
        valid=[[True] * 5 + [False], [True] * 5 + [False], [False] * 5 + [True]],
    )
    expected = quorate.diversity(both, name, undefined=undefined)
    assert quorate.diversity(third, name, undefined=undefined) == expected != 0


def test_a_diagnosis_names_the_best_member():
    votes = quorate.Votes([[1, 0], [1, 1], [0, 0]], [1, 1], names=["a", "b", "c"])
    found = diagnose(votes).to_dict()["votes"]
    assert (found["best_member"], found["best_member_accuracy"]) == ("b", 1.0)


def test_overflow_does_not_come_near():
    # A product of four counts passes 2**63 at about 55 000 samples.
    rng = np.random.default_rng(0)
    y = np.zeros(400_000, dtype=int)
    votes = quorate.Votes(rng.integers(0, 2, (2, 400_000)), y)
    expected = np.corrcoef(votes.correct)[0, 1]
    assert quorate.diversity(votes, "correlation") == pytest.approx(expected)


def test_an_ensemble_that_never_fails():
    votes = quorate.Votes([[0, 1], [0, 1]], [0, 1])
    assert quorate.diversity(votes, "generalized") == 1
    assert quorate.diversity(votes, "coincident_failure") == 0
    for name in ("generalized", "coincident_failure", "interrater", "kappa"):
        assert math.isnan(quorate.diversity(votes, name, undefined="nan"))
