"""Comparing a selection on the rows that it was chosen on."""

import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import quorate

X, Y = make_classification(600, n_informative=4, flip_y=0.1, random_state=0)


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(30, random_state=0).fit(X[:300], Y[:300])


@pytest.mark.parametrize("rows", [slice(300), slice(300, None)])
@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
def test_what_is_expected_stands_beside_all_members(forest, rows, scoring):
    how = {"keep": 5, "distil": False, "scoring": scoring, "return_selection": True}
    small, selection = quorate.prune(forest, X[rows], Y[rows], **how)
    found = quorate.compare(forest, small, X[rows], Y[rows], selection=selection)
    votes, expected = selection.votes, selection.expected
    assert found.source is votes.source
    assert found.n_samples == votes.n_samples
    assert found.accuracy == expected.accuracies(votes)
    assert found.recalls == expected.recalls(votes)
    if scoring is None:
        assert found.accuracy[1] == 1 - expected.error
        assert found.score is None
    else:
        assert found.scoring == scoring
        assert found.score == (selection.full_score.score, -expected.error)
        assert found.score_errors[2] == expected.excess_error
    assert found.chosen_on
    assert found.error_limits is found.excess_limit is found.recall_limits is None
    assert "by five-fold cross-validation" in found.note


def test_rows_that_chose_give_no_limits(forest):
    """Not even where everybody is kept, and the rows are a sample of those given."""
    how = {"keep": 30, "distil": False, "max_samples": 200, "return_selection": True}
    same, selection = quorate.prune(forest, X[300:], Y[300:], "mdm", **how)
    found = quorate.compare(forest, same, X[300:], Y[300:], selection=selection)
    assert found.accuracy[0] == found.accuracy[1] == forest.score(X[300:], Y[300:])
    assert found.expected is found.excess_limit is None
    assert found.chosen_on
