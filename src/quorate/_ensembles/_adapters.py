"""Turn functions, networks and boosters into classifiers.

A pool accepts anything whose ``predict`` returns labels. Other models return codes,
probabilities or logits, have no labels, or need X in a special form, and are wrapped
as classifiers. No library of boosters or networks is imported unless a model of it is
used.
"""

import json
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import expit, softmax
from sklearn.utils.metaestimators import available_if

from quorate._checks import one_of
from quorate._data import count_rows, cut_rows
from quorate._ensembles._member import as_places, one_per_sample
from quorate._messages import with_article
from quorate._typing import Array, FloatArray
from quorate._votes import as_labels, improper_row

Answers: TypeAlias = Literal["labels", "codes", "probabilities", "logits"]
# Output types a wrapped model may have.
ANSWERS: tuple[Answers, ...] = ("labels", "codes", "probabilities", "logits")
# What a booster returns, by its objective.
_BOOSTER_ANSWERS: dict[str, Answers] = {
    "binary": "probabilities",
    "multiclass": "probabilities",
    "multiclassova": "probabilities",
    "binary:logistic": "probabilities",
    "multi:softprob": "probabilities",
}
# Samples that a torch module gets at a time.
_BATCH = 4096


def _gives_probabilities(member: "AdaptedMember") -> bool:
    has_shares = member.answers in ("probabilities", "logits")
    return has_shares or _codes_have_shares(member.model, member.answers)


def _codes_have_shares(model: Any, answers: str) -> bool:
    """Return whether a model that outputs codes also has probabilities for them."""
    return (
        answers == "codes"
        and hasattr(model, "predict_proba")
        and hasattr(model, "classes_")
    )


class AdaptedMember:
    """A classifier that wraps another model; created by :func:`quorate.as_member`.

    Parameters
    ----------
    model : object
        The wrapped model. Its ``predict`` is used, else its ``predict_proba``, else the
        object itself if it is callable.
    classes : array-like, optional
        The labels, in the order of codes or columns. Required unless it returns labels.
    answers : {"labels", "codes", "probabilities", "logits"}
        Its output type. A single column of probabilities or logits is that of the
        second class. A model that returns codes may have ``predict_proba``, with
        columns in the order of its ``classes_``, which are codes too.

    Attributes
    ----------
    classes_ : ndarray
        The sorted labels, if known.
    """

    def __init__(
        self, model: Any, classes: Any = None, answers: Answers = "labels"
    ) -> None:
        self.model = model
        self.answers = answers
        if answers == "labels":
            if classes is not None:
                self.classes_ = np.unique(as_labels(classes, "as_member(classes)"))
            return
        self._labels = _labels(classes, model, answers)
        columns = self._labels
        if _codes_have_shares(model, answers):
            columns = self._decoded(np.asarray(model.classes_))
        self._columns = np.argsort(columns, kind="stable")
        self.classes_ = columns[self._columns]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, answers={self.answers!r})"

    def evaluate(self, X: Any) -> Any:
        """Return the raw output of the model; wrappers of a library override this."""
        return _function_of(self.model)(X)

    def predict(self, X: Any) -> Array:
        """Return labels; ties go to the first class."""
        if self.answers in ("probabilities", "logits"):
            return np.asarray(
                self.classes_[self._class_probabilities(X).argmax(axis=1)]
            )
        who = type(self.model).__name__
        found = one_per_sample(self.evaluate(X), who)
        return found if self.answers == "labels" else self._decoded(found)

    def _decoded(self, codes: Array) -> Array:
        who = type(self.model).__name__
        return np.asarray(self._labels[as_places(codes, self._labels.size, who)])

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """Return class probabilities, columns as in ``classes_``."""
        return self._class_probabilities(X)

    def _class_probabilities(self, X: Any) -> FloatArray:
        if self.answers == "codes":
            own = np.asarray(self.model.predict_proba(X), dtype=float)
            return np.asarray(own[:, self._columns])
        given = np.asarray(self.evaluate(X), dtype=float)
        if given.ndim == 2 and given.shape[1] == 1:
            given = given[:, 0]
        n_classes = self._labels.size
        if given.ndim == 1 and n_classes == 2:
            if self.answers == "logits":
                given = expit(given)
            given = np.stack([1 - given, given], axis=1)
        elif given.ndim != 2 or given.shape[1] != n_classes:
            raise ValueError(
                f"as_member({type(self.model).__name__}): {n_classes} classes need as "
                f"many columns{' or one' * (n_classes == 2)}, got an array of shape "
                f"{given.shape}."
            )
        elif self.answers == "logits":
            given = softmax(given, axis=1)
        if improper_row(given) is not None:
            raise ValueError(
                f"as_member({type(self.model).__name__}, answers='probabilities'): "
                f"probabilities must add up to 1, got numbers from {given.min():.4g} "
                f"to {given.max():.4g}; use answers='logits' for scores before softmax "
                "or sigmoid."
            )
        return np.asarray(given[:, self._columns])


def as_member(model: Any, classes: Any = None, answers: Answers | None = None) -> Any:
    """Wrap any model as a member of a pool.

    Parameters
    ----------
    model : object
        A classifier, function, network or booster: an object with ``predict`` or
        ``predict_proba``, or that can be called with X.
    classes : array-like, optional
        The labels that codes, or columns of probabilities and logits, stand for, in
        order.
    answers : {"labels", "codes", "probabilities", "logits"}, optional
        Its output type. By default boosters say it by their objective; otherwise
        ``predict`` and functions return labels, or codes if ``classes`` is
        given, and objects with ``predict_proba`` alone return probabilities. A single
        column of probabilities or logits is that of the second class.

    Returns
    -------
    classifier
        With ``predict``, and with ``predict_proba`` and ``classes_`` if available. A
        model that needs no adapter is returned unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> import quorate
    >>> def network(X):
    ...     return 1 / (1 + np.exp(-X[:, 0]))
    >>> member = quorate.as_member(network, ["no", "yes"], "probabilities")
    >>> member.predict(np.array([[-1.0], [2.0]]))
    array(['no', 'yes'], dtype='<U3')
    >>> member.predict_proba(np.array([[0.0]]))
    array([[0.5, 0.5]])
    """
    if answers is not None:
        one_of("as_member", "answers", answers, ANSWERS)
    member = _adapt_foreign(model, classes, answers)
    if member is not None:
        return member
    if isinstance(model, type):
        raise TypeError(f"got the class {model.__name__}, not an object.")
    has_predict = callable(getattr(model, "predict", None))
    if has_predict and classes is None and answers in (None, "labels"):
        return model
    if answers is None and not has_predict and hasattr(model, "predict_proba"):
        answers = "probabilities"
    _function_of(model)
    return AdaptedMember(
        model, classes, answers or ("labels" if classes is None else "codes")
    )


def _adapt_foreign(
    model: Any, classes: Any = None, answers: Answers | None = None
) -> AdaptedMember | None:
    """Wrap a booster or a torch module, or return None for other objects."""
    for cls in type(model).__mro__:
        library = cls.__module__.partition(".")[0]
        if cls.__name__ == "Booster" and library in ("lightgbm", "xgboost"):
            return _adapt_booster(model, library, classes, answers)
        if cls.__name__ == "Module" and cls.__module__.startswith("torch.nn."):
            return _adapt_torch(model, classes, answers)
    return None


def _function_of(model: Any) -> Callable[[Any], Any]:
    for name in ("predict", "predict_proba"):
        evaluate = getattr(model, name, None)
        if callable(evaluate):
            return evaluate  # type: ignore[no-any-return]
    if callable(model):
        return model  # type: ignore[no-any-return]
    pairs = ", or dict(pairs) for pairs of names and classifiers"
    pairs *= isinstance(model, tuple)
    raise TypeError(
        f"{with_article(type(model).__name__)} has neither predict nor predict_proba "
        f"and cannot be called; pass a fitted classifier{pairs}."
    )


def _labels(classes: Any, model: Any, answers: str) -> Array:
    if classes is None:
        classes = getattr(model, "classes_", None)
    if classes is None:
        raise TypeError(
            f"{type(model).__name__} returns {answers} without labels; pass the labels "
            "in the order of its columns: quorate.as_member(model, classes=[...])."
        )
    labels = as_labels(classes, "as_member(classes)")
    if labels.ndim != 1 or np.unique(labels).size < labels.size or labels.size < 2:
        raise ValueError(
            f"as_member(classes={classes!r}): must be two or more distinct labels."
        )
    return labels


# Boosters of LightGBM and XGBoost, which predict but do not store labels


class XGBoostMember(AdaptedMember):
    """An XGBoost booster, which takes a ``DMatrix``."""

    def evaluate(self, X: Any) -> Any:
        """Return the booster's predictions."""
        import xgboost

        return self.model.predict(xgboost.DMatrix(X))


def _adapt_booster(
    model: Any, library: str, classes: Any, answers: Answers | None
) -> AdaptedMember:
    """Return a booster as a classifier, or raise an error that says what is missing."""
    if library == "lightgbm":
        described = model.dump_model(num_iteration=1).get("objective", "")
        objective = str(described).partition(" ")[0]
    else:
        described = json.loads(model.save_config())
        objective = str(described["learner"]["objective"]["name"])
    returned = answers or _BOOSTER_ANSWERS.get(objective)
    if returned is None:
        raise TypeError(
            f"a {library} Booster trained for {objective or 'an unknown objective'} "
            "does not vote for classes; if it does, specify what it returns with "
            "quorate.as_member(booster, classes=[...], answers=...)."
        )
    if classes is None:
        raise TypeError(
            f"a {library} Booster returns {returned} without labels; pass "
            "quorate.as_member(booster, classes=[...]) with the labels in the order "
            "used in training."
        )
    member = XGBoostMember if library == "xgboost" else AdaptedMember
    return member(model, classes, returned)


# Torch modules, evaluated in batches in evaluation mode without gradients


class TorchMember(AdaptedMember):
    """A torch module that takes a numeric table."""

    def evaluate(self, X: Any) -> Any:
        """Return the module's output, on its own device and in its own dtype."""
        import torch

        first = next(iter(self.model.parameters()), None)
        options: dict[str, Any] = {}
        if first is not None:
            options = {"dtype": first.dtype, "device": first.device}
        was_training = self.model.training
        self.model.eval()
        try:
            with torch.no_grad():
                parts = [
                    self.model(torch.as_tensor(np.asarray(part), **options))
                    for part in (
                        cut_rows(X, slice(start, start + _BATCH))
                        for start in range(0, max(count_rows(X), 1), _BATCH)
                    )
                ]
        finally:
            self.model.train(was_training)
        return torch.cat(parts).double().cpu().numpy()


def _adapt_torch(model: Any, classes: Any, answers: Answers | None) -> TorchMember:
    """Return a module as a classifier; the caller has to say what it returns."""
    if classes is None or answers is None:
        raise TypeError(
            f"a torch module ({type(model).__name__}) has no labels and does not "
            "specify what it returns; pass quorate.as_member(module, classes=[...], "
            "answers='logits') or 'probabilities'."
        )
    return TorchMember(model, classes, answers)
