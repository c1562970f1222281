"""Convert any ensemble that averages trees to a scikit-learn forest."""

import copy
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.pipeline import Pipeline

from quorate._ensembles._member import Member
from quorate._ensembles._records import find_record, set_record
from quorate._ensembles._registry import read_ensemble
from quorate._typing import Array


def to_forest(model: Any) -> RandomForestClassifier | ExtraTreesClassifier:
    """Return a scikit-learn forest that predicts the same probabilities.

    Tools that support forests (SHAP, treelite, emlearn and others) can then read it.

    Parameters
    ----------
    model : fitted ensemble
        What :func:`quorate.collect_votes` reads, if its members are decision trees
        whose probabilities it averages: bagging, also on parts of the columns, soft
        voting, a :class:`quorate.ensembles.WeightedVoting` of equal weights, or a
        :class:`quorate.PrunedClassifier` around one of these. A forest is returned
        unchanged.

    Returns
    -------
    RandomForestClassifier or ExtraTreesClassifier
        Fitted, with ``feature_importances_``. It does not know which rows its trees
        were trained on: pass ``source="training"`` to evaluate it on those.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import BaggingClassifier
    >>> import quorate
    >>> X, y = load_wine(return_X_y=True)
    >>> bagging = BaggingClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> small = quorate.prune(bagging, X, y, keep=5)
    >>> forest = quorate.ensembles.to_forest(small)
    >>> np.allclose(forest.predict_proba(X), small.predict_proba(X))
    True
    """
    ensemble = read_ensemble(model)
    if type(ensemble.model) in (RandomForestClassifier, ExtraTreesClassifier):
        return ensemble.model
    name, problem = type(ensemble.model).__name__, ""
    if isinstance(ensemble.model, Pipeline):
        problem = (
            "preprocesses the samples first; pass its last step, and preprocessed "
            "samples"
        )
    elif not ensemble.can_predict:
        problem = (
            "is not a single model; use quorate.keep_members(pool, members, weights) "
            "to get one"
        )
    elif not ensemble.is_of_trees:
        problem = "is not a model whose members are all decision trees"
    elif ensemble.rule.name != "average" or ensemble.weights is not None:
        problem = "does not predict by the plain average of its trees' probabilities"
    if problem:
        raise TypeError(f"to_forest: {name} {problem}.")
    classes, n_columns = np.asarray(ensemble.classes), int(ensemble.core.n_features_in_)
    forest = RandomForestClassifier(ensemble.n_members, bootstrap=False)
    forest.estimators_ = [_tree(one, classes, n_columns) for one in ensemble.members]
    forest.classes_, forest.n_classes_, forest.n_outputs_ = classes, classes.size, 1
    forest.n_features_in_ = n_columns
    if hasattr(ensemble.core, "feature_names_in_"):
        forest.feature_names_in_ = ensemble.core.feature_names_in_
    record = find_record(model)
    return forest if record is None else set_record(forest, record)


def _tree(member: Member, classes: Array, n_columns: int) -> Any:
    """Return a tree defined on all columns and all classes."""
    make, _, state = member.tree.__reduce__()
    nodes = state["nodes"].copy()
    if member.features is not None:
        inner = nodes["left_child"] != -1
        nodes["feature"][inner] = member.features[nodes["feature"][inner]]
    values = np.ascontiguousarray(member.node_probabilities(classes)[:, None, :])
    tree = make(n_columns, np.array([classes.size], dtype=np.intp), 1)
    tree.__setstate__({**state, "nodes": nodes, "values": values})
    again = copy.copy(member.estimator)
    again.tree_, again.n_features_in_ = tree, n_columns
    again.classes_, again.n_classes_ = np.arange(classes.size), classes.size
    return again
