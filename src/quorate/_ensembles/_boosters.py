"""Boosters of LightGBM and XGBoost, which predict but do not store labels.

Neither library is imported unless one of its boosters is used.
"""

import json
from typing import Any

from quorate._ensembles._adapters import AdaptedMember, Answers

# What a booster returns, by library and objective.
_ANSWERS: dict[str, dict[str, Answers]] = {
    "lightgbm": {
        "binary": "probabilities",
        "multiclass": "probabilities",
        "multiclassova": "probabilities",
        "custom": "logits",
        "": "logits",
    },
    "xgboost": {
        "binary:logistic": "probabilities",
        "binary:logitraw": "logits",
        "multi:softprob": "probabilities",
        "multi:softmax": "codes",
    },
}


class XGBoostMember(AdaptedMember):
    """An XGBoost booster, which takes a ``DMatrix``."""

    def evaluate(self, X: Any) -> Any:
        """Return the booster's predictions."""
        import xgboost

        return self.model.predict(xgboost.DMatrix(X))


def adapt_booster(
    model: Any, library: str, classes: Any, answers: Answers | None
) -> AdaptedMember:
    """Return a booster as a classifier, or raise an error that says what is missing."""
    if library == "lightgbm":
        described = model.dump_model(num_iteration=1).get("objective", "")
        objective = str(described).partition(" ")[0]
    else:
        described = json.loads(model.save_config())
        objective = str(described["learner"]["objective"]["name"])
    returned = answers or _ANSWERS[library].get(objective)
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
