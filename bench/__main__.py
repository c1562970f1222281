"""``python -m bench [name ...]``: run the benchmarks; the exit code counts misses."""

import sys

from bench import (
    blend,
    compact_files,
    coverage,
    distil,
    forests,
    graphs,
    large,
    latency,
    lazy,
    measures,
    peers,
    pruning,
    rare,
    report,
    rule,
    samples,
    scoring,
    selectors,
    serving,
    study,
)

BENCHES = {
    "measures": measures.run,
    "rule": rule.run,
    "pruning": pruning.run,
    "peers": peers.run,
    "samples": samples.run,
    "selectors": selectors.run,
    "forests": forests.run,
    "large": large.run,
    "lazy": lazy.run,
    "blend": blend.run,
    "distil": distil.run,
    "serving": serving.run,
    "latency": latency.run,
    "onnx": graphs.run,
    "report": report.run,
    "study": study.run,
}

TABLES = {
    "scoring": scoring.run,
    "rare": rare.run,
    "coverage": coverage.run,
    "files": compact_files.run,
}

if __name__ == "__main__":
    names = sys.argv[1:] or list(BENCHES)
    # Tables for the docs, of data sets in a folder.
    if names[0] in TABLES:
        sys.exit(TABLES[names[0]](*names[1:2]))
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        known = ", ".join([*BENCHES, *TABLES])
        sys.exit(f"unknown bench {unknown[0]!r}; known are: {known}.")
    sys.exit(min(sum(BENCHES[name]() for name in names), 100))
