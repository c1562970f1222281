"""What choosing members costs, against plain NumPy passes over the same data."""

import warnings
from collections.abc import Callable

import numpy as np

import quorate
from bench._timing import Report, best_of, peak_extra_bytes
from bench.measures import fresh, make, make_hard
from quorate import pruning
from quorate.pruning._running import running_vote

MEASURES = tuple(quorate.measures())


def run() -> int:
    """Print the table of ratios; return the number of limits missed."""
    report = Report("pruning")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", quorate.exceptions.QuorateWarning)
        _sample_driven(report)
        _growth(report)
        _greedy(report)
        _pairs(report)
        _flips(report)
    return report.show()


def _sample_driven(report: Report) -> None:
    votes = quorate.Votes(*make(1000, 100_000))
    correct = np.array(votes.correct)
    methods: dict[str, pruning.Pruner] = {"EPBD": pruning.EPBD(keep=0.3)}
    for name in MEASURES:
        methods[f"FTAD {name}"] = pruning.FTAD(name, keep=0.3)
    tasks: list[Callable[[], object]] = [
        lambda pruner=pruner: pruner.fit(fresh(votes)) for pruner in methods.values()
    ]
    passes, *times = best_of(3, lambda: (correct.sum(0), correct.sum(1)), *tasks)
    for name, seconds in zip(methods, times, strict=True):
        report.add(
            f"{name}, 1000 x 100000, keep 0.3", "correct.sum(0), correct.sum(1)",
            seconds / passes, 2.5, seconds,
        )  # fmt: skip
    extra = peak_extra_bytes(lambda: pruning.EPBD(keep=0.3).fit(fresh(votes)))
    report.add("memory of EPBD", "int8 vote matrix", extra / votes.codes.nbytes, 2)


def _growth(report: Report) -> None:
    one = quorate.Votes(*make(300, 100_000))
    two = quorate.Votes(*make(300, 200_000))
    pruner, double = pruning.EPBD(keep=60), pruning.EPBD(keep=120)
    base, samples, members = best_of(
        5,
        lambda: pruner.fit(fresh(one)),
        lambda: pruner.fit(fresh(two)),
        lambda: double.fit(fresh(one)),
    )
    report.add("EPBD, twice the samples", "half of them", samples / base, 2.3, samples)
    report.add("EPBD, twice the picks", "half of them", members / base, 2.3, members)


def _greedy(report: Report) -> None:
    votes = quorate.Votes(*make(300, 50_000))
    signs = np.where(votes.correct, 1, -1).astype(np.int16)

    def direct(alignment: bool = False) -> None:
        """Vote with every candidate at every step, all samples at once.

        DREP also looks at how far each candidate agrees with the set.
        """
        total = np.zeros(votes.n_samples, dtype=np.int16)
        for _ in range(3):
            after = total + signs
            errors = 2 * (after < 0).sum(axis=1) + (after == 0).sum(axis=1)
            if alignment:
                (signs * np.sign(total)).sum(axis=1)
            total = total + signs[errors.argmin()]

    methods = {
        "RE": pruning.ReducedError(keep=60),
        "CM": pruning.Complementariness(keep=60),
        "DREP": pruning.DREP(keep=60),
    }
    # Out-of-bag votes: with a vote on every sample DREP ends after its first pick.
    unseen = np.random.default_rng(0).random(votes.codes.shape) < 0.37
    bagged = quorate.Votes(votes.codes, votes.y, valid=unseen)
    seen = {name: bagged if name == "DREP" else votes for name in methods}
    three, aligned, *times = best_of(
        3,
        direct,
        lambda: direct(alignment=True),
        *(lambda n=n, p=p: p.fit(fresh(seen[n])) for n, p in methods.items()),
    )
    for (name, pruner), seconds in zip(methods.items(), times, strict=True):
        picks = pruner.n_kept_
        plain = aligned if name == "DREP" else three
        report.add(
            f"{name}, 300 x 50000, {picks} picks", "voting anew for every candidate",
            (plain / 3 * picks) / seconds, 20, seconds, at_least=True,
        )  # fmt: skip
    for name, pruner in methods.items():
        extra = peak_extra_bytes(lambda n=name, p=pruner: p.fit(fresh(seen[n])))
        ratio = extra / votes.codes.nbytes
        report.add(f"memory of {name}", "int8 vote matrix", ratio, 2)


def _pairs(report: Report) -> None:
    votes = quorate.Votes(*make(300, 50_000))
    correct = votes.correct.astype(np.float32)
    methods = {
        "KP": pruning.KappaPruning(keep=60),
        "GMA": pruning.FarthestFirst(keep=60),
        "LCS": pruning.LocalSearch(keep=60),
        "MRMR": pruning.MRMR(keep=60),
        "MDM": pruning.MarginDistance(keep=60),
        "KL": pruning.KLDivergence(keep=60),
        "OO": pruning.OrientationOrdering(),
    }
    gram, *times = best_of(
        3,
        lambda: correct @ correct.T,
        *(lambda p=p: p.fit(fresh(votes)) for p in methods.values()),
    )
    for name, seconds in zip(methods, times, strict=True):
        report.add(
            f"{name}, 300 x 50000, keep 60", "float32 Gram product",
            seconds / gram, 6, seconds,
        )  # fmt: skip


def _flips(report: Report) -> None:
    votes = quorate.Votes(*make_hard(50, 5_000))
    half = np.arange(0, 50, 2)
    codes, y = votes.codes, votes.y

    def revote() -> int:
        counts = (codes[half] == 1).sum(axis=0)
        return int(((2 * counts > half.size) != y).sum())

    ballot = running_vote(votes).become(half)
    sep = pruning.SEP(random_state=0)
    pep = pruning.PEP(n_iter=200, random_state=0)
    direct, around, single, pareto = best_of(
        3,
        lambda: [revote() for _ in range(100)],
        lambda: [ballot.errors_if_flipped() for _ in range(100)],
        lambda: sep.fit(votes),
        lambda: pep.fit(votes),
    )
    direct /= 100
    rows = (
        ("all single flips", around / 100 / votes.n_members),
        ("SEP", single / sep.n_iter_),
        ("PEP", pareto / pep.n_evaluations_),
    )
    for name, seconds in rows:
        report.add(
            f"{name}, a candidate, 50 x 5000", "voting anew", seconds / direct, 1 / 20,
            seconds,
        )  # fmt: skip
