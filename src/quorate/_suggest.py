"""One way to say that a name is unknown, and which names were probably meant."""

import difflib
from collections.abc import Iterable


def unknown_name(kind: str, given: object, known: Iterable[str]) -> str:
    """Return the sentence that refuses ``given`` and lists the nearest known names.

    Examples
    --------
    >>> unknown_name("measure", "kapa", ["kappa", "disagreement"])
    "unknown measure 'kapa'; did you mean 'kappa'?"
    >>> unknown_name("measure", 3, ["kappa", "disagreement"])
    'unknown measure 3; known are: disagreement, kappa.'
    """
    names = sorted(known)
    near: list[str] = []
    if isinstance(given, str):
        folded = {name.lower(): name for name in names}
        close = difflib.get_close_matches(given.lower(), folded, n=3, cutoff=0.5)
        near = [folded[name] for name in close]
    if near:
        return f"unknown {kind} {given!r}; did you mean {' or '.join(map(repr, near))}?"
    return f"unknown {kind} {given!r}; known are: {', '.join(names)}."


def with_article(word: str) -> str:
    """Return a word after its article.

    Examples
    --------
    >>> with_article("int"), with_article("list")
    ('an int', 'a list')
    """
    return f"{'an' if word[:1].lower() in 'aeio' else 'a'} {word}"


def one_of(owner: str, parameter: str, given: object, allowed: tuple[str, ...]) -> None:
    """Raise ``ValueError`` unless ``given`` is one of the ``allowed`` words."""
    if given not in allowed:
        choices = " or ".join(map(repr, allowed))
        raise ValueError(f"{owner}({parameter}={given!r}): use {choices}.")


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
