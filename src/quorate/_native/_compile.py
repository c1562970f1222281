"""Compile the kernels, if there is a compiler: no more than a command line.

Only the standard library, since the build hook of the packaging runs this file before
anything is installed. ``python src/quorate/_native/_compile.py`` compiles in place;
with another path, there; further words are given to the compiler.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "forest.c"
_SUFFIXES = {"win32": ".dll", "cygwin": ".dll", "darwin": ".dylib"}
LIBRARY = HERE / f"_forest{_SUFFIXES.get(sys.platform, '.so')}"

_USUAL = ("cc", "gcc", "clang")
# Sums must be NumPy's: nothing is reordered, and no product is added unrounded.
_FLAGS = ("-std=c99", "-O3", "-ffp-contract=off")
_SHARED = ("-fPIC", "-shared")


class CompilerError(RuntimeError):
    """The compiler does not take the source; carries what it says."""


def find_compiler() -> list[str] | None:
    """Return the command of a C compiler: that of CC, or the first usual one; or None.

    A CC that does not exist is no compiler: nobody is asked in its place.
    """
    import shlex
    import shutil

    given = shlex.split(os.environ.get("CC", ""))
    for command in [given] if given else [[name] for name in _USUAL]:
        if shutil.which(command[0]):
            return command
    return None


def compile_file(
    source: Path, target: Path, options: Sequence[str] = (), *, shared: bool = True
) -> bool:
    """Compile one file; return whether there was a compiler to do it.

    Raises
    ------
    CompilerError
        If there is one and it fails.
    """
    import shlex
    import subprocess  # only whoever compiles needs them

    compiler = find_compiler()
    if compiler is None:
        return False
    # Beside the old file, then in its place: processes that use that one keep it.
    made = target.with_name(f"{target.name}.{os.getpid()}.new")
    command = [*compiler, *_FLAGS, *(_SHARED if shared else ()), *options]
    command += [str(source), "-o", str(made), "-lm"]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0 or not made.exists():
            raise CompilerError(f"{shlex.join(command)}: {done.stderr.strip()}")
        made.replace(target)
    finally:
        made.unlink(missing_ok=True)
    return True


def compile_kernels(target: Path = LIBRARY, options: Sequence[str] = ()) -> bool:
    """Compile the kernels into a shared library; return whether it was possible."""
    return compile_file(SOURCE, target, ["-fvisibility=hidden", *options])


if __name__ == "__main__":
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else LIBRARY
    print(place if compile_kernels(place, sys.argv[2:]) else "no C compiler found")
