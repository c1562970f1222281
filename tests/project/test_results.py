"""Every result file of the documentation says which code it speaks of."""

from collections import Counter
from pathlib import Path

import pytest
from experiments import results

HERE = results.RESULTS


def test_every_file_has_one_entry():
    """A new file needs an entry in ``docs/results/sources.toml``."""
    listed = Counter()
    for name, entry in results.entries().items():
        for pattern in entry["files"]:
            files = [str(path.relative_to(HERE)) for path in HERE.glob(pattern)]
            assert files, f"{name}: {pattern} is no file in {HERE}"
            listed.update(files)
    there = {str(path.relative_to(HERE)) for path in HERE.glob("*/*")}
    assert listed == Counter(there)


def test_every_source_exists():
    for name, entry in results.entries().items():
        assert set(entry) == {"files", "command", "source", "digest"}, name
        assert bool(entry["command"]) == bool(entry["source"]), name
        for place in entry["source"]:
            assert (results.ROOT / place).exists(), f"{name}: {place} is not there"


def test_results_are_those_of_the_code():
    """Not a failure: some take hours to make anew. ``make results`` lists them too."""
    if old := results.older():
        pytest.xfail(f"older than their code (make results): {', '.join(old)}")


CODE = '''
"""What it does."""

def double(x, how="by two"):
    """Return twice the number."""
    if how == "add":  # slowly
        return x + x
    raise ValueError(f"double: {how} is no way to double.")
'''


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ('"""What it does."""', '"""What is done here."""', False),
        ("twice the number.", "two times the number.", False),
        ("  # slowly", "", False),
        (' is no way to double."', ' is unknown, use add."', False),
        ("return x + x", "return (x +\n            x)", False),
        ("x + x", "x - x", True),
        ("x + x", "x + 1", True),
        ('"add"', '"sum"', True),
        ("raise ValueError", "raise TypeError", True),
        ("x, how", "x, *, how", True),
    ],
)
def test_code_counts_and_words_and_layout_do_not(old, new, counts):
    assert CODE.count(old) == 1
    changed = results.python_code(CODE.replace(old, new))
    assert (changed != results.python_code(CODE)) == counts


def test_c_counts_without_comments():
    code = "int f(int x) { /* one\n more */ return x + 1; } // done"
    assert results.c_code(code) == "int f(int x) { return x + 1; }"


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A folder with one entry, made by writing a file."""
    (tmp_path / "code.py").write_text("x = 1\n")
    sources = tmp_path / "sources.toml"
    sources.write_text(
        '[one]\nfiles = ["one.csv"]\ncommand = "echo {data} > one.csv"\n'
        'source = ["code.py"]\ndigest = ""\n\n'
        '[two]\nfiles = ["two.csv"]\ncommand = "false"\n'
        'source = ["code.py"]\ndigest = ""\n'
    )
    monkeypatch.setattr(results, "ROOT", tmp_path)
    monkeypatch.setattr(results, "SOURCES", sources)
    monkeypatch.setenv("QUORATE_DATA", "some data")
    return tmp_path


def test_made_anew_they_are_no_longer_older(small, capsys):
    assert results.older() == ["one", "two"]
    assert results.main(["one"]) == 0
    assert (small / "one.csv").read_text() == "some data\n"
    assert results.older() == ["two"]
    assert "two (two.csv) is older than its code: false" in capsys.readouterr().out
    assert results.main(["--mark", "two"]) == 0
    assert results.older() == []
    (small / "code.py").write_text("x = 2\n")
    assert results.older() == ["one", "two"]


def test_an_unknown_name_is_refused(small, capsys):
    assert results.main(["three"]) == 2
    assert capsys.readouterr().out == "unknown results 'three'; known are: one, two.\n"


def test_digests_depend_on_names_and_order_of_files(tmp_path):
    Path(tmp_path, "room").mkdir()
    for name, text in [("room/a.py", "x = 1"), ("room/b.c", "int x;")]:
        Path(tmp_path, name).write_text(text)
    before = results.digest(tmp_path, ["room"])
    assert before == results.digest(tmp_path, ["room/a.py", "room/b.c"])
    Path(tmp_path, "room/b.c").write_text("int y;")
    assert results.digest(tmp_path, ["room"]) != before
