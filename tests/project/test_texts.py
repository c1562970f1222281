"""Texts as samples: a column of words, in every form that people have them in."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

import quorate

WORDS = np.array(
    ["the", "a", "cat", "dog", "bird", "fish", "tree", "sky", "blue", "red", "green"]
)
TEXTS = [" ".join(words) for words in np.random.default_rng(0).choice(WORDS, (900, 6))]
Y = np.array(["cat" if "cat" in text or "dog" in text else "no" for text in TEXTS])
SEEN, NEW = slice(300), slice(300, None)
FORMS = {
    "array": np.array,
    "objects": lambda texts: np.array(texts, dtype=object),
    "series": pd.Series,
    "series with an index": lambda texts: pd.Series(texts, range(7, 7 + len(texts))),
    "series of strings": lambda texts: pd.Series(texts, dtype="string", name="said"),
}


def fresh():
    return make_pipeline(TfidfVectorizer(), RandomForestClassifier(15, random_state=0))


MODEL = fresh().fit(TEXTS[SEEN], Y[SEEN])
SMALL = quorate.prune(MODEL, TEXTS[SEEN], Y[SEEN], "re", keep=4)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_with_one_column_of_text(suffix, tmp_path):
    path = tmp_path / f"texts.{suffix}"
    table = pd.DataFrame({"said": TEXTS[NEW], "kind": Y[NEW]})
    table.to_csv(path, index=False) if suffix == "csv" else table.to_parquet(path)
    found = quorate.summarise(MODEL, path, target="kind", against=SMALL)
    assert found.accuracy() == MODEL.score(TEXTS[NEW], Y[NEW])
    assert found.against.wrong[0] == np.sum(SMALL.predict(TEXTS[NEW]) != Y[NEW])


def test_a_file_with_one_column_of_numbers_stays_a_table(tmp_path):
    X = np.arange(40.0)[:, None]
    forest = RandomForestClassifier(5, random_state=0).fit(X, np.arange(40) % 2)
    path = tmp_path / "table.csv"
    pd.DataFrame({"n": X[:, 0], "y": np.arange(40) % 2}).to_csv(path, index=False)
    summary = quorate.summarise(forest, path, target="y", source="new")
    assert summary.accuracy() == forest.score(X, np.arange(40) % 2)


@pytest.mark.parametrize("form", FORMS)
class TestEveryForm:
    def test_pruned_alike(self, form):
        texts = FORMS[form](TEXTS[SEEN])
        small = quorate.prune(MODEL, texts, Y[SEEN], "re", keep=4)
        assert small.pruning_["order"] == SMALL.pruning_["order"]
        assert small.pruning_["chosen_on"] == "out-of-bag votes"
        fitted = quorate.PrunedClassifier(fresh(), "re", keep=4).fit(texts, Y[SEEN])
        np.testing.assert_array_equal(fitted.predict(texts), SMALL.predict(texts))

    def test_judged_alike(self, form):
        texts = FORMS[form](TEXTS[NEW])
        certificate = quorate.certify(MODEL, SMALL, texts, Y[NEW])
        assert str(certificate) == str(
            quorate.certify(MODEL, SMALL, TEXTS[NEW], Y[NEW])
        )
        data = quorate.report(SMALL, texts, Y[NEW]).data
        again = quorate.report(SMALL, TEXTS[NEW], Y[NEW]).data
        assert data["pruning"]["order"] == again["pruning"]["order"]
        assert data["risk"] == again["risk"]
        lazy = quorate.LazyClassifier(MODEL).fit()
        np.testing.assert_array_equal(lazy.predict(texts), MODEL.predict(TEXTS[NEW]))
