"""How time and memory grow with systems K, items n, resamples B, statistics S and cores: exponents with intervals.

Each point is a comparison of all pairs in a fresh process: its processor time, the best of some runs, and its peak
memory above that before it. An exponent is the slope of log time (memory) against the log of what is varied, with its
95 % t interval; the other three are held. Cores are told by the share of ideal speed that they reach.

    python benchmarks/scaling.py [--out docs/_static] [--repeats 3] [--series "exact, K" "bootstrap, B"]

It writes scaling.csv (all points), scaling_exponents.csv and scaling.svg.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from all_pairs import accuracy, bleu_like, f1, forget_peak, in_a_fresh_process, peak_memory

import simstudy as ss
from simstudy import plot
from simstudy.metrics.base import Array, FloatArray, Metric


@dataclass(frozen=True)
class Mean(Metric):
    """The mean of the roots of summed statistics: no ratio, so that each costs a column and its scoring."""

    def score(self, sums: Array) -> FloatArray:
        """The score."""
        return np.asarray(np.sqrt(np.maximum(np.asarray(sums, dtype=np.float64), 0)).mean(axis=-1))


@dataclass(frozen=True)
class Point:
    """A comparison: K systems, n items, B resamples (0: p-values are computed), S statistics, cores; by which test."""

    k: int
    n: int
    b: int = 0
    s: int = 1
    cores: int = 1
    scores: str = "accuracy"
    test: str = "sign_flips"

    def shrunk(self, by: int) -> Point:
        """With so many times fewer systems, items and resamples, but no fewer than a few."""
        k, n, b = (max(size // by, min(size, least)) for size, least in ((self.k, 3), (self.n, 20), (self.b, 64)))
        return replace(self, k=k, n=n, b=b)


#: What is varied in each series, from a point that the others keep.
SERIES: dict[str, tuple[str, list[Point]]] = {
    "exact, K": ("k", [Point(k, 200) for k in (200, 400, 800, 1200)]),
    "exact, n": ("n", [Point(300, n) for n in (500, 1000, 2000, 4000)]),
    "bootstrap, K": ("k", [Point(k, 500, 4000, test="bootstrap") for k in (100, 200, 400, 800)]),
    "bootstrap, n": ("n", [Point(150, n, 4000, test="bootstrap") for n in (1000, 2000, 4000, 8000)]),
    "bootstrap, B": ("b", [Point(150, 500, b, test="bootstrap") for b in (5000, 10_000, 20_000, 40_000)]),
    "bootstrap, S": ("s", [Point(60, 1000, 2000, s, test="bootstrap") for s in (2, 4, 8, 16)]),
    **{
        f"{what}, cores": ("cores", [replace(point, cores=c) for c in (1, 2, 4, 8)])
        for what, point in {
            "sign flips": Point(200, 8000, scores="decimals"),
            "bootstrap": Point(150, 1000, 1_600_000, test="bootstrap"),
            "bootstrap of BLEU": Point(100, 1000, 400_000, scores="bleu", test="bootstrap"),
            "bootstrap of F1": Point(30, 1000, 800_000, scores="f1", test="bootstrap"),
            "randomization of BLEU": Point(60, 1000, 2**16, scores="bleu", test="randomization"),
        }.items()
    },
}


def outputs_of(point: Point) -> ss.Outputs:
    """Right and wrong answers, decimals, counts of a metric, or counts for several statistics."""
    if point.s == 1 and point.scores != "decimals":
        return {"accuracy": accuracy, "bleu": bleu_like, "f1": f1}[point.scores](point.k, point.n)
    rng = np.random.default_rng(0)
    ability = np.linspace(0.4, 0.7, point.k)
    if point.s == 1:
        scores = ability[:, None] + rng.normal(size=point.n) + 0.7 * rng.normal(size=(point.k, point.n))
        return ss.Outputs.from_statistics(np.stack([scores, np.ones_like(scores)], -1), "mean")
    counts = rng.poisson(5 * ability[:, None, None], size=(point.k, point.n, point.s))
    return ss.Outputs.from_statistics(counts, Mean("mean root", tuple(f"s{i}" for i in range(point.s)), True))


def measured(point: Point, repeats: int) -> tuple[float, float, float]:
    """The processor time, the time on the clock (the best of some runs), and the bytes of the peak."""
    outputs = outputs_of(point)
    options: dict[str, Any] = {"n_jobs": point.cores}
    if point.b:
        options |= {"test": point.test, "monte_carlo": True}
    # The first runs compile, or read what is compiled. Little is done without compiled code, and that is not so little.
    ss.compare(outputs_of(Point(30, 3000)))
    ss.compare(outputs.select(outputs.names[:3]), **options | ({"n_resamples": 100} if point.b else {}))
    forget_peak()
    before = peak_memory()
    times = []
    for _ in range(repeats):
        cpu, wall = time.process_time(), time.perf_counter()
        ss.compare(outputs, **options | ({"n_resamples": point.b} if point.b else {}))
        times.append((time.process_time() - cpu, time.perf_counter() - wall))
    cpu, wall = (min(column) for column in zip(*times, strict=True))
    return cpu, wall, 2**20 * (peak_memory() - before)


def points(chosen: Sequence[str], n_points: int, shrink: int, repeats: int) -> pd.DataFrame:
    """The first so many points of each series."""
    rows = []
    for series in chosen:
        what, varied = SERIES[series]
        for point in (each.shrunk(shrink) for each in varied[:n_points]):
            if point.cores > (os.cpu_count() or 1):
                continue
            cpu, wall, peak = in_a_fresh_process(measured, point, repeats)
            rows.append({"series": series, "varied": what, **asdict(point), "cpu": cpu, "wall": wall, "peak": peak})
            print(rows[-1], flush=True)
    return pd.DataFrame(rows)


def exponents(table: pd.DataFrame) -> pd.DataFrame:
    """The slope of each series with its 95 % interval; for cores the share of ideal speed of the most."""
    # The processes that are measured do without.
    from scipy import stats

    rows = []
    for series, found in table.groupby("series", sort=False):
        what = str(found["varied"].iloc[0])
        if what == "cores":
            share = found["wall"].iloc[0] / found["wall"].iloc[-1] / found["cores"].iloc[-1]
            rows.append({"series": series, "of": f"speed of {found['cores'].iloc[-1]} cores", "exponent": share})
            continue
        for of in ("cpu", "peak"):
            if (found[of] <= 0).any() or found[of].nunique() == 1:
                continue
            fit = stats.linregress(np.log(found[what]), np.log(found[of]))
            row = {"series": series, "of": of, "exponent": fit.slope}
            if len(found) > 2:
                reach = stats.t.isf(0.025, len(found) - 2) * fit.stderr
                row |= {"low": fit.slope - reach, "high": fit.slope + reach}
            rows.append(row)
    return pd.DataFrame(rows)


def drawn(table: pd.DataFrame, ax: Any) -> Any:
    """Processor time against what is varied, both as multiples of the smallest."""
    for series, found in table[table["varied"] != "cores"].groupby("series", sort=False):
        what, test = str(found["varied"].iloc[0]), str(series).split(",")[0]
        times, line = found["cpu"] / found["cpu"].iloc[0], "-" if test == "exact" else "--"
        ax.loglog(found[what] / found[what].iloc[0], times, f"o{line}", label=series)
    ax.minorticks_off()
    ax.set_xticks([1, 2, 4, 8], ["1", "2", "4", "8"])
    ax.set_yticks([1, 3, 10, 30], ["1", "3", "10", "30"])
    ax.set_xlabel("multiple of the smallest K, n, B or S")
    ax.set_ylabel("multiple of its processor time")
    ax.legend()
    return ax


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("docs/_static"))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--series", nargs="+", choices=SERIES, default=[*SERIES])
    parser.add_argument("--points", type=int, default=4, help="of each series, at most")
    parser.add_argument("--shrink", type=int, default=1, help="divide systems, items and resamples by this")
    asked = parser.parse_args()
    table = points(asked.series, asked.points, asked.shrink, asked.repeats)
    table.to_csv(asked.out / "scaling.csv", index=False, float_format="%.4g")
    found = exponents(table)
    found.to_csv(asked.out / "scaling_exponents.csv", index=False, float_format="%.3g")
    figure = plot.single(plot.styled(drawn), table, title="How time grows")
    plot.save(figure, asked.out / "scaling", formats=("svg",))
    print(found.to_string(index=False))


if __name__ == "__main__":
    main()
