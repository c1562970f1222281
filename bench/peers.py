"""quorate against the plain loops of other tools, in one run and on one thread.

The loops are written here in NumPy and do what the tools do: a candidate is added to
the running sum and everything is scored again (reduced error and complementariness as
in pruning libraries, greedy selection with replacement as in AutoML tools), each member
is compared with all later ones, once for each measure (DESlib's batch functions), pairs
are counted one by one (kappa, mutual information). Where every round or member of a
loop costs the same, only some are run, and the time is that of all of them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import quorate
from bench._timing import Report, best_of
from bench.measures import fresh, make_hard
from quorate import pruning

Score = Callable[[Any, Any], float]
REPEATS = 3
PAIRWISE = ("disagreement", "q_statistic", "correlation", "kappa", "double_fault")


def run() -> int:
    """Print the table of ratios; return the number of limits missed."""
    report = Report("peers, one thread")
    with threadpool_limits(1):
        predictions, y = make_hard(300, 50_000)
        _growing(report, predictions, y)
        _greedy(report, predictions, y)
        _blend(report, *make_hard(100, 2_000))
        _measures(report, predictions, y)
        _pairs(report, *make_hard(300, 20_000))
        _slow_corners(report, *make_hard(300, 20_000))
    return report.show()


# ------------------------------------------------- growing a set


def _growing(report: Report, predictions: Any, y: Any) -> None:
    votes = quorate.Votes(predictions, y)
    signs = np.where(predictions == y, 1, -1).astype(np.int16)
    correct = predictions == y
    loop, picks = 3, 60

    ones = (predictions[:, :, None] == [0, 1]).astype(np.float32)

    def reduced_error() -> list[int]:
        total, order = np.zeros((y.size, 2)), []
        for _ in range(loop):
            right = np.zeros(len(ones))
            for t, row in enumerate(ones):
                if t not in order:
                    right[t] = ((total + row).argmax(axis=1) == y).mean()
            order.append(int(right.argmax()))
            total += ones[order[-1]]
        return order

    def complementariness() -> list[int]:
        order = [int(correct.sum(axis=1).argmax())]
        total = signs[order[0]].copy()
        while len(order) < loop:
            error = np.where(total < 0, 1.0, np.where(total == 0, 0.5, 0.0))
            scores = np.full(len(signs), -np.inf)
            for t, row in enumerate(correct):
                if t not in order:
                    scores[t] = error[row].sum()
            order.append(int(scores.argmax()))
            total = total + signs[order[-1]]
        return order

    for name, plain, pruner in (
        # The lowest class wins a tie, as argmax has it.
        ("reduced error", reduced_error, pruning.ReducedError(picks, ties="lowest")),
        ("complementariness", complementariness, pruning.Complementariness(picks)),
    ):
        slow, fast = best_of(REPEATS, plain, lambda p=pruner: p.fit(fresh(votes)))
        _same(name, plain(), pruner.order_[:loop].tolist())
        rounds = loop - (name == "complementariness")
        _row(report, f"{name}, 300 x 50000, 60 picks", slow / rounds * picks, fast, 50)


# ------------------------------------------------- greedy with replacement


def _argmax_accuracy(mean: Any, y: Any) -> float:
    return -float((mean.argmax(axis=1) == y).mean())


def _fair_accuracy(mean: Any, y: Any) -> float:
    """Count ties as a random choice would err; for the check, not for the clock."""
    lead = np.where(y == 1, 1, -1) * (mean[:, 1] - mean[:, 0])
    return float(((lead < -1e-9).mean() + (lead <= 1e-9).mean()) / 2)


def _brier(mean: Any, y: Any) -> float:
    return float(((mean - np.eye(2)[y]) ** 2).sum(axis=1).mean())


def _log_loss(mean: Any, y: Any) -> float:
    own = np.clip(mean, 1e-6, 1.0)[np.arange(y.size), y]
    return -float(np.log(own).mean())


def _ensemble_selection(shares: Any, y: Any, score: Score, rounds: int) -> list[int]:
    """Add each member to the running sum, score, take the best; again."""
    total, picks = np.zeros(shares.shape[1:]), []
    for size in range(1, rounds + 1):
        losses = np.array([score((total + row) / size, y) for row in shares])
        near = losses <= losses.min() + 1e-9
        used = np.bincount(picks, minlength=len(shares)) if picks else near * 0
        picks.append(int(np.argmin(np.where(near, used, rounds + 1))))
        total += shares[picks[-1]]
    return picks


def _greedy(report: Report, predictions: Any, y: Any) -> None:
    loop, rounds = 2, 50
    rng = np.random.default_rng(0)
    ones = (predictions[:, :, None] == [0, 1]).astype(np.float32)
    shares = rng.beta(2.0, 2.0, predictions.shape).astype(np.float32)
    shares = np.where(predictions == 1, 1 + shares, 1 - shares) / 2
    shares = np.stack([1 - shares, shares], axis=2)
    hard = quorate.Votes(predictions, y)
    soft = quorate.Votes(predictions, y, probabilities=shares)
    for kind, votes, given, limits in (
        # The loop is quick where NumPy's logarithm is vectorised.
        ("votes", hard, ones, (50, 100, 10)),
        # Probabilities cannot be looked up as votes can; the aim of 50 is for votes.
        ("probabilities", soft, shares, (20, 80, 6)),
    ):
        for loss, score, limit in zip(
            ("accuracy", "brier", "log_loss"),
            (_argmax_accuracy, _brier, _log_loss),
            limits,
            strict=True,
        ):
            pruner = pruning.GreedySelection(rounds, loss, n_rounds=rounds)
            slow, fast = best_of(
                2,
                lambda g=given, s=score: _ensemble_selection(g, y, s, loop),
                lambda p=pruner, v=votes: p.fit(fresh(v)),
            )
            fair = _fair_accuracy if loss == "accuracy" else score
            short = pruning.GreedySelection(3, loss, n_rounds=3).fit(fresh(votes))
            picks = _ensemble_selection(given, y, fair, 3)
            if np.argmin(short.losses_) == 2:
                _same(loss, sorted(set(picks)), sorted(short.order_.tolist()))
            _row(
                report, f"greedy, {loss} of {kind}, 300 x 50000, {rounds} rounds",
                slow / loop * rounds, fast, limit,
            )  # fmt: skip


def _blend(report: Report, predictions: Any, y: Any) -> None:
    """Weights and nested scores of five folds, against greedy weights alone."""
    given = np.random.default_rng(0).beta(2.0, 2.0, predictions.shape) / 2
    given = np.where(predictions == 1, 0.5 + given, 0.5 - given).astype(np.float32)
    true = np.where(y == 1, given, 1 - given)[:, :, None]
    # A selection of AutoML tools looks at the probability of the true class only.
    greedy, blend = best_of(
        2 * REPEATS,
        lambda: _ensemble_selection(true, np.zeros_like(y), _log_loss, 50),
        lambda: quorate.blend(list(given), y),
    )
    report.add(
        "blend with nested scores, 100 x 2000", "greedy selection",
        blend / greedy, 3, blend,
    )  # fmt: skip


# ------------------------------------------------- measures


def _tables(y: Any, one: Any, others: Any) -> tuple[Any, Any, Any, Any]:
    """Compare a member with several: shares of both wrong, one, the other, neither."""
    first, second = one != y, others != y
    differ = first != second
    only_first = (first & differ).sum(axis=1)
    only_second = (second & differ).sum(axis=1)
    alike = ~differ
    both = (first & alike).sum(axis=1)
    n = y.size
    right = (alike.sum(axis=1) - both) / n
    return both / n, only_second / n, only_first / n, right


def _of_pairs(name: str, d: Any, c: Any, b: Any, a: Any) -> Any:
    if name == "disagreement":
        return b + c
    if name == "double_fault":
        return d
    if name == "q_statistic":
        return (a * d - b * c) / (a * d + b * c)
    if name == "correlation":
        spread = np.sqrt((a + b) * (c + d) * (a + c) * (b + d))
        return (a * d - b * c) / spread
    return 2 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d))


def _pairwise(predictions: Any, y: Any, name: str, members: Any) -> dict[int, Any]:
    """Compare members with all later ones, as DESlib's batch functions do."""
    return {
        t: _of_pairs(name, *_tables(y, predictions[t], predictions[t + 1 :]))
        for t in members
    }


def _whole(predictions: Any, y: Any) -> list[float]:
    """Measure what does not come in pairs, each from the predictions."""
    n = len(predictions)

    def right() -> Any:
        return (predictions == y).sum(axis=0)

    def spread() -> float:
        c = right()
        return float((c * (n - c)).mean()) / n**2

    p = (predictions == y).mean()
    failed = np.bincount(n - right(), minlength=n + 1) / y.size
    at_once = np.arange(n + 1) / n
    several = (at_once * (np.arange(n + 1) - 1) / (n - 1) * failed).sum()
    share = (predictions == 1).mean(axis=0)
    shares = np.stack([share, 1 - share])
    logs = np.log(np.where(shares > 0, shares, 1.0))
    vote = 2 * right() > n
    failures = (np.arange(1, n + 1)[::-1] - 1 + 1) / n
    return [
        spread(),
        1 - n * spread() / ((n - 1) * p * (1 - p)),
        float(-(shares * logs).sum(axis=0).mean()),
        float((np.minimum(right(), n - right()) / (n // 2)).mean()),
        float(np.var(right() / n)),
        float(1 - several / (at_once * failed).sum()),
        float((failures * failed[1:]).sum()),
        float(vote.mean() - p),
    ]


def _measures(report: Report, predictions: Any, y: Any) -> None:
    # A member is compared with all later ones: every 30th, from the 15th, has as many
    # of these on average as all have.
    some, every = range(15, 300, 30), 30

    def plain(name: str) -> dict[int, Any]:
        return _pairwise(predictions, y, name, some)

    def five() -> None:
        for name in PAIRWISE:
            plain(name)

    one, all_five, rest, fast, fast_all = best_of(
        REPEATS,
        lambda: plain("q_statistic"),
        five,
        lambda: _whole(predictions, y),
        lambda: quorate.pairwise_diversity(quorate.Votes(predictions, y), "QStat"),
        lambda: quorate.diversity(quorate.Votes(predictions, y)),
    )
    found = quorate.pairwise_diversity(quorate.Votes(predictions, y), "QStat")
    for t, values in plain("q_statistic").items():
        np.testing.assert_allclose(found[t, t + 1 :], values, atol=1e-9)
    _row(
        report, "one pairwise measure from predictions, 300 x 50000", one * every,
        fast, 100,
    )  # fmt: skip
    _row(
        report, "all thirteen from predictions, 300 x 50000", all_five * every + rest,
        fast_all, 100,
    )  # fmt: skip


# ------------------------------------------------- pairs, one by one


def _pairs(report: Report, predictions: Any, y: Any) -> None:
    votes = quorate.Votes(predictions, y)
    codes = predictions.astype(np.int8)
    some = range(5, 300, 10)

    def kappas() -> None:
        """Return the kappa of pairs from their tables of votes, pair by pair."""
        for t in some:
            for q in range(t + 1, 300):
                table = np.bincount(2 * codes[t] + codes[q], minlength=4) / y.size
                a, b, c, d = table
                chance = (a + b) * (a + c) + (c + d) * (b + d)
                _ = (a + d - chance) / (1 - chance)

    def information(one: Any, other: Any) -> float:
        joint = np.bincount(2 * one + other, minlength=4).reshape(2, 2) / one.size
        chance = joint.sum(axis=1)[:, None] * joint.sum(axis=0)
        there = joint > 0
        return float((joint[there] * np.log2(joint[there] / chance[there])).sum())

    half = np.arange(15)

    def discep() -> None:
        """Score a tenth of the candidates for the 16th of 30 picks, the mean one."""
        errs = 2 * (codes[half] == y).sum(axis=0) <= half.size
        mis, cor = np.flatnonzero(errs), np.flatnonzero(~errs)
        for t in range(20, 50):
            information(codes[t][mis], y[mis])
            for q in half:
                information(codes[t][cor], codes[q][cor])

    slow_kappa, slow_discep, fast_kappa, fast_discep = best_of(
        REPEATS,
        kappas,
        discep,
        lambda: pruning.KappaPruning(30).fit(fresh(votes)),
        lambda: pruning.DiscEP(30).fit(fresh(votes)),
    )
    _row(report, "kappa ranking, 300 x 20000", slow_kappa * 10, fast_kappa, 20)
    _row(report, "DiscEP, 300 x 20000, keep 30", slow_discep * 10 * 29, fast_discep, 10)


# ------------------------------------------------- what took long


def _slow_corners(report: Report, predictions: Any, y: Any) -> None:
    """Seconds at 300 x 20000, keep 30; evaluations of SEP and PEP against a vote."""
    votes = quorate.Votes(predictions, y)
    half = np.arange(0, 300, 2)
    codes = votes.codes

    def revote() -> int:
        counts = (codes[half] == 1).sum(axis=0)
        return int(((2 * counts > half.size) != y).sum())

    for name in ("margin_loss", "discep", "l1", "simplex"):
        pruner = pruning.make_pruner(name, keep=30)
        (seconds,) = best_of(1, lambda p=pruner: p.fit(fresh(votes)))
        report.add(f"{name}, 300 x 20000, keep 30", "a second", seconds, 3, seconds)
    # The number of evaluations is what these two are: n**2 ln n mutations, for PEP
    # n (n + 1) / 2 more around each set that enters the archive.
    sep = pruning.SEP(n_iter=50_000, random_state=0)
    pep = pruning.PEP(n_iter=300, random_state=0)
    direct, single, pareto = best_of(
        2,
        lambda: [revote() for _ in range(10)],
        lambda: sep.fit(fresh(votes)),
        lambda: pep.fit(fresh(votes)),
    )
    direct /= 10
    for name, seconds, count in (
        ("SEP", single, sep.n_iter_),
        ("PEP", pareto, pep.n_evaluations_),
    ):
        report.add(
            f"{name}, one of {count} evaluations, 300 x 20000", "voting anew",
            seconds / count / direct, 0.02, seconds / count,
        )  # fmt: skip


def _same(name: str, wanted: list[int], found: list[int]) -> None:
    if wanted != found:
        raise AssertionError(f"{name}: the loop picks {wanted}, quorate {found}.")


def _row(report: Report, what: str, slow: float, fast: float, limit: float) -> None:
    report.add(what, "plain loop", slow / fast, limit, fast, at_least=True)
