"""Summaries know whose votes they count, by what the members have learned."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from tests.summarising.conftest import in_batches, make_data

import quorate
from quorate._votes import Summary


@pytest.fixture(scope="module")
def other():
    """A forest of as many trees, by the same names, from another seed."""
    X, y = make_data()
    return RandomForestClassifier(12, min_samples_leaf=5, random_state=1).fit(
        X[:1000], y[:1000]
    )


@pytest.fixture(scope="module")
def small(forest):
    return quorate.keep_members(forest, [0, 2, 3])


@pytest.fixture(scope="module")
def taught(forest, small, data):
    return quorate.distil(small, forest, data[0][:500])


@pytest.fixture
def pairs(data):
    return list(in_batches(data[0][:400], data[1][:400], 100))


def through_a_file(summary, folder):
    summary.save(folder / "summary.npz")
    return Summary.load(folder / "summary.npz")


def test_summaries_of_two_models_do_not_add_up(forest, other, pairs, tmp_path):
    mine, theirs = (quorate.summarise(model, pairs[:2]) for model in (forest, other))
    assert mine.names == theirs.names
    words = "of two models do not add up; their members have the same names"
    for one in (mine, through_a_file(mine, tmp_path)):
        with pytest.raises(ValueError, match=words):
            one + theirs
    again = quorate.summarise(pickle.loads(pickle.dumps(forest)), pairs[2:])
    whole = quorate.summarise(forest, pairs)
    assert (through_a_file(mine, tmp_path) + again.shifted(200)).equals(whole)
    assert not mine.equals(theirs)


def test_summaries_that_do_not_know_add_up_as_before(forest, pairs):
    known = quorate.summarise(forest, pairs[:2])
    unknown = quorate.collect_votes(forest, *pairs[2]).summary(start=200)
    assert known.learned is not None
    assert unknown.learned is None
    assert (known + unknown).learned is None
    assert (known + unknown).equals(quorate.summarise(forest, pairs[:3]))


def test_members_in_another_order_are_still_known(forest, pairs):
    # as a dict, members have names that do not depend on where they stand
    trees = {f"tree {at}": tree for at, tree in enumerate(forest.estimators_)}
    turned = dict(reversed(trees.items()))
    one, two = quorate.summarise(trees, pairs[:2]), quorate.summarise(turned, pairs[2:])
    assert (one + two.shifted(200)).learned == one.learned
    swapped = {**turned, "tree 0": trees["tree 1"], "tree 1": trees["tree 0"]}
    with pytest.raises(ValueError, match="summaries of two models"):
        one + quorate.summarise(swapped, pairs[2:])


def test_two_rivals_do_not_add_up(forest, small, taught, pairs):
    one, two = (
        quorate.summarise(forest, pairs[:2], against=model) for model in (small, taught)
    )
    rival = replace(two.rivals, order=one.rivals.order)  # nothing else tells
    with pytest.raises(ValueError, match="two different rivals"):
        one + replace(two, rivals=rival)


def test_compare_takes_the_summary_of_its_models_only(
    forest, other, small, taught, pairs, tmp_path
):
    made = quorate.summarise(forest, pairs, against=small)
    for summary in (made, through_a_file(made, tmp_path)):
        compared = quorate.compare(forest, small, summary)
        assert compared.accuracy == quorate.compare(forest, small, pairs).accuracy
        with pytest.raises(ValueError, match="of another model than the first"):
            quorate.compare(other, small, summary)
        with pytest.raises(ValueError, match="of another model than the second"):
            quorate.compare(forest, taught, summary)
        unlike = quorate.keep_members(forest, [1, 2, 3])
        with pytest.raises(ValueError, match="of another model than the second"):
            quorate.compare(forest, unlike, summary)
    forgot = replace(made, learned=None, rivals=replace(made.rivals, learned=None))
    assert quorate.compare(other, small, forgot).n_samples == 400


def test_a_pass_does_not_go_on_with_another_model(forest, pairs, tmp_path):
    """Not even with one that votes the same on the first batch."""
    file = tmp_path / "so-far.npz"
    quorate.summarise(forest, pairs[:2], resume=file)
    changed = pickle.loads(pickle.dumps(forest))
    for tree in changed.estimators_:
        tree.tree_.threshold[0] += 1e-12
    same = quorate.collect_votes(changed, *pairs[0])
    np.testing.assert_array_equal(
        same.codes, quorate.collect_votes(forest, *pairs[0]).codes
    )
    with pytest.raises(ValueError, match="another model or other data"):
        quorate.summarise(changed, pairs, resume=file)
