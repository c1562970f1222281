"""One call from a fitted model to its compact form."""

from typing import Any, Literal, TypeAlias, get_args

from quorate.lazy._classifier import LazyClassifier
from quorate.lazy._compact import CompactClassifier

CompactMode: TypeAlias = Literal["exact", "bayes", "all"]


def compact(model: Any, mode: CompactMode = "exact") -> CompactClassifier:
    """Return the smallest and fastest model that predicts the same as a fitted one.

    It contains trees as arrays and nothing else. ``predict`` stops evaluating trees as
    soon as the prediction is decided; ``predict_proba`` evaluates all of them and
    equals the model's own up to rounding. :func:`quorate.save` writes it to a file
    which :func:`quorate.serving.load` reads with NumPy alone.

    Parameters
    ----------
    model : fitted ensemble of trees
        A random forest, extra trees, bagging or AdaBoost of trees; one that
        :func:`quorate.prune` or :func:`quorate.distil` returned; a fitted
        :class:`quorate.PrunedClassifier`; a fitted :class:`quorate.LazyClassifier`,
        which has its own mode; or a pipeline that ends in one of these and begins with
        imputers, scalers, one-hot and ordinal encoders of scikit-learn, or a
        ``ColumnTransformer`` of them.
    mode : {"exact", "bayes", "all"}
        When ``predict`` stops. "exact": when the remaining trees cannot change the
        prediction. "bayes": when that is very unlikely, 1 in 1000 by the model
        described in :class:`quorate.LazyClassifier`. "all": never.

    Returns
    -------
    CompactClassifier

    Raises
    ------
    ValueError
        If the members are not all trees, or if a step of a pipeline cannot be part of
        the compact model; the message names it.

    See Also
    --------
    quorate.serving.load : Read its file where there is only NumPy.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> import quorate
    >>> X, y = load_wine(return_X_y=True)
    >>> trees = ExtraTreesClassifier(50, random_state=0).fit(X, y)
    >>> small = quorate.compact(trees)
    >>> small
    <CompactClassifier: 50 trees, 3 classes, mode 'exact'>
    >>> bool((small.predict(X) == trees.predict(X)).all())
    True
    """
    if isinstance(model, CompactClassifier):
        return model
    if isinstance(model, LazyClassifier):
        return model.compact()
    if mode not in get_args(CompactMode):
        raise ValueError(
            f"compact(mode={mode!r}): must be 'exact', 'bayes' or 'all'; for "
            "'calibrated', fit a LazyClassifier to rows and compact it."
        )
    # A fixed seed: the same model gives the same file.
    return LazyClassifier(model, mode, random_state=0).fit().compact()
