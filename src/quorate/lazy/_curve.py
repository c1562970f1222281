"""What a setting of lazy voting saves and what it changes."""

from dataclasses import dataclass
from typing import Any

from quorate._typing import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class LazyCurve:
    """Members asked and predictions changed, over the settings of a mode.

    Made by :meth:`quorate.LazyClassifier.curve`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from quorate import LazyClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(100, random_state=0).fit(X[::2], y[::2])
    >>> lazy = LazyClassifier(forest, mode="bayes", random_state=0).fit()
    >>> curve = lazy.curve(X[1::2], [0.9, 0.99, 0.999])
    >>> curve.setting, curve.members_asked.shape
    ('confidence', (3,))
    """

    mode: str
    """How the vote is stopped: "exact", "bayes" or "calibrated"."""
    setting: str
    """What the settings are: "confidence", or "threshold" for calibrated."""
    settings: FloatArray
    """The settings, from the most careless to the most careful."""
    members_asked: FloatArray
    """Mean number of members asked about a sample, one per setting."""
    disagreement: FloatArray
    """Share of samples whose prediction is not the ensemble's, one per setting."""
    n_members: int
    """Members of the ensemble."""
    n_samples: int
    """Samples it was measured on."""

    @property
    def share_asked(self) -> FloatArray:
        """Mean share of the members asked about a sample, one per setting."""
        share: FloatArray = self.members_asked / self.n_members
        return share

    def to_dict(self) -> dict[str, Any]:
        """Return plain types for JSON."""
        return {
            "mode": self.mode,
            "setting": self.setting,
            "settings": self.settings.tolist(),
            "members_asked": self.members_asked.tolist(),
            "disagreement": self.disagreement.tolist(),
            "n_members": self.n_members,
            "n_samples": self.n_samples,
        }
