"""``quorate demo --paper``: what the paper is about, on bagged trees."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from quorate.cli._printable import say

if TYPE_CHECKING:
    from rich.console import Console

    from quorate._votes import Votes

# The paper's two first, then what people use, and as many at random.
_METHODS = ("epbd", "ftad", "brier", "re", "mdm", "kp", "best")
_SHARES = (0.1, 0.2, 0.3)
_RANDOM_DRAWS = 100


def show_paper(members: int, seed: int, as_json: bool) -> None:
    """Train bagged trees on embedded data, measure, prune and ask them lazily."""
    from quorate._theory import diagnose
    from quorate.cli._render import heading, results_console, show_diagnosis

    out_of_bag, test, lazy = _train_and_vote(members, seed)
    diagnosis = diagnose(test)
    pruned = _prune(out_of_bag, test, seed)
    if as_json:
        found = {**diagnosis.to_dict(), "pruning": pruned, "lazy": lazy}
        say(json.dumps(found, indent=2))
        return
    console = results_console()
    console.print(
        f"[bold]{members} bagged decision trees[/] on the breast cancer data,"
    )
    console.print(f"asked about {test.n_samples} samples they were not trained on")
    show_diagnosis(console, diagnosis)
    _show_pruned(console, pruned, test)
    _show_lazy(console, lazy)
    heading(console, "Next")
    console.print("quorate methods               how members can be chosen")
    console.print("quorate measures              what each measure means")
    console.print("quorate diagnose votes.csv    the first half for your own votes")


def _train_and_vote(
    n_members: int, seed: int
) -> "tuple[Votes, Votes, list[dict[str, Any]]]":
    """Return out-of-bag votes, votes on the test half, and what lazy voting asks."""
    from rich.progress import track
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import train_test_split

    from quorate.cli._render import progress_console
    from quorate.ensembles import collect_votes

    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.5, random_state=seed, stratify=y
    )
    # A forest whose trees see all features at every split is bagging of trees.
    bagging = RandomForestClassifier(
        max_features=None, warm_start=True, random_state=seed
    )
    sizes: Iterable[int] = range(1, n_members + 1)
    console = progress_console()
    if console.is_terminal:
        sizes = track(sizes, "training", console=console, transient=True)
    for size in sizes:
        bagging.set_params(n_estimators=size).fit(X_train, y_train)
    return (
        collect_votes(bagging, X_train, y_train, out_of_bag=True),
        collect_votes(bagging, X_test, y_test),
        _ask_lazily(bagging, X_test, seed),
    )


def _ask_lazily(ensemble: Any, X: Any, seed: int) -> list[dict[str, Any]]:
    """Return members asked and predictions changed, by mode."""
    from quorate.lazy import LazyClassifier

    rows = []
    for mode in ("exact", "bayes"):
        lazy = LazyClassifier(ensemble, mode=mode, random_state=seed).fit()
        changed = (lazy.predict(X) != ensemble.predict(X)).mean()
        asked = lazy.members_asked(X).mean()
        rows.append(
            {"mode": mode, "members_asked": float(asked), "changed": float(changed)}
        )
    return rows


def _prune(chosen_on: "Votes", test: "Votes", seed: int) -> list[dict[str, Any]]:
    """Choose on out-of-bag votes, measure on test votes."""
    from quorate.pruning import RandomSubset, make_pruner

    rows = []
    for name in _METHODS:
        for share in _SHARES:
            pruner = make_pruner(name, keep=share).fit(chosen_on)
            accuracy = test.keep(pruner.order_).accuracy()
            rows.append(_row(name, share, pruner.n_kept_, accuracy))
    for share in _SHARES:
        draws = [
            RandomSubset(keep=share, random_state=seed + draw).fit(chosen_on)
            for draw in range(_RANDOM_DRAWS)
        ]
        accuracies = [test.keep(draw.order_).accuracy() for draw in draws]
        mean = sum(accuracies) / len(accuracies)
        rows.append(_row("random", share, draws[0].n_kept_, mean))
    return rows


def _row(method: str, share: float, members: int, accuracy: float) -> dict[str, Any]:
    return {"method": method, "keep": share, "members": members, "accuracy": accuracy}


def _show_pruned(console: "Console", rows: list[dict[str, Any]], test: "Votes") -> None:
    from quorate._units import percent_text
    from quorate.cli._render import heading, plain_table
    from quorate.pruning import methods

    heading(console, "Pruned: chosen by out-of-bag votes, accuracy on new samples")
    sizes = {row["keep"]: row["members"] for row in rows}
    columns = [f"{100 * share:.0f} % = {size}" for share, size in sizes.items()]
    table = plain_table("method", *columns, "in words")
    for column in table.columns[1:-1]:
        column.justify = "right"
    known = methods()
    words = {name: known[name].title for name in _METHODS}
    for name in ("epbd", "ftad"):
        words[name] = f"{words[name]}, the paper's"
    words["random"] = f"the mean of {_RANDOM_DRAWS} draws"
    for name, title in words.items():
        cells = [percent_text(r["accuracy"]) for r in rows if r["method"] == name]
        table.add_row(name, *cells, title)
    whole = percent_text(test.accuracy())
    table.add_row("all", *[whole] * len(columns), f"all {test.n_members} members")
    console.print(table)


def _show_lazy(console: "Console", rows: list[dict[str, Any]]) -> None:
    from quorate._units import percent_text
    from quorate.cli._render import heading, plain_table

    heading(console, "Lazy voting: all members kept, asked until the outcome is clear")
    table = plain_table("stop when", "members asked", "predictions changed")
    for column in table.columns[1:]:
        column.justify = "right"
    labels = {"exact": "the others cannot turn it", "bayes": "99.9 % sure"}
    for row in rows:
        asked, changed = f"{row['members_asked']:.1f}", percent_text(row["changed"])
        table.add_row(labels[row["mode"]], asked, changed)
    console.print(table)
