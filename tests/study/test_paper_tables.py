"""What the commands behind the results page compute, on numbers made by hand."""

import numpy as np
import pytest
from experiments import paper_learners, paper_tables

from quorate.study import Results, make_preset


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


METHODS = ("Ensem", "Disag", "random", "EPBD", "Disag, contested", "EPBD, contested")


def results():
    """Return one fold of one data set in which each method has its own accuracy."""
    rows = [
        {"data": "made", "ensemble": "any", "repeat": 0, "fold": 0,
         "method": method, "accuracy": 0.5 + place / 100}
        for place, method in enumerate(METHODS)
    ]  # fmt: skip
    return Results("made", METHODS, tuple(rows), ())


@pytest.mark.parametrize(
    ("suffix", "expected"),
    [
        ("", {"Ensem": 0.50, "Disag": 0.51, "EPBD": 0.53}),
        (", contested", {"Ensem": 0.50, "Disag": 0.54, "EPBD": 0.55}),
    ],
)
def test_the_methods_of_a_search_have_the_names_of_the_paper(suffix, expected):
    found = paper_tables.of_search(results(), suffix)
    assert found.methods == tuple(expected)
    assert {row["method"]: row["accuracy"] for row in found.rows} == expected


def test_another_size_leaves_the_whole_ensemble_whole():
    plan = paper_tables.resized(make_preset("paper-table-2"), 21, 0.5)
    assert {ensemble.members for ensemble in plan.ensembles} == {21}
    keep = {method.name: method.keep for method in plan.methods}
    assert keep.pop("Ensem") == 1.0
    assert set(keep.values()) == {0.5}


def test_the_papers_means_are_those_of_the_rows_that_were_run():
    rows = [{**row, "data": "sonar"} for row in results().rows]
    found = Results("made", METHODS, tuple(rows), ())
    assert paper_tables.printed_means("VI", found) == {
        "Ensem": [62.93],
        "Disag": [64.39],
        "EPBD": [66.83],
    }
