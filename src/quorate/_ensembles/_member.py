"""One member of an ensemble, with a uniform interface.

scikit-learn's ensembles differ in what their members return: trees of a forest return
floats, members of bagging and voting integer codes, members of AdaBoost labels; members
of bagging use a subset of the columns. A :class:`Member` hides these differences.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from quorate._data import count_rows
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import as_labels, positions, refuse_improper, refuse_masked

# Trees that predict from their leaves; a subclass may predict differently.
TREES = (DecisionTreeClassifier, ExtraTreeClassifier)
# Advice for a member that does not return labels.
REMEDY = (
    "if it predicts codes, probabilities or logits, pass quorate.as_member(model, "
    "classes=[...], answers=...)."
)
# Marks a tree with new leaf values; fitting again creates an unmarked tree.
DISTILLED = "distilled_"


@dataclass(frozen=True, slots=True)
class Member:
    """One classifier, and how to interpret its output.

    Attributes
    ----------
    classes : array, optional
        Labels that its predictions index, or None if it returns labels.
    features : array of int, optional
        The columns it uses, or None for all.
    is_soft : bool
        Whether the ensemble uses its probabilities rather than its vote.
    """

    name: str
    estimator: Any
    classes: Array | None
    features: IntArray | None = None
    is_soft: bool = False

    def vote(self, X: Any) -> Array:
        """Return its predictions on X: positions in ``classes``, or labels."""
        given = self.estimator.predict(self.columns(X))
        refuse_masked(given, f"member {self.name!r}")
        who = f"member {self.name!r} ({type(self.estimator).__name__})"
        answers = one_per_sample(given, who)
        return answers if self.classes is None else self._as_places(answers)

    def codes(self, X: Any, classes: Array) -> IntArray:
        """Return its votes on X as positions in the sorted labels of an ensemble."""
        votes = self.vote(X)
        if self.classes is not None:
            return votes
        owner = f"member {self.name!r}"
        labels = as_labels(votes, owner)
        try:
            return positions(labels, classes, owner)
        except ValueError as error:
            raise ValueError(f"{str(error).rstrip('.')}; {REMEDY}") from error

    def _as_places(self, answers: Array) -> IntArray:
        assert self.classes is not None
        who = f"member {self.name!r} ({type(self.estimator).__name__})"
        return as_places(answers, len(self.classes), who)

    def probabilities(self, X: Any) -> FloatArray:
        """Return its class probabilities on X, columns as in its ``classes_``."""
        who = f"member {self.name!r} ({type(self.estimator).__name__})"
        predict_proba = getattr(self.estimator, "predict_proba", None)
        if predict_proba is None:
            raise TypeError(
                f"{who} has no predict_proba; collect votes without probabilities."
            )
        given = predict_proba(self.columns(X))
        refuse_masked(given, f"member {self.name!r}")
        found = np.asarray(given, dtype=float)
        wanted = count_rows(X), len(self.estimator.classes_)
        if found.shape != wanted:
            raise TypeError(
                f"{who} returns probabilities of shape {found.shape}; expected "
                f"{wanted} for {wanted[0]} samples and its {wanted[1]} classes."
            )
        refuse_improper(found, who)
        return found

    def columns(self, X: Any) -> Any:
        """Return the columns of X that the member uses."""
        return X if self.features is None else take_columns(X, self.features)

    @property
    def has_probabilities(self) -> bool:
        """Whether it has class probabilities and knows their classes."""
        return callable(getattr(self.estimator, "predict_proba", None)) and hasattr(
            self.estimator, "classes_"
        )

    @property
    def known_labels(self) -> Array | None:
        """The sorted labels of its classes, or None if unknown."""
        if not hasattr(self.estimator, "classes_"):
            return None
        return np.unique(self.own_labels)

    @property
    def own_labels(self) -> Array:
        """The labels of its own classes, in the order of its probabilities."""
        own = np.asarray(self.estimator.classes_)
        if self.classes is not None:
            own = np.asarray(self.classes[self._as_places(own)])
        return as_labels(own, f"member {self.name!r}")

    def class_columns(self, classes: Array) -> IntArray:
        """Return the positions of its own classes among the labels of an ensemble.

        Most members know every class, in order, and need no look-up.
        """
        own = np.asarray(self.estimator.classes_)
        every: IntArray = np.arange(classes.size)
        if self.classes is classes and np.array_equal(own, every):
            return every
        has_labels = self.classes is None and own.dtype == classes.dtype
        if has_labels and np.array_equal(own, classes):
            return every
        known = as_labels(classes, "the ensemble's classes")
        return positions(self.own_labels, known, f"member {self.name!r}")

    @property
    def tree(self) -> Any:
        """The nodes of a decision tree, or None for other classifiers."""
        return self.estimator.tree_ if type(self.estimator) in TREES else None

    def node_probabilities(self, classes: Array) -> FloatArray:
        """Return the class probabilities of each node of its tree."""
        shares: FloatArray = self.estimator.tree_.value[:, 0, :]
        columns = self.class_columns(classes)
        if np.array_equal(columns, np.arange(classes.size)):
            return shares
        table = np.zeros((shares.shape[0], classes.size))
        table[:, columns] = shares
        return table

    def leaves(self, X: Any, is_checked: bool = False) -> IntArray:
        """Return the leaf of its tree that each sample reaches.

        Checked samples are finite 32-bit floats in C order.
        """
        part = X if self.features is None else take_columns(X, self.features)
        reached: IntArray = self.estimator.apply(part, check_input=not is_checked)
        return reached


def take_columns(X: Any, columns: IntArray) -> Any:
    """Return some columns of an array or a sparse matrix."""
    return X.take(columns, axis=1) if isinstance(X, np.ndarray) else X[:, columns]


def one_per_sample(given: Any, who: str) -> Array:
    """Return predictions with one entry per sample, or raise an error."""
    found = np.asarray(given)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1:
        raise TypeError(
            f"{who} predicts an array of shape {found.shape}; a vote is one label per "
            "sample. If these are probabilities or logits, pass "
            "quorate.as_member(model, classes=[...], answers='probabilities' or "
            "'logits')."
        )
    return found


def as_places(answers: Array, n_classes: int, who: str) -> IntArray:
    """Return predictions as positions among the classes, or raise an error."""
    is_number = answers.dtype.kind in "biuf"
    places = answers.astype(np.intp) if is_number else np.full(answers.shape, -1)
    off = (places < 0) | (places >= n_classes) | (is_number and places != answers)
    if off.any():
        raise ValueError(
            f"{who} votes for {answers[off][0]}, but codes of {n_classes} classes must "
            f"be whole numbers from 0 to {n_classes - 1}; was it trained on other "
            "labels?"
        )
    return places


def is_certain(member: Member) -> bool:
    """Return whether every leaf of its tree is pure."""
    tree = member.tree
    leaves = tree.value[tree.children_left == -1, 0, :]
    return bool(((leaves == 0) | (leaves == 1)).all())


def numbered(estimators: Any, classes: Array | None, **options: Any) -> Any:
    """Return members named by position."""
    return tuple(
        Member(str(place), estimator, classes, **options)
        for place, estimator in enumerate(estimators)
    )
