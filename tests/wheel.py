"""What a built wheel contains: run as a script with its path, without pytest."""

import sys
import zipfile
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
KERNELS = ("_forest.so", "_forest.dylib", "_forest.dll")


def check(wheel: Path) -> None:
    """Compare the wheel with the sources; its tag says whether it has kernels."""
    names = set(zipfile.ZipFile(wheel).namelist())
    package = {name for name in names if name.startswith("quorate/")}
    compiled = {name for name in package if name.endswith(KERNELS)}
    wanted = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*")
        if path.is_file() and path.suffix != ".pyc" and path.name not in KERNELS
    }
    assert package - compiled == wanted, sorted((package - compiled) ^ wanted)
    is_pure = wheel.name.endswith("-py3-none-any.whl")
    assert len(compiled) == (0 if is_pure else 1), (wheel.name, compiled)
    others = {name for name in names - package if ".dist-info/" not in name}
    assert not others, sorted(others)
    print(f"{wheel.name}: {len(package)} files of quorate, nothing else")


check(Path(sys.argv[1]))
