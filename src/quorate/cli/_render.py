"""A diagnosis as tables on a terminal, readable on 80 columns."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from quorate.cli._interrupts import end_quietly
from quorate.cli._printable import on_one_line, printable

if TYPE_CHECKING:
    from quorate._judging import Comparison
    from quorate._theory import Diagnosis

_WIDTH_WITHOUT_TERMINAL = 80


class SafeConsole(Console):
    """A console that shows control characters in texts instead of sending them."""

    def on_broken_pipe(self) -> None:
        """End as other commands do when nobody reads on."""
        end_quietly()

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render as any console does; what a terminal would obey is spelt out."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment  # of rich itself, for bars that move
            else:
                yield Segment(printable(segment.text), segment.style)


def results_console() -> Console:
    """Return the console for results: standard output, 80 columns when piped."""
    console = SafeConsole(highlight=False)
    if not console.is_terminal:
        console.width = _WIDTH_WITHOUT_TERMINAL
    return console


def progress_console() -> Console:
    """Return the console for everything that is not a result."""
    return SafeConsole(stderr=True, highlight=False)


def plain_table(*columns: str, numbers: int = 1) -> Table:
    """Return an empty table in the house style: a name, some numbers, then text."""
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0)
    )
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if 1 <= place <= numbers else "left")
    return table


def comparison_table(compared: "Comparison") -> Table:
    """Return two models side by side."""
    table = plain_table("", "before", "after", "change", numbers=3)
    for row in compared.rows():
        table.add_row(*row)
    return table


def pointer(direction: str) -> str:
    """Say in a word which values mean more diverse."""
    return {"higher": "high", "lower": "low"}.get(direction, "-")


def show_diagnosis(console: Console, diagnosis: "Diagnosis") -> None:
    """Print the decomposition, the measures and the risk."""
    _show_decomposition(console, diagnosis)
    _show_diversity(console, diagnosis)
    _show_risk(console, diagnosis)


def _show_decomposition(console: Console, diagnosis: "Diagnosis") -> None:
    votes, parts = diagnosis.votes, diagnosis.decomposition
    accuracies = votes.accuracies
    best = int(accuracies.argmax())
    heading(console, "Error decomposition")
    what = "vote" if votes.rule == "heads" else "plurality vote"
    console.print(f"error of the {what} [bold]{_percent(parts.error)}[/]")
    console.print(
        f"  = members' mean error {_percent(parts.member_error)} - "
        f"diversity {_percent(parts.diversity)}"
    )
    if votes.rule == "average":
        console.print(
            "error of the ensemble itself, by averaged probabilities: "
            f"{_percent(votes.error())}"
        )
    name = Text(on_one_line(votes.names[best]))
    console.print(
        Text.assemble(
            "best single member: ",
            name,
            f", error alone {_percent(1 - accuracies[best])}",
        )
    )


def _show_diversity(console: Console, diagnosis: "Diagnosis") -> None:
    from quorate._theory import measures

    heading(console, "Diversity")
    table = plain_table("measure", "value", "diverse if", "what it is")
    for name, measure in measures().items():
        value = f"{diagnosis.diversity[name]:.4f}"
        table.add_row(name, value, pointer(measure.direction), measure.summary)
    console.print(table)
    console.print("diverse if: whether a high or a low value means that members differ")
    if not diagnosis.votes.has_equal_weights:
        console.print("Votes are weighted; error_gap and entropy_cc use the weights,")
        console.print("the others compare the members as equals.")


def _show_risk(console: Console, diagnosis: "Diagnosis") -> None:
    risk = diagnosis.risk
    heading(console, "Does more diversity help?")
    where = "none" if risk.interval is None else f"{risk.interval} of 8"
    table = plain_table("Theorem 2, on the worst sample", "")
    table.show_header = False
    for key, value in (
        ("worst sample", f"{risk.worst_sample}"),
        ("margin", f"{risk.margin:.4f}"),
        ("diversity on it", f"{risk.diversity:.4f}"),
        ("interval", where),
        ("risk estimate", f"{risk.risk:,.1f}"),
        ("estimate falls with diversity", _yes(risk.risk_decreases)),
        ("paper says: more diversity", _yes(risk.paper_says_increase)),
        ("margin bound applies", _yes(risk.lemma_applies)),
    ):
        table.add_row(key, value)
    console.print(table)
    console.print(risk.advice)


def heading(console: Console, text: str) -> None:
    """Print a section title with air above it."""
    console.print()
    console.print(f"[bold]{text}[/]")


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def _yes(truth: bool) -> str:
    return "yes" if truth else "no"
