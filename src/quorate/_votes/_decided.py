"""Votes that know how their ensemble decides, and where they are from."""

import numpy as np

from quorate._messages import one_of
from quorate._typing import Array, FloatArray, IntArray, Ties
from quorate._votes._checks import read_only
from quorate._votes._counted import CountedVotes
from quorate._votes._deciding import decide
from quorate._votes._probabilities import Probabilities
from quorate._votes._reading import Reading
from quorate._votes._rule import PLURALITY, DecisionRule, RuleName, VoteSource


class DecidedVotes(CountedVotes):
    """Votes, and what the ensemble of all members makes of them."""

    __slots__ = ("_family", "_probabilities", "_reading", "_rule", "_source")

    _family: str | None
    _probabilities: Probabilities | None
    _reading: Reading | None
    _rule: DecisionRule
    _source: VoteSource | None

    @property
    def rule(self) -> RuleName:
        """How the ensemble decides: "average" or "heads"."""
        return self._rule.name

    @property
    def decision_rule(self) -> DecisionRule:
        """How the ensemble decides, in full."""
        return self._rule

    @property
    def ties(self) -> Ties:
        """How an error at a tie counts where nothing else is said."""
        return self._rule.ties

    @property
    def source(self) -> VoteSource | None:
        """Where the votes are from; None if nobody has said."""
        return self._source

    @property
    def family(self) -> str | None:
        """How the members came about; None if nobody has said.

        "bagging": alike, on resamples. "boosting": in sequence. "pool": each on its
        own.
        """
        return self._family

    @property
    def reading(self) -> Reading | None:
        """How members that count their classes were understood; None without such."""
        return self._reading

    @property
    def counts_heads(self) -> bool:
        """Whether decisions come from votes alone.

        The mean of probabilities does where every member is certain.
        """
        if self._rule.name == "heads":
            return True
        return self._probabilities is not None and self._probabilities.are_certain

    @property
    def class_probabilities(self) -> Probabilities | None:
        """The members' class probabilities, one member at a time; None without."""
        return self._probabilities

    @property
    def probabilities(self) -> Array | None:
        """The members' class probabilities, or None where only votes were collected.

        Of shape (n_members, n_samples, n_classes), 32-bit floats, zero where there is
        no usable vote. In a temporary file where they take more than 512 MB.
        """
        given = self._probabilities
        if given is None:
            return None
        return self._once("probabilities", lambda: read_only(given.dense()))

    def mean_probabilities(self) -> FloatArray:
        """Return the mean of the members' probabilities, (n_samples, n_classes).

        Weighted as they vote; of those that may vote on a sample.
        """
        given = self._probabilities
        if given is None:
            raise ValueError("mean_probabilities: these votes have no probabilities.")
        weights = self._weights
        if weights is None or self.has_equal_weights:  # as shares has it
            weights = np.ones(self.n_members)
        total = np.zeros((self.n_samples, self.n_classes))
        for member, weight in enumerate(weights):
            total += weight * given.of(member)
        _, asked = self.shares()
        return np.asarray(total / np.where(asked > 0, asked, 1)[:, None])

    def predict(self, rule: RuleName | None = None) -> Array:
        """Return the labels that the ensemble decides for.

        Parameters
        ----------
        rule : {"average", "heads"}, optional
            By the ensemble's own rule if not given; "heads" for the label of the
            (weighted) plurality vote, the lowest of a tie.
        """
        return np.asarray(self._classes[self.decisions(rule)])

    def decisions(self, rule: RuleName | None = None) -> IntArray:
        """Return what :meth:`predict` does, as positions in ``classes``."""
        wanted = self._asked_rule("predict", rule)
        if wanted == PLURALITY:
            return self.verdict()[0]
        if wanted != self._rule:
            return np.asarray(self.mean_probabilities().argmax(axis=1))
        return self._once("decisions", lambda: read_only(decide(self)))

    def sample_errors(
        self, ties: Ties | None = None, rule: RuleName | None = None
    ) -> FloatArray:
        """Return the error on each sample: 0, 1, or between the two at a tie.

        Parameters
        ----------
        ties : {"expected", "lowest"}, optional
            Count a tie as a random choice among the tied classes would err on average,
            or as :meth:`predict` does. By default, votes collected from an ensemble
            count ties as it errs, and the plurality vote as expected. Averages hardly
            ever tie and count as :meth:`predict` decides.
        rule : {"average", "heads"}, optional
            Whose errors: the ensemble's own if not given; "heads" for the plurality
            vote.
        """
        wanted = self._asked_rule("sample_errors", rule)
        how = wanted.ties if ties is None else ties
        one_of("sample_errors", "ties", how, ("expected", "lowest"))
        if how == "expected" and wanted.name == "heads":
            _, tied, has_truth = self.verdict()
            return np.asarray((tied - has_truth) / tied)
        errors = np.asarray(self.decisions(rule) != self._y, dtype=float)
        if self._masked:
            _, asked = self.sample_counts()
            return np.where(asked == 0, 1 - 1 / self.n_classes, errors)
        return errors

    def error(self, ties: Ties | None = None, rule: RuleName | None = None) -> float:
        """Return the mean error; see :meth:`sample_errors`."""
        return float(self.sample_errors(ties, rule).mean())

    def accuracy(self, ties: Ties | None = None, rule: RuleName | None = None) -> float:
        """Return the share of samples predicted right; see :meth:`sample_errors`.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from sklearn.ensemble import RandomForestClassifier
        >>> import quorate
        >>> X, y = load_wine(return_X_y=True)
        >>> forest = RandomForestClassifier(5, max_depth=2, random_state=0)
        >>> votes = quorate.collect_votes(forest.fit(X[::2], y[::2]), X[1::2], y[1::2])
        >>> votes.accuracy() == forest.score(X[1::2], y[1::2])
        True
        >>> votes.rule, round(votes.accuracy(rule="heads"), 3)
        ('average', 0.871)
        """
        # Counted as score counts, so that both are the same number to the bit.
        return float((1.0 - self.sample_errors(ties, rule)).mean())

    def _asked_rule(self, owner: str, rule: RuleName | None) -> DecisionRule:
        if rule is None:
            return self._rule
        one_of(owner, "rule", rule, ("average", "heads"))
        if rule == "heads":
            return PLURALITY
        if self._rule.name == "average":
            return self._rule
        if self._probabilities is None:
            raise ValueError(
                f"{owner}(rule='average'): these votes have no probabilities; collect "
                "them with probabilities=True."
            )
        return DecisionRule("average")
