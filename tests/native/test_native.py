"""Kernels are built where there is a compiler, and done without where there is none."""

import ctypes
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from tests.c_library import needs_compiler
from tests.lazy.zoo import needs_kernels

import quorate
from quorate import _native
from quorate._native import _compile
from quorate.exceptions import QuorateWarning


def version(**given):
    words, env = [sys.executable, "-m", "quorate", "--version"], os.environ | given
    return subprocess.check_output(words, env=env, text=True).strip()


def test_what_the_environment_asks_for(tmp_path):
    text = tmp_path / "text.so"
    text.write_text("text")
    usual = version(QUORATE_ENGINE="", QUORATE_KERNELS="").split("engine: ")[1]
    for environment, engine, why in (
        ({"QUORATE_ENGINE": "numpy"}, "numpy",
         "QUORATE_ENGINE=numpy disables them)"),
        ({"QUORATE_ENGINE": " NumPy"}, "numpy", "QUORATE_ENGINE=numpy disables them)"),
        ({"QUORATE_ENGINE": "nunpy"}, usual.split(" ")[0],
         "QUORATE_ENGINE=nunpy is ignored: expected 'numpy' to disable the compiled "),
        ({"QUORATE_KERNELS": str(tmp_path / "none.so")}, "numpy",
         "none.so: no such file)"),
        ({"QUORATE_KERNELS": str(text)}, "numpy", "(text.so cannot be loaded here ("),
    ):  # fmt: skip
        said = version(**{"QUORATE_ENGINE": "", "QUORATE_KERNELS": "", **environment})
        assert said.startswith(f"quorate {quorate.__version__}, engine: {engine} (")
        assert why in said


def test_who_looks_the_engine_up_is_told_too(monkeypatch):
    X = np.arange(6.0)[:, None]
    forest = RandomForestClassifier(3, random_state=0).fit(X, [0, 0, 0, 1, 1, 1])
    monkeypatch.setenv("QUORATE_ENGINE", "nunpy")
    with pytest.warns(
        QuorateWarning, match="^QUORATE_ENGINE=nunpy is ignored: "
    ) as caught:
        quorate.LazyClassifier(forest).fit()
    assert [warning.filename for warning in caught] == [__file__]
    quorate.LazyClassifier(forest, engine="numpy").fit()  # whatever the word says
    for word in ("auto", "compiled", "numpy", "", "NUMPY "):
        monkeypatch.setenv("QUORATE_ENGINE", word)
        quorate.LazyClassifier(forest).fit()


def found_anew(monkeypatch, path=""):
    """Look for kernels as a new process does."""
    monkeypatch.setenv("QUORATE_ENGINE", "")
    monkeypatch.setenv("QUORATE_KERNELS", str(path))
    return _native._load_library.__wrapped__()


@pytest.mark.skipif(not _compile.LIBRARY.exists(), reason="no library was built")
def test_the_library_in_its_place_is_loaded(monkeypatch):
    kernels, why = found_anew(monkeypatch)
    assert (type(kernels), why) == (_native.Kernels, "")


@needs_compiler
def test_a_library_of_another_version(tmp_path, monkeypatch):
    source, path = tmp_path / "old.c", tmp_path / "old.so"
    text = _compile.SOURCE.read_text()
    source.write_text(re.sub(r"(#define INTERFACE) \d+", r"\1 0", text))
    _compile.compile_file(source, path)
    said = version(QUORATE_ENGINE="", QUORATE_KERNELS=str(path))
    assert said.endswith("engine: numpy (old.so belongs to another version of quorate)")
    why = "old.so belongs to another version of quorate"
    assert found_anew(monkeypatch, path) == (None, why)


@needs_compiler
def test_built_and_loaded(tmp_path):
    path = tmp_path / "forest.so"
    assert _compile.compile_kernels(path, ["-Wall", "-Wextra", "-pedantic", "-Werror"])
    assert [file.name for file in tmp_path.iterdir()] == ["forest.so"]
    said = version(QUORATE_ENGINE="", QUORATE_KERNELS=str(path))
    assert said == f"quorate {quorate.__version__}, engine: compiled"


@needs_compiler
@pytest.mark.parametrize("words", [[], ["forest.so", "-O0"]])
def test_built_by_a_command(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    script = shutil.copy(_compile.__file__, ".")
    Path("forest.c").write_text("int nothing;")
    monkeypatch.setattr(sys, "argv", [script, *words])
    runpy.run_path(script, run_name="__main__")
    name = words[0] if words else _compile.LIBRARY.name
    assert Path(capsys.readouterr().out.strip()).name == name
    assert set(os.listdir()) == {"_compile.py", "forest.c", name}


def test_no_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", "no-such-compiler -x")
    assert _compile.find_compiler() is None
    assert not _compile.compile_kernels(tmp_path / "forest.so")
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert _compile.find_compiler() is None
    assert not list(tmp_path.iterdir())


@needs_compiler
def test_a_compiler_that_fails_leaves_the_old_library(tmp_path):
    path = tmp_path / "forest.so"
    path.write_text("old")
    with pytest.raises(_compile.CompilerError, match="no-such-flag") as caught:
        _compile.compile_kernels(path, ["--no-such-flag"])
    assert "-lm: b'" not in str(caught.value)  # what it says, as text
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["forest.so"]


@pytest.mark.skipif(os.name == "nt", reason="the compiler is a shell script")
def test_what_a_failing_compiler_leaves_behind_is_not_taken(tmp_path, monkeypatch):
    compiler, path = tmp_path / "cc.sh", tmp_path / "forest.so"
    compiler.write_text(
        '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\ntouch "$2"; exit 1\n'
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    with pytest.raises(_compile.CompilerError):
        _compile.compile_kernels(path)
    assert [file.name for file in tmp_path.iterdir()] == ["cc.sh"]


@needs_kernels
def test_numbers_on_their_way_in():
    kernels = _native.kernels()
    largest = float(np.finfo(np.float32).max)
    for values, fits in (
        ([0.1, -2.5, 1e-320, largest, -largest], True),
        ([0.1, np.nan], False),
        ([np.inf], False),
        ([-np.inf, 1.0], False),
        ([largest * 1.1], False),
    ):
        wide = np.array(values)
        narrow = np.empty(wide.size, dtype=np.float32)
        found = kernels.narrow(wide.ctypes.data, narrow.ctypes.data, wide.size)
        assert bool(found) == fits
        if fits:
            np.testing.assert_array_equal(narrow, wide.astype(np.float32))
        with np.errstate(over="ignore"):
            cast = wide.astype(np.float32)
        assert bool(kernels.finite(cast.ctypes.data, cast.size)) == fits


def test_the_structure_is_that_of_the_source():
    text = _compile.SOURCE.read_text()
    assert f"#define INTERFACE {_native._INTERFACE}\n" in text
    body = text[text.index("typedef struct {\n    const node *nodes;") :]
    body = body[: body.index("} plan;")]
    declared = [
        line.split(";")[0].split()[-1].lstrip("*")
        for line in body.splitlines()
        if ";" in line
    ]
    assert declared == [name for name, _ in _native.Plan._fields_]
    sizes = {"double": ctypes.c_double, "int32_t": ctypes.c_int32}
    for line in body.splitlines():
        for word, kind in sizes.items():
            if line.strip().startswith(word):
                name = line.split(";")[0].split()[-1]
                assert dict(_native.Plan._fields_)[name] is kind


def test_the_source_is_plain_ascii():
    assert _compile.SOURCE.read_bytes().isascii()
