"""``quorate blend`` as a shell sees it."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.cli.shell import run as shell
from tests.cli.shell import run_json, shown

import quorate

run = partial(shell, "blend")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("blend")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    seen = (y - 0.5) * 2 + rng.normal(size=200)
    for part in ("oof", "test"):
        (folder / part).mkdir()
        for name, noise in (("line", 0.5), ("tree", 1.5), ("net", 1.0)):
            margin = seen + rng.normal(size=200) * noise
            np.save(folder / part / f"{name}.npy", 1 / (1 + np.exp(-margin)))
    labels = np.where(y == 1, "yes", "no")
    table = pd.DataFrame({"id": range(200), "y": labels})
    table.to_csv(folder / "wide.csv", index=False)
    table[["y"]].to_csv(folder / "y.csv", index=False)
    return folder, labels


def test_blends_the_test_folder_as_python_does(files, tmp_path):
    folder, y = files
    target = tmp_path / "blend.csv"
    done = run(folder / "oof", "--target", folder / "y.csv", "--test", folder / "test",
               "-o", target)  # fmt: skip
    found = quorate.blend(folder / "oof", y)
    table = pd.read_csv(target)
    assert list(table.columns) == ["no", "yes"]
    np.testing.assert_allclose(
        table.to_numpy(), found.predict_proba(folder / "test"), atol=1e-12
    )
    for name, score, _ in found.rows():
        line = next(row for row in done.stdout.splitlines() if row.startswith(name))
        assert score in line
    recipe = found.recipe()
    for row in zip(recipe["model"], recipe["mean_weight"], recipe["geometric_weight"],
                   strict=True):  # fmt: skip
        shown = [cell if isinstance(cell, str) else f"{cell:.3f}" for cell in row]
        assert shown in [line.split() for line in done.stdout.splitlines()]
    assert str(target) in done.stdout.replace("\n", "")


def test_columns_by_name_and_by_classes(tmp_path):
    rng = np.random.default_rng(0)
    y = np.array(["hi", "lo", "mid"])[rng.integers(0, 3, 150)]
    shares = (y[:, None] == ["lo", "mid", "hi"]) + rng.uniform(0, 1, (2, 150, 3))
    shares /= shares.sum(axis=2, keepdims=True)
    for names, folder in ((["lo", "mid", "hi"], "named"), (["x", "y", "z"], "other")):
        (tmp_path / folder).mkdir()
        for model, part in zip("ab", shares, strict=True):
            table = pd.DataFrame(part, columns=names)
            table.to_csv(tmp_path / folder / f"{model}.csv", index=False)
    pd.DataFrame({"y": y}).to_csv(tmp_path / "y.csv", index=False)
    words = ["--target", tmp_path / "y.csv", "--method", "mean"]
    found = run_json("blend", tmp_path / "named", *words)
    other = [tmp_path / "other", *words, "--classes", "lo, mid,hi"]
    assert run_json("blend", *other) == found
    mean = shares.mean(axis=0)[:, [2, 0, 1]]
    own = mean[np.arange(150), np.searchsorted(["hi", "lo", "mid"], y)]
    assert found["mean_score"] == pytest.approx(np.log(own).mean())
    refused = run(tmp_path / "other", *words, code=1)
    assert "the columns are called 'x', 'y', 'z'" in refused.stderr
    assert "--classes" in refused.stderr


def test_codes_stay_text(files, tmp_path):
    folder, y = files
    codes = np.where(y == "yes", "02", "01")
    pd.DataFrame({"code": codes}).to_csv(tmp_path / "y.csv", index=False)
    words = ["blend", folder / "oof", "--target", tmp_path / "y.csv"]
    assert run_json(*words, "--method", "mean")["classes"] == ["01", "02"]


@pytest.mark.slow
def test_weights_without_a_test(files, tmp_path):
    folder, y = files
    target = tmp_path / "weights.parquet"
    words = ["blend", folder / "oof", "--target", folder / "wide.csv", "--column", "y",
             "-o", target, "--scoring", "accuracy", "--keep", "2"]  # fmt: skip
    found = quorate.blend(folder / "oof", y, scoring="accuracy", keep=2)
    assert run_json(*words) == found.to_dict()
    assert pd.read_parquet(target).to_dict("list") == found.recipe()


def by_hand(table, arrays):
    """Compute the blend from what was written, with NumPy alone."""
    p = np.stack([arrays[name] for name in table["model"]])

    def weighted(kind):
        return np.array(table[kind])[:, None, None]

    means = []
    if "geometric_weight" in table:
        powers = table["sharpness"][0] * weighted("geometric_weight")
        product = np.prod(np.maximum(p, 0.001) ** powers, axis=0)
        means.append(product / product.sum(axis=1, keepdims=True))
    for kind in ("weight", "mean_weight"):
        if kind in table:
            means.append((weighted(kind) * p).sum(axis=0))
    return np.mean(means, axis=0)


@pytest.mark.parametrize(
    ("method", "columns", "rule"),
    [
        ("auto", ["mean_weight", "geometric_weight", "sharpness"], "P = (M + G) / 2, "),
        ("geometric", ["geometric_weight", "sharpness"], "P = product(max(p, 0.001) "),
        ("simplex", ["weight"], "P = sum(weight * p)"),
    ],
)
def test_the_file_is_enough_to_blend_by_hand(files, tmp_path, method, columns, rule):
    folder, y = files
    target = tmp_path / f"weights.{'csv' if method == 'auto' else 'parquet'}"
    done = run(folder / "oof", "--target", folder / "y.csv", "-o", target, "--method",
               method)  # fmt: skip
    read = pl.read_csv if method == "auto" else pl.read_parquet
    table = read(target).to_dict(as_series=False)
    assert list(table) == ["model", *columns, "rule"]
    assert all(line.startswith(rule) for line in table["rule"])
    assert table["rule"][0] in done.stdout
    second = {name: np.load(folder / "test" / f"{name}.npy") for name in table["model"]}
    arrays = {name: np.stack([1 - p, p], axis=1) for name, p in second.items()}
    found = quorate.blend(folder / "oof", y, method=method)
    promised = found.predict_proba(folder / "test")
    np.testing.assert_allclose(by_hand(table, arrays), promised, atol=1e-9)
    plain = "This is not the weighted mean with these weights" in done.stdout
    assert plain == ("sharpness" in table)
    assert ("--test FOLDER -o FILE" in done.stdout) == plain
    assert ("--method simplex finds the weights for one" in shown(done)) == plain
    several = "weights add up to 1 in each column" in done.stdout
    assert several == (method == "auto")
