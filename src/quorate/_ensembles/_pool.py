"""Pools: plain lists and dicts of classifiers."""

from collections.abc import Mapping
from typing import Any

from sklearn.utils import get_tags

from quorate._ensembles._adapters import adapt_member
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
        if hasattr(model, "_fields"):
            raise TypeError(
                f"collect_votes: got the namedtuple {type(model).__name__}; pass its "
                "_asdict(), a dict from name to fitted classifier."
            )
        pool = model if isinstance(model, Mapping) else dict(enumerate(model))
        if not pool:
            raise ValueError("collect_votes: the ensemble is empty.")
        given = {str(name): member for name, member in pool.items()}
        if len(given) < len(pool):
            names = [str(name) for name in pool]
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"collect_votes: two members are called {twice!r}.")
        named = {name: adapt_member(name, member) for name, member in given.items()}
        for name, member in named.items():
            _refuse(name, member)
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
    first = f"member {without[0].name!r} ({type(without[0].estimator).__name__})"
    more = f" and {len(without) - 1} more have" if len(without) > 1 else " has"
    what, remedy = "probabilities", "leave out such members to average probabilities"
    if hasattr(without[0].estimator, "predict_proba"):
        what = "classes_ to name the columns of predict_proba"
        remedy = "pass quorate.as_member(member, classes=[...])"
    warn(
        f"{first}{more} no {what}, so the pool counts votes; {remedy}.",
        QuorateWarning,
    )


def _refuse(name: str, member: Any) -> None:
    """Raise an error for an object that cannot vote."""
    if not callable(getattr(member, "predict", None)):
        what = with_article(type(member).__name__)
        pairs = "; pass dict(pairs) for pairs of names and classifiers"
        raise TypeError(
            f"member {name!r} is {what} without predict; a member must be a fitted "
            f"classifier{pairs if isinstance(member, tuple) else ''}."
        )
    kind = declared_type(member)
    if kind not in (None, "classifier"):
        what = with_article(str(kind).replace("_", " "))
        raise TypeError(
            f"member {name!r} ({type(member).__name__}) is {what}: "
            "it does not vote for classes."
        )


def declared_type(estimator: Any) -> str | None:
    """Return the estimator type declared to scikit-learn, if any."""
    if isinstance(estimator, type) or not hasattr(estimator, "__sklearn_tags__"):
        return None
    kind: str | None = get_tags(estimator).estimator_type
    return kind
