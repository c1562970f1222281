"""What methods declare and what their hooks get."""

import inspect
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import quorate
from quorate import pruning
from quorate._votes import with_changes
from quorate.pruning import Pruner, PrunerTags
from quorate.testing import check_pruner, example_votes

SOURCE = Path(quorate.__file__).parent


@pytest.fixture
def votes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    return quorate.Votes(
        np.where(rng.random((8, 60)) < 0.6, y, rng.integers(0, 3, (8, 60))), y
    )


def named(tag):
    return {name for name, method in quorate.methods().items()
            if getattr(method.tags, tag)}  # fmt: skip


def test_each_tag_is_read_by_somebody():
    others = (path for path in SOURCE.rglob("*.py") if "testing" not in path.parts)
    code = "".join(path.read_text() for path in others)
    for field in fields(PrunerTags):
        assert re.search(rf"tags\.{field.name}\b", code), field.name


def test_one_signature():
    ours = list(inspect.signature(Pruner.fit).parameters.items())
    assert [name for name, _ in ours[1:]] == ["votes", "X", "progress", "unlabelled"]
    for method in quorate.methods().values():
        theirs = list(inspect.signature(method.cls.fit).parameters.items())
        assert theirs[: len(ours)] == ours
        assert all(
            more.kind is inspect.Parameter.KEYWORD_ONLY
            for _, more in theirs[len(ours) :]
        )


def test_order_may_depend_on_parameters():
    assert pruning.ReducedError().has_order
    assert not pruning.ReducedError(backfitting=True).has_order
    assert not pruning.SEP().has_order


# ------------------------------------------------- what fit lends, and the hooks


class Nosy(Pruner):
    """Looks at all it is given."""

    tags = PrunerTags(finds_size=True)

    def _select(self, inputs, size):
        inputs.progress(size, inputs.votes.n_members)
        self.seen_ = inputs.X, inputs.unlabelled, size
        return range(size)


def test_hooks_get_what_fit_was_given(votes):
    steps = []
    nosy = Nosy(keep=2).fit(votes, "X", lambda *step: steps.append(step))
    assert nosy.seen_ == ("X", None, 2)
    assert steps == [(2, 8)]
    assert nosy.fit(votes, unlabelled=votes).seen_ == (None, votes, 2)
    with pytest.raises(TypeError, match=r"Nosy\.fit\(unlabelled\): expected Votes"):
        nosy.fit(votes, unlabelled=[[0]])


def test_threads_may_share_a_pruner(votes):
    """Each is in the hook, or has left it, while the others are still there."""
    n_threads = 4
    together = threading.Barrier(n_threads, timeout=30)

    class Waiting(Pruner):
        def _select(self, inputs, size):
            together.wait()
            inputs.progress(1, 2)
            together.wait()
            return [size, inputs.X]

    shared = Waiting(keep=2)
    with ThreadPoolExecutor(n_threads) as pool:
        fits = pool.map(lambda _: shared.fit(votes, 5).order_, range(n_threads))
        assert [order.tolist() for order in fits] == [[2, 5]] * n_threads


def test_nothing_stays_behind_after_an_error(votes):
    broken = pruning.MRMR(mi="x")
    with pytest.raises(ValueError, match="mi='x'"):
        broken.fit(votes, unlabelled=votes)
    assert set(vars(broken)) == {"keep", "mi"}


def test_any_size(votes):
    assert Nosy(keep=None).fit(votes).seen_[2] == 8

    class Two(Nosy):
        def _select_any_size(self, inputs):
            return self._select(inputs, 2)

    assert Two(keep=None).fit(votes).n_kept_ == 2
    assert Two(keep=3).fit(votes).n_kept_ == 3

    class Strict(Nosy):
        tags = PrunerTags()

    why = r"Strict\(keep=None\): must be 1 to 8 members"
    with pytest.raises(ValueError, match=why):
        Strict(keep=None).fit(votes)


def test_everybody_takes_unlabelled_votes(votes):
    rng = np.random.default_rng(1)
    further = quorate.Votes(rng.integers(0, 3, (8, 90)), rng.integers(0, 3, 90))
    changed = set()
    for name, method in quorate.methods().items():
        tags = method.tags
        if tags.needs_out_of_bag:
            continue
        quick = {"n_iter": 20} if name in ("sep", "pep") else {}
        pruner = method.cls(keep=4, **quick)
        alone = quorate.select(votes, pruner, random_state=0)
        both = quorate.select(votes, pruner, unlabelled=further, random_state=0)
        if alone.order.tolist() != both.order.tolist():
            changed.add(name)
    assert changed == {"brier", "herding"}


# ------------------------------------------------- weights and the path


def test_path_and_new_weights(votes):
    plain = pruning.ReducedError(keep=4).fit(votes)
    assert plain.new_weights is None
    order, weights = plain.path()
    assert order is plain.order_
    assert weights is None

    greedy = pruning.GreedySelection(keep=4, loss="brier").fit(votes)
    assert greedy.new_weights is greedy.weights_
    order, weights = greedy.path()
    assert [part.size for part in weights] == list(range(1, order.size + 1))
    np.testing.assert_array_equal(weights[-1], greedy.weights_[greedy.order_])
    np.testing.assert_array_equal(weights[0], greedy.weights_[greedy.order_[:1]])

    sparse = pruning.SparseWeights(keep=4).fit(votes)
    order, weights = sparse.path()
    assert [part.size for part in weights] == list(range(1, order.size + 1))
    # Fitted for each size, so not a part of the last ones.
    assert not np.allclose(weights[1], weights[-1][:2])


@pytest.mark.parametrize("name", ["l1", "ges"])
def test_the_curve_follows_the_path(name, votes):
    selection = quorate.select(votes, name, 4)
    order, weights = selection.pruner.path()
    expected = [
        with_changes(votes.keep(order[: k + 1]), weights=part).error()
        for k, part in enumerate(weights)
    ]
    np.testing.assert_allclose(selection.curve.errors, expected)


@pytest.mark.parametrize(
    "name", sorted((named("has_order") & named("honours_keep")) - {"tsp_ap", "tsp_dp"})
)
def test_a_size_found_is_the_choice_of_that_size(name, votes):
    """What is not nested is chosen again at the size that was found."""
    is_random = "random_state" in quorate.methods()[name].parameters
    more = {"random_state": 0} if is_random else {}
    found = quorate.select(votes, name, None, tolerance=0.29, **more)
    assert found.n_kept < votes.n_members
    again = quorate.select(votes, name, found.n_kept, **more)
    assert again.order.tolist() == found.order.tolist()


# ------------------------------------------------- tags that are not true


def lie(base, **tags):
    class Liar(base):
        pass

    Liar.tags = replace(base.tags, **tags)
    return Liar


class Opposed(Pruner):
    """Members that are not kept vote against the others."""

    tags = PrunerTags(chooses_weights=True)

    def _select(self, inputs, size):
        self.weights_ = np.where(np.arange(inputs.votes.n_members) < size, 1.0, -1.0)
        return range(size)


class Reserved(Pruner):
    """Refuses a summary for no reason that a parameter gives."""

    tags = PrunerTags(takes_summary=True)

    def _select(self, inputs, size):
        if not isinstance(inputs.votes, quorate.Votes):
            raise TypeError("Reserved.fit: see max_samples")
        return range(size)


def test_probabilities_are_among_the_examples():
    votes = dict(example_votes())["probabilities"]
    assert votes.class_probabilities is not None


@pytest.mark.parametrize(
    ("pruner", "complaint"),
    [
        (Opposed(), "weights_ are negative"),
        (Reserved(), "takes_summary is True, but: Reserved"),
        (lie(pruning.BrierSelection, nested=True)(), "the tag nested is True"),
        (lie(pruning.EPBD, chooses_weights=True)(), "weights_ is not set"),
        (lie(pruning.OrderedError, honours_keep=True)(), "does not keep all members"),
        (lie(pruning.TwoStageAccuracy, needs_out_of_bag=False)(), "needs out-of-bag"),
        (
            lie(pruning.BrierSelection, uses_unlabelled=False)(keep=0.5),
            "uses_unlabelled is False",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_lies_are_found(pruner, complaint):
    with pytest.raises(AssertionError, match=complaint):
        check_pruner(pruner)


def test_weights_that_are_not_declared(votes):
    liar = lie(pruning.SparseWeights, chooses_weights=False)()
    with pytest.raises(AssertionError, match="chooses_weights is False, but weights_"):
        check_pruner(liar)
    assert liar.fit(votes).new_weights is None
