"""Tables of the study: the law of the square root, what a planner may assume."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from simstudy.studies import central_range

from .benchmarks import UNLIKE, VARIANTS

# With fewer test sets of a metric there is neither a median nor a range of them.
LEAST_SETS = 3

QUANTITIES = ("r12", "sd")


def in_points(benchmarks: pd.DataFrame) -> pd.DataFrame:
    """The rows with gains in points of 100: AP and nDCG times 100."""
    of_one = ~benchmarks["metric_unit"].isin(["percent", "points"])
    factor = np.where(of_one, 100.0, 1.0)
    names = [*(f"minimum_detectable_gain{end}" for end in ("", "_low", "_high")), "sd_10", "sd", "sd_90"]
    return benchmarks.assign(**{name: benchmarks[name] * factor for name in names})


def of_items(benchmarks: pd.DataFrame) -> pd.DataFrame:
    """The rows with sd of one item, n_items of which have the standard error: where units are documents it is less."""
    times = np.sqrt(benchmarks["n_items"] / benchmarks["n_units"])
    return benchmarks.assign(**{name: times * benchmarks[name] for name in ("sd_10", "sd", "sd_90")})


def by_root(benchmarks: pd.DataFrame) -> pd.DataFrame:
    """The constant c of minimum detectable gain = c / sqrt(n_items), by metric and relation, from three test sets on.

    Gains in points of 100; c_10 and c_90 hold 80 % of the test sets (the middle ones by linear interpolation), slope is
    the one of a line through the logarithms, -0.5 by the law.
    """
    rows = []
    for key, own in _each(in_points(benchmarks)):
        c = own["minimum_detectable_gain"] * np.sqrt(own["n_items"])
        c_10, middle, c_90 = np.percentile(c, [10, 50, 90])
        n = np.log(own["n_items"].to_numpy(dtype=np.float64))
        slope = (
            float(np.polyfit(n, np.log(own["minimum_detectable_gain"]), 1)[0]) if len(set(n)) >= LEAST_SETS else np.nan
        )
        rows.append({**key, "c_10": c_10, "c": middle, "c_90": c_90, "slope": slope})
    return pd.DataFrame(rows)


def ranges(benchmarks: pd.DataFrame, quantiles: pd.DataFrame) -> pd.DataFrame:
    """What r12 and sd are, by metric and relation, and whether ranges of other test sets hold.

    low and high are the 10th and 90th percentile of a pair of a test set, both taken at random. inside is the share of
    a test set's pairs that are within the range of all others: the mean of the test sets, and the least.
    """
    rows = []
    key_of_set = ["test_set", "metric", "relation"]
    quantiles = quantiles.merge(benchmarks[[*key_of_set, "n_items", "n_units"]], on=key_of_set)
    quantiles["sd"] *= np.sqrt(quantiles["n_items"] / quantiles["n_units"])
    for key, own in _each(of_items(benchmarks)):
        for quantity in QUANTITIES:
            low, high = _range(own, quantity)
            inside = []
            for place in own.index:
                others = _range(own.drop(index=place), quantity)
                of_set = (quantiles[key_of_set] == own.loc[place, key_of_set]).all(axis=1)
                pairs = quantiles.loc[of_set, quantity]
                inside.append(float(pairs.between(*others).mean()))
            middle = float(own[quantity].median())
            row = {"quantity": quantity, "low": low, "middle": middle, "high": high}
            rows.append({**key, **row, "inside": float(np.mean(inside)), "inside_least": min(inside)})
    return pd.DataFrame(rows)


def _range(rows: pd.DataFrame, quantity: str) -> tuple[float, float]:
    return central_range(*(rows[f"{quantity}{end}"].to_numpy() for end in ("_10", "", "_90")), quantity=quantity)


def _each(benchmarks: pd.DataFrame) -> Iterator[tuple[dict[str, object], pd.DataFrame]]:
    """Metrics and relations with enough test sets; of accuracy those of one answer to an item."""
    single = benchmarks[(benchmarks["metric"] != "accuracy") | benchmarks["right_or_wrong"]]
    for (metric, relation), own in single.groupby(["metric", "relation"], sort=False):
        if len(own) >= LEAST_SETS:
            yield {"metric": metric, "relation": relation, "n_test_sets": len(own)}, own


def both(benchmarks: pd.DataFrame) -> pd.DataFrame:
    """Test sets with both relations: what each finds, and r12."""
    names = ["minimum_detectable_gain", "r12", "sd"]
    key = ["test_set", "metric"]
    of = {end: benchmarks[benchmarks["relation"] == relation][[*key, *names]] for end, relation in _SHORT.items()}
    found = of["variants"].merge(of["unlike"], on=key, suffixes=("_variants", "_unlike"))
    return found.assign(ratio=found["minimum_detectable_gain_variants"] / found["minimum_detectable_gain_unlike"])


_SHORT = {"variants": VARIANTS, "unlike": UNLIKE}
