"""``make mutate`` can begin, and its table speaks of the source as it is."""

from pathlib import Path

import pytest

import quorate


@pytest.fixture(autouse=True)
def can_import_mutation(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))


def test_named_mutants_stand_in_the_source():
    from mutation.named import NAMED, named_mutants

    found = named_mutants(Path(quorate.__file__).parent)
    assert [mutant.kind for mutant in found] == [name for name, *_ in NAMED]


def test_the_table_is_about_lines_that_are_there():
    """A tenth may have changed since; ``make mutate`` tries the rest anew."""
    from mutation.__main__ import STALE, read_table, stale_rows

    rows = read_table()
    stale = [f"{row['file']}: {row['before']}" for row in stale_rows(rows)]
    assert len(stale) <= STALE * len(rows), "\n".join(stale)


def test_nearly_all_mutants_are_noticed_and_the_others_have_a_reason():
    from mutation.__main__ import WANTED, read_table, share_noticed

    rows = read_table()
    assert {row["verdict"] for row in rows} == {"killed", "lived"}
    for row in rows:
        assert bool(row["by"]) == (row["verdict"] == "killed"), row["before"]
        assert bool(row["reason"]) == (row["verdict"] == "lived"), row["before"]
    assert share_noticed(rows) >= WANTED


def test_every_file_that_decides_something_can_be_drawn():
    from mutation.mutants import IDLE_FILES, rooms

    source = Path(quorate.__file__).parent
    found = rooms(source)
    files = sorted([*source.rglob("*.py"), *source.rglob("*.c")])
    drawn = sorted(path for paths in found.values() for path in paths)
    assert drawn == [path for path in files if path.name not in IDLE_FILES]
    folders = {path.name for path in source.iterdir() if path.is_dir()}
    assert set(found) == folders - {"__pycache__"} | {"forest.c", "modules"}


C_SOURCE = b"""#define MOST (1 + 1)
/* a < b */
static int f(int a, int b) {
    return a < b && !b; // a + 1
}
"""


def test_mutants_of_c_leave_comments_and_macros_alone():
    from mutation.mutants import mutants_of

    found = mutants_of("kernels", "f.c", C_SOURCE)
    line = "return a < b && !b; // a + 1"
    assert [(mutant.line, mutant.kind, *mutant.lines()) for mutant in found] == [
        (4, "comparison", line, line.replace("a <", "a <=")),
        (4, "and or", line, line.replace("&&", "||")),
        (4, "negation", line, line.replace("!b", "b")),
    ]
