"""
A study in pictures
===================

Six methods on five data sets, and the figures of the literature. ``quorate study run``
and :func:`quorate.display.study_figures` do the same from the shell and into files.
"""

# %%
# Each ensemble is fitted once per fold, and all methods share its votes.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from quorate import display
from quorate.study import EnsembleSpec, MethodSpec, Plan, Results, run_plan

plan = Plan(
    name="pictures",
    data=("breast_cancer", "wine", "iris", "twonorm", "waveform"),
    ensembles=(EnsembleSpec("bagging", "tree", members=25),),
    methods=(
        MethodSpec("es", 1.0, "all"),
        MethodSpec("oo", 0.4),
        MethodSpec("re", 0.4),
        MethodSpec("epbd", 0.4),
        MethodSpec("pep", 0.4),
        MethodSpec("drep", 0.4),
        MethodSpec("random", 0.4),
    ),
    folds=3,
    rows=400,
    prune_on="oob",
)
store = Path(tempfile.mkdtemp()) / "pictures.sqlite"
run_plan(plan, store)
results = Results.read(store)
print(results.table("random").to_markdown())

# %%
# Average ranks. Intervals that do not overlap differ significantly; with five data sets
# few do.

display.RankDisplay.from_results(results).plot()
plt.show()

# %%
# The same as a critical-difference diagram. A bar joins methods that are level.

display.CriticalDifferenceDisplay.from_results(results).plot()
plt.show()

# %%
# What pruning costs in accuracy, and what choosing the members costs in time.

display.QuantityDisplay.from_results(results, "accuracy", relative=True).plot()
display.QuantityDisplay.from_results(results, "seconds").plot()
plt.show()

# %%
# Where the errors come from, on average over all folds of all data sets.

display.DecompositionDisplay.from_results(results).plot()
plt.show()

# %%
# Does any measure of diversity foretell what the vote gains over its members?

display.CorrelationDisplay.from_results(results).plot()
plt.show()

# %%
# Does the risk estimate foretell the error?

display.RiskErrorDisplay.from_results(results).plot()
plt.show()

# %%
# Two of these choose their own size, up to the one they are given.

display.SizeAccuracyDisplay.from_results(results).plot()
plt.show()

# %%
# All of them as files:

paths = display.study_figures(results, store.parent / "figures", ["svg", "pdf"])
print(*sorted(path.name for path in paths), sep="\n")
