"""The versions that the numbers of a report depend on."""

import platform

import numpy as np
import scipy
import sklearn

from quorate._version import __version__


def versions() -> dict[str, str]:
    """Return the versions that the numbers depend on."""
    return {
        "quorate": __version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
    }
