"""Checks of parameters: one sentence that says who refuses what, and what would fit."""

import math
from collections import Counter
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any


def is_number(value: Any) -> bool:
    """Return whether a value is a number, not a bool.

    Examples
    --------
    >>> is_number(0.5), is_number(True), is_number("1")
    (True, False, False)
    """
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer, not a bool."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_number(
    owner: str,
    parameter: str,
    given: Any,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    above: float = -math.inf,
    below: float = math.inf,
    whole: bool = False,
) -> Any:
    """Return a parameter that is a finite number within limits, or raise an error.

    Examples
    --------
    >>> check_number("certify", "tolerance", 2, above=0, below=1)
    Traceback (most recent call last):
    ...
    ValueError: certify(tolerance=2): must be a number above 0 and below 1.
    >>> check_number("prune", "n_jobs", 1.5, least=1, whole=True)
    Traceback (most recent call last):
    ...
    ValueError: prune(n_jobs=1.5): must be a whole number of at least 1.
    """
    fits = is_whole(given) if whole else is_number(given) and math.isfinite(given)
    if fits and least <= given <= most and above < given < below:
        return int(given) if whole else float(given)
    limits = [
        f"{word} {value:,.12g}"
        for word, value in (
            *(("of at least", least), ("above", above)),
            *(("of at most", most), ("below", below)),
        )
        if math.isfinite(value)
    ]
    kind = "a whole number" if whole else "a number"
    wanted = " ".join([f"must be {kind}", " and ".join(limits)]).rstrip()
    raise ValueError(f"{owner}({parameter}={given!r}): {wanted}.")


def check_type(owner: str, given: object, wanted: type, advice: str) -> None:
    """Raise ``TypeError`` unless an object is of a type, and say how to get one.

    Examples
    --------
    >>> check_type("explain", [0, 1], dict, "pass dict(pairs)")
    Traceback (most recent call last):
    ...
    TypeError: explain: expected dict, got list; pass dict(pairs).
    """
    if not isinstance(given, wanted):
        got = f"expected {wanted.__name__}, got {type(given).__name__}"
        raise TypeError(f"{owner}: {got}; {advice}.")


def one_of(owner: str, parameter: str, given: object, allowed: tuple[str, ...]) -> None:
    """Raise ``ValueError`` unless a parameter is one of the allowed words.

    Examples
    --------
    >>> one_of("prune", "source", "old", ("auto", "new", "training"))
    Traceback (most recent call last):
    ...
    ValueError: prune(source='old'): use 'auto' or 'new' or 'training'.
    """
    if not isinstance(given, str) or given not in allowed:
        choices = " or ".join(map(repr, allowed))
        raise ValueError(f"{owner}({parameter}={given!r}): use {choices}.")


def check_names(
    owner: str, names: Iterable[Any] | None, number: int
) -> tuple[str, ...]:
    """Return so many different names as texts; positions by default.

    Examples
    --------
    >>> check_names("Votes(names)", ["tree", "tree"], 2)
    Traceback (most recent call last):
    ...
    ValueError: Votes(names): two are called 'tree'.
    """
    if names is None:
        return tuple(map(str, range(number)))
    if isinstance(names, str):
        raise ValueError(f"{owner}: must be a list of names, got the text {names!r}.")
    listed = tuple(map(str, names))
    if len(listed) != number:
        raise ValueError(f"{owner}: expected {number} names, got {len(listed)}.")
    if len(set(listed)) < number:
        twice = next(name for name, n in Counter(listed).items() if n > 1)
        raise ValueError(f"{owner}: two are called {twice!r}.")
    return listed
