"""What a model written as C asks of compilers, of the stack and of labels."""

import re
import subprocess

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from tests.c_library import c_answers, c_library, needs_compiler
from tests.lazy.zoo import ANSWERS_ONLY, KINDS, MISSING, drawn

import quorate
from quorate import LazyClassifier
from quorate._native._compile import (
    SOURCE,
    CompilerError,
    compile_file,
    compile_kernels,
)

NEEDS_NAN = "a forest needs NaN: no -ffast-math, -Ofast, -ffinite-math-only or /fp"
# Of both branches: finite numbers, and one that is missing.
MAIN = """
#include <fenv.h>

int main(void)
{{
    float rows[2][{n}] = {{{{0}}}};
    int32_t codes[2];
    rows[1][0] = NAN;
    feclearexcept(FE_ALL_EXCEPT);
    forest_predict_rows(rows[0], 1, codes);
    forest_predict_rows(rows[1], 1, codes + 1);
    return fetestexcept(FE_INVALID) ? 2 : 0;
}}
"""


@pytest.fixture(scope="module")
def forest():
    X, y = load_wine(return_X_y=True)
    return RandomForestClassifier(15, random_state=0).fit(X, y)


@needs_compiler
@pytest.mark.parametrize("n_columns", [2**14, 2**14 + 1])
def test_nodes_take_eight_bytes_where_columns_fit(n_columns, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.random((30, n_columns), dtype=np.float32), np.arange(30) % 3
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:, -1] = y  # a column that trees look at
    forest = RandomForestClassifier(9, max_features=None, random_state=0).fit(X, y)
    assert any((tree.tree_.feature == n_columns - 1).any() for tree in forest)
    library, source = c_library(quorate.compact(forest), tmp_path)
    np.testing.assert_array_equal(c_answers(library, X), forest.predict(X).astype(str))
    assert ("#define QUORATE_NARROW" in source) == (n_columns == 2**14)


@needs_compiler
def test_nodes_take_twelve_bytes_where_children_are_far_away(tmp_path):
    X = np.arange(40_000, dtype=np.float32)[:, None]
    y = np.arange(40_000) % 2
    tree = ExtraTreesClassifier(1, random_state=0).fit(X, y)
    library, source = c_library(quorate.compact(tree), tmp_path)
    np.testing.assert_array_equal(c_answers(library, X), tree.predict(X).astype(str))
    assert "#define QUORATE_NARROW" not in source


@needs_compiler
def test_shares_take_a_byte_where_they_lie_on_a_grid(forest, tmp_path):
    X, _ = load_wine(return_X_y=True)
    few = quorate.keep_members(forest, range(5))
    distilled = quorate.distil(few, forest, X, n_rows=500, random_state=0)
    for name, model, is_counted in (("a", distilled, True), ("b", few, False)):
        library, source = c_library(quorate.compact(model), tmp_path, name)
        found = c_answers(library, X, name)
        np.testing.assert_array_equal(found, model.predict(X).astype(str))
        # Few trees have no unsure leaves, and a table of none.
        assert ("#define QUORATE_LEVELS" in source) == is_counted


@pytest.mark.slow
@ANSWERS_ONLY
@needs_compiler
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "pipeline"])
def test_c_gives_every_answer(kind, tmp_path):
    for seed in range(4):
        ensemble, lazy, rows = drawn(kind, seed, kind in MISSING and seed > 1)
        name = f"kind{seed}"
        model = lazy if seed % 2 else lazy.compact()
        options = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-O1"]
        found = c_answers(c_library(model, tmp_path, name, options)[0], rows, name)
        np.testing.assert_array_equal(found, lazy.predict(rows).astype(str))
        if lazy.mode in ("exact", "all"):
            np.testing.assert_array_equal(found, ensemble.predict(rows).astype(str))


@needs_compiler
def test_labels_in_c(tmp_path):
    X = np.arange(8.0)[:, None]
    labels = np.array(
        ['"quoted"', "back\\slash", "??=", "rosé\n", "%d", "{0}", "", "1"]
    )
    forest = RandomForestClassifier(5, bootstrap=False).fit(X, labels)
    library, _ = c_library(LazyClassifier(forest).fit(), tmp_path)
    np.testing.assert_array_equal(c_answers(library, X), labels)


def labelled(labels):
    """Return a lazy forest of some labels, each of which has a value of its own."""
    X = np.arange(float(len(labels)))[:, None]
    y = np.array(labels, dtype=object)
    return LazyClassifier(RandomForestClassifier(3, bootstrap=False).fit(X, y)).fit()


@needs_compiler
@pytest.mark.parametrize("option", ["-ffast-math", "-Ofast", "-ffinite-math-only"])
def test_compilers_that_take_nan_for_impossible_are_refused(forest, tmp_path, option):
    path = tmp_path / "forest.c"
    LazyClassifier(forest).fit().to_c(path)
    assert "-ffast-math, -Ofast, -ffinite-math-only" in path.read_text()[:500]
    with pytest.raises(CompilerError, match=NEEDS_NAN):
        compile_file(path, tmp_path / "forest.so", [option])
    with pytest.raises(CompilerError, match=NEEDS_NAN):
        compile_kernels(tmp_path / "forest.so", [option])


@needs_compiler
@pytest.mark.parametrize(("method", "fits"), [(0, True), (16, True), (2, False)])
def test_sums_are_rounded_as_in_numpy_or_not_at_all(tmp_path, method, fits):
    source = tmp_path / "forest.c"
    given = f"#undef FLT_EVAL_METHOD\n#define FLT_EVAL_METHOD {method}\n"
    before, after = SOURCE.read_text().split("/* 16 is about", 1)
    source.write_text(f"{before}{given}/* 16 is about{after}")
    if fits:
        assert compile_file(source, tmp_path / "forest.so", ["-O0"])
        return
    with pytest.raises(CompilerError, match="sums would be rounded otherwise than"):
        compile_file(source, tmp_path / "forest.so")


@needs_compiler
def test_a_prediction_raises_no_flag_of_the_processor(forest, tmp_path):
    source, program = tmp_path / "forest.c", tmp_path / "forest"
    LazyClassifier(forest).fit().to_c(source)
    with source.open("a") as file:
        file.write(MAIN.format(n=forest.n_features_in_))
    compile_file(source, program, shared=False)
    assert subprocess.run([program], check=False).returncode == 0


@needs_compiler
@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_the_stack_that_is_needed_stands_in_the_file(tmp_path):
    source = tmp_path / "forest.c"
    for n_classes, n_rows in ((2, 256), (600, 6), (5000, 1)):
        X = np.arange(float(n_classes))[:, None]
        trees = ExtraTreesClassifier(2, max_depth=2, random_state=0)
        lazy = LazyClassifier(trees.fit(X, np.arange(n_classes))).fit()
        lazy.to_c(source)
        text = source.read_text()
        assert f"double scores[{n_rows} * {n_classes}]" in text
        stated = int(re.search(r"need up to (\d+) bytes of stack", text)[1])
        _compile_with_frames(source, stated)
        with pytest.raises(CompilerError, match="forest_predict_rows"):
            _compile_with_frames(source, stated - 8000)  # what the kernel needs


def _compile_with_frames(source, size):
    options = ["-O0", "-Werror", f"-Wframe-larger-than={size}"]
    compile_file(source, source.with_suffix(".so"), options)


@pytest.mark.parametrize(
    ("labels", "name", "problem"),
    [
        *((["a", "b"], name, r"\(name=.*\): must consist of letters, digits and "
            r"underscores")
          for name in ["", "1st", "a-b", "a b", "é", None, "x" * 99]),
        (["a", "a\0b"], "forest",
         r": the label 'a\\x00b' contains a NUL character.* rename the class.$"),
        (["a", "a\ud800"], "forest",
         r": the label 'a\\ud800' contains half of a surrogate pair.* rename the "
             r"class.$"),
        (["a", "b", "c"], "forest", ": a prediction needs .* bytes on the stack"),
    ],
)  # fmt: skip
def test_refused_and_not_written(labels, name, problem, tmp_path, monkeypatch):
    monkeypatch.setattr("quorate._serving._c_source._MOST_STACK", 10_000)
    lazy = labelled(labels)
    with pytest.raises(ValueError, match=f"^to_c{problem}"):
        lazy.to_c(tmp_path / "x.c", name)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there(forest, tmp_path):
    path = tmp_path / "none" / "x.c"
    with pytest.raises(FileNotFoundError) as caught:
        LazyClassifier(forest).fit().to_c(path)
    assert caught.value.filename == str(path)
