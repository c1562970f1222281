"""``quorate demo``: what quorate gains on embedded data, in 30 lines."""

import time
from timeit import Timer
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from quorate._progress import stage
from quorate._units import bytes_text, milliseconds_text, percent_text
from quorate.cli import _options
from quorate.cli._console import (
    heading,
    plain_table,
    results_console,
    say_json,
)
from quorate.cli._diagnose import show_diagnosis

if TYPE_CHECKING:
    from quorate._votes import Votes

_TRAIN, _NEW = 4_000, 10_000
_KEEP = 0.1
_ROUND = 0.02  # seconds of calls that are timed together
# A loss is not shown as a gain, however small it is.
_GAIN, _LOSS = "bold green", "bold yellow"
# Names that people use, and scores of scikit-learn with their signs.
_SCORES = {
    "accuracy": ("accuracy", 1),
    "log-loss": ("neg_log_loss", -1),
    "AUC": ("roc_auc_ovr", 1),
}
# The paper's two first, then the default, what people use, and as many at random.
_PAPER_METHODS = ("epbd", "ftad", "auto", "re", "mdm", "kp", "best", "es")
_PAPER_KEEP = 0.2
_PAPER_DRAWS = 20


@click.command(short_help="See what quorate gains on built-in data.")
@_options.option(
    "--members",
    click.IntRange(10, 1000),
    "Number of trees to train; 200, or 50 with --paper.",
)
@_options.seed(5)
@_options.flag(
    "--paper",
    "Show the paper's results instead: thirteen measures, the risk estimate, EPBD and "
    "others.",
)
@_options.as_json
def demo(members: int | None, random_state: int, paper: bool, as_json: bool) -> None:
    """Make a forest smaller and faster on embedded data, and show what it costs."""
    if paper:
        _paper(members or 50, random_state, as_json)
        return
    measured = _measure(members or 200, random_state)
    if as_json:
        say_json(measured)
        return
    console = results_console()
    _show_gains(console, measured)
    _show_models(console, measured)
    _show_reason(console, measured["decomposition"])
    heading(console, "Try it on your own model")
    console.print(
        "quorate compact model.skops                              nothing lost\n"
        "quorate prune model.skops train.csv --target COLUMN      a little lost\n"
        "quorate demo --paper                                     theory and methods"
    )


def _measure(n_members: int, seed: int) -> dict[str, Any]:
    """Return everything that is shown."""
    import numpy as np
    from sklearn.ensemble import RandomForestClassifier

    from quorate._ensembles import (
        collect_votes,
        keep_members,
        pickled_bytes,
    )
    from quorate._pruned import prune
    from quorate._scoring import score_models
    from quorate._theory import decompose
    from quorate._trees import compact
    from quorate.study import load_data

    data = load_data("waveform", n_rows=_TRAIN + _NEW, random_state=seed)
    values = np.ascontiguousarray(data.X)
    X, y = values[:_TRAIN], data.y[:_TRAIN]
    new, labels = values[_TRAIN:], data.y[_TRAIN:]
    with stage(f"training {n_members} trees", verbose=1):
        forest = RandomForestClassifier(n_members, random_state=seed).fit(X, y)
    with stage("choosing and distilling a tenth of the trees", verbose=1):
        few = prune(forest, X, y, keep=_KEEP, distil=True, random_state=seed)
    models = {"forest": forest, "compact": compact(forest), "small": compact(few)}
    scored = {**models, "first": keep_members(forest, range(len(few.estimators_)))}
    scores: dict[str, dict[str, float]] = {name: {} for name in scored}
    standard_errors = {}
    with stage("comparing on new data", verbose=1):
        for title, (scoring, sign) in _SCORES.items():
            every = [*scored.values()]
            _, found = score_models(scoring, every, [None] * 4, new, labels, "demo")
            for name, estimate in zip(scored, found, strict=True):
                scores[name][title] = sign * estimate.score
            standard_errors[title] = found[2].behind(found[0])[1]
        times = {
            title: {name: _time(model, rows) for name, model in models.items()}
            for title, rows in (("one row", new[:1]), ("all rows", new))
        }
        same = forest.predict(new) == models["compact"].predict(new)
    parts = decompose(collect_votes(forest, new, labels))
    return {
        "seed": seed,
        "n_new": _NEW,
        "members": [len(forest.estimators_), len(few.estimators_)],
        "bytes": {
            "forest": pickled_bytes(forest),
            "compact": len(models["compact"].to_bytes()),
            "small": len(models["small"].to_bytes()),
        },
        "milliseconds": times,
        "engine": models["compact"].engine_,
        "same_answers": int(same.sum()),
        "scores": scores,
        # of the difference between the distilled trees and the whole forest
        "standard_errors": standard_errors,
        "decomposition": {
            "error": parts.error,
            "member_error": parts.member_error,
            "diversity": parts.diversity,
        },
    }


def _time(model: Any, X: Any) -> float:
    """Return what a call takes in milliseconds, the best of five rounds.

    By the time that this process had: on a busy machine a clock on the wall makes long
    calls longer and leaves short ones alone, and gains look larger than they are.
    """
    timer = Timer(lambda: model.predict(X), timer=time.process_time)
    timer.timeit(1)
    n_calls = 1 + int(_ROUND / timer.timeit(1))
    return 1000 * min(timer.repeat(5, n_calls)) / n_calls


def _show_gains(console: Console, measured: dict[str, Any]) -> None:
    """Say in two lines what can be had for nothing, and what for a little."""
    (before, after), sizes = measured["members"], measured["bytes"]
    one, n_new = measured["milliseconds"]["one row"], measured["n_new"]
    console.print(
        f"[{_GAIN}]Nothing lost[/]: {sizes['forest'] / sizes['compact']:,.0f} times "
        f"smaller and {one['forest'] / one['compact']:,.0f} times faster for one row,\n"
        f"  the same answers on {measured['same_answers']:,} of {n_new:,} new rows"
    )
    scores = measured["scores"]
    lost = 100 * (scores["small"]["accuracy"] - scores["forest"]["accuracy"])
    doubt = 100 * measured["standard_errors"]["accuracy"]
    style = _LOSS if lost < 0 else _GAIN
    console.print(
        f"[{style}]A little lost[/]: {sizes['forest'] / sizes['small']:,.0f} times "
        f"smaller with {after} of {before} trees, distilled;\n"
        f"  [{style}]{lost:+.1f} pp[/] of accuracy (standard error {doubt:.1f})"
    )


def _show_models(console: Console, measured: dict[str, Any]) -> None:
    """Show what each step costs and gains."""
    before, after = measured["members"]
    table = plain_table(
        "", f"{before} trees", "compact", f"{after} distilled", numbers=3
    )
    names = ("forest", "compact", "small")
    table.add_row("size", *(bytes_text(measured["bytes"][name]) for name in names))
    one, every = measured["milliseconds"].values()
    table.add_row("predict one row", *(milliseconds_text(one[name]) for name in names))
    label = f"predict {measured['n_new']:,} rows"
    table.add_row(label, *(milliseconds_text(every[name]) for name in names))
    scores, doubt = measured["scores"], measured["standard_errors"]
    for name in _SCORES:
        whole, small = (_score_text(name, scores[which][name]) for which in names[::2])
        table.add_row(
            f"{name} on new data",
            whole,
            "the same",
            f"{small} ({_change_text(name, scores, doubt)})",
        )
    console.print(table)
    first = [f"{name} {_score_text(name, scores['first'][name])}" for name in _SCORES]
    console.print(
        f"Random forest on waveform data, seed {measured['seed']}, "
        f"{measured['engine']} kernels; ± one standard error.\n"
        f"The first {after} trees, not distilled: {', '.join(first)}."
    )


def _score_text(name: str, score: float) -> str:
    return percent_text(score, 1) if name == "accuracy" else f"{score:.3f}"


def _change_text(
    name: str, scores: dict[str, dict[str, float]], doubt: dict[str, float]
) -> str:
    """Return how far the distilled trees are from the whole forest."""
    change = scores["small"][name] - scores["forest"][name]
    if name == "accuracy":
        return f"{100 * change:+.1f} ± {100 * doubt[name]:.1f} pp"
    return f"{change:+.4f} ± {doubt[name]:.4f}"


def _show_reason(console: Console, parts: dict[str, float]) -> None:
    """Say why the vote is better than its members, and draw it."""
    heading(console, "Why it works")
    console.print(
        f"One tree is wrong on {percent_text(parts['member_error'], 1)} of the rows. "
        "The trees are wrong on different rows\n"
        f"({100 * parts['diversity']:.1f} pp of diversity), so their vote is wrong on "
        f"only {percent_text(parts['error'], 1)}."
    )
    width = 56
    left = round(width * parts["error"] / parts["member_error"])
    console.print(
        f"[red]{'#' * left}[/][green]{'-' * (width - left)}[/]  # error, - diversity"
    )


def _paper(n_members: int, seed: int, as_json: bool) -> None:
    """Measure bagged trees, and prune three kinds of ensembles by each method."""
    from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    from quorate._ensembles import collect_votes
    from quorate._theory import diagnose
    from quorate.study import load_data

    data = load_data("waveform", n_rows=5_000, random_state=seed)
    X, y = data.X.to_numpy(), data.y
    # to train on; to choose on, where there are no out-of-bag votes; to test on
    train, spare, new = slice(0, 1_000), slice(1_000, 2_000), slice(2_000, None)
    with stage(f"training {n_members} trees, boosting, a pool", verbose=1):
        # A forest whose trees see all features at every split is bagging of trees.
        bagging = RandomForestClassifier(
            n_members, max_features=None, random_state=seed
        ).fit(X[train], y[train])
        stumps = DecisionTreeClassifier(max_depth=2, random_state=seed)
        boosting = AdaBoostClassifier(stumps, n_estimators=n_members, random_state=seed)
        boosting.fit(X[train], y[train])
        pool = _train_pool(X[train], y[train], seed)
    votes = collect_votes(bagging, X[new], y[new], probabilities=True)
    diagnosis = diagnose(votes)
    with stage("choosing members", verbose=1):
        chosen_on = {
            "bagging": collect_votes(
                bagging, X[train], y[train], out_of_bag=True, probabilities=True
            )
        }
        on_new = {"bagging": votes}
        for kind, ensemble in (("boosting", boosting), ("pool", pool)):
            chosen_on[kind], on_new[kind] = (
                collect_votes(ensemble, X[rows], y[rows], probabilities=True)
                for rows in (spare, new)
            )
        pruned = [
            {"ensemble": kind, **row}
            for kind in chosen_on
            for row in _prune_by_all(chosen_on[kind], on_new[kind])
        ]
    lazy = _exit_early(bagging, X[new], seed)
    if as_json:
        say_json({**diagnosis.to_dict(), "pruning": pruned, "lazy": lazy})
        return
    console = results_console()
    console.print(
        f"[bold]{n_members} bagged decision trees[/] on waveform data,\n"
        f"evaluated on {votes.n_samples:,} samples they were not trained on"
    )
    show_diagnosis(console, diagnosis)
    _show_pruned(console, pruned)
    _show_early_exit(console, lazy)
    heading(console, "Next")
    console.print(
        "quorate methods               how members can be chosen\n"
        "quorate measures              what each measure means\n"
        "quorate diagnose votes.csv    the first half for your own votes"
    )


def _train_pool(X: Any, y: Any, seed: int) -> dict[str, Any]:
    """Return twenty fitted models, good and bad ones, as people collect them."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    models: dict[str, Any] = {"naive Bayes": GaussianNB()}
    for strength in (1e-4, 1e-2, 1.0):
        models[f"logistic {strength:g}"] = LogisticRegression(C=strength, max_iter=500)
    for near in (1, 2, 5, 15, 50, 150):
        models[f"{near} neighbours"] = KNeighborsClassifier(near)
    for depth in (1, 2, 3, 4, 5, 6, 7, 8, 10, None):
        models[f"tree {depth}"] = DecisionTreeClassifier(
            max_depth=depth, max_features="sqrt", random_state=seed
        )
    return {name: model.fit(X, y) for name, model in models.items()}


def _prune_by_all(chosen_on: "Votes", votes: "Votes") -> list[dict[str, Any]]:
    """Return the accuracy on new votes after each method, and of all members.

    That of members drawn at random is a mean.
    """
    from quorate._choosing import select

    def accuracy(method: str, **how: Any) -> float:
        chosen = select(chosen_on, method, _PAPER_KEEP, **how)
        return chosen.applied_to(votes).accuracy()

    draws = [accuracy("random", random_state=draw) for draw in range(_PAPER_DRAWS)]
    found = {name: accuracy(name) for name in _PAPER_METHODS}
    found["random"] = sum(draws) / _PAPER_DRAWS
    found["all"] = votes.accuracy()
    n_kept = round(_PAPER_KEEP * votes.n_members)
    return [
        {
            "method": name,
            "members": votes.n_members if name == "all" else n_kept,
            "accuracy": share,
        }
        for name, share in found.items()
    ]


def _exit_early(ensemble: Any, X: Any, seed: int) -> list[dict[str, Any]]:
    """Return members evaluated and predictions changed, by mode."""
    from quorate._lazy import LazyClassifier

    rows = []
    for mode in ("exact", "bayes"):
        lazy = LazyClassifier(ensemble, mode=mode, random_state=seed).fit()
        changed = float((lazy.predict(X) != ensemble.predict(X)).mean())
        evaluated = float(lazy.members_asked(X).mean())
        rows.append({"mode": mode, "members_asked": evaluated, "changed": changed})
    return rows


def _show_pruned(console: Console, rows: list[dict[str, Any]]) -> None:
    """Show what the choice of members is worth, for each kind of ensemble."""
    from quorate.pruning import methods

    heading(console, "A fifth of the members, not distilled: accuracy on new data")
    before = {row["ensemble"]: row["members"] for row in rows if row["method"] == "all"}
    columns = [f"{kind}, {size}" for kind, size in before.items()]
    table = plain_table("method", *columns, "what it does", numbers=len(columns))
    words = {name: methods()[name].title for name in _PAPER_METHODS if name != "auto"}
    for name in ("epbd", "ftad"):
        words[name] += ", the paper's"
    words["auto"] = "the default, suits the ensemble"
    words["es"] = "the first ones"
    words["random"] = f"as many at random, mean of {_PAPER_DRAWS} draws"
    words["all"] = "all members"
    for name in dict.fromkeys(row["method"] for row in rows):
        cells = [percent_text(r["accuracy"], 1) for r in rows if r["method"] == name]
        table.add_row(name, *cells, words[name])
    console.print(table)
    console.print(
        "Bagged trees are similar, so the choice matters little; distilling matters\n"
        "more. Boosted trees and pooled models differ, so the choice matters."
    )


def _show_early_exit(console: Console, rows: list[dict[str, Any]]) -> None:
    heading(console, "Early exit: all members kept, evaluated until the vote is clear")
    table = plain_table("stop when", "members used", "predictions changed", numbers=2)
    labels = {"exact": "the others cannot change it", "bayes": "99.9 % sure"}
    for row in rows:
        used, changed = f"{row['members_asked']:.1f}", percent_text(row["changed"])
        table.add_row(labels[row["mode"]], used, changed)
    console.print(table)
