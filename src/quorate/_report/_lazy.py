"""What lazy voting would save: members asked, predictions changed, time."""

from typing import Any

from quorate.lazy import ModeTrial, try_modes

_CONFIDENCES = (0.9, 0.99, 0.999)
_UNEQUAL = (
    "The members have unequal weights, for which mode bayes promises nothing: judge it "
    "by the predictions changed here."
)


def no_lazy_facts() -> dict[str, Any]:
    """Say that nobody is left to be asked."""
    return {
        "rows": [],
        "refusal": "Only votes are here, and no model that could be asked lazily.",
        "note": "",
        "allowance": "",
        "honest": False,
        "n_samples": 0,
        "curve": None,
    }


def lazy_facts(model: Any, rows: Any, *, unseen: bool, seed: int) -> dict[str, Any]:
    """Say what each mode asks and changes.

    Parameters
    ----------
    model : fitted ensemble
    rows : array-like
        Samples to measure on; mode "calibrated" learns from half of them.
    unseen : bool
        Whether no member was trained on the samples.
    seed : int
        Seed of the order in which members are asked.
    """
    trial = try_modes(
        model,
        rows,
        confidence=_CONFIDENCES if unseen else _CONFIDENCES[-1:],
        random_state=seed,
        repeats=2,
        source="new" if unseen else "training",
    )
    note = trial.note
    if unseen and trial.left_out is not None:
        note = f"Mode calibrated is left out: {trial.left_out}."
    if any(tried.expected_disagreement is None for tried in trial.modes):
        note = f"{note} {_UNEQUAL}".strip()
    return {
        "rows": [_row(tried) for tried in trial.modes],
        "refusal": None,
        "note": note,
        "allowance": trial.allowance,
        "honest": unseen,
        "n_samples": trial.n_samples,
        "curve": _curve(trial.modes, trial.n_members),
    }


def _row(tried: ModeTrial) -> dict[str, Any]:
    return {
        "mode": tried.title,
        "members_asked": tried.members_asked,
        "share_asked": tried.share_asked,
        "disagreement": tried.disagreement,
        # What was asked for is what it allows; calibrating may have found less.
        "allowed": tried.setting
        if tried.mode == "calibrated"
        else tried.expected_disagreement,
        "milliseconds": tried.milliseconds,
        "speedup": tried.speedup,
    }


def _curve(modes: tuple[ModeTrial, ...], n_members: int) -> dict[str, Any] | None:
    bayes = [tried for tried in modes if tried.mode == "bayes"]
    if len(bayes) < 2:
        return None
    return {
        "settings": [tried.setting for tried in bayes],
        "members_asked": [tried.members_asked for tried in bayes],
        "disagreement": [tried.disagreement for tried in bayes],
        "mode": "bayes",
        "n_members": n_members,
    }
