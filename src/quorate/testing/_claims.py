"""Assertions that ``python -O`` does not take away."""


def claim(truth: object, otherwise: str) -> None:
    """Raise ``AssertionError`` unless something is true.

    A check that an ``assert`` made would pass everything under ``python -O``.

    Examples
    --------
    >>> claim(1 + 1 == 2, "numbers are not what they were")
    >>> claim([], "nobody is kept")
    Traceback (most recent call last):
        ...
    AssertionError: nobody is kept
    """
    if not truth:
        raise AssertionError(otherwise)
