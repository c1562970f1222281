"""What lazy voting saves, alone and beside pruning."""

from typing import Any

from quorate import display
from quorate._report._advice import method_of_this_report
from quorate._report._format import milliseconds, number, percent, size
from quorate._report._pictures._input import PictureInput
from quorate._report._svg import Picture, draw


def lazy_curve(given: PictureInput) -> Picture | None:
    """Draw members asked against predictions that change, if it was measured."""
    lazy = given.data["lazy"]
    curve = lazy["curve"]
    if not lazy["honest"] or curve is None:
        return None
    shown = display.LazyCurveDisplay(
        curve["settings"], curve["members_asked"], curve["disagreement"],
        curve["mode"], curve["n_members"],
    )  # fmt: skip
    return draw(
        "lazy-curve",
        shown,
        "How careful to be",
        "Members asked and predictions that change, along the confidence of mode "
        "bayes. Down is faster, left is more faithful.",
        "Of mode bayes: "
        + ", ".join(_setting(curve, at) for at in range(len(curve["settings"])))
        + ".",
        [
            (
                curve["disagreement"][at],
                curve["members_asked"][at],
                _setting(curve, at),
            )
            for at in range(len(curve["settings"]))
        ],
        height=3.6,
    )


def trade_off(given: PictureInput) -> Picture | None:
    """Draw memory, time and accuracy of the ensemble, pruned and lazy."""
    mine = method_of_this_report(given.data)
    if not given.data["lazy"]["honest"] or mine is None:
        return None
    pruning, lazy = given.data["pruning"], given.data["lazy"]["rows"]
    n_bytes, time = pruning["bytes"], pruning["milliseconds"]
    whole = mine["accuracy"] - mine["gain"]
    models = [
        ("all members", n_bytes["before"], time["before"], whole, "full"),
        (f"{pruning['n_kept']} kept", n_bytes["after"], time["after"],
         mine["accuracy"], "pruned"),
    ]  # fmt: skip
    models += [
        (row["mode"], n_bytes["before"], time["before"] / row["speedup"],
         whole - row["disagreement"], "lazy")
        for row in lazy[1:]
        if row["mode"] not in ("bayes, 90 %", "bayes, 99 %")  # the curve has these
    ]  # fmt: skip
    shown = display.TradeOffDisplay(models)
    return draw(
        "trade-off",
        shown,
        "Memory, time, accuracy",
        "Pruning saves memory and time, lazy voting only time. Accuracy is that on "
        "held-back samples; for lazy voting it is the lowest it can be, if every "
        "changed prediction were wrong.",
        "; ".join(
            f"{name}: {milliseconds(taken)}, {size(needed)}, {percent(accuracy)}"
            for name, needed, taken, accuracy, _ in models
        ),
        [
            (taken, accuracy, f"{name}: {milliseconds(taken)}, {percent(accuracy)}")
            for name, _, taken, accuracy, _ in models
        ],
        width=8.4,
        height=3.8,
        panels=True,
    )


def _setting(curve: dict[str, Any], at: int) -> str:
    return (
        f"confidence {curve['settings'][at]:g}: "
        f"{number(curve['members_asked'][at], 1)} members asked, "
        f"{percent(curve['disagreement'][at])} of predictions change"
    )
