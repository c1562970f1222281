"""``python -m bench [name ...]``: run the benchmarks; the exit code counts misses."""

import sys

from bench import (
    blend,
    boosters,
    distil,
    forests,
    large,
    lazy,
    measures,
    peers,
    pruning,
    report,
    rule,
    samples,
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
    "boosters": boosters.run,
    "report": report.run,
    "study": study.run,
}

if __name__ == "__main__":
    names = sys.argv[1:] or list(BENCHES)
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        sys.exit(f"unknown bench {unknown[0]!r}; known are: {', '.join(BENCHES)}.")
    sys.exit(min(sum(BENCHES[name]() for name in names), 100))
