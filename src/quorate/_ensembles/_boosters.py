"""Boosters of LightGBM and XGBoost, which predict but do not store labels.

Neither library is imported unless one of its boosters is used.
"""

import json
from typing import Any, ClassVar

from quorate._ensembles._adapters import AdaptedMember, Answers, MemberAdapter


class _BoosterAdapter(MemberAdapter):
    """Shared code for both libraries: a class called Booster with an objective.

    Attributes
    ----------
    answers_of : dict
        The output type of a booster, by objective.
    """

    answers_of: ClassVar[dict[str, Answers]]
    member: ClassVar[type[AdaptedMember]] = AdaptedMember

    def fits(self, model: Any) -> bool:
        """See :class:`MemberAdapter`."""
        return any(
            cls.__name__ == "Booster" and cls.__module__.partition(".")[0] == self.name
            for cls in type(model).__mro__
        )

    def objective(self, model: Any) -> str:
        """Return the training objective, as named by the library."""
        raise NotImplementedError

    def adapt(
        self, model: Any, classes: Any = None, answers: Answers | None = None
    ) -> Any:
        """See :class:`MemberAdapter`."""
        goal = self.objective(model)
        found = answers or self.answers_of.get(goal)
        if found is None:
            raise TypeError(
                f"a {self.name} Booster trained for {goal or 'an unknown objective'} "
                "does not vote for classes; if it does, specify what it returns with "
                "quorate.as_member(booster, classes=[...], answers=...)."
            )
        if classes is None:
            raise TypeError(
                f"a {self.name} Booster returns {found} without labels; pass "
                "quorate.as_member(booster, classes=[...]) with the labels in the "
                "order used in training."
            )
        return self.member(model, classes, found)


class LightGBMAdapter(_BoosterAdapter):
    """``lightgbm.Booster``: probabilities, unless the objective is custom."""

    name = "lightgbm"
    answers_of: ClassVar[dict[str, Answers]] = {
        "binary": "probabilities",
        "multiclass": "probabilities",
        "multiclassova": "probabilities",
        "custom": "logits",
        "": "logits",
    }

    def objective(self, model: Any) -> str:
        """See :class:`_BoosterAdapter`."""
        told = model.dump_model(num_iteration=1).get("objective", "")
        return str(told).partition(" ")[0]


class XGBoostMember(AdaptedMember):
    """An XGBoost booster, which takes a ``DMatrix``."""

    def evaluate(self, X: Any) -> Any:
        """Return the booster's predictions."""
        import xgboost

        return self.model.predict(xgboost.DMatrix(X))


class XGBoostAdapter(_BoosterAdapter):
    """``xgboost.Booster``: probabilities, margins or codes, by its objective."""

    name = "xgboost"
    member = XGBoostMember
    answers_of: ClassVar[dict[str, Answers]] = {
        "binary:logistic": "probabilities",
        "binary:logitraw": "logits",
        "multi:softprob": "probabilities",
        "multi:softmax": "codes",
    }

    def objective(self, model: Any) -> str:
        """See :class:`_BoosterAdapter`."""
        told = json.loads(model.save_config())
        return str(told["learner"]["objective"]["name"])
