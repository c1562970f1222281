"""The mutants that have a name still fit the source: ``make mutate`` can begin."""

from pathlib import Path

import quorate


def test_named_mutants_stand_in_the_source(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    from mutation.named import NAMED, named_mutants

    found = named_mutants(Path(quorate.__file__).parent)
    assert [mutant.kind for mutant in found] == [name for name, *_ in NAMED]
