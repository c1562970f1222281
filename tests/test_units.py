import pytest

from quorate._units import as_bytes, bytes_text, milliseconds_text, share_text


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
    ("share", "text"),
    [(0, "0 %"), (1e-5, "0.0010 %"), (0.0949, "9.5 %"), (0.1, "10 %"), (25, "2500 %")],
)
def test_shares(share, text):
    assert share_text(share) == text


@pytest.mark.parametrize(
    ("text", "count"),
    [("12", 12), ("1 kB", 1000), ("1KiB", 1024), ("2.5mb", 2.5e6), ("1_000", 1000),
     ("1,000 B", 1000), ("3e3", 3000)],
)  # fmt: skip
def test_as_bytes(text, count):
    assert as_bytes(text) == count


@pytest.mark.parametrize("text", ["", "MB", "-3", "5 apples", "1.2.3", "nan"])
def test_no_size(text):
    with pytest.raises(ValueError, match="is no size in bytes"):
        as_bytes(text)
