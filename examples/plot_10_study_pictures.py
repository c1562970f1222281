"""
Figures of a study
==================

Six methods on five data sets, with the usual figures of the literature. You can do the
same with ``quorate study run`` on the command line, and write the figures to files with
:func:`quorate.display.study_figures`.
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
# Average ranks. Methods whose intervals do not overlap differ significantly; with five
# data sets, few do.

display.RankDisplay.from_results(results).plot()
plt.show()

# %%
# The same as a critical-difference diagram. A bar connects methods that do not differ
# significantly.

display.CriticalDifferenceDisplay.from_results(results).plot()
plt.show()

# %%
# Loss of accuracy by pruning, and time to choose the members.

display.QuantityDisplay.from_results(results, "accuracy", relative=True).plot()
display.QuantityDisplay.from_results(results, "seconds").plot()
plt.show()

# %%
# Does any diversity measure predict the gain of the vote over its members?

display.CorrelationDisplay.from_results(results).plot()
plt.show()

# %%
# Does the risk estimate predict the error?

display.RiskErrorDisplay.from_results(results).plot()
plt.show()

# %%
# Two of the methods choose their own size, up to a given maximum.

display.SizeAccuracyDisplay.from_results(results).plot()
plt.show()

# %%
# Write all figures to files:

paths = display.study_figures(results, store.parent / "figures", ["svg", "pdf"])
print(*sorted(path.name for path in paths), sep="\n")
