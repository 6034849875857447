"""The tables of pairs of large inputs are timed: processor time, time on the clock and peak memory.

Each run is `simstudy compare INPUT --out pairs.parquet --memory 4GiB` in a fresh process. The engine's own time is that
of the tables of pairs, without starting, reading and writing. It is told for one thread: several make tables while
others are written. The case "start" has next to no scores: its time is what each command takes.

    python benchmarks/large_tables.py [--folder /tmp] [--threads 1 2] [--systems 100] [--items 1000]
        [--cases start many-systems many-items bleu few-items decimals]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

#: Systems and items of each input.
CASES: dict[str, tuple[int, int]] = {
    "start": (3, 20), "many-systems": (5000, 1000), "many-items": (20, 10_000_000), "bleu": (150, 100_000),
    "few-items": (2000, 100), "decimals": (150, 2000),
}  # fmt: skip

RUN = """
import sys, time
from dataclasses import replace
begin = time.perf_counter()
from simstudy.cli import main
from simstudy.comparisons import streaming
own = [0.0, 0.0]
def timed(function):
    def called(*given, **options):
        cpu, wall = time.process_time(), time.perf_counter()
        found = function(*given, **options)
        own[0] += time.process_time() - cpu
        own[1] += time.perf_counter() - wall
        return found
    return called
streaming.asked, streaming.table_of = timed(streaming.asked), timed(streaming.table_of)
streaming.TESTS = {name: replace(test, run=timed(test.run)) for name, test in streaming.TESTS.items()}
sys.argv[0] = "simstudy"
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
assert all(own), "the tables of pairs are made elsewhere"
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
cpu, wall = time.process_time(), time.perf_counter() - begin
engine = [f", engine {each:.1f} s" if sys.argv[-1] == "1" else "" for each in own]
print(f"processor {cpu:.1f} s{engine[0]}; clock {wall:.1f} s{engine[1]}; {peak / 2**20:.2f} GiB")
"""


def columns(case: str, k: int, n: int) -> dict[str, NDArray[Any]]:
    """The columns of a wide table: right and wrong answers as Python's programs write them, BLEU's counts, decimals."""
    rng = np.random.default_rng(0)
    found: dict[str, NDArray[Any]] = {"item": np.arange(n)}
    hard, reference = rng.normal(size=n), rng.poisson(22, n) + 4
    for name, ability in zip((f"system-{j:04d}" for j in range(k)), np.linspace(-0.6, 0.6, k), strict=True):
        if case == "decimals":
            found[name] = ability - hard + 0.7 * rng.normal(size=n)
            continue
        if case != "bleu":
            found[name] = (ability > hard + 0.7 * rng.normal(size=n)).astype(np.int64)
            continue
        length, chance = reference + rng.integers(-3, 4, n), np.clip(0.55 + 0.1 * (ability - hard), 0.02, 0.98)
        for order in range(1, 5):
            found[f"{name}:total_{order}"] = np.maximum(length - order + 1, 0)
            found[f"{name}:correct_{order}"] = rng.binomial(found[f"{name}:total_{order}"], chance**order)
        found[f"{name}:hyp_length"] = length
    return found | ({"ref_length": reference} if case == "bleu" else {})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--cases", nargs="+", choices=CASES, default=[*CASES])
    parser.add_argument("--systems", type=int, default=10**9, help="at most so many")
    parser.add_argument("--items", type=int, default=10**9, help="at most so many")
    asked = parser.parse_args()
    for case in asked.cases:
        k, n = (min(both) for both in zip(CASES[case], (asked.systems, asked.items), strict=True))
        with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
            scores, pairs = f"{folder}/scores.parquet", f"{folder}/pairs.parquet"
            parquet.write_table(pa.table(columns(case, k, n)), scores, compression="zstd")
            metric = {"bleu": "bleu", "decimals": "mean"}.get(case, "accuracy")
            options = ["--metric", metric, "--out", pairs, "--memory", "4GiB"]
            for threads in asked.threads:
                line = [sys.executable, "-c", RUN, "compare", scores, *options, "--jobs", str(threads)]
                run = subprocess.run(line, capture_output=True, text=True)
                if run.returncode:
                    raise SystemExit(run.stderr)
                what = f"{case}, {k:,} systems x {n:,} items, {threads} threads"
                print(f"{what}: {run.stdout.splitlines()[-1]}", flush=True)


if __name__ == "__main__":
    main()
