"""Conformance checks for methods, measures and kinds, built in or external.

Each check is a function that raises ``AssertionError`` with what went wrong.
:func:`check_pruner` and :func:`check_ensemble` run all that apply.
"""

from quorate.testing._ensembles import check_ensemble
from quorate.testing._methods import check_pruner, example_votes

__all__ = ["check_ensemble", "check_pruner", "example_votes"]
