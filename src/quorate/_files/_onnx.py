"""Export a classifier to ONNX."""

import importlib
import os
import re
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import VotingClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from quorate._atomic import atomic_write
from quorate._ensembles import WeightedVoting, inside, read_ensemble
from quorate._messages import in_short, warn
from quorate._typing import Array
from quorate.exceptions import QuorateWarning


def to_onnx(
    model: Any,
    X: Any,
    *,
    path: str | os.PathLike[str] | None = None,
    target_opset: int | None = None,
) -> Any:
    """Convert a fitted classifier to ONNX with skl2onnx, and count changed labels.

    The converted model is run on ``X`` and compared with ``model``. ONNX adds up in
    single precision, so a few rows on which classes nearly tie can get another label; a
    warning says how many. :func:`quorate.compact` gives the same labels and
    probabilities as the model itself.

    Parameters
    ----------
    model : fitted classifier
        What skl2onnx converts, or a :class:`quorate.PrunedClassifier`,
        :class:`quorate.LazyClassifier` or :class:`quorate.ensembles.WeightedVoting`
        of it. For classifiers of other libraries, register a converter with skl2onnx
        first.
    X : array-like of shape (n_samples, n_features)
        Numbers; or a pandas frame, also with text, for a pipeline that begins with a
        ``ColumnTransformer``. Its columns say what the graph takes, and its rows are
        those on which labels are compared.
    path : path, optional
        Where to write the model as well, atomically.
    target_opset : int, optional
        The version of ONNX's operators; by default the newest that skl2onnx knows.

    Returns
    -------
    onnx.ModelProto
        It takes one tensor ``X`` of 32-bit floats, or one tensor for each column of a
        frame. It returns ``label`` and ``probabilities``.

    Raises
    ------
    TypeError
        If ``model`` is not a classifier.
    ValueError
        If skl2onnx cannot convert a part of it, or onnxruntime cannot run the result.
    ImportError
        If skl2onnx or onnxruntime is missing; the extra ``onnx`` installs them.

    Warns
    -----
    QuorateWarning
        If rows of ``X`` get another label.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from quorate import to_onnx
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]], dtype=np.float32)
    >>> forest = RandomForestClassifier(5, random_state=0).fit(X, list("aabb"))
    >>> [output.name for output in to_onnx(forest, X).graph.output]
    ['label', 'probabilities']
    """
    if not hasattr(model, "fit") or not is_classifier(model):
        raise TypeError(
            "to_onnx: expected a fitted classifier or, for several, a VotingClassifier "
            f"of them; got {type(model).__name__}."
        )
    check_is_fitted(model)
    for package in ("skl2onnx", "onnxruntime"):
        try:
            importlib.import_module(package)
        except ImportError as error:
            raise ImportError(
                f"to_onnx: needs {package}; pip install skl2onnx onnxruntime"
            ) from error
    import skl2onnx

    expected = np.asarray(model.predict(X))  # also refuses X that does not fit
    plain = _for_skl2onnx(model)
    samples, columns = _inputs(X, plain)
    owner, package = type(model).__name__, "skl2onnx cannot convert"
    try:
        converted = skl2onnx.to_onnx(
            plain, samples[:1], target_opset=target_opset, options={"zipmap": False}
        )
        package = "onnxruntime cannot run"
        labels = _predict(converted, columns)
        if labels.shape != expected.shape:
            raise ValueError(f"it returns labels of shape {labels.shape}")
    except Exception as error:
        # Neither package says which errors it raises.
        unknown = re.search(r"Unable to find .*?<class '([\w.]+)'>", str(error), re.S)
        why = f"it has no converter for {unknown[1]}" if unknown else in_short(error)
        raise ValueError(f"to_onnx: {package} this {owner} ({why}).") from error
    n_changed = int(np.sum(labels != expected))
    if n_changed:
        warn(
            f"to_onnx: the converted {owner} gives another label for {n_changed} of "
            f"{len(labels)} rows, because ONNX computes in single precision; "
            "quorate.compact keeps every label.",
            QuorateWarning,
        )
    if path is not None:
        with atomic_write(path) as file:
            file.write(converted.SerializeToString())
    return converted


def _for_skl2onnx(model: Any) -> Any:
    """Return a model without the wrappers and options that skl2onnx does not take."""
    if isinstance(model, Pipeline):
        # Of imbalanced-learn too, without samplers, which have no part in predict.
        return Pipeline(
            [
                (name, _for_skl2onnx(step))
                for name, step in model.steps
                if step not in (None, "passthrough")
                and not hasattr(step, "fit_resample")
            ]
        )
    if isinstance(model, (VotingClassifier, WeightedVoting)):
        return _as_voting_classifier(model)
    within = inside(model)
    return model if within is None else _for_skl2onnx(within)


def _as_voting_classifier(model: Any) -> VotingClassifier:
    ensemble = read_ensemble(model)
    for member in ensemble.members:
        n_classes = len(member.estimator.classes_)
        if member.features is not None or n_classes < len(model.classes_):
            raise ValueError(
                f"to_onnx: member {member.name!r} of {type(model).__name__} knows only "
                "some columns or classes, and skl2onnx needs members that know all."
            )
    vote = VotingClassifier(
        [(member.name, member.estimator) for member in ensemble.members],
        voting="soft" if ensemble.rule.name == "average" else "hard",
        weights=ensemble.weights,
        flatten_transform=False,
    )
    vote.estimators_ = [_for_skl2onnx(member.estimator) for member in ensemble.members]
    vote.classes_ = model.classes_
    return vote


def _inputs(X: Any, model: Any) -> tuple[Any, list[Array]]:
    """Return the samples with 32-bit floats, and as the arrays that the graph takes."""
    first = model.steps[0][1] if isinstance(model, Pipeline) else None
    if isinstance(first, ColumnTransformer) and hasattr(X, "iloc"):
        frame = X.astype(
            {
                name: np.float32 if dtype.kind == "f" else object
                for name, dtype in X.dtypes.items()
                if dtype.kind not in "biu"
            }
        )
        return frame, [frame[[name]].to_numpy() for name in frame]
    try:
        samples = np.asarray(X, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"to_onnx: X must be an array of numbers, got {type(X).__name__} with "
            "other values; a pipeline that begins with a ColumnTransformer accepts a "
            "pandas frame, otherwise convert only the steps after the encoding."
        ) from error
    return samples, [samples]


def _predict(converted: Any, columns: list[Array]) -> Array:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # errors are raised, not printed
    session = onnxruntime.InferenceSession(
        converted.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    # By position, because skl2onnx replaces special characters in names.
    names = [column.name for column in session.get_inputs()]
    return np.asarray(session.run(["label"], dict(zip(names, columns, strict=True)))[0])
