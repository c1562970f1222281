"""``python -m experiments NAME ...``: make figures of the documentation anew."""

import runpy
import sys
from pathlib import Path

HERE = Path(__file__).parent
KNOWN = sorted(path.stem for path in HERE.glob("[a-z]*.py"))

if __name__ == "__main__":
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in KNOWN:
        sys.exit(f"unknown experiment {name!r}; known are: {', '.join(KNOWN)}.")
    sys.argv[:2] = [f"experiments.{name}"]
    runpy.run_module(f"experiments.{name}", run_name="__main__")
