"""The mutants that have a name still fit the source: ``make mutate`` can begin."""

import sys
from pathlib import Path

import quorate

ROOT = Path(__file__).parents[1]


def test_named_mutants_stand_in_the_source(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    try:
        from mutation.named import NAMED, named_mutants

        found = named_mutants(Path(quorate.__file__).parent)
    finally:
        for name in ("mutation", "mutation.named", "mutation.mutants"):
            sys.modules.pop(name, None)
    assert [mutant.kind for mutant in found] == [name for name, *_ in NAMED]
