"""Torch modules and skorch nets as members."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import quorate

try:
    import skorch
    import torch
except (ImportError, OSError):  # not there, or not whole
    pytest.skip("no torch for CPUs could be had", allow_module_level=True)

ANSWERS = {"logits": torch.nn.Identity(), "probabilities": torch.nn.Softmax(dim=1)}


def scaled(X):
    return ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32)


@pytest.fixture(scope="module")
def data(tumours):
    (X, y), _, (X_new, y_new) = tumours
    return scaled(X), y, scaled(X_new), y_new


def train(module, X, codes):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    steps = torch.optim.Adam(module.parameters(), 0.01)
    loss = torch.nn.CrossEntropyLoss()
    for _ in range(60):
        steps.zero_grad()
        loss(module(torch.as_tensor(X)), torch.as_tensor(codes)).backward()
        steps.step()
    return module


@pytest.fixture(scope="module")
def body(data):
    X, y, _, _ = data
    torch.manual_seed(0)
    layers = torch.nn.Sequential(
        torch.nn.Linear(30, 8), torch.nn.ReLU(), torch.nn.Dropout(0.5),
        torch.nn.Linear(8, 2),
    )  # fmt: skip
    return train(layers, X, (y == "good").astype(int))


@pytest.mark.parametrize("answers", ANSWERS)
def test_modules(answers, body, data):
    _, _, X, y = data
    module = torch.nn.Sequential(body, ANSWERS[answers]).train()
    member = quorate.as_member(module, ["bad", "good"], answers)
    votes = quorate.collect_votes(
        {"net": member, "bayes": GaussianNB().fit(X, y)}, X, y
    )
    module.eval()
    with torch.no_grad():
        scores = module(torch.as_tensor(X)).numpy()
    own = np.array(["bad", "good"])[scores.argmax(axis=1)]
    np.testing.assert_array_equal(votes.classes[votes.codes[0]], own)
    assert np.mean(own == y) > 0.9


def test_asking_leaves_the_module_as_it_was(body, data):
    body.train()
    quorate.as_member(body, ["bad", "good"], "logits").predict(data[2])
    assert body.training


def test_one_sigmoid_output(body, data):
    _, _, X, _ = data

    class Sigmoid(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body = body

        def forward(self, X):
            return torch.sigmoid(self.body(X)[:, 1:] - self.body(X)[:, :1])

    two = quorate.as_member(body, ["bad", "good"], "logits")
    one = quorate.as_member(Sigmoid(), ["bad", "good"], "probabilities")
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), atol=1e-6)


def test_a_bare_module_is_refused_with_the_way_out(body, data):
    _, _, X, y = data
    with pytest.raises(TypeError, match=r"member 'net': a torch module .*'logits'"):
        quorate.collect_votes({"net": body}, X, y)
    for half in ({"classes": ["bad", "good"]}, {"answers": "logits"}):
        with pytest.raises(TypeError, match=r"a torch module .*'logits'"):
            quorate.as_member(body, **half)


def test_skorch_nets_need_nothing(data):
    X, y, X_new, y_new = data
    net = skorch.NeuralNetClassifier(
        torch.nn.Sequential(torch.nn.Linear(30, 2), torch.nn.Softmax(dim=1)),
        max_epochs=20, lr=0.1, verbose=0, classes=[0, 1],
    ).fit(X, (y == "good").astype(np.int64))  # fmt: skip
    codes = (y_new == "good").astype(int)
    pool = {"net": net, "bayes": GaussianNB().fit(X, (y == "good").astype(int))}
    votes = quorate.collect_votes(pool, X_new, codes)
    np.testing.assert_array_equal(votes.classes[votes.codes[0]], net.predict(X_new))
    small = quorate.prune(pool, X_new, codes, "best", keep=1)
    assert list(small.estimators) in (["net"], ["bayes"])
    # The labels were text before somebody made numbers of them for the net.
    member = quorate.as_member(net, ["bad", "good"])
    text = quorate.collect_votes({"net": member}, X_new, y_new)
    np.testing.assert_array_equal(text.codes[0], net.predict(X_new))
