"""Numbers with units: written, read, refused."""

import pytest

from quorate._units import (
    as_bytes,
    as_count,
    as_share,
    bytes_text,
    change_text,
    cost_text,
    milliseconds_text,
    percent_text,
    points_text,
    times_text,
)


@pytest.mark.parametrize(
    ("write", "values", "text"),
    [(bytes_text, [0], "0 B"), (bytes_text, [999], "999 B"),
     (bytes_text, [1000], "1.00 kB"), (bytes_text, [9994], "9.99 kB"),
     (bytes_text, [9996], "10.0 kB"), (bytes_text, [999_400], "999 kB"),
     (bytes_text, [999_600], "1.00 MB"), (bytes_text, [5e13], "50.0 TB"),
     (milliseconds_text, [0.0001], "0.10 us"), (milliseconds_text, [0.9994], "999 us"),
     (milliseconds_text, [0.9995], "1.00 ms"), (milliseconds_text, [999.6], "1.00 s"),
     (change_text, [5, 5], "0 %"), (change_text, [1000, 1], "-99.90 %"),
     (change_text, [1e5, 1], "-99.9990 %"), (change_text, [100, 90], "-10 %"),
     (change_text, [100, 91], "-9.0 %"), (change_text, [100, 99.99], "0 %"),
     (change_text, [4, 100], "+2400 %"), (change_text, [3, 0], "-100 %"),
     (times_text, [99.96], "100 x"), (times_text, [12.34], "12.3 x"),
     (times_text, [9.994], "9.99 x"), (times_text, [0.1], "0.10 x"),
     (percent_text, [0.5], "50.00 %"), (points_text, [0.00004], "0.00 pp"),
     (points_text, [0.00006], "+0.01 pp"), (points_text, [-0.12], "-12.00 pp"),
     (cost_text, [2.04244e7, "bytes"], "20.4 MB"),
     (cost_text, [1.41283e6, "nodes"], "1,412,830 nodes")],
)  # fmt: skip
def test_written(write, values, text):
    assert write(*values) == text


@pytest.mark.parametrize(
    ("read", "text", "number"),
    [(as_bytes, "12", 12), (as_bytes, "1 kB", 1000), (as_bytes, "1KiB", 1024),
     (as_bytes, "2.5mb", 2.5e6), (as_bytes, "1_000", 1000), (as_bytes, "1,000 B", 1000),
     (as_bytes, "3e3", 3000), (as_bytes, "1,234,567.5 kB", 1_234_567_500),
     (as_bytes, ".05MB", 5e4), (as_bytes, " 5. B ", 5), (as_bytes, "1_2_3", 123),
     (as_bytes, "1e308", 1e308), (as_share, "0.2", 0.2),
     (as_share, "20%", 0.2), (as_share, " 20 % ", 0.2), (as_share, "0.5pp", 0.005),
     (as_share, "0", 0)],
)  # fmt: skip
def test_read(read, text, number):
    assert read(text) == number


NO_SIZES = ["", "MB", "-3", "5 apples", "1.2.3", "nan", "inf", "1,5 kB", "1,50",
            "1,5000", "12,34,567", "1000,000", "1,", "1,000,", "1.000,5", "0,", ",5",
            ".", ".kB", "1__0", "1_", "_1", "1_000,000", "1e400", "1e300 TB", "1 000",
            "5%"]  # fmt: skip


@pytest.mark.parametrize(
    ("read", "text", "why"),
    [*((as_bytes, text, "is not a size in bytes") for text in NO_SIZES),
     (as_share, "nan", "is not a share"), (as_share, "inf", "is not a share"),
     (as_share, "-1%", "is not a share"), (as_share, "3MB", "is not a share"),
     (as_share, "200%", "'200%' is more than 100 %."),
     (as_count, "5%", "is not a number"),
     (as_count, "many", "is not a number")],
)  # fmt: skip
def test_refused(read, text, why):
    with pytest.raises(ValueError, match=why):
        read(text)
