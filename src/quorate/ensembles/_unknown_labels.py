"""Labels that an ensemble cannot give: a slip in a file, or a class that came later."""

import numpy as np

from quorate._typing import Array, IntArray
from quorate._warn import warn
from quorate.ensembles._kind import Ensemble
from quorate.exceptions import UnknownLabelWarning
from quorate.votes import as_labels


def warn_of_unknown_labels(
    ensemble: Ensemble, classes: Array, counts: IntArray
) -> None:
    """Warn if samples have labels that the ensemble was not trained on.

    Parameters
    ----------
    ensemble : Ensemble
    classes : array
        All labels, of samples and of votes.
    counts : array of int
        How many samples have each of them.
    """
    if ensemble.classes is None or len(classes) == len(ensemble.classes):
        return
    known = as_labels(ensemble.classes, "the ensemble's classes").tolist()
    labels = classes.tolist()
    unknown = np.flatnonzero([label not in known for label in labels])
    if not unknown.size:
        return
    n_samples = int(counts[unknown].sum())
    most = labels[unknown[int(counts[unknown].argmax())]]
    who = "sample has" if n_samples == 1 else "samples have"
    more = f" and {unknown.size - 1} more" if unknown.size > 1 else ""
    warn(
        f"{n_samples} {who} a label that the ensemble was not trained on "
        f"({most!r}{more}): no member can be right there.",
        UnknownLabelWarning,
    )
