"""How much faster a study is on two cores than on one.

Fits are independent, so two at a time should take little more than half as long. What
is lost is the start of the workers, which the first run pays, and the last fit, for
which one of them waits.
"""

import tempfile
from pathlib import Path

from joblib import cpu_count
from threadpoolctl import threadpool_limits

from bench._timing import Report, best_of
from quorate.study import EnsembleSpec, MethodSpec, Plan, run_plan

REPEATS = 3
PLAN = Plan(
    name="bench",
    data=("breast_cancer", "waveform", "ringnorm", "twonorm"),
    ensembles=(EnsembleSpec("bagging", "tree", 100),),
    methods=tuple(
        MethodSpec(name, 0.3) for name in ("epbd", "re", "kp", "mdm", "umep", "random")
    ),
    folds=5,
    repeats=2,
)


def run() -> int:
    """Print the ratio; return how many limits were missed."""
    report = Report(f"study: one job against two, best of {REPEATS} runs each")
    if cpu_count() < 2:
        print("study: one core only, nothing to compare")
        return 0
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):

        def study(n_jobs: int) -> None:
            path = Path(folder) / "bench.sqlite"
            path.unlink(missing_ok=True)
            run_plan(PLAN, path, n_jobs=n_jobs)

        one, two = best_of(REPEATS, lambda: study(1), lambda: study(2))
    what = f"{PLAN.n_cells} cells on 2 cores"
    report.add(what, "1 core", one / two, 1.7, two, at_least=True)
    return report.show()
