"""Each mode tried on the same samples: what it asks, changes and takes."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from quorate._rows import count_rows, take_rows
from quorate._typing import Array
from quorate.ensembles import predict_milliseconds
from quorate.lazy._calibration import rows_needed
from quorate.lazy._classifier import MODES, LazyClassifier


@dataclass(frozen=True, slots=True)
class ModeTrial:
    """How one mode did."""

    mode: str
    """The mode, or "everyone" for the ensemble itself."""
    members_asked: float
    """Mean number of members asked about a sample."""
    share_asked: float
    """The same as a share of all members."""
    expected_disagreement: float
    """Share of predictions that the mode may change."""
    disagreement: float
    """Share of predictions that it did change."""
    milliseconds: float
    """Best measured time to predict the samples."""
    speedup: float
    """How many times faster than the ensemble itself."""
    accuracy: float | None
    """Share of samples predicted right, where labels are known."""


@dataclass(frozen=True, slots=True)
class Trial:
    """How all modes did on the same samples."""

    modes: tuple[ModeTrial, ...]
    n_members: int
    n_samples: int
    n_calibration: int
    """Samples set aside to calibrate on."""
    left_out: str | None
    """Why calibrated mode could not be tried; None if it was."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain types for JSON."""
        return asdict(self)


def try_modes(
    ensemble: Any,
    X: Any,
    y: Any = None,
    *,
    confidence: float = 0.999,
    epsilon: float = 0.005,
    random_state: int = 0,
    repeats: int = 5,
) -> Trial:
    """Try every mode on half of the samples; the other half calibrates.

    All samples are used where the calibrating half would be too small to certify
    epsilon; calibrated mode is left out then.
    """
    lazies = {
        mode: LazyClassifier(
            ensemble,
            mode,
            confidence,
            epsilon,
            random_state=random_state,
            n_jobs=getattr(ensemble, "n_jobs", None),
        )
        for mode in MODES
    }
    for mode in ("exact", "bayes"):
        lazies[mode].fit()
    calibration, rows, left_out = _split(count_rows(X), epsilon, random_state)
    if left_out is None:
        lazies["calibrated"].fit(take_rows(X, calibration))
    else:
        del lazies["calibrated"]
    judged = take_rows(X, rows)
    truth = None if y is None else np.asarray(y)[rows]
    times = predict_milliseconds([ensemble, *lazies.values()], judged, repeats)
    own = np.asarray(ensemble.predict(judged))
    n_members = lazies["exact"].n_members_
    tried = [
        ModeTrial(
            mode="everyone",
            members_asked=float(n_members),
            share_asked=1.0,
            expected_disagreement=0.0,
            disagreement=0.0,
            milliseconds=float(times[0]),
            speedup=1.0,
            accuracy=_share(own, truth),
        )
    ]
    for (mode, lazy), taken in zip(lazies.items(), times[1:], strict=True):
        found = lazy.predict(judged)
        asked = float(lazy.members_asked(judged).mean())
        tried.append(
            ModeTrial(
                mode=mode,
                members_asked=asked,
                share_asked=asked / n_members,
                expected_disagreement=lazy.expected_disagreement_,
                disagreement=float(np.mean(found != own)),
                milliseconds=float(taken),
                speedup=float(times[0] / taken),
                accuracy=_share(found, truth),
            )
        )
    return Trial(tuple(tried), n_members, rows.size, calibration.size, left_out)


def _split(n_rows: int, epsilon: float, seed: int) -> tuple[Array, Array, str | None]:
    needed = rows_needed(epsilon)
    half = n_rows // 2
    if half < needed:
        return (
            np.arange(0),
            np.arange(n_rows),
            f"{n_rows} samples are too few to calibrate for epsilon={epsilon:g} and "
            f"try it: that takes {2 * needed}",
        )
    mixed = np.random.default_rng(seed).permutation(n_rows)
    return np.sort(mixed[:half]), np.sort(mixed[half:]), None


def _share(found: Array, truth: Array | None) -> float | None:
    return None if truth is None else float(np.mean(found == truth))
