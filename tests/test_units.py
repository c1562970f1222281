import pytest

from quorate._units import (
    as_bytes,
    as_count,
    as_milliseconds,
    as_share,
    bytes_text,
    change_text,
    cost_text,
    milliseconds_text,
    percent_text,
    points_text,
)


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (9994, "9.99 kB"),
     (9996, "10.0 kB"), (999_400, "999 kB"), (999_600, "1.00 MB"), (5e13, "50.0 TB")],
)  # fmt: skip
def test_bytes(count, text):
    assert bytes_text(count) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0.0001, "0.10 us"), (0.9994, "999 us"), (0.9996, "1.00 ms"), (999.6, "1.00 s")],
)
def test_milliseconds(count, text):
    assert milliseconds_text(count) == text


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [(5, 5, "0 %"), (1000, 1, "-99.90 %"), (1e5, 1, "-99.9990 %"), (100, 90, "-10 %"),
     (100, 91, "-9.0 %"), (100, 99.99, "0 %"), (4, 100, "+2400 %"), (3, 0, "-100 %")],
)  # fmt: skip
def test_changes(before, after, text):
    assert change_text(before, after) == text


@pytest.mark.parametrize(
    ("write", "share", "text"),
    [(percent_text, 0.5, "50.00 %"), (points_text, 0.00004, "0.00 pp"),
     (points_text, 0.00006, "+0.01 pp"), (points_text, -0.12, "-12.00 pp")],
)  # fmt: skip
def test_shares(write, share, text):
    assert write(share) == text


@pytest.mark.parametrize(
    ("text", "count"),
    [("12", 12), ("1 kB", 1000), ("1KiB", 1024), ("2.5mb", 2.5e6), ("1_000", 1000),
     ("1,000 B", 1000), ("3e3", 3000), ("1,234,567.5 kB", 1_234_567_500),
     (".05MB", 5e4), (" 5. B ", 5), ("1_2_3", 123), ("1e308", 1e308)],
)  # fmt: skip
def test_as_bytes(text, count):
    assert as_bytes(text) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [("5", 5), ("5ms", 5), ("1,000 us", 1), ("2 s", 2000), ("3 Milliseconds", 3)],
)
def test_as_milliseconds(text, count):
    assert as_milliseconds(text) == count


@pytest.mark.parametrize(
    ("text", "share"),
    [("0.2", 0.2), ("20%", 0.2), (" 20 % ", 0.2), ("0.5pp", 0.005), ("0", 0)],
)
def test_as_share(text, share):
    assert as_share(text) == share


@pytest.mark.parametrize(
    ("read", "text", "why"),
    [(as_share, "nan", "is no share"), (as_share, "inf", "is no share"),
     (as_share, "-1%", "is no share"), (as_share, "3MB", "is no share"),
     (as_milliseconds, "5MB", "is no time"), (as_milliseconds, "", "is no time"),
     (as_milliseconds, "1e999", "is no time"), (as_count, "5%", "is no number"),
     (as_count, "many", "is no number"), (as_bytes, "5%", "is no size")],
)  # fmt: skip
def test_other_texts_are_refused(read, text, why):
    with pytest.raises(ValueError, match=why):
        read(text)


@pytest.mark.parametrize(
    ("cost", "kind", "text"),
    [(2.04244e7, "bytes", "20.4 MB"), (0.5, "milliseconds", "500 us"),
     (1.41283e6, "nodes", "1,412,830 nodes"), (0.25, "given units", "0.25 given units"),
     (12, "", "12")],
)  # fmt: skip
def test_costs(cost, kind, text):
    assert cost_text(cost, kind) == text


@pytest.mark.parametrize(
    "text",
    ["", "MB", "-3", "5 apples", "1.2.3", "nan", "inf", "1,5 kB", "1,50", "1,5000",
     "12,34,567", "1000,000", "1,", "1,000,", "1.000,5", "0,", ",5", ".", ".kB", "1__0",
     "1_", "_1", "1_000,000", "1e400", "1e300 TB", "1 000"],
)  # fmt: skip
def test_no_size(text):
    with pytest.raises(ValueError, match="is no size in bytes"):
        as_bytes(text)
