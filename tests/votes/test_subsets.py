"""Errors of many subsets at once are those of each of them."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier

import quorate
from quorate._votes import subset_errors

X, y = make_classification(400, n_informative=6, n_classes=3, random_state=0)
MODELS = {
    "forest": RandomForestClassifier(9, max_depth=3, random_state=0),
    "AdaBoost": AdaBoostClassifier(n_estimators=9, random_state=0),
}


@pytest.mark.parametrize("name", [*MODELS, "plurality"])
def test_errors_and_their_standard_errors(name):
    model = MODELS[name if name in MODELS else "forest"].fit(X[:200], y[:200])
    votes = quorate.collect_votes(model, X[200:], y[200:])
    if name == "plurality":
        votes = votes.by_plurality()
    supports = np.random.default_rng(0).random((20, 9)) < 0.5
    supports[:, 0] = True
    whole = votes.sample_errors()
    errors, spread = subset_errors(votes, supports)
    again, apart = subset_errors(votes, supports, against=whole)
    np.testing.assert_array_equal(errors, again)
    for place, support in enumerate(supports):
        each = votes.keep(support).sample_errors()
        assert errors[place] == pytest.approx(each.mean())
        assert spread[place] == pytest.approx(each.std() / np.sqrt(200))
        assert apart[place] == pytest.approx((each - whole).std() / np.sqrt(200))
