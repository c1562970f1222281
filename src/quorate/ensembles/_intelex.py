"""scikit-learn-intelex: forests that predict by an accelerated model of all trees.

Loaded when somebody brings a model of it, and not before. A smaller forest drops the
accelerated model, which has all trees in it, and predicts as scikit-learn does.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearnex.ensemble import ExtraTreesClassifier, RandomForestClassifier

from quorate._data import count_rows
from quorate._typing import IntArray
from quorate.ensembles._forest import Forest
from quorate.ensembles._kind import Ensemble, Kind, draw_others
from quorate.ensembles._member import Member

# Set on a smaller forest, whose trees are plain ones of which nobody knows the rows.
_MARK = "was_accelerated_"
# Leaves to compare. Measured on 36 forests (2 to 17 leaves a tree and fully grown):
# trees that drew from the samples differ by 0.7 to 1.5, from other samples by 2.3 to
# 4.3; trees that took all by 0.0, from other samples by 1.7.
_LEAVES = 400
_PURE = 1e-9
_ALIKE = 1.9
_ALIKE_WITHOUT_DRAWING = 0.8


class AcceleratedForest(Forest):
    """Random forests and extra trees of scikit-learn-intelex."""

    name = "forest"
    models = (RandomForestClassifier, ExtraTreesClassifier)
    per_member = ("estimators_",)

    def read(self, model: Any) -> Ensemble:
        """See :class:`Kind`."""
        found = super().read(model)
        if not hasattr(model, "_onedal_estimator") and not hasattr(model, _MARK):
            return found  # fitted by scikit-learn itself, as some settings are
        if not all(_leaves_are_whole(member) for member in found.members):
            raise TypeError(
                f"{type(model).__name__} of scikit-learn-intelex: the accelerated "
                "model gives its trees away without the class shares of their leaves, "
                "so that they do not decide as the forest does; grow them fully, or "
                "fit scikit-learn's own forest (sklearnex.unpatch_sklearn)."
            )
        # Which rows the accelerated trees drew is not known outside.
        labels_too = np.array_equal(model.estimators_[0].classes_, model.classes_)
        members = tuple(
            # Accelerated trees answer with labels, those of scikit-learn with codes.
            replace(member, classes=None) if labels_too else member
            for member in found.members
        )
        return replace(
            found,
            members=members,
            drawn=None,
            adds_in_order=lambda: hasattr(model, _MARK),
            recognise=lambda X, y: (_drew_from(model, found.members, X), None),
        )

    def keep_members(self, smaller: Any, members: IntArray) -> None:
        """See :class:`Kind`."""
        kept = [smaller.estimators_[member] for member in members]
        if smaller.__dict__.pop("_onedal_estimator", None) is not None:
            setattr(smaller, _MARK, True)
        smaller.estimators_ = kept
        super().keep_members(smaller, np.arange(len(kept)))
        draw_others(smaller, members)

    def bootstraps(self, model: Any) -> bool:
        """Tell that there are no out-of-bag votes: nobody knows the rows."""
        return False


KINDS: tuple[Kind, ...] = (AcceleratedForest(),)


def _leaves_are_whole(member: Member) -> bool:
    """Tell whether leaves that are sure of a class have samples of no other."""
    tree = member.tree
    leaves = tree.children_left == -1
    sure = tree.value[leaves, 0, :].max(axis=1) == 1
    return bool((tree.impurity[leaves][sure] < _PURE).all())


def _drew_from(model: Any, members: Sequence[Member], X: Any) -> bool:
    """Tell whether trees drew their samples from these.

    Of samples that a tree drew with replacement as many reach a leaf as there are, but
    for chance. Other samples differ by chance twice, and trees fit their own.
    """
    n_rows, distance, expected, n_leaves = count_rows(X), 0.0, 0.0, 0
    for member in members:
        tree = member.tree
        if tree.n_node_samples[0] != n_rows:
            return False
        reached = np.bincount(member.leaves(X), minlength=tree.node_count)
        leaves = tree.children_left == -1
        there, before = reached[leaves], tree.n_node_samples[leaves]
        distance += float(((there - before) ** 2).sum())
        expected += float((there * (1 - there / n_rows)).sum())
        n_leaves += int(leaves.sum())
        if n_leaves >= _LEAVES:
            break
    most = _ALIKE if model.bootstrap else _ALIKE_WITHOUT_DRAWING
    return distance <= most * expected
