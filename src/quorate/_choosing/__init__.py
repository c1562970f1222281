"""Choose which members to keep and how many: one implementation for all entry points.

:func:`gather` and :func:`choose` turn an ensemble, samples, a method and a size into a
:class:`quorate.results.Selection`. :func:`quorate.prune` makes a model from it.
"""

from quorate._choosing._choose import check_method, choose, method_for, select
from quorate._choosing._crossfit import fit_on, split_evidence
from quorate._choosing._evidence import EnsembleEvidence, Evidence, gather
from quorate._choosing._expected import (
    CrossFitScorer,
    ExpectedError,
    at_most,
    can_expect,
    expected_by_agreement,
    expected_curve,
    expected_errors,
    has_whole_order,
    on_all_samples,
)
from quorate._choosing._explanation import Explanation
from quorate._choosing._selection import Selection
from quorate._choosing._size import (
    DEFAULT,
    LEAST_SHARE,
    Budget,
    CrossFittedCurve,
    FixedSize,
    Keep,
    Size,
    SizeByCost,
    SizeByErrors,
    SizeCurve,
    size_curve,
    size_for,
)

__all__ = [
    "DEFAULT",
    "LEAST_SHARE",
    "Budget",
    "CrossFitScorer",
    "CrossFittedCurve",
    "EnsembleEvidence",
    "Evidence",
    "ExpectedError",
    "Explanation",
    "FixedSize",
    "Keep",
    "Selection",
    "Size",
    "SizeByCost",
    "SizeByErrors",
    "SizeCurve",
    "at_most",
    "can_expect",
    "check_method",
    "choose",
    "expected_by_agreement",
    "expected_curve",
    "expected_errors",
    "fit_on",
    "gather",
    "has_whole_order",
    "method_for",
    "on_all_samples",
    "select",
    "size_curve",
    "size_for",
    "split_evidence",
]
