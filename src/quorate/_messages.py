"""Messages: what is unknown, which name was probably meant, whose line is warned of."""

import difflib
import inspect
import warnings
from collections.abc import Iterable, Sequence

_MOST = 50  # names in one sentence


def unknown_name(kind: str, given: object, known: Iterable[str]) -> str:
    """Return the sentence that refuses ``given`` and lists the nearest known names.

    Examples
    --------
    >>> unknown_name("measure", "kapa", ["kappa", "disagreement"])
    "unknown measure 'kapa'; did you mean 'kappa'?"
    >>> unknown_name("measure", 3, ["kappa", "disagreement"])
    'unknown measure 3; expected one of: disagreement, kappa.'
    """
    names = sorted(known)
    near = nearest(given, names, 3) if isinstance(given, str) else []
    if near:
        return f"unknown {kind} {given!r}; did you mean {one_of_these(near)}?"
    others = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    shown = ", ".join(names[:_MOST])
    return f"unknown {kind} {given!r}; expected one of: {shown}{others}."


def listed(things: Sequence[object], most: int = 5) -> str:
    """Return things as they are written in Python, the first few of many.

    Examples
    --------
    >>> listed(["ant", "bee", "cow"], most=2)
    "'ant', 'bee' and 1 more"
    """
    more = f" and {len(things) - most} more" if len(things) > most else ""
    return ", ".join(map(repr, things[:most])) + more


def nearest(
    given: str, known: Iterable[str], most: int = 1, least: float = 0.75
) -> list[str]:
    """Return the known names that are written nearly so, the nearest first.

    Examples
    --------
    >>> nearest("plan", ["Plan", "status"])
    ['Plan']
    """
    folded = {name.lower(): name for name in known}
    close = difflib.get_close_matches(given.lower(), folded, most, least)
    return [folded[name] for name in close]


def one_of_these(names: Iterable[object]) -> str:
    """Return names in quotes, with a word before the last.

    Examples
    --------
    >>> one_of_these(["a"]), one_of_these(["a", "b"]), one_of_these(["a", "b", "c"])
    ("'a'", "'a' or 'b'", "'a', 'b' or 'c'")
    """
    *first, last = map(repr, names)
    return f"{', '.join(first)} or {last}" if first else last


def plural(number: int, noun: str) -> str:
    """Return a number with its noun, which has an s unless there is one.

    Examples
    --------
    >>> plural(1, "sample"), plural(2000, "sample"), plural(0, "sample")
    ('1 sample', '2,000 samples', '0 samples')
    """
    return f"{number:,} {noun}{'s' if number != 1 else ''}"


def with_article(word: str) -> str:
    """Return a word after its article.

    Examples
    --------
    >>> with_article("int"), with_article("list")
    ('an int', 'a list')
    """
    return f"{'an' if word[:1].lower() in 'aeio' else 'a'} {word}"


def in_short(problem: object, most: int = 200) -> str:
    r"""Return what an error says on one line that can be printed, cut if it is long.

    Errors about damaged files may quote the damage.

    Examples
    --------
    >>> in_short(ValueError("no \x1b here\nnor there.")) == r"no \x1b here"
    True
    >>> in_short("a" * 500, most=5)
    'aa...'
    """
    first = str(problem).strip().split("\n", 1)[0].strip().rstrip(".")
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in first)
    return shown if len(shown) <= most else f"{shown[: most - 3]}..."


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning about the caller's line: the first frame outside this package."""
    frame = inspect.currentframe()
    level = 0
    while frame and str(frame.f_globals.get("__name__", "")).startswith("quorate."):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level + 1)
