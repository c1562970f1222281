"""Anything that answers can be a member, once it is known what it says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

import quorate

X, Y = load_breast_cancer(return_X_y=True)
X, Y = DATA = (X - X.mean(axis=0)) / X.std(axis=0), np.array(["bad", "good"])[Y]


@pytest.fixture(scope="module")
def line():
    return LogisticRegression().fit(X[::2], Y[::2])


class OnlyShares:
    """Knows probabilities, and says them by that name alone."""

    def __init__(self, model, classes=None):
        self.model = model
        if classes is not None:
            self.classes_ = classes

    def predict_proba(self, X):
        return self.model.predict_proba(X)


class Net:
    """Answers with what its last layer has, as networks do."""

    def __init__(self, model, output):
        self.model, self.output = model, output

    def predict(self, X):
        scores = self.model.decision_function(X)
        if self.output == "logit":
            return scores[:, None]
        if self.output == "logits":
            return np.stack([0 * scores, scores], axis=1)
        shares = 1 / (1 + np.exp(-scores))
        if self.output == "sigmoid":
            return shares.astype(np.float32)
        return np.stack([1 - shares, shares], axis=1)


class TestAsMember:
    @pytest.mark.parametrize(
        ("output", "answers"),
        [
            ("logit", "logits"),
            ("logits", "logits"),
            ("sigmoid", "probabilities"),
            ("softmax", "probabilities"),
        ],
    )
    @pytest.mark.parametrize("called", [True, False])
    def test_networks(self, output, answers, called, line):
        X, _ = DATA
        net = Net(line, output)
        member = quorate.as_member(
            net.predict if called else net, ["bad", "good"], answers
        )
        assert_array_equal(member.predict(X), line.predict(X))
        assert_allclose(member.predict_proba(X), line.predict_proba(X), atol=1e-6)

    @pytest.mark.parametrize(
        ("says", "classes", "answers"),
        [
            (lambda X, line: line.predict_proba(X)[:, ::-1], ["good", "bad"],
             "probabilities"),
            (lambda X, line: line.predict_proba(X)[:, 0], ["good", "bad"],
             "probabilities"),
            (lambda X, line: np.searchsorted(line.classes_, line.predict(X)),
             ["bad", "good"], "auto"),
        ],
        ids=["columns in another order", "of the second class", "codes"],
    )  # fmt: skip
    def test_functions(self, says, classes, answers, line):
        X, _ = DATA
        given = {} if answers == "auto" else {"answers": answers}
        member = quorate.as_member(lambda X: says(X, line), classes, **given)
        assert member.classes_.tolist() == ["bad", "good"]
        assert_array_equal(member.predict(X), line.predict(X))
        if answers == "auto":
            assert not hasattr(member, "predict_proba")
        else:
            assert_allclose(member.predict_proba(X), line.predict_proba(X), atol=1e-12)

    def test_what_needs_no_adapter_stays_as_it_is(self, line):
        assert quorate.as_member(line) is line


class TestPools:
    @pytest.mark.filterwarnings("ignore::quorate.exceptions.QuorateWarning")
    def test_functions_and_probabilities_alone(self, line):
        X, y = DATA
        pool = {
            "line": line,
            "function": lambda X: np.where(X[:, 0] > 0, "bad", "good"),
            "shares": OnlyShares(line, line.classes_),
        }
        votes = quorate.collect_votes(pool, X, y)
        expected = [line.predict(X), pool["function"](X), line.predict(X)]
        assert_array_equal(votes.classes[votes.codes], expected)
        assert votes.names == tuple(pool)
        small = quorate.prune(pool, X[1::2], y[1::2], "best", keep=2)
        assert list(small.estimators) == ["line", "shares"]
        assert small.estimators["shares"] is pool["shares"]
        assert_array_equal(small.predict(X), line.predict(X))


@pytest.mark.parametrize(
    ("name", "module", "known"),
    [
        ("Booster", "xgboost.core", True),
        ("Booster", "elsewhere.core", False),
        ("Boosters", "xgboost.core", False),
    ],
)
def test_boosters_are_known_by_the_name_of_their_class_and_its_library(
    name, module, known
):
    """Subclasses too, and without the library; models of it are in tests/ecosystem."""

    def save_config(self):
        return '{"learner": {"objective": {"name": "binary:logistic"}}}'

    booster = type(name, (), {"__module__": module, "save_config": save_config})
    for cls in (booster, type("Mine", (booster,), {})):
        message = "xgboost Booster returns probab" if known else "has neither predict"
        with pytest.raises(TypeError, match=message):
            quorate.collect_votes([cls()], np.zeros((2, 1)), [0, 1])
