"""Pick by pick: which sample asked for a member, and how badly."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from quorate._typing import FloatArray, IntArray
from quorate._votes import Votes
from quorate.display._axes import figure_of, many_axes
from quorate.display._base import PanelsDisplay
from quorate.display._colours import ALL, GOOD, KEPT, text_colour
from quorate.display._text import plain
from quorate.pruning import Pruner

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_READABLE = 40


@dataclass(eq=False, repr=False)
class PickTraceDisplay(PanelsDisplay):
    """How EPBD or FTAD chose: the sample behind every pick, and its margin.

    At each pick the method looks for the sample with the smallest margin among the
    members not yet picked, and takes the most accurate member that is right on it. The
    upper panel shows that margin, the lower one the sample.

    Parameters
    ----------
    samples : ndarray of int of shape (n_picks,)
        Positions of the samples in the ``y`` that was given.
    margins : ndarray of shape (n_picks,)
        Their margins.
    members : tuple of str
        Names of the members picked.
    method : str
        Name of the method.

    Attributes
    ----------
    axes_, figure_
        Where it was drawn; ``ax_`` is the upper panel.

    Examples
    --------
    >>> import quorate
    >>> votes = dict(quorate.testing.example_votes())["two classes"]
    >>> epbd = quorate.pruning.EPBD(keep=3).fit(votes)
    >>> display = quorate.display.PickTraceDisplay.from_pruner(epbd, votes)
    >>> display.samples.shape, len(display.members)
    ((3,), 3)
    """

    samples: IntArray
    margins: FloatArray
    members: tuple[str, ...]
    method: str

    @classmethod
    def from_pruner(cls, pruner: Pruner, votes: Votes) -> Self:
        """Read the trace of a fitted method.

        Parameters
        ----------
        pruner : EPBD or FTAD
            Fitted.
        votes : Votes
            What it was fitted on.
        """
        owner = type(pruner).__name__
        if not hasattr(pruner, "trace_samples_"):
            raise ValueError(
                f"PickTraceDisplay: {owner} keeps no trace; fit EPBD or FTAD."
            )
        trace: IntArray = pruner.trace_samples_
        if trace.size and int(trace.max()) >= votes.n_samples:
            raise ValueError(
                f"PickTraceDisplay: the trace names sample {int(trace.max())}, the "
                f"votes have {votes.n_samples}; give the votes {owner} was fitted on."
            )
        n = min(trace.size, pruner.order_.size)
        return cls(
            samples=votes.samples[trace[:n]],
            margins=np.asarray(pruner.trace_margins_[:n], dtype=float),
            members=tuple(votes.names[member] for member in pruner.order_[:n]),
            method=owner,
        )

    def plot(self, axes: Any = None, *, figure: "Figure | None" = None) -> Self:
        """Draw margins above and samples below, along the picks.

        Parameters
        ----------
        axes : two matplotlib axes, optional
        figure : matplotlib figure, optional
            Draw on this figure; a new one by default.
        """
        n = self.samples.size
        width = float(np.clip(2.5 + 0.22 * n, 5.6, 10.0))
        found = many_axes(
            "PickTraceDisplay", axes, figure, (2, 1), (width, 5.0), sharex=True
        )
        top, bottom = found[:2]
        ink, picks = text_colour(top), np.arange(1, n + 1)
        top.axhline(0, color=ink, lw=0.8, alpha=0.6)
        top.vlines(picks, 0, self.margins, color=GOOD, lw=1.2)
        top.plot(picks, self.margins, "o", color=GOOD, ms=4)
        top.set_ylabel("smallest margin")
        first = np.zeros(n, dtype=bool)
        first[np.unique(self.samples, return_index=True)[1]] = True
        bottom.plot(
            picks[first], self.samples[first], "s", color=KEPT, ms=5, label="first time"
        )
        bottom.plot(
            picks[~first], self.samples[~first], "o", mfc="none", color=ALL, ms=5,
            label="again",
        )  # fmt: skip
        bottom.set_ylabel("sample")
        if n <= _READABLE:
            for pick, sample in zip(picks, self.samples, strict=True):
                bottom.annotate(
                    str(sample), (pick, sample), xytext=(0, 6),
                    textcoords="offset points", ha="center", fontsize="x-small",
                    rotation=90, color=ink,
                )  # fmt: skip
            bottom.margins(y=0.2)
            bottom.set_xticks(
                picks, [plain(name) for name in self.members], rotation=90,
                fontsize="x-small",
            )  # fmt: skip
            bottom.set_xlabel("members, in the order of picking")
        else:
            bottom.set_xlabel("pick")
        if not first.all():
            bottom.legend(
                frameon=False, labelcolor=ink, fontsize="small", ncols=2,
                loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0,
            )  # fmt: skip
        top.set_title(
            f"{plain(self.method)}: the sample that asked for each member",
            fontsize="medium", loc="left", color=ink,
        )  # fmt: skip
        self.axes_, self.ax_, self.figure_ = found, top, figure_of(top)
        return self
