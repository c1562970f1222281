"""scikit-learn-intelex forests, which predict with one accelerated model.

Imported only when such a model is used. A smaller forest drops the accelerated model,
which contains all trees, and predicts as scikit-learn does.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearnex.ensemble import ExtraTreesClassifier, RandomForestClassifier

from quorate._ensembles._forest import Forest
from quorate._ensembles._kind import Ensemble, Kind
from quorate._ensembles._member import Member
from quorate._typing import IntArray

# Marks a smaller forest: plain trees whose training rows are unknown.
_MARK = "was_accelerated_"
_PURE = 1e-9


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
                "model returns its trees without the class shares of their leaves, so "
                "the trees do not predict as the forest does; grow them fully, or fit "
                "scikit-learn's own forest (sklearnex.unpatch_sklearn)."
            )
        n_rows = int(found.members[0].tree.n_node_samples[0])
        labels_too = np.array_equal(model.estimators_[0].classes_, model.classes_)
        members = tuple(
            # Accelerated trees return labels, scikit-learn's trees return codes.
            replace(member, classes=None) if labels_too else member
            for member in found.members
        )
        return replace(
            found,
            members=members,
            # The number of training rows is known, but not each tree's bootstrap.
            drawn=(lambda: [np.arange(n_rows)]) if model.bootstrap else None,
            has_out_of_bag=False,
            leaves_tell=False,  # accelerated trees count otherwise
            adds_in_order=lambda: hasattr(model, _MARK),
        )

    def keep_members(self, smaller: Any, members: IntArray) -> None:
        """See :class:`Kind`."""
        kept = [smaller.estimators_[member] for member in members]
        if smaller.__dict__.pop("_onedal_estimator", None) is not None:
            setattr(smaller, _MARK, True)
        smaller.estimators_ = kept
        super().keep_members(smaller, np.arange(len(kept)))

    def bootstraps(self, model: Any) -> bool:
        """Return False: the bootstrap rows are unknown, so no vote is out of bag."""
        return False


KINDS: tuple[Kind, ...] = (AcceleratedForest(),)


def _leaves_are_whole(member: Member) -> bool:
    """Return whether pure leaves have no samples of another class."""
    tree = member.tree
    leaves = tree.children_left == -1
    sure = tree.value[leaves, 0, :].max(axis=1) == 1
    return bool((tree.impurity[leaves][sure] < _PURE).all())
