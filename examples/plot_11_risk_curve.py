"""
Where more diversity lowers the risk estimate
=============================================

Theorem 2 gives a risk estimate as a function of the diversity on the worst sample. The
signs of its first three derivatives divide the axis into eight intervals. This example
plots the curve, its slope and the intervals, and the positions of some ensembles.
"""

# %%
# The curve depends on three numbers only: the number of samples, the number of labels
# that may be wrong, and the norm of the votes, which is 1 for equal weights.

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from quorate import risk

N_SAMPLES, NOISE = 200, 0.01
q = risk.endpoints(N_SAMPLES, noise=NOISE)
print(f"q1 {q.q1:.3f}  q6 {q.q6:.3f}  q5 {q.q5:.3f}  q2 {q.q2:.3f}  q3 {q.q3:.3f}")
print(f"the bound behind the estimate holds below {q.qv:.3f}")

# %%
# :func:`quorate.risk.interval` returns the interval of a diversity. Blue marks where
# the estimate decreases with diversity, which is where the slope in the lower panel is
# negative. The the paper recommends more diversity in intervals 3 and 4 only.

BLUE, GREY, INK, RED = "#a9cbe8", "#e6e6e6", "#1b2a3a", "#b5361c"
edges = [-q.q3, -q.q2, -q.q5, -q.q6, -q.q1, q.q1, q.q6, q.q5, q.q2, q.q3]


def shade(ax, numbers=True):
    """Colour the eight intervals and write their numbers above them."""
    for left, right in pairwise(edges):
        middle = (left + right) / 2
        number = risk.interval(middle, N_SAMPLES, noise=NOISE)
        if number is None:
            continue
        falls = risk.estimate(middle, N_SAMPLES, noise=NOISE, order=1) < 0
        ax.axvspan(left, right, color=BLUE if falls else GREY, lw=0)
        ax.axvline(left, color="white", lw=1)
        if numbers:
            above = ax.get_xaxis_transform()
            ax.text(middle, 1.02, number, transform=above, ha="center")


def draw(ax, order):
    """Draw the estimate or a derivative, each side of zero by itself."""
    for side in (np.linspace(-0.49, -1e-6, 800), np.linspace(0, 0.49, 800)):
        value = risk.estimate(side, N_SAMPLES, noise=NOISE, order=order)
        ax.plot(side, value, color=INK)


fig, (top, bottom) = plt.subplots(
    2, 1, figsize=(8, 6.4), sharex=True, height_ratios=[3, 2], layout="constrained"
)
for ax in (top, bottom):
    shade(ax, numbers=ax is top)
    ax.axhline(0, color=INK, lw=0.6)
draw(top, order=0)
draw(bottom, order=1)
top.axvspan(0, q.qv, ymin=0, ymax=0.035, color=RED, lw=0)
top.text(q.qv / 2, -560, "the bound holds here", color=RED, ha="center")
top.plot([q.q2, -q.q2], [risk.estimate(q.q2, N_SAMPLES, noise=NOISE)] * 2, "o", c=INK)
top.plot([-q.q5, -q.q5, -q.q1, -q.q1], [2250, 2350, 2350, 2250], RED, lw=1.5)
top.text(-0.19, 2400, "the paper: more diversity", color=RED, ha="center")
top.set(ylim=(-800, 2700), ylabel="risk estimate", xlim=(-0.5, 0.5))
bottom.set(ylim=(-26000, 26000), ylabel="slope", xlabel="diversity on the worst sample")
points = {"q6": q.q6, "q5": q.q5, "q2": q.q2, "q3": q.q3}
bottom.set_xticks(
    [*(-place for place in points.values()), 0, q.qv, *points.values()],
    [*(f"-{name}" for name in points), "±q1", "qv", *points],
)
bottom.tick_params(axis="x", labelrotation=90)
plt.show()

# %%
# The estimate depends only on the square of the margin, so the curve is symmetric. On
# the left the vote is wrong on the worst sample; there the bound does not hold, and
# more diversity means that more members are wrong. On the right the bound holds up to
# :math:`q_v`, in interval 5, where the estimate rises with diversity.
#
# Ensembles on the curve
# ----------------------
# Each tree is trained on a share of the training samples and votes on all of them. The
# larger the share, the fewer members are wrong on any sample, and the larger the
# margin.

from sklearn.datasets import make_moons
from sklearn.ensemble import BaggingClassifier
from sklearn.tree import DecisionTreeClassifier

import quorate

X, y = make_moons(N_SAMPLES, noise=0.15, random_state=0)
X_new, y_new = make_moons(2000, noise=0.15, random_state=1)
found = {}
print("share  margin  diversity  interval  bound holds  estimate  error on new samples")
for share in (0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9):
    bagging = BaggingClassifier(
        DecisionTreeClassifier(),
        101,
        max_samples=share,
        bootstrap=False,
        random_state=0,
    ).fit(X, y)
    found[share] = quorate.assess_risk(quorate.collect_votes(bagging, X, y), NOISE)
    at = found[share]
    error = quorate.collect_votes(bagging, X_new, y_new).error()
    print(
        f"{share:5.1f} {at.margin:+7.3f} {at.diversity:+10.3f} {at.interval!s:>9} "
        f"{'yes' if at.lemma_applies else 'no':>12} {at.risk:9.0f} {error:21.4f}"
    )

fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
shade(ax)
draw(ax, order=0)
above, below = (8, 3), (8, -9)
for share, assessed in found.items():
    ax.plot(assessed.diversity, assessed.risk, "o", color=RED)
    ax.annotate(
        f"{share:.0%}",
        (assessed.diversity, assessed.risk),
        xytext=(-36, 0) if share == 0.6 else above if share < 0.35 else below,
        textcoords="offset points",
    )
ax.set(
    xlim=(-0.5, 0.5),
    ylim=(0, 2600),
    xlabel="diversity on the worst sample",
    ylabel="risk estimate",
)
plt.show()

# %%
# As members use more of the samples, the ensemble moves left on the left side, jumps to
# the right end once its vote is correct on every sample, and moves left again. On the
# left the estimate more than doubles while the error on new samples halves. On the
# right, where the bound holds, the estimate halves while the error hardly changes.
# Evaluate an ensemble by its measured error.
