"""Try all modes of early exit on the same samples: members, changes and time."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._data import count_rows, in_memory, take_rows
from quorate._ensembles import (
    RowSource,
    check_labels,
    predict_milliseconds,
    read_ensemble,
    source_of,
)
from quorate._lazy._calibration import rows_needed
from quorate._lazy._classifier import LazyClassifier
from quorate._lazy._members import additive_ensemble
from quorate._output import Result
from quorate._typing import Array
from quorate._units import percent_text
from quorate._votes import VoteSource, as_truth
from quorate.exceptions import QuorateWarning

_FLATTERED = (
    "Members agree far more on samples they were trained on than on new ones; treat "
    "these figures as an upper limit of the savings."
)


@dataclass(frozen=True, slots=True)
class ModeTrial:
    """Results of one mode.

    Attributes
    ----------
    mode : str
        The mode, or "everyone" for the ensemble itself.
    setting : float | None
        The confidence of "bayes", the epsilon of "calibrated", None for the others.
    members_asked : float
        Mean number of members evaluated per sample.
    share_asked : float
        The same as a share of all members.
    expected_disagreement : float | None
        Share of predictions that the mode may change; None without a guarantee.
    disagreement : float
        Share of predictions that it did change.
    milliseconds : float
        Best measured time to predict the samples.
    speedup : float
        How many times faster than the ensemble itself.
    accuracy : float | None
        Share of samples predicted right; None without labels, and on samples that the
        members were trained on, where it would mean nothing.
    """

    mode: str
    setting: float | None
    members_asked: float
    share_asked: float
    expected_disagreement: float | None
    disagreement: float
    milliseconds: float
    speedup: float
    accuracy: float | None

    @property
    def title(self) -> str:
        """Name in tables: the mode and its share."""
        if self.mode == "everyone":
            return "all members"
        if self.setting is None:
            return self.mode
        return f"{self.mode}, {100 * self.setting:g} %"


@dataclass(frozen=True, repr=False)
class Trial(Result):
    """Results of all modes on the same samples.

    Attributes
    ----------
    n_calibration : int
        Samples set aside to calibrate on.
    left_out : str | None
        Why calibrated mode could not be tried; None if it was.
    source : VoteSource
        The source of the samples.
    """

    modes: tuple[ModeTrial, ...]
    n_members: int
    n_samples: int
    n_calibration: int
    left_out: str | None
    source: VoteSource

    @property
    def allowance(self) -> str:
        """How to read changed predictions beside a mode's allowance.

        Empty if no mode allows changes.
        """
        there = [tried.mode for tried in self.modes if tried.expected_disagreement]
        allowing = list(dict.fromkeys(there))
        if not allowing:
            return ""
        allow = "allows" if len(allowing) == 1 else "allow"
        return (
            f"One of {self.n_samples:,} samples is {percent_text(1 / self.n_samples)}, "
            f"so the measured change may exceed what {' and '.join(allowing)} {allow}, "
            "which is an average over new samples."
        )

    @property
    def _title(self) -> str:  # type: ignore[override]
        others = f", calibrated on {self.n_calibration:,} others"
        samples = self.source.samples_text(self.n_samples)
        return (
            f"{self.n_members:,} members on {samples}"
            f"{others if self.n_calibration else ''}"
        )

    @property
    def _header(self) -> tuple[str, ...]:  # type: ignore[override]
        scored = ("accuracy",) * (self.modes[0].accuracy is not None)
        return ("mode", "evaluated", "share", "changed", "ms", "times faster", *scored)

    def rows(self) -> list[tuple[str, ...]]:
        """Return a row per mode: members evaluated, predictions changed, time."""
        return [
            (
                tried.title,
                f"{tried.members_asked:.1f}",
                percent_text(tried.share_asked, 0),
                percent_text(tried.disagreement),
                f"{tried.milliseconds:,.1f}",
                f"{tried.speedup:.{1 if tried.speedup >= 10 else 2}f}",
                *([] if tried.accuracy is None else [percent_text(tried.accuracy)]),
            )
            for tried in self.modes
        ]

    @property
    def note(self) -> str:  # type: ignore[override]
        """What the columns mean, and how far the figures can be relied on."""
        notes = (
            "evaluated: mean number of members per sample; changed: predictions that "
            f"differ from those of all members; ms: for all {self.n_samples:,} samples."
        )
        left_out = f"Not calibrated: {self.left_out}." if self.left_out else ""
        flattered = _FLATTERED if self.source.why_unreliable else ""
        parts = (notes, self.allowance, left_out, flattered)
        return " ".join(filter(None, parts))

    def to_dict(self) -> dict[str, Any]:
        """Return plain types for JSON."""
        return {**super().to_dict(), "note": self.note}


def try_modes(
    ensemble: Any,
    X: Any,
    y: Any = None,
    *,
    confidence: float | Sequence[float] = 0.999,
    epsilon: float = 0.005,
    random_state: int = 0,
    repeats: int = 5,
    source: RowSource = "auto",
) -> Trial:
    """Try every mode on half of the samples; the other half calibrates.

    All samples are used where the calibrating half would be too small to certify
    epsilon, or where the members were trained on them; calibrated mode is left out
    then.

    Parameters
    ----------
    ensemble : fitted ensemble, list or dict
        The modes are compared with its ``predict``; those of lists and dicts, which
        have none, with the vote of all members.
    X : array-like
        Samples that no member was trained on.
    y : array-like, optional
        Their labels.
    confidence : float or sequence of float
        For "bayes", which is tried with each of them.
    epsilon : float
        For "calibrated".
    random_state : int
        Seed of the order of members, and of the halves.
    repeats : int
        Number of time measurements; the best counts.
    source : {"auto", "new", "training"}
        Whether the samples are new or training data; see :func:`quorate.prune`.
    """
    members = read_ensemble(ensemble)
    if y is not None:
        labels, counts = np.unique(as_truth(y, "lazy"), return_counts=True)
        check_labels(members, labels, counts)
    kind = source_of(members, members.prepare(X), source)
    calibration, rows, left_out = _split(
        count_rows(X), epsilon, random_state, kind.why_unreliable
    )
    options: dict[str, Any] = {
        "epsilon": epsilon,
        "random_state": random_state,
        "n_jobs": getattr(ensemble, "n_jobs", None),
    }
    wanted = [confidence] if isinstance(confidence, (int, float)) else confidence
    models = [LazyClassifier(ensemble, "exact", **options)]
    models += [LazyClassifier(ensemble, "bayes", one, **options) for one in wanted]
    everyone = LazyClassifier(ensemble, "all", **options)
    terms = additive_ensemble(members)  # read once for all modes
    with warnings.catch_warnings(action="ignore", category=QuorateWarning):
        # The result has None for a missing guarantee, so no warning is needed.
        for model in (everyone, *models):
            model._fit(members, terms, None, "auto")
    if left_out is None:
        careful = LazyClassifier(ensemble, "calibrated", **options)
        some = in_memory(take_rows(X, calibration))
        models.append(careful._fit(members, terms, some, "new"))
    judged = take_rows(X, rows)
    truth = None if y is None or kind.why_unreliable else np.asarray(y)[rows]
    reference = ensemble if members.can_predict else everyone
    times = predict_milliseconds([reference, *models], judged, repeats)
    own, n_members = np.asarray(reference.predict(judged)), everyone.n_members_
    modes = []
    for model, taken in zip((everyone, *models), times, strict=True):
        answers = own if model is everyone else model.predict(judged)
        asked = float(model.members_asked(judged).mean())
        settings = {"bayes": model.confidence, "calibrated": model.epsilon}
        tried = ModeTrial(
            mode="everyone" if model is everyone else model.mode,
            setting=settings.get(model.mode),
            members_asked=asked,
            share_asked=asked / n_members,
            expected_disagreement=model.expected_disagreement_,
            disagreement=float(np.mean(answers != own)),
            milliseconds=float(taken),
            speedup=float(times[0] / taken),
            accuracy=None if truth is None else float(np.mean(answers == truth)),
        )
        modes.append(tried)
    return Trial(tuple(modes), n_members, rows.size, calibration.size, left_out, kind)


def _split(
    n_rows: int, epsilon: float, seed: int, why_unreliable: str
) -> tuple[Array, Array, str | None]:
    """Return the calibration rows, the test rows, and why there is no calibration."""
    needed, half = rows_needed(epsilon), n_rows // 2
    if half < needed and not why_unreliable:
        why_unreliable = (
            f"{n_rows} samples are too few to calibrate and test epsilon={epsilon:g}, "
            f"which needs {2 * needed}"
        )
    if why_unreliable:
        return np.arange(0), np.arange(n_rows), why_unreliable
    mixed = np.random.default_rng(seed).permutation(n_rows)
    return np.sort(mixed[:half]), np.sort(mixed[half:]), None
