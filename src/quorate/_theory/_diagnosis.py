"""Everything quorate can say about votes, gathered once for people and for programs."""

from dataclasses import asdict, dataclass
from typing import Any

from quorate._output import plain
from quorate._theory._decomposition import MeanDecomposition, decompose
from quorate._theory._diversity import diversity
from quorate._theory._measures import MEASURES
from quorate._votes import VoteCounts
from quorate.risk import RiskAssessment, assess_risk


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis:
    """Decomposition, diversity and risk of one ensemble."""

    votes: VoteCounts
    decomposition: MeanDecomposition
    diversity: dict[str, float]
    risk: RiskAssessment

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and text for JSON; what is not finite becomes None."""
        votes, parts, risk = self.votes, self.decomposition, self.risk
        accuracies = votes.accuracies
        best = int(accuracies.argmax())
        bound = ("bound", "applies", "vacuous")
        assessed = asdict(risk)
        assessed["bound"] = {name: getattr(risk.bound, name) for name in bound}
        found: dict[str, Any] = plain(
            {
                "votes": {
                    "n_members": votes.n_members,
                    "n_samples": votes.n_samples,
                    "classes": [str(label) for label in votes.classes],
                    "weighted": votes.weights is not None,
                    "masked": votes.is_masked,
                    "rule": votes.rule,
                    "accuracy": votes.accuracy(),
                    "plurality_accuracy": votes.accuracy(rule="heads"),
                    "member_accuracy": float(accuracies.mean()),
                    "best_member": votes.names[best],
                    "best_member_accuracy": float(accuracies[best]),
                },
                "decomposition": {
                    "error": parts.error,
                    "member_error": parts.member_error,
                    "diversity": parts.diversity,
                },
                "diversity": self.diversity,
                "risk": assessed,
            }
        )
        return found


def diagnose(votes: VoteCounts, noise: float = 0.01) -> Diagnosis:
    """Measure everything; members that vote with weights are compared as equals.

    Only the two measures that have a place for weights use them.
    """
    values = diversity(votes.unweighted())
    if not votes.has_equal_weights:
        for measure in MEASURES.values():
            if measure.weighted:
                values[measure.name] = diversity(votes, measure.name)
    return Diagnosis(votes, decompose(votes), values, assess_risk(votes, noise))
