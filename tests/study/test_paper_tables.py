"""What the commands behind the results page compute, on numbers made by hand."""

import numpy as np
import pytest
from experiments import paper_learners


def runs(*folds):
    return dict(enumerate(map(list, folds)))


NEAR = runs([80.0, 81.0, 82.0, 83.0, 84.0], [81.0, 80.0, 83.0, 82.0, 84.0])
FAR = runs([90.0, 91.0, 92.0, 93.0, 94.0])
STEADY = runs([82.0, 82.0, 82.0, 82.0, 82.0])


def test_the_learner_whose_mean_and_deviation_are_printed_is_the_likeliest():
    candidates = {"near": NEAR, "far": FAR, "steady": STEADY}

    def likeliest(mean, deviation):
        logs = {
            name: paper_learners.log_likelihood(found, mean, deviation)
            for name, found in candidates.items()
        }
        probability = paper_learners.shares(logs)
        assert sum(probability.values()) == pytest.approx(1.0)
        return max(probability, key=probability.__getitem__)

    assert likeliest(82.0, 1.4) == "near"
    assert likeliest(92.0, 1.4) == "far"
    assert likeliest(82.0, 0.0) == "steady"


def test_the_likeliest_deviation_is_that_of_five_folds():
    """Printed ones divide by the number of folds: 4/5 of the variance is expected."""
    variance = paper_learners.variance_of(np.array(list(NEAR.values())))
    shares = np.linspace(0.5, 1.1, 61)
    logs = [
        paper_learners.log_likelihood(NEAR, 82.0, np.sqrt(share * variance))
        for share in shares
    ]
    assert shares[np.argmax(logs)] == pytest.approx(0.8)


def test_a_mean_fits_within_three_standard_errors():
    folds = np.array([[80.0, 82.0, 84.0, 82.0, 82.0]])  # variance 2
    error = np.sqrt((2.0 + 0.05**2) / 5 * 2 + 0.2**2)
    assert paper_learners.standard_error(folds) == pytest.approx(error)
    found = runs(*folds)
    assert paper_learners.fits(found, 82.0 + 2.99 * error)
    assert not paper_learners.fits(found, 82.0 - 3.01 * error)
