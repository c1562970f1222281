"""Pools: plain lists and dicts of classifiers."""

from collections.abc import Mapping
from typing import Any

from sklearn.utils import get_tags

from quorate._checks import check_names
from quorate._ensembles._adapters import as_member
from quorate._ensembles._kind import Ensemble, Kind
from quorate._ensembles._member import Member
from quorate._ensembles._weighted_voting import WeightedVoting, take_members
from quorate._messages import warn, with_article
from quorate._typing import FloatArray, IntArray
from quorate._votes import DecisionRule
from quorate.exceptions import QuorateWarning

_BY_THRESHOLD = {"FixedThresholdClassifier", "TunedThresholdClassifierCV"}


class Pool(Kind):
    """Lists and dicts: averaged probabilities if all members have them, else votes."""

    name = "pool"
    family = "pool"
    models = (list, tuple, dict)

    def read(self, model: Any) -> Ensemble:
        """See :class:`Kind`."""
        pool = model if isinstance(model, Mapping) else dict(enumerate(model))
        if not pool:
            raise ValueError("the ensemble is empty.")
        names = check_names("the ensemble", pool, len(pool))
        named = dict(zip(names, map(_as_classifier, names, pool.values()), strict=True))
        members = [Member(name, member, None) for name, member in named.items()]
        averages = all(member.has_probabilities for member in members)
        tuned = [m for m in members if type(m.estimator).__name__ in _BY_THRESHOLD]
        if averages and tuned:
            raise TypeError(
                f"member {tuned[0].name!r} ({type(tuned[0].estimator).__name__}) "
                "decides by a threshold, which averaged probabilities ignore; pass its "
                "estimator_."
            )
        return Ensemble(
            kind=self,
            model=model,
            core=model,
            members=tuple(
                Member(member.name, member.estimator, None, is_soft=averages)
                for member in members
            ),
            classes=None,
            rule=DecisionRule("average" if averages else "heads"),
            checks_input=False,
        )

    def keep(
        self, ensemble: Ensemble, members: IntArray, weights: FloatArray | None
    ) -> Any:
        """Return a list or dict of these members, or a model if weights are given."""
        if weights is not None:
            return WeightedVoting.of(ensemble, members, weights)
        return take_members(ensemble.core, members)

    def keep_members(self, smaller: Any, members: IntArray) -> None:
        """Do nothing: ``keep`` builds a new list or dict."""


def warn_of_heads(ensemble: Ensemble) -> None:
    """Warn about members without probabilities, if the pool then counts votes."""
    if ensemble.kind.family != "pool" or ensemble.rule.name == "average":
        return
    offers = [hasattr(each.estimator, "predict_proba") for each in ensemble.members]
    without = [each for each in ensemble.members if not each.has_probabilities]
    if not without or not any(offers):
        return
    more = f" and {len(without) - 1} more have" if len(without) > 1 else " has"
    warn(
        f"member {without[0].name!r} ({type(without[0].estimator).__name__}){more} no "
        "predict_proba with classes_, so the pool counts votes; leave out such members "
        "to average probabilities.",
        QuorateWarning,
    )


def _as_classifier(name: str, member: Any) -> Any:
    """Return a member as a classifier, or raise an error if it cannot vote."""
    try:
        member = as_member(member)
    except TypeError as error:
        raise TypeError(f"member {name!r}: {error}") from error
    kind = declared_type(member)
    if kind not in (None, "classifier"):
        what = with_article(str(kind).replace("_", " "))
        raise TypeError(
            f"member {name!r} ({type(member).__name__}) is {what}: "
            "it does not vote for classes."
        )
    return member


def declared_type(estimator: Any) -> str | None:
    """Return the estimator type declared to scikit-learn, if any."""
    if isinstance(estimator, type) or not hasattr(estimator, "__sklearn_tags__"):
        return None
    kind: str | None = get_tags(estimator).estimator_type
    return kind
