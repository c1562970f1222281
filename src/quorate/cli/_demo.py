"""``quorate demo``: a bagged ensemble on embedded data, measured."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from quorate.votes import Votes


@click.command()
@click.option(
    "--members",
    default=50,
    show_default=True,
    type=click.IntRange(2, 1000),
    help="Number of trees to train.",
)
@click.option("--seed", default=0, show_default=True, help="Seed of everything random.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def demo(members: int, seed: int, as_json: bool) -> None:
    """Train a bagged ensemble on embedded data and measure its diversity."""
    from quorate._diagnosis import diagnose
    from quorate.cli._render import heading, results_console, show_diagnosis

    votes = _train_and_vote(members, seed)
    diagnosis = diagnose(votes)
    if as_json:
        click.echo(json.dumps(diagnosis.to_dict(), indent=2))
        return
    console = results_console()
    console.print(
        f"[bold]{members} bagged decision trees[/] on the breast cancer data,"
    )
    console.print(f"asked about {votes.n_samples} samples they were not trained on")
    show_diagnosis(console, diagnosis)
    heading(console, "Next")
    console.print("quorate measures                    what each measure means")
    console.print("quorate diagnose votes.csv          the same for your own votes")


def _train_and_vote(n_members: int, seed: int) -> "Votes":
    from rich.progress import track
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import BaggingClassifier
    from sklearn.model_selection import train_test_split
    from sklearn.tree import DecisionTreeClassifier

    from quorate.cli._render import progress_console
    from quorate.votes import collect_votes

    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.5, random_state=seed, stratify=y
    )
    bagging = BaggingClassifier(
        DecisionTreeClassifier(), warm_start=True, random_state=seed
    )
    sizes: Iterable[int] = range(1, n_members + 1)
    console = progress_console()
    if console.is_terminal:
        sizes = track(sizes, "training", console=console, transient=True)
    for size in sizes:
        bagging.set_params(n_estimators=size).fit(X_train, y_train)
    return collect_votes(bagging, X_test, y_test)
