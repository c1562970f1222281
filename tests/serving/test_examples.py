"""The server and the handler of ``examples/serving``, as they stand there."""

import http.client
import importlib.util
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

import quorate

EXAMPLES = Path(__file__).parents[2] / "examples" / "serving"
N_CLIENTS = 8
X, Y = load_wine(return_X_y=True)


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(30, random_state=0).fit(X[::2], Y[::2])


@pytest.fixture(scope="module")
def path(forest, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.quorate"
    quorate.save(quorate.compact(forest), path)
    return path


@pytest.fixture
def port(path):
    command = [sys.executable, EXAMPLES / "server.py", path, "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            yield int(server.stdout.readline().split()[-1])
        finally:
            server.terminate()


def connect(port):
    return closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60))


def post(connection, body):
    connection.request("POST", "/predict", body)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def test_eight_clients_get_the_answers_of_the_forest(port, forest):
    def work(client):
        mine = range(client, len(X), N_CLIENTS)
        with connect(port) as connection:
            return {row: post(connection, json.dumps({"rows": [X[row].tolist()]}))
                for row in mine}  # fmt: skip

    with ThreadPoolExecutor(N_CLIENTS) as threads:
        found = {row: answer for part in threads.map(work, range(N_CLIENTS))
                 for row, answer in part.items()}  # fmt: skip
    expected = forest.predict(X).tolist()
    assert found == {row: (200, {"labels": [expected[row]]}) for row in range(len(X))}


def test_probabilities_missing_values_and_mistakes(port, forest):
    with connect(port) as connection:
        check_answers(connection, forest)


def check_answers(connection, forest):
    rows = X[:2].tolist()
    _, answer = post(connection, json.dumps({"rows": rows, "probabilities": True}))
    assert answer["probabilities"] == forest.predict_proba(X[:2]).tolist()
    rows[0][3] = None
    assert post(connection, json.dumps({"rows": rows}))[0] == 200
    for body, problem in (
        ("{", "JSONDecodeError"),
        ('{"row": 1}', "KeyError"),
        ('{"rows": [[1, 2]]}', "X has shape (1, 2), but 13 columns are needed"),
        ('{"rows": [["a"]]}', "could not convert"),
    ):
        status, answer = post(connection, body)
        assert (status, problem in answer["error"]) == (400, True)


@pytest.mark.parametrize("boosted", [False, True])
def test_handler_of_a_function_service(boosted, forest, tmp_path, monkeypatch):
    if boosted:
        forest = GradientBoostingClassifier(n_estimators=5).fit(X, Y)
    path = tmp_path / "model.quorate"
    quorate.save(quorate.compact(forest), path)
    monkeypatch.setenv("MODEL", str(path))
    spec = importlib.util.spec_from_file_location("handler", EXAMPLES / "handler.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    answer = module.handler({"body": json.dumps({"rows": X.tolist()})}, None)
    assert answer["statusCode"] == 200
    assert json.loads(answer["body"])["labels"] == forest.predict(X).tolist()
    refused = module.handler({"body": json.dumps({"rows": [[1]]})}, None)
    assert refused["statusCode"] == 400
    assert "13 columns are needed" in json.loads(refused["body"])["error"]


def test_the_image_is_five_lines_that_exist():
    lines = (EXAMPLES / "Dockerfile").read_text().splitlines()
    assert len(lines) == 5
    assert [line.split()[0] for line in lines] == [
        "FROM", "RUN", "WORKDIR", "COPY", "CMD",
    ]  # fmt: skip
    assert "server.py" in lines[3]
