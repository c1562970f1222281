"""The metadata of the package, and the machines that build and test it."""

import importlib.util
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from quorate._version import versions

ROOT = Path(__file__).parents[2]


@pytest.fixture
def hooks(monkeypatch):
    """``hatch_build.py`` without hatchling, which only builds have."""
    for name, interface in [
        ("hatchling.builders.hooks.plugin.interface", "BuildHookInterface"),
        ("hatchling.metadata.plugin.interface", "MetadataHookInterface"),
    ]:
        module = ModuleType(name)
        setattr(module, interface, object)
        monkeypatch.setitem(sys.modules, name, module)
    spec = importlib.util.spec_from_file_location("hooks", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_release_says_where_its_sources_are(hooks, monkeypatch):
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://forge.example")
    monkeypatch.setenv("GITHUB_REPOSITORY", "somebody/quorate")
    metadata = {}
    hooks.AddressHook().update(metadata)
    assert metadata["urls"] == {
        "Source": "https://forge.example/somebody/quorate",
        "Issues": "https://forge.example/somebody/quorate/issues",
        "Changelog": "https://forge.example/somebody/quorate/blob/main/CHANGELOG.md",
    }


def test_a_build_elsewhere_invents_no_address(hooks, monkeypatch):
    monkeypatch.delenv("GITHUB_SERVER_URL", raising=False)
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    metadata = {}
    hooks.AddressHook().update(metadata)
    assert metadata["urls"] == {}


@pytest.mark.parametrize("compiles", [False, True])
def test_without_a_compiler_a_wheel_fits_everywhere(hooks, compiles, tmp_path):
    """Pyodide's micropip installs py3-none-any, hatchling's own tag, and no other."""
    hooks._load = lambda path: SimpleNamespace(
        compile_kernels=lambda: compiles,
        LIBRARY=tmp_path / "k.so",
        CompilerError=OSError,
    )
    hook, said, data = hooks.KernelHook(), [], {"artifacts": []}
    hook.target_name, hook.root = "wheel", str(ROOT)
    hook.app = SimpleNamespace(display_info=said.append)
    hook.initialize("", data)
    if compiles:
        assert data["tag"].startswith("py3-none-") is not data["pure_python"]
        assert data["artifacts"] == ["src/quorate/_native/k.so"]
    else:
        assert data == {"artifacts": []}
        assert "without kernels: no C compiler found" in said[0]


def test_versions_of_what_is_installed():
    found = versions("no-such-package", "numpy", "quorate-neither", "scipy")
    assert list(found) == ["quorate", "numpy", "scipy", "python"]
    assert found["numpy"] == np.__version__


def test_what_is_promised_is_what_ci_runs():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    promised = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    workflow = (ROOT / ".github/workflows/ci.yml").read_text()
    matrix = re.search(r"python: \[(.*)\]", workflow).group(1)
    tested = re.findall(r"3\.\d+", matrix)
    assert project["requires-python"] == f">={promised[0]}"
    assert (tested[0], tested[-1]) == (promised[0], promised[-1]) == ("3.11", "3.14")
