"""Numbers with units, as people write and read them."""

import math
import re
from decimal import Decimal

_SIZES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
          "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}  # fmt: skip
_PARTS = {"": 1, "%": 100, "pp": 100}
# A comma parts thousands, never a fraction.
_WHOLE = r"\d{1,3}(?:,\d{3})+|\d+(?:_\d+)*"
_NUMBER = re.compile(
    rf"\s*((?:(?:{_WHOLE})(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)\s*([a-z]*|%)\s*", re.I | re.A
)


def bytes_text(count: float) -> str:
    """Return a size in bytes with three digits.

    Examples
    --------
    >>> from quorate._units import bytes_text
    >>> bytes_text(812), bytes_text(1_413_000), bytes_text(50e9)
    ('812 B', '1.41 MB', '50.0 GB')
    """
    if count < 1000:
        return f"{count:.0f} B"
    for unit, size in (("kB", 10**3), ("MB", 10**6), ("GB", 10**9)):
        if count < 999.5 * size:
            return f"{_three_digits(count / size)} {unit}"
    return f"{_three_digits(count / 10**12)} TB"


def milliseconds_text(count: float) -> str:
    """Return a time with three digits.

    Examples
    --------
    >>> from quorate._units import milliseconds_text
    >>> milliseconds_text(0.0153), milliseconds_text(12.34), milliseconds_text(2500)
    ('15.3 us', '12.3 ms', '2.50 s')
    """
    if count < 0.9995:
        return f"{_three_digits(count * 1000)} us"
    if count < 999.5:
        return f"{_three_digits(count)} ms"
    return f"{_three_digits(count / 1000)} s"


def percent_text(share: float, digits: int = 2) -> str:
    """Return a share in percent.

    Examples
    --------
    >>> from quorate._units import percent_text
    >>> percent_text(0.82144)
    '82.14 %'
    """
    return f"{100 * share:.{digits}f} %"


def points_text(difference: float, digits: int = 2) -> str:
    """Return a difference of shares in percentage points, with its sign.

    Examples
    --------
    >>> from quorate._units import points_text
    >>> points_text(0.0075), points_text(-1e-9)
    ('+0.75 pp', '0.00 pp')
    """
    text = f"{100 * difference:+.{digits}f} pp"
    return text if any(digit in text for digit in "123456789") else text[1:]


def times_text(ratio: float) -> str:
    """Return how many times as much; what is something does not look like nothing.

    Examples
    --------
    >>> from quorate._units import times_text
    >>> times_text(1234.5), times_text(3.456), times_text(0.0123)
    ('1,234 x', '3.46 x', '0.012 x')
    """
    digits = 0 if ratio >= 99.95 else 1 if ratio >= 9.995 else 2
    if 0 < ratio < 0.0995:
        digits = 1 - math.floor(math.log10(ratio))
    return f"{ratio:,.{digits}f} x"


def change_text(before: float, after: float) -> str:
    """Return by how much something grew or shrank, in percent.

    Examples
    --------
    >>> from quorate._units import change_text
    >>> change_text(200, 40), change_text(8.0, 8.3), change_text(10_000, 3)
    ('-80 %', '+3.8 %', '-99.970 %')
    """
    left = 100 * after / before
    change = left - 100
    digits = 0 if abs(change) >= 9.95 else 1
    if 0 < left < 1:  # something is left, and is not to look like nothing
        digits = 1 - math.floor(math.log10(left))
    text = f"{change:+.{digits}f} %"
    return text if any(digit in text for digit in "123456789") else "0 %"


def cost_text(cost: float, kind: str) -> str:
    """Return a cost in bytes or nodes.

    Examples
    --------
    >>> from quorate._units import cost_text
    >>> cost_text(3_756_760, "bytes"), cost_text(67614, "nodes")
    ('3.76 MB', '67,614 nodes')
    """
    return bytes_text(cost) if kind == "bytes" else f"{cost:,.0f} {kind}"


def as_bytes(text: str) -> float:
    """Return the number of bytes that is meant, such as by "50MB" or "1.5 GiB".

    Examples
    --------
    >>> from quorate._units import as_bytes
    >>> as_bytes("50MB"), as_bytes("1.5 GiB"), as_bytes("2e6")
    (50000000.0, 1610612736.0, 2000000.0)
    """
    what = "size in bytes; use a number, or text such as 50MB or 1.5GiB"
    number, size = _parse(text, _SIZES, what)
    return number * size


def as_share(text: str) -> float:
    """Return the share that is meant by "0.01", "1%" or, of a difference, "1pp".

    Examples
    --------
    >>> from quorate._units import as_share
    >>> as_share("0.01"), as_share("1%"), as_share("0.5 pp"), as_share("99.9%")
    (0.01, 0.01, 0.005, 0.999)
    """
    what = "share; use a number such as 0.01, or a percentage such as 1%"
    number, parts = _parse(text, _PARTS, what)
    if number > parts > 1:
        raise ValueError(f"{text!r} is more than 100 %.")
    # 99.9 % is 0.999, which a division of floats misses by a little
    return float(Decimal(repr(number)) / parts)


def as_count(text: str) -> float:
    """Return the number that is meant; a comma parts thousands.

    Examples
    --------
    >>> from quorate._units import as_count
    >>> as_count("20,000"), as_count("2e4")
    (20000.0, 20000.0)
    """
    return _parse(text, {"": 1}, "number")[0]


def _parse(text: str, units: dict[str, int], what: str) -> tuple[float, int]:
    """Return the number in a text and the size of its unit, or raise an error."""
    match = _NUMBER.fullmatch(text)
    if match is not None and (size := units.get(match[2].lower())) is not None:
        number = float(match[1].replace(",", "").replace("_", ""))
        if number * size < math.inf:
            return number, size
    raise ValueError(f"{text!r} is not a {what}.")


def _three_digits(value: float) -> str:
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f}"
