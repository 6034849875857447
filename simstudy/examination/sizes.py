"""What would still be significant on the first items of the test set: the comparison, made again at smaller sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.comparisons.comparing import compare
from simstudy.metrics.base import IntArray
from simstudy.notes import notes_kept
from simstudy.outputs import Outputs
from simstudy.outputs.units import battles
from simstudy.statistics.decisions import Decision
from simstudy.statistics.multiplicity import holm
from simstudy.text.reprs import FieldsMixin
from simstudy.validation import InputError

if TYPE_CHECKING:
    from simstudy.examination.examination import Examination

# The parts of the units that are compared, and the fewest items and clusters of a part.
_PARTS = (1.0, 3 / 4, 1 / 2, 1 / 3, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128)
_FEWEST_ITEMS, _FEWEST_CLUSTERS = 50, 10

# Pairs that are compared again and again.
_MOST_PAIRS = 50_000

COLUMNS = (
    *("n_items", "n_units", "pairs", "significant", "significant_holm", "agreeing", "only_here", "reversed"),
    "reachable",
)
_OF_ONE = ("gain", "gain_low", "gain_high", "p_value")


@dataclass(frozen=True, eq=False, repr=False)
class Sizes(FieldsMixin):
    """All pairs on the first units of a test set, at several sizes that are nested in each other.

    Attributes
    ----------
    table
        A row for each size, the whole first: n_items, n_units, pairs; significant (p at most alpha, not corrected) and
        significant_holm (after Holm's correction for all pairs of that size); agreeing (significant_holm here and on
        the whole, with the same better system), only_here (significant_holm here, not on the whole), reversed
        (significant_holm here for the system with the worse score on the whole), and reachable (pairs that differ on
        enough units for a significant p-value after correction). Of two systems also gain, gain_low, gain_high and
        p_value of the system that is better on the whole.
    directions
        (sizes, P): 1 where the gain of a pair of the whole is significant after Holm's correction at that size, -1
        where that of the other system is, else 0. Pairs are in the order of the examination's table.
    scores
        (sizes, K): the systems' scores at each size, in the order of the leaderboard.
    domains
        How many domains the items of each size have; 0 where items have none.
    """

    table: pd.DataFrame
    directions: NDArray[np.int8]
    scores: NDArray[np.float64]
    domains: NDArray[np.int64]


def no_sizes() -> Sizes:
    """No size at all."""
    none = np.zeros((0, 0))
    table = pd.DataFrame({name: [] for name in COLUMNS}, dtype=np.int64)
    return Sizes(table, none.astype(np.int8), none, np.zeros(0, dtype=np.int64))


def sizes_of(found: Examination) -> Sizes:
    """The comparison of an examination, made again on its first units; empty where there are too few of these.

    It has the examination's test, options and level. The units are in the order of the items in the files; clusters
    stay whole, and come in the order of their first items.
    """
    outputs = found.outputs
    unit = found.test_set.unit or outputs.natural_unit
    # Strengths of systems that met in other battles are other strengths; very many pairs take long.
    if battles(outputs) is not None or len(found.pairs) > _MOST_PAIRS:
        return no_sizes()
    numbers = unit_numbers(outputs, unit)
    options = {name: value for name, value in found.test_set.options.items() if name != "progress"}
    whole = found.pairs.frame
    names = found.leaderboard["system"].tolist()
    rows, directions, scores, domains = [], [], [], []
    for n_units in sizes(numbers.max() + 1, clusters=unit != "item"):
        kept = numbers < n_units
        part = outputs if kept.all() else outputs.take(np.flatnonzero(kept))
        pairs = whole if kept.all() else _compared(part, options)
        if pairs is None:
            continue
        direction = _directions(pairs, whole, found.alpha)
        counts = _counted(pairs, direction, found.alpha)
        rows.append({"n_items": part.n_items, "n_units": n_units, **counts, **_of_one(pairs, whole)})
        directions.append(direction)
        scores.append(part.select(names).scores())
        domains.append(part.items["domain"].nunique() if "domain" in part.items else 0)
    if len(rows) < 2:
        return no_sizes()
    table = pd.DataFrame(rows)
    both = np.stack(directions)
    table["agreeing"] = ((both == 1) & (both[0] == 1)).sum(axis=1)
    table["only_here"] = ((both == 1) & (both[0] != 1)).sum(axis=1)
    table["reversed"] = (both == -1).sum(axis=1)
    own = [name for name in _OF_ONE if name in table]
    return Sizes(table[[*COLUMNS, *own]], both, np.stack(scores), np.array(domains))


def unit_numbers(outputs: Outputs, unit: str) -> IntArray:
    """The number (n,) of each item's unit, in the order in which units appear."""
    if unit == "item":
        return np.arange(outputs.n_items)
    return pd.factorize(outputs.labels(unit))[0].astype(np.int64)


def sizes(n_units: int, *, clusters: bool) -> list[int]:
    """The numbers of units that are compared: the whole, 3/4, 1/2, 1/3, 1/4, 1/8 … of it, down to the fewest."""
    fewest = _FEWEST_CLUSTERS if clusters else _FEWEST_ITEMS
    parts = [int(n_units * part) for part in _PARTS]
    return list(dict.fromkeys([n_units, *(n for n in parts[1:] if n >= fewest)]))


def _compared(part: Outputs, options: Mapping[str, Any]) -> pd.DataFrame | None:
    """All pairs of a part; None where the test is not defined on it, as where a class has no item."""
    try:
        with notes_kept():
            pairs = compare(part, **options).frame
    except InputError:
        return None
    # Comparisons that were just made are one family: nothing else is to be checked.
    p_value = pairs["p_value"].to_numpy(dtype=np.float64)
    return None if np.isnan(p_value).any() else pairs.assign(p_holm=holm(p_value))


def _directions(pairs: pd.DataFrame, whole: pd.DataFrame, alpha: float) -> NDArray[np.int8]:
    """For each pair of the whole: 1 where its gain is significant in `pairs`, -1 where that of the other system is."""
    significant = Decision(alpha, p="p_holm").significant(pairs)
    names = pd.Index(pd.unique(whole[["system_a", "system_b"]].to_numpy(dtype=object).ravel()))
    # Where a pair is in a square of all systems, a row for each better one.
    here, there = (
        (names.get_indexer(frame["system_a"]), names.get_indexer(frame["system_b"])) for frame in (pairs, whole)
    )
    square = np.zeros((len(names), len(names)), dtype=np.int8)
    square[here] = significant
    return np.asarray(square[there] - square[there[::-1]])


def _counted(pairs: pd.DataFrame, direction: NDArray[np.int8], alpha: float) -> dict[str, int]:
    return {
        "pairs": len(pairs),
        "significant": int(Decision(alpha).significant(pairs).sum()),
        "significant_holm": int((direction != 0).sum()),
        "reachable": int((pairs["p_floor"] * len(pairs) <= alpha).sum()),
    }


def _of_one(pairs: pd.DataFrame, whole: pd.DataFrame) -> dict[str, float]:
    """The gain of the only pair there is, from the side of the system that is better on the whole."""
    if len(pairs) > 1:
        return {}
    row = pairs.iloc[0]
    same = row["system_a"] == whole["system_a"].iloc[0]
    gain, low, high = (float(row[name]) for name in ("gain", "gain_low", "gain_high"))
    numbers = (gain, low, high) if same else (-gain, -high, -low)
    return dict(zip(_OF_ONE, (*numbers, float(row["p_value"])), strict=True))


def significant_from(found: Sizes) -> NDArray[np.int64]:
    """For each pair (P,) the fewest items from which on all sizes find its gain significant; 0: not on the whole."""
    n_items = found.table["n_items"].to_numpy()
    steady = np.logical_and.accumulate(found.directions == 1, axis=0)
    return np.where(steady.any(axis=0), n_items[np.maximum(steady.sum(axis=0) - 1, 0)], 0)
