"""Hooks of the packaging: compile the kernels, and say where the sources are.

Without a C compiler, or if it fails, the wheel is one of Python alone and answers the
same, only slower. ``QUORATE_BUILD=compiled`` makes that an error, for wheels that are
released. The addresses in the metadata are those of the repository that GitHub builds
a release from; other builds have none.
"""

import importlib.util
import os
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

PLACE = Path("src", "quorate", "_native")


class KernelHook(BuildHookInterface):
    """Compile into the package's own folder, where an editable install finds it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """See hatchling."""
        if self.target_name != "wheel":
            return
        compiling = _load(Path(self.root, PLACE, "_compile.py"))
        try:
            compiled = compiling.compile_kernels()
            problem = "no C compiler found"
        except compiling.CompilerError as error:
            compiled, problem = False, str(error)
        if not compiled:
            if os.environ.get("QUORATE_BUILD") == "compiled":
                raise RuntimeError(f"QUORATE_BUILD=compiled: {problem}")
            compiling.LIBRARY.unlink(missing_ok=True)  # an old one would be wrong
            self.app.display_info(f"quorate is installed without kernels: {problem}")
            return
        build_data["pure_python"] = False
        # Any Python 3 loads it; only the machine matters.
        machine = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{machine}"
        build_data["artifacts"].append(f"{PLACE.as_posix()}/{compiling.LIBRARY.name}")


class AddressHook(MetadataHookInterface):
    """Fill in the project's addresses from what GitHub tells its workflows."""

    def update(self, metadata: dict[str, Any]) -> None:
        """See hatchling."""
        server = os.environ.get("GITHUB_SERVER_URL")
        repository = os.environ.get("GITHUB_REPOSITORY")
        if not (server and repository):
            metadata["urls"] = {}
            return
        source = f"{server}/{repository}"
        metadata["urls"] = {
            "Source": source,
            "Issues": f"{source}/issues",
            "Changelog": f"{source}/blob/main/CHANGELOG.md",
        }


def _load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("_compile", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
