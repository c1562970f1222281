"""Votes of the folds of a cross-validation as those of one ensemble."""

import numpy as np
import pytest

from quorate._votes import DecisionRule, Votes, VoteSource, pooled_votes, with_changes


def test_folds_are_put_together_position_by_position():
    """The second fold knows a class more, has a member less and leaves a row out."""
    rule = DecisionRule("heads", ties="lowest")
    y = np.array(["a", "b", "c", "b", "a"])
    one = Votes([["a", "b"], ["b", "b"], ["b", "a"]], ["a", "b"], weights=[1, 2, 3])
    valid = [[True, False, True], [True, False, True]]
    with pytest.warns(UserWarning, match="1 of 3 samples"):
        two = Votes([["c", "c", "a"], ["b", "c", "a"]], ["c", "b", "a"],
                    weights=[3, 5], valid=valid)  # fmt: skip
    parts = [
        (np.array([1, 3]), with_changes(one, decision_rule=rule)),
        (np.array([2, 0, 4]), with_changes(two, decision_rule=rule)),
    ]
    with pytest.warns(UserWarning, match="1 of 5 samples"):
        found = pooled_votes(parts, 3, y)
    assert found.classes.tolist() == ["a", "b", "c"]
    assert found.samples.tolist() == [1, 2, 3, 4]
    assert found.classes[found.y].tolist() == ["b", "c", "b", "a"]
    assert found.codes.tolist() == [[0, 2, 1, 0], [1, 1, 1, 0], [1, -1, 0, -1]]
    assert found.weights.tolist() == [2, 3.5, 1.5]
    assert found.decision_rule == rule
    assert found.source is VoteSource.FOLDS


def test_a_sample_is_held_out_once():
    votes = Votes([[0, 1]], [0, 1])
    parts = [(np.array([0, 1]), votes), (np.array([1, 2]), votes)]
    with pytest.raises(ValueError, match="sample 1 is held out 2 times"):
        pooled_votes(parts, 1, np.array([0, 1, 0]))
