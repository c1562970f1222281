"""Labels of every type, and files with random damage: right, or a sentence."""

import string

import numpy as np
import pandas as pd
import pytest
from tests.damage import damaged
from tests.votes.same import assert_same

from quorate import Votes
from quorate._data import read_samples
from quorate._votes import TabledProbabilities, with_changes
from quorate.exceptions import FileFormatError

BLOCKS = [0, *(pytest.param(block, marks=pytest.mark.slow) for block in range(1, 5))]

INTEGERS = [np.dtype(code) for code in "bBhHiIqQ"]
FLOATS = [np.dtype(code) for code in "efdg"]


def some_integers(rng, dtype, count):
    limits = np.iinfo(dtype)
    near = [limits.min, limits.max, 0, 1, 2**53, 2**53 + 1, 2**63, -(2**53) - 1, -1]
    ends = [end for end in near if limits.min <= end <= limits.max]
    drawn = rng.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True)
    few = (rng.integers(0, 200, count) - (100 if limits.min < 0 else 0)).astype(dtype)
    every = [*drawn.tolist(), *few.tolist(), *ends]
    return [every[place] for place in rng.integers(0, len(every), count)]


def some_text(rng, count):
    letters = [*string.printable, "é", "\u0663", "\U0001f600", "\0"]
    return ["".join(rng.choice(letters, rng.integers(0, 6))) for _ in range(count)]


def some_labels(rng):
    """Return a few labels of one type, as NumPy or Python would hold them."""
    count = int(rng.integers(1, 12))
    match rng.integers(0, 8):
        case 0:
            dtype = rng.choice(INTEGERS)
            return np.array(some_integers(rng, dtype, count), dtype=dtype)
        case 1:
            return some_integers(rng, np.dtype(rng.choice([*"qQ"])), count)
        case 2:
            return np.array([True, False])[: count + 1]
        case 3:
            dtype = rng.choice(FLOATS)
            return (rng.normal(size=count) * 10.0 ** rng.integers(-2, 4)).astype(dtype)
        case 4:
            return some_text(rng, count)
        case 5:
            texts = [text for text in some_text(rng, count) if text[-1:] != "\0"]
            return np.array([*texts, "a"], dtype=rng.choice([object, str]))
        case 6:
            unit = rng.choice([*"YMDhms"])
            return rng.integers(-9000, 9000, count).astype(f"M8[{unit}]")
        case _:
            return [*some_integers(rng, np.dtype("q"), count), 0.5, -2.0, 2.0**60]


def drawn(rng, labels, shape):
    """Return labels at random, in the form in which they are given."""
    places = rng.integers(0, len(labels), shape)
    if isinstance(labels, np.ndarray):
        return labels[places]
    if len(shape) == 1:
        return [labels[place] for place in places]
    return [[labels[place] for place in row] for row in places]


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_labels_come_back(block, tmp_path):
    for seed in range(150 * block, 150 * (block + 1)):
        check_labels(seed, tmp_path)


def check_labels(seed, tmp_path):
    """Check that labels come back, from votes and from their file, or are refused."""
    rng = np.random.default_rng(seed)
    labels = some_labels(rng)
    shape = int(rng.integers(1, 5)), int(rng.integers(1, 30))
    predictions = drawn(rng, labels, shape)
    truth = drawn(rng, labels if rng.random() < 0.7 else some_labels(rng), shape[1:])
    valid = None
    if rng.random() < 0.3:
        valid = rng.random(shape) < 0.7
        valid[:, 0] = True
        valid[0] = True
    try:
        votes = Votes(predictions, truth, valid=valid)
    except ValueError as error:
        refused = ("mixed types", "no numeric type", "ends in a NUL")
        if "a vote is a" in str(error):
            assert look_like_probabilities(predictions, truth, valid)
        elif not any(words in str(error) for words in refused):
            raise
        return
    assert not look_like_probabilities(predictions, truth, valid)
    votes.save(tmp_path / "votes.npz")
    again = Votes.load(tmp_path / "votes.npz")
    assert again.classes.dtype == votes.classes.dtype
    for found in (votes, again):
        dates = found.classes.dtype.kind == "M"  # Python has none so far away
        held = list(found.classes) if dates else found.classes.tolist()
        usable = np.ones(shape, bool) if valid is None else valid
        for row, codes, ok in zip(predictions, found.codes, usable, strict=True):
            for label, code, used in zip(row, codes, ok, strict=True):
                assert (held[code] == label) if used else code == -1
        for label, code in zip(truth, found.y, strict=True):
            assert held[code] == label
        if shape[0] == 1 and valid is None:
            for label, decided in zip(predictions[0], found.predict(), strict=True):
                assert decided.item() == label or decided == label


def look_like_probabilities(predictions, truth, valid):
    """Return whether more votes lie between 0 and 1 than there are whole labels.

    Two such votes are labels like any others, as are all if a label has a fraction.
    """
    truth, votes = np.asarray(truth), np.asarray(predictions)
    if not {truth.dtype.kind, votes.dtype.kind} <= set("biuf"):
        return False
    votes = votes if valid is None else votes[valid]
    labels = np.unique(truth)
    shares = {*votes[(votes > 0) & (votes < 1)].tolist()}
    return len(shares) > max(2, labels.size) and bool((labels % 1 == 0).all())


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    words = np.array(["ant", "bee", "cow, or so", "élan"])
    columns = {f"member {t}": words[rng.integers(0, 4, 30)] for t in range(4)}
    return pd.DataFrame({**columns, "y": words[rng.integers(0, 4, 30)]})


@pytest.mark.parametrize("kind", ["heads", "dense", "tabled"])
@pytest.mark.parametrize("block", BLOCKS)
def test_damaged_npz(kind, block, frame, tmp_path):
    rng = np.random.default_rng(block)
    path = tmp_path / "votes.npz"
    votes = Votes(frame.to_numpy()[:, :4].T, frame["y"], [1, 2, 3, 4.5])
    if kind != "heads":
        shares = rng.dirichlet([1] * 4, (4, 30))
        votes = Votes(frame.to_numpy()[:, :4].T, frame["y"], [1, 2, 3, 4],
                      probabilities=shares)  # fmt: skip
    if kind == "tabled":
        votes = with_changes(votes, class_probabilities=tabled_twin(votes))
    votes.save(path)
    whole = path.read_bytes()
    for _ in range(140):
        path.write_bytes(damaged(rng, whole))
        check_damage(path, votes, Votes.load, always_same=True)


def tabled_twin(votes):

    shares = votes.probabilities
    return TabledProbabilities.from_tables(
        [np.arange(30)] * 4, [np.asarray(row, float) for row in shares]
    )


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
@pytest.mark.parametrize("block", range(5))
def test_damaged_tables(suffix, block, frame, tmp_path):
    rng = np.random.default_rng(block)
    path = tmp_path / f"votes.{suffix}"
    if suffix == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)

    def read(path):
        X, y = read_samples(path, "y")
        return Votes(X.T.to_numpy(), y)

    votes = read(path)
    whole = path.read_bytes()
    for _ in range(140):
        path.write_bytes(damaged(rng, whole))
        # A letter of a label is a letter, and nothing says that it was another.
        check_damage(path, votes, read, always_same=suffix == "csv.gz")


def check_damage(path, votes, read, *, always_same):
    """Check that a damaged file is refused in a sentence, or read as it was."""
    again, refusal = None, None
    try:
        again = read(path)
    except ValueError as error:
        refusal = error
    if refusal is not None:
        assert path.name in str(refusal)
        assert "\n" not in str(refusal)
        assert str(refusal).endswith((".", "?"))
        assert isinstance(refusal, FileFormatError) or path.suffix != ".npz"
    elif always_same:
        assert_same(votes, again)
