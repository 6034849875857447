"""Small subsets of a test set: how often they rank two systems as the whole test set does.

Systems are halved at random. Items are chosen by the answers of one half, and rank pairs of the other half.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from simstudy.studies import derived_seed

from .claims import POINTS, SIZE, claim
from .settings import Subsets

RANDOM, ANCHORS, TELLING = METHODS = ("random", "anchors", "telling")

# Pairs are counted by their gain in classes of half a point, up to so many.
CLASS, CLASSES = 0.5, 60

_ROUNDS = 12

# A share of pairs ranked right that is larger by no more than this is not better.
_BETTER = 0.02

_TIE = 1e-9


def random_items(source: np.ndarray, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Items at random, and equal weights."""
    return rng.choice(source.shape[1], size, replace=False), np.full(size, 1 / size)


def telling_items(source: np.ndarray, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The items whose answers are the most correlated with the systems' scores; equal weights."""
    centred = source - source.mean(axis=0)
    scores = source.mean(axis=1) - source.mean()
    spread = np.sqrt((centred**2).sum(axis=0))
    correlation = np.divide(scores @ centred, spread, out=np.zeros(len(spread)), where=spread > 0)
    # Items with the same answers come in random order.
    order = np.lexsort((rng.random(len(correlation)), -correlation.round(9)))
    return order[:size], np.full(size, 1 / size)


def anchor_items(source: np.ndarray, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """An item for each cluster of items, weighted by the cluster's size (k-means of the systems' answers)."""
    patterns, place, number = np.unique(source.T, axis=0, return_inverse=True, return_counts=True)
    patterns, place = patterns.astype(np.float32), place.ravel()
    start = rng.choice(len(patterns), min(size, len(patterns)), replace=False, p=number / number.sum())
    centres = patterns[start]
    for _ in range(_ROUNDS):
        cluster = _distances(patterns, centres).argmin(axis=1)
        total = np.bincount(cluster, number, minlength=len(centres))
        sums = np.stack([np.bincount(cluster, number * own, minlength=len(centres)) for own in patterns.T], axis=1)
        full = total > 0
        centres[full] = sums[full] / total[full, None]
    distances = _distances(patterns, centres)
    cluster = distances.argmin(axis=1)
    chosen, weights = [], []
    for k in np.unique(cluster):
        own = np.flatnonzero(cluster == k)
        nearest = own[distances[own, k].argmin()]
        chosen.append(rng.choice(np.flatnonzero(place == nearest)))
        weights.append(number[own].sum() / len(place))
    return np.array(chosen), np.array(weights)


def _distances(patterns: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Squared distances, but for what depends on the pattern alone."""
    return np.asarray((centres**2).sum(axis=1) - 2 * patterns @ centres.T)


_CHOOSE = {RANDOM: random_items, ANCHORS: anchor_items, TELLING: telling_items}


def sizes_of(settings: Subsets, n_items: int) -> list[int]:
    """The sizes that are no more than the largest share of the items."""
    return [size for size in settings.sizes if size <= settings.most * n_items]


def rank(settings: Subsets, seed: int, name: str, right: np.ndarray, trials: Iterable[int]) -> list[dict[str, Any]]:
    """One cell: pairs of the second half of the systems that a subset ranks right, or ties, by their gain.

    Each of the trials, which are numbers, halves the systems in its own way.
    """
    n_systems, n_items = right.shape
    whole = 100 * right.mean(axis=1)
    counted: dict[tuple[str, int], np.ndarray] = {}
    for trial in trials:
        rng = np.random.default_rng(derived_seed(seed, name, trial))
        order = rng.permutation(n_systems)
        source, target = right[order[: n_systems // 2]], right[order[n_systems // 2 :]]
        i, j = np.triu_indices(len(target), 1)
        gain = whole[order[n_systems // 2 :]]
        gain = gain[i] - gain[j]
        kind = np.minimum(np.abs(gain) // CLASS, CLASSES - 1).astype(int)
        for size in sizes_of(settings, n_items):
            for method, choose in _CHOOSE.items():
                items, weights = choose(source, size, rng)
                scores = target[:, items] @ weights
                ahead = (scores[i] - scores[j]) * np.sign(gain)
                found = counted.setdefault((method, size), np.zeros((3, CLASSES), dtype=np.int64))
                for row, which in enumerate((gain != 0, ahead > _TIE, (np.abs(ahead) <= _TIE) & (gain != 0))):
                    found[row] += np.bincount(kind[which], minlength=CLASSES)
    return list(_rows(counted))


def _rows(counted: dict[tuple[str, int], np.ndarray]) -> Iterator[dict[str, Any]]:
    for (method, size), (pairs, right, tied) in counted.items():
        for k in np.flatnonzero(pairs):
            row = {"method": method, "n_items": size, "gain_class": k * CLASS, "n_pairs": int(pairs[k])}
            yield row | {"n_right": int(right[k]), "n_tied": int(tied[k])}


def near(table: pd.DataFrame, gain: float, within: float) -> pd.DataFrame:
    """Shares of the pairs with about this gain, by test set, method and number of items."""
    own = table[table["gain_class"].between(gain - within - _TIE, gain + within - CLASS + _TIE)]
    key = ["test_set", "method", "n_items"]
    summed = own.groupby(key, sort=False, as_index=False)[["n_pairs", "n_right", "n_tied"]].sum()
    return summed.assign(right=summed["n_right"] / summed["n_pairs"], tied=summed["n_tied"] / summed["n_pairs"])


def least_gains(table: pd.DataFrame, agreement: float, within: float = 0.5) -> pd.DataFrame:
    """The smallest gain, in half points, from which on pairs of this gain are ranked right so often; NaN for none."""
    rows = []
    for key, own in table.groupby(["test_set", "method", "n_items"], sort=False):
        least = np.nan
        for gain in np.arange(CLASSES * CLASS - within, 0, -CLASS):
            at = own[own["gain_class"].between(gain - within - _TIE, gain + within - CLASS + _TIE)]
            if at["n_pairs"].sum() and at["n_right"].sum() < agreement * at["n_pairs"].sum():
                break
            if at["n_pairs"].sum():
                least = gain
        rows.append({**dict(zip(("test_set", "method", "n_items"), key, strict=True)), "least_gain": least})
    return pd.DataFrame(rows)


def predicted(right: np.ndarray, size: int, gain: float, within: float) -> float:
    """How often random items rank a pair right, by the normal approximation: the mean of the pairs with this gain.

    A tie is no right ranking, so that the difference of right answers must be one item at the least.
    """
    n = right.shape[1]
    found = []
    for i in range(len(right)):
        for j in range(i):
            difference = right[i] - right[j]
            mean = abs(float(difference.mean()))
            if abs(100 * mean - gain) <= within:
                error = np.sqrt(difference.var() / size * (n - size) / (n - 1))
                found.append(stats.norm.cdf((mean - 0.5 / size) / error))
    return float(np.mean(found)) if found else np.nan


def needed(right: np.ndarray, gain: float, within: float, agreement: float) -> dict[str, float]:
    """Items for such pairs, in the median: to be ranked right so often, and to differ significantly with power 0.8."""
    spreads = [
        (right[i] - right[j]).var()
        for i in range(len(right))
        for j in range(i)
        if abs(100 * abs(float((right[i] - right[j]).mean())) - gain) <= within
    ]
    variance = float(np.median(spreads)) if spreads else np.nan
    of_rank, of_test = stats.norm.ppf(agreement), stats.norm.isf(0.025) + stats.norm.isf(0.2)
    per = variance / (gain / 100) ** 2
    return {"n_near": len(spreads), "items_to_rank": of_rank**2 * per, "items_to_test": of_test**2 * per}


def claims(settings: Subsets, table: pd.DataFrame) -> list[dict[str, Any]]:
    """The abstract's two claims about its first test set."""
    own = table[table["test_set"] == settings.test_sets[0]]
    fewest = own[own["n_items"] == own["n_items"].min()]
    wide = own.pivot_table(index="n_items", columns="method", values="right")
    no_worse = wide.index[wide[RANDOM] >= wide.drop(columns=RANDOM).max(axis=1) - _BETTER]
    source, where = "Yauney, Warraich and Swayamdipta 2025, abstract", settings.test_sets[0]
    least = f"the least gain that the best method ranks consistently, {fewest['n_items'].min()} items"
    return [
        claim(
            source, f"{where}: {least}", POINTS, settings.published_gain, float(fewest["least_gain"].min()),
            note=f"theirs says: more than that; {own['n_systems'].iloc[0]} systems here, other methods; consistent is "
            f"{100 * settings.agreement:g} %",
            means="so few items rank only systems that are far apart",
        ),
        claim(
            source, f"{where}: items from which random ones are competitive", SIZE, settings.published_items,
            float(no_worse.min()) if len(no_worse) else np.nan,
            note=f"ours is the first of {', '.join(map(str, settings.sizes))} at which no method ranks "
            f"{100 * _BETTER:g} % more pairs right",
            means="with so many items, choosing them ranks hardly more pairs right than chance does",
        ),
    ]  # fmt: skip
