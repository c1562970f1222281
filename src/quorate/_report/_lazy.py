"""What lazy voting would save: members asked, predictions changed, time."""

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils import resample

from quorate._typing import Array
from quorate.exceptions import ConfidenceWarning
from quorate.lazy import LazyClassifier

_CONFIDENCES = (0.9, 0.99, 0.999)
_EPSILON = 0.005
_SEEN = (
    "The members were trained on these samples, and on such samples they agree far "
    "more than on new ones. Read this as the most that could be saved; give samples "
    "that no member has seen to learn what it would be."
)
_UNEQUAL = (
    "The members have unequal weights, for which mode bayes promises nothing: judge it "
    "by the predictions changed here."
)


@dataclass(frozen=True, slots=True)
class LazyModels:
    """The ways to vote lazily that an ensemble allows."""

    models: dict[str, LazyClassifier] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """What to know about them, and why others cannot be had."""
    honest: bool = True
    """Whether what they ask here is what they would ask on new samples."""
    refusal: str | None = None
    """Why there are none at all."""


def make_lazy(ensemble: Any, rows: Any, unseen: bool, seed: int) -> LazyModels:
    """Prepare every mode that can be had.

    Parameters
    ----------
    ensemble : fitted ensemble
    rows : array-like
        Samples; mode "calibrated" learns from half of them.
    unseen : bool
        Whether no member was trained on the samples.
    seed : int
        Seed of the order in which members are asked.
    """
    if not hasattr(ensemble, "predict"):
        return LazyModels(
            refusal="A list or dict of classifiers has no predict of its own, which "
            "lazy voting could be compared with."
        )
    wanted: list[tuple[str, dict[str, Any], Any]] = [
        ("exact", {"mode": "exact"}, None),
        *(
            (f"bayes, {100 * share:g} %", {"mode": "bayes", "confidence": share}, None)
            for share in (_CONFIDENCES if unseen else _CONFIDENCES[-1:])
        ),
    ]
    if unseen:
        careful = {"mode": "calibrated", "epsilon": _EPSILON}
        wanted.append(("calibrated, 0.5 %", careful, _half(rows, seed)))
    models, notes = {}, [] if unseen else [_SEEN]
    for name, options, sample in wanted:
        lazy = LazyClassifier(ensemble, random_state=seed, **options)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConfidenceWarning)
                models[name] = lazy.fit(sample)
        except ValueError as error:  # too few samples, or weights that do not fit
            notes.append(str(error))
    if any(model.expected_disagreement_ is None for model in models.values()):
        notes.append(_UNEQUAL)
    return LazyModels(models, tuple(notes), unseen)


def lazy_facts(
    lazy: LazyModels, rows: Any, times: list[float], answers: list[Array]
) -> dict[str, Any]:
    """Say what each mode asks and changes.

    Parameters
    ----------
    lazy : LazyModels
    rows : array-like
        Samples to measure on.
    times : list of float
        Milliseconds to predict them, of all members and then of each model.
    answers : list of array
        What they predicted.
    """
    if lazy.refusal is not None:
        return {
            "rows": [],
            "refusal": lazy.refusal,
            "note": "",
            "honest": False,
            "curve": None,
        }
    truth, models = answers[0], list(lazy.models.values())
    n_members = models[0].n_members_
    found = [_row("all members", n_members, n_members, 0.0, 0.0, times[0], times[0])]
    for at, (name, model) in enumerate(lazy.models.items(), start=1):
        asked = float(model.members_asked(rows).mean())
        changed = float(np.mean(answers[at] != truth))
        allowed = model.expected_disagreement_
        found.append(
            _row(name, asked, n_members, changed, allowed, times[0], times[at])
        )
    bayes = [at for at, model in enumerate(models, 1) if model.mode == "bayes"]
    return {
        "rows": found,
        "refusal": None,
        "note": " ".join(lazy.notes),
        "honest": lazy.honest,
        "n_samples": int(truth.size),
        "curve": {
            "settings": [models[at - 1].confidence for at in bayes],
            "members_asked": [found[at]["members_asked"] for at in bayes],
            "disagreement": [found[at]["disagreement"] for at in bayes],
            "mode": "bayes",
            "n_members": n_members,
        }
        if len(bayes) > 1
        else None,
    }


def _row(
    mode: str,
    asked: float,
    n_members: int,
    changed: float,
    allowed: float | None,
    before: float,
    time: float,
) -> dict[str, Any]:
    return {
        "mode": mode,
        "members_asked": float(asked),
        "share_asked": asked / n_members,
        "disagreement": changed,
        "allowed": allowed,
        "milliseconds": float(time),
        "speedup": float(before / time),
    }


def _half(rows: Any, seed: int) -> Any:
    n_rows = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    wanted = max(1, n_rows // 2)
    return resample(rows, replace=False, n_samples=wanted, random_state=seed)
