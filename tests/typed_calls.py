"""Calls that mypy must accept, and calls it must refuse; ``make types`` reads them.

Nothing here runs. A bad call carries the error that mypy gives it: strict mypy reports
a ``type: ignore`` that has nothing to ignore, so a call that became acceptable fails.
"""

from typing import Any, assert_type

import quorate


class Forest:
    """Stands for a fitted ensemble whose type is known."""


def calls(forest: Forest, X: Any, y: Any, votes: quorate.Votes) -> None:
    # An ensemble comes back as what it was.
    assert_type(quorate.keep_members(forest, [0, 2]), Forest)
    assert_type(quorate.distil(forest, forest, X), Forest)

    quorate.prune([forest, forest], X, y)
    quorate.prune(forest, X, y, "re", 0.1, scoring="roc_auc")
    quorate.prune(forest, X, y, keep="auto", return_selection=True)

    # Methods by name, those of other packages too, or as objects.
    quorate.select(votes, "contrarian", keep=None)
    quorate.select(votes, quorate.pruning.MDEP(alpha=0.5), keep="default")
    quorate.blend({"a": X, "b": X}, y, method="both", keep=2)
    quorate.report(forest, X, y, method="mdm", keep="auto")
    quorate.PrunedClassifier(forest, "mdm", 12)
    quorate.LazyClassifier(forest, mode="calibrated", engine="numpy")
    quorate.compact(forest, mode="bayes")

    # Words that nothing understands, and values of the wrong type.
    quorate.LazyClassifier(forest, mode="exakt")  # type: ignore[arg-type]
    quorate.LazyClassifier(forest, engine="gpu")  # type: ignore[arg-type]
    quorate.LazyClassifier(forest, block_size="all")  # type: ignore[arg-type]
    quorate.compact(forest, mode="calibrated")  # type: ignore[arg-type]
    quorate.prune(forest, X, y, keep="some")  # type: ignore[arg-type]
    quorate.prune(forest, X, y, method=3)  # type: ignore[arg-type]
    quorate.prune(forest, X, y, source="old")  # type: ignore[arg-type]
    quorate.prune([forest], X, y, keep="some")  # type: ignore[arg-type]
    quorate.select(votes, keep="some")  # type: ignore[arg-type]
    quorate.select(votes, method=quorate.pruning.MDEP)  # type: ignore[arg-type]
    quorate.report(forest, X, y, keep="some")  # type: ignore[arg-type]
    quorate.report(forest, X, y, method=3)  # type: ignore[arg-type]
    quorate.PrunedClassifier(forest, method=3)  # type: ignore[arg-type]
    quorate.PrunedClassifier(forest, keep="some")  # type: ignore[arg-type]
    quorate.blend({"a": X}, y, keep="auto")  # type: ignore[arg-type]
    quorate.blend({"a": X}, y, method=3)  # type: ignore[arg-type]
