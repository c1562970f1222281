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


def one_of(owner: str, parameter: str, given: object, allowed: tuple[str, ...]) -> None:
    """Raise ``ValueError`` unless ``given`` is one of the ``allowed`` words."""
    if given not in allowed:
        choices = " or ".join(map(repr, allowed))
        raise ValueError(f"{owner}({parameter}={given!r}): use {choices}.")
