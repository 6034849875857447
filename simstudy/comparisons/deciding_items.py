"""Deciding items: where two systems differ most, what each item adds to the gain, and how few items carry it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.metrics.base import FloatArray, IntArray
from simstudy.metrics.influence import difference, left_out, mean_slopes
from simstudy.outputs import Outputs, require_outputs
from simstudy.outputs.samples import SAMPLE_OF, unit_in_words
from simstudy.outputs.test_set import ItemTexts
from simstudy.outputs.units import BATTLE as BATTLE_COLUMNS
from simstudy.outputs.units import are_battles, battles, meetings
from simstudy.text.numerals import gain_text
from simstudy.text.plain_text import shown
from simstudy.text.reprs import ReprMixin
from simstudy.validation import InputError, check_text, check_whole

#: The unit of counts where items are battles: those in which the two systems met.
BATTLE = "battle"

# Outcomes of an item for the first system; the last is a battle with a third system.
_WIN, _LOSS, _TIE, _NEITHER = "win", "loss", "tie", "neither"

# How many units with the largest contributions are left out together: ten, or one of at most twice as many.
_TOP = 10

# A sum of contributions that is so small a part of their sizes is rounding.
_ROUNDING = 1e-9

# Characters of a text that a prompt shows.
_SHOWN = 40

#: A caution that stands beside any list of items that were chosen by their outcome.
CHOSEN = "These items were chosen by their outcome: they describe this test set, and no test is made of them."


@dataclass(frozen=True, eq=False, repr=False)
class DecidingItems(ReprMixin):
    """The items on which two systems differ most (`simstudy.comparisons.deciding_items`).

    Attributes
    ----------
    system_a, system_b
        The systems, in the order in which they were asked for.
    gain
        By how much the first is better than the second, on the metric's scale; negative where it is worse.
    items
        The items with the largest contributions: id, domain and cluster where known, outcome (win, loss or tie of the
        first system; neither, where it is a battle in which the two did not meet), score_a and score_b (of the item
        alone; NaN where that is not defined), contribution, share (of the gain), gain_without (the gain without this
        item), and, where texts are known, input, reference, answer_a and answer_b.
    clusters
        The same of clusters, with n_items, where these are what tests resample; else None.
    counts
        A row for each kind of unit (items, and clusters or questions where tests resample these): wins, losses, ties.
        Of an arena one row of unit "battle": only the battles in which the two systems met.
    carried
        A row for each kind of unit: the contribution of the `n_top` units that add most to the lead (ten, or one of at
        most twenty), its share of the gain, and the gain without them. n_reversing is the number of units, those that
        add most first, without which the leading system no longer leads; missing where no number does it.
    points
        Whether gains are in points.
    """

    system_a: str
    system_b: str
    gain: float
    items: pd.DataFrame
    clusters: pd.DataFrame | None
    counts: pd.DataFrame
    carried: pd.DataFrame
    points: bool = False

    @property
    def sentences(self) -> list[str]:
        """The tables in words. Only the units that tests resample are said to carry the gain."""
        return [*map(self._counted, self.counts.to_dict("records")), *self._carried(), CHOSEN]

    def _counted(self, row: Mapping[Hashable, Any]) -> str:
        wins, losses, ties = (int(row[name]) for name in ("wins", "losses", "ties"))
        n, of = wins + losses + ties, f"{row['unit']}s"
        if row["unit"] == BATTLE:
            of = f"{BATTLE}{'' if n == 1 else 's'} with {shown(self.system_b)}"
        return f"Wins, losses and ties of {shown(self.system_a)}: {wins:,}, {losses:,} and {ties:,} of {n:,} {of}."

    def _carried(self) -> list[str]:
        if self.carried.empty:
            return []
        row = self.carried.iloc[-1]
        leads = self.system_a if self.gain > 0 else self.system_b
        which = f"{row['unit']} that adds" if row["n_top"] == 1 else f"{row['n_top']:,} {row['unit']}s that add"
        n = row["n_reversing"]
        enough = "" if pd.isna(n) else f" Leaving out {n:,} {row['unit']}{'' if n == 1 else 's'} is enough to undo it."
        return [
            f"Without the {which} most to it, the gain of {shown(leads)} would be {_signed(row['gain_without'])} "
            f"instead of {_signed(abs(self.gain))}{' points' if self.points else ''}.{enough}"
        ]

    def _summary(self) -> tuple[str, str]:
        what = f"{shown(self.system_a)} and {shown(self.system_b)}, {len(self.items):,} items"
        return f"DecidingItems of {what}", self.sentences[0]

    def _table(self) -> pd.DataFrame:
        return self.items

    def __str__(self) -> str:
        return "\n".join([*self.sentences, self.items.map(_short).to_string(index=False)])


def deciding_items(
    outputs: Outputs,
    system_a: str,
    system_b: str,
    *,
    n: int = 20,
    unit: str | None = None,
    texts: ItemTexts | None = None,
) -> DecidingItems:
    """The items on which two systems differ most, with what each adds to the gain, largest contributions first.

    The list is descriptive. Its items are chosen by their outcome, so that no test may be made of them.

    Parameters
    ----------
    outputs
        Outputs of at least two systems.
    system_a, system_b
        Two of them. Wins, losses and contributions are told from the side of the first.
    n
        How many items to list.
    unit
        What tests resample, as for `simstudy.compare`: clusters are listed beside the items, if it is clusters.
    texts
        What the items ask and what systems answered (``simstudy.load(…).texts``), to be listed beside the numbers.

    Returns
    -------
    found
        `DecidingItems`. A contribution is on the metric's scale, positive where the item speaks for the first system.
        An item on which both systems have the same statistics contributes 0, and all contributions add up to the gain:
        exactly for means and other ratios of sums (accuracy, F1, UAS), up to numerical integration for other functions
        of sums (BLEU, chrF, MCC; within 0.5 % of the gain on the pairs of a WMT test set). Of a mean a contribution
        is the difference of the two scores over the number of items. Of a metric of arrays (AUC, a median) it is by
        leaving the item out, and need not be 0 where systems are alike.

    Raises
    ------
    ValueError
        For systems that are not there or the same one, a unit that the items do not have, and n below 1.

    Notes
    -----
    The contributions are those of `simstudy.metrics.influence.difference`, and their signs are the wins and losses of
    `simstudy.Comparisons`, except in an arena, where only direct battles count. ``gain_without`` is computed anew
    without the item.

    Examples
    --------
    >>> import pandas as pd
    >>> import simstudy as ss
    >>> outputs = ss.Outputs.from_scores(pd.DataFrame({"old": [0.2, 0.9, 0.5, 0.4], "new": [0.8, 0.7, 0.5, 0.4]}))
    >>> found = deciding_items(outputs, "new", "old", n=2)
    >>> found.items[["id", "outcome", "contribution", "gain_without"]].round(3).values.tolist()
    [['0', 'win', 0.15, -0.067], ['1', 'loss', -0.05, 0.2]]
    >>> print(found.sentences[0])
    Wins, losses and ties of new: 1, 1 and 2 of 4 items.
    """
    require_outputs(outputs, 2)
    for name in (system_a, system_b):
        check_text("systems", name, "names of systems")
    check_text("unit", unit, or_none=True)
    check_whole("n", n, 1)
    if not isinstance(texts, ItemTexts | None):
        raise InputError("texts", "must be those of simstudy.load, or None", texts)
    if system_a == system_b:
        raise InputError("systems", f"must be two, not '{system_a}' twice")
    pair = outputs.select([system_a, system_b])
    (parts,) = contributions_of_pairs(pair, np.array([0]), np.array([1]))
    unit = unit or outputs.natural_unit
    codes = None if unit == "item" else pd.factorize(pair.labels(unit, "unit"))[0].astype(np.int64)
    samples = unit_in_words(pair, unit) == SAMPLE_OF
    kinds = {"sample" if samples else "item": np.arange(pair.n_items)}
    if codes is not None:
        kinds["question" if samples else "cluster"] = codes
    gain = _gain(pair)
    return DecidingItems(
        system_a,
        system_b,
        gain,
        items_of(pair, parts, n, texts),
        None if codes is None else _clusters(pair, codes, unit, parts, n),
        _counts(pair, kinds, parts),
        _carried(pair, kinds, parts, gain),
        points=pair.metric.unit in ("percent", "points"),
    )


def contributions_of_pairs(outputs: Outputs, i: IntArray, j: IntArray) -> Iterator[FloatArray]:
    """Yield what each item adds (n,) to the gain of system i over system j, for each of P pairs."""
    metric, statistics = outputs.metric, outputs.statistics
    slopes = None
    if metric.of_sums and metric.ratio(statistics[:1]) is None:
        # Slopes of many pairs take as long as those of one.
        sums = statistics.sum(axis=1, dtype=np.float64)
        slopes = mean_slopes(metric, sums[i], sums[j])
    for p, (a, b) in enumerate(zip(i, j, strict=True)):
        slope = None if slopes is None else slopes[p]
        yield metric.sign * difference(statistics[a], statistics[b], metric, slope)


def item_scores(outputs: Outputs) -> FloatArray:
    """Scores (K, n) of single items, on the metric's scale; NaN where an item alone has none.

    Items that are battles have the points of the two systems that met; a metric of arrays has the item's ``score``.
    """
    metric, statistics = outputs.metric, outputs.statistics
    scores = np.full(statistics.shape[:2], np.nan)
    if (met := battles(outputs)) is not None:
        first, second, points = met
        place = np.flatnonzero(
            outputs.items["model_a"].isin(outputs.names) & outputs.items["model_b"].isin(outputs.names)
        )
        scores[first, place], scores[second, place] = points, 1 - points
    elif metric.of_sums:
        for k, rows in enumerate(statistics):
            sums = rows.astype(np.int64 if rows.dtype.kind in "iu" else np.float64)
            scores[k] = np.where(metric.defined(sums), metric.score(sums), np.nan)
    elif "score" in metric.statistics:
        scores = statistics[..., metric.statistics.index("score")].astype(np.float64)
    return scores


def items_of(pair: Outputs, parts: FloatArray, n: int, texts: ItemTexts | None) -> pd.DataFrame:
    """The n items of two systems with the largest contributions (`DecidingItems.items`)."""
    rows, gain = _largest(parts, n), _gain(pair)
    items, chosen = pair.items.iloc[rows].reset_index(drop=True), pair.take(rows)
    scores = item_scores(chosen)
    without: FloatArray | float = np.nan
    if pair.n_items > 1:
        one, other = (left_out(statistics, pair.metric, rows) for statistics in pair.statistics)
        without = pair.metric.sign * (one - other)
    table = pd.DataFrame(
        {
            **{name: items[name] for name in ("id", "domain", "cluster") if name in items},
            "outcome": _item_outcomes(chosen, parts[rows]),
            "score_a": scores[0],
            "score_b": scores[1],
            "contribution": parts[rows],
            "share": parts[rows] / gain if gain else np.nan,
            "gain_without": without,
        }
    )
    if texts is None:
        return table
    ids = items["id"].astype(str).tolist()
    columns = {
        "input": texts.inputs_of(ids),
        "reference": texts.references_of(ids),
        "answer_a": texts.answers_of(pair.names[0], ids),
        "answer_b": texts.answers_of(pair.names[1], ids),
    }
    columns = {name: column for name, column in columns.items() if any(text is not None for text in column)}
    return table.join(pd.DataFrame(columns, index=table.index, dtype=object))


def _clusters(pair: Outputs, codes: IntArray, unit: str, parts: FloatArray, n: int) -> pd.DataFrame:
    """The clusters with the largest contributions (`DecidingItems.clusters`)."""
    sums, gain = _unit_sums(codes, parts), parts.sum()
    rows = _largest(sums, n)
    first = np.unique(codes, return_index=True)[1]
    return pd.DataFrame(
        {
            "cluster": pair.labels(unit).to_numpy()[first[rows]],
            "n_items": np.bincount(codes)[rows],
            "outcome": _outcomes(sums[rows]),
            "contribution": sums[rows],
            "share": sums[rows] / gain if gain else np.nan,
            "gain_without": [_gain(pair, codes != row) for row in rows],
        }
    )


def _counts(pair: Outputs, kinds: dict[str, IntArray], parts: FloatArray) -> pd.DataFrame:
    """Wins, losses and ties (`DecidingItems.counts`)."""
    if (met := meetings(pair)) is not None:
        # A battle with a third system adds to the gain, but neither of the two wins it against the other.
        won, tied = met
        direct = {"wins": int(won[0, 1]), "losses": int(won[1, 0]), "ties": int(tied[0, 1])}
        return pd.DataFrame([{"unit": BATTLE, **direct}])
    rows = []
    for kind, codes in kinds.items():
        signs = np.sign(_unit_sums(codes, parts))
        wins, losses, ties = (int((signs == sign).sum()) for sign in (1, -1, 0))
        rows.append({"unit": kind, "wins": wins, "losses": losses, "ties": ties})
    return pd.DataFrame(rows)


def _carried(pair: Outputs, kinds: dict[str, IntArray], parts: FloatArray, gain: float) -> pd.DataFrame:
    """How few units carry the lead (`DecidingItems.carried`)."""
    columns = ["unit", "n_units", "n_top", "contribution", "share", "gain_without", "n_reversing"]
    rows, sign = [], np.sign(gain)
    for kind, codes in kinds.items() if gain else ():
        sums = _unit_sums(codes, parts) * sign
        order = np.argsort(-sums, kind="stable")
        place = np.argsort(order)[codes]
        n_top = _TOP if len(sums) > 2 * _TOP else 1
        added = float(sums[order[:n_top]].sum())
        without = sign * _gain(pair, place >= n_top)
        reversing = _n_reversing(pair, place, int((sums > 0).sum()), sign) if pair.metric.of_sums else None
        rows.append((kind, len(sums), n_top, added, added / abs(gain), without, reversing))
    return pd.DataFrame(rows, columns=columns).astype({"n_reversing": "Int64"})


def _n_reversing(pair: Outputs, place: IntArray, n_adding: int, sign: float) -> int | None:
    """The least number of units without which the lead is gone; None where no number of the `n_adding` does it.

    `place` (n,) is the place of each item's unit, those that add most to the lead first.
    """
    order = np.argsort(place, kind="stable")
    ends = np.searchsorted(place[order], np.arange(min(n_adding, place.max())), side="right") - 1
    scores = []
    for statistics in pair.statistics:
        exact = statistics[order].astype(np.int64 if statistics.dtype.kind in "iu" else np.float64)
        scores.append(pair.metric.score(exact.sum(axis=0) - np.cumsum(exact, axis=0)[ends]))
    left = sign * pair.metric.sign * (scores[0] - scores[1])
    # A gain of rounding errors is none.
    gone = np.flatnonzero(left <= 1e-12 * np.abs(scores).max(axis=0))
    return int(gone[0]) + 1 if len(gone) else None


def _gain(pair: Outputs, kept: NDArray[np.bool_] | None = None) -> float:
    """The gain of the first system, or that on some of the items; NaN on none."""
    if kept is None:
        return float(pair.gains(np.array([0]), np.array([1]))[0])
    if not kept.any():
        return np.nan
    one, other = pair.metric.test_set_scores(pair.statistics[:, kept])
    return float(one - other) * pair.metric.sign


def _unit_sums(codes: IntArray, parts: FloatArray) -> FloatArray:
    """Contributions of units (U,), given the unit of each item; 0 where rounding may have made them."""
    sums = np.bincount(codes, parts).astype(np.float64)
    sums[np.abs(sums) <= _ROUNDING * np.bincount(codes, np.abs(parts))] = 0.0
    return sums


def _largest(parts: FloatArray, n: int) -> IntArray:
    """Places of the n largest contributions, whatever their sign; equal ones in the order of the items."""
    return np.argsort(-np.abs(parts), kind="stable")[:n]


def _item_outcomes(pair: Outputs, parts: FloatArray) -> NDArray[np.object_]:
    """The outcome of each item for the first system, given the contributions."""
    if not are_battles(pair.items):
        return _outcomes(parts)
    outcomes = np.full(pair.n_items, _NEITHER, dtype=object)
    first, second, points = (pair.items[name].to_numpy() for name in BATTLE_COLUMNS)
    for one, other, sign in ((*pair.names, 1.0), (*pair.names[::-1], -1.0)):
        met = (first == one) & (second == other)
        outcomes[met] = _outcomes(sign * (points[met].astype(np.float64) - 0.5))
    return outcomes


def _outcomes(parts: FloatArray) -> NDArray[np.object_]:
    return np.where(parts > 0, _WIN, np.where(parts < 0, _LOSS, _TIE)).astype(object)


def _signed(gain: float) -> str:
    return f"{'-' if gain < 0 else ''}{gain_text(abs(gain))}"


def _short(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    text = shown(" ".join(cell.split()), max(_SHOWN, 80))
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
