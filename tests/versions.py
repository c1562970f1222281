"""What differs between versions of other libraries."""

from importlib.metadata import version

import pytest


def has(package, *wanted):
    return tuple(map(int, version(package).split(".")[:2])) >= wanted


def needs(package, *wanted, because):
    """Skip what cannot be seen with older ones."""
    if not has(package, *wanted):
        pytest.skip(f"{package} {version(package)}: {because}")


def needs_weighted_draws():
    """Rows of a rare class are in every sample, and no vote on them is out of bag."""
    needs("scikit-learn", 1, 9, because="forests draw rows whatever their weights are")
