"""Deciding items: where two systems differ most, what each item adds to the gain, and how few items carry it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from simstudy.comparisons.contributions import (
    carried,
    contributions_of_pairs,
    gain_of,
    item_scores,
    named_outcomes,
    outcomes_of,
    unit_sums,
)
from simstudy.metrics.base import FloatArray, IntArray
from simstudy.metrics.influence import left_out
from simstudy.outputs import Outputs, require_outputs
from simstudy.outputs.samples import SAMPLE_OF, unit_in_words
from simstudy.outputs.test_set import ItemTexts
from simstudy.outputs.units import meetings
from simstudy.text.numerals import gain_text
from simstudy.text.plain_text import shown
from simstudy.text.reprs import ReprMixin
from simstudy.validation import InputError, check_text, check_whole

#: The unit of counts where items are battles: those in which the two systems met.
BATTLE = "battle"

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
        A row for each kind of unit and each number `n_top` of units that add most to the lead: their contribution, its
        share of the gain, and the gain without them. n_reversing is the number of units, those that add most first,
        without which the leading system no longer leads; missing where no number does it.
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
    check_whole("n", n, 1)
    if not isinstance(texts, ItemTexts | None):
        raise InputError("texts", "must be those of simstudy.load, or None", texts)
    if system_a == system_b:
        raise InputError("systems", f"must be two, not '{system_a}' twice")
    pair = outputs.select([system_a, system_b])
    (parts,) = contributions_of_pairs(pair, np.array([0]), np.array([1]))
    check_text("unit", unit, or_none=True)
    unit = unit or outputs.natural_unit
    codes = None if unit == "item" else pd.factorize(pair.labels(unit, "unit"))[0].astype(np.int64)
    of_samples = unit_in_words(pair, unit) == SAMPLE_OF
    kinds = {"sample" if of_samples else "item": np.arange(pair.n_items)}
    kinds |= {} if codes is None else {"question" if of_samples else "cluster": codes}
    gain = float(pair.gains(np.array([0]), np.array([1]))[0])
    return DecidingItems(
        system_a,
        system_b,
        gain,
        items_of(pair, parts, n, texts),
        None if codes is None else _clusters(pair, codes, unit, parts, n),
        _counts(pair, kinds, parts),
        carried(pair, kinds, parts, gain),
        points=pair.metric.unit in ("percent", "points"),
    )


def items_of(pair: Outputs, parts: FloatArray, n: int, texts: ItemTexts | None) -> pd.DataFrame:
    """The n items of two systems with the largest contributions (`DecidingItems.items`)."""
    rows = _listed(parts, n)
    gain = float(pair.gains(np.array([0]), np.array([1]))[0])
    return _items(pair, rows, parts, gain).join(_texts(pair, rows, texts))


def _counts(pair: Outputs, kinds: dict[str, IntArray], parts: FloatArray) -> pd.DataFrame:
    """Wins, losses and ties (`DecidingItems.counts`)."""
    if (met := meetings(pair)) is not None:
        # A battle with a third system adds to the gain, but neither of the two wins it against the other.
        won, tied = met
        direct = {"wins": int(won[0, 1]), "losses": int(won[1, 0]), "ties": int(tied[0, 1])}
        return pd.DataFrame([{"unit": BATTLE, **direct}])
    return pd.DataFrame([{"unit": kind, **_outcomes(unit_sums(of, parts))} for kind, of in kinds.items()])


def _outcomes(parts: FloatArray) -> dict[str, int]:
    return {"wins": int((parts > 0).sum()), "losses": int((parts < 0).sum()), "ties": int((parts == 0).sum())}


def _listed(parts: FloatArray, n: int) -> IntArray:
    """The places of the n largest contributions, whatever their sign; equal ones in the order of the items."""
    return np.argsort(-np.abs(parts), kind="stable")[:n]


def _gains(pair: Outputs, without: IntArray) -> FloatArray:
    """The gain without each of these items."""
    sign = pair.metric.sign
    one, other = (left_out(rows, pair.metric, without) for rows in pair.statistics)
    return sign * (one - other)


def _items(pair: Outputs, rows: IntArray, parts: FloatArray, gain: float) -> pd.DataFrame:
    known = pair.items.iloc[rows].reset_index(drop=True)
    scores = item_scores(pair.take(rows))
    return pd.DataFrame(
        {
            **{name: known[name] for name in ("id", "domain", "cluster") if name in known},
            "outcome": outcomes_of(pair.take(rows), parts[rows]),
            "score_a": scores[0],
            "score_b": scores[1],
            "contribution": parts[rows],
            "share": parts[rows] / gain if gain else np.nan,
            "gain_without": _gains(pair, rows) if pair.n_items > 1 else np.nan,
        }
    )


def _texts(pair: Outputs, rows: IntArray, texts: ItemTexts | None) -> pd.DataFrame:
    """The texts of items, as far as they are known."""
    if texts is None:
        return pd.DataFrame(index=range(len(rows)))
    ids = pair.items["id"].iloc[rows].astype(str).tolist()
    found = {
        "input": texts.inputs_of(ids),
        "reference": texts.references_of(ids),
        "answer_a": texts.answers_of(pair.names[0], ids),
        "answer_b": texts.answers_of(pair.names[1], ids),
    }
    known = {name: column for name, column in found.items() if any(text is not None for text in column)}
    return pd.DataFrame(known, index=range(len(rows)), dtype=object)


def _clusters(pair: Outputs, codes: IntArray, unit: str, parts: FloatArray, n: int) -> pd.DataFrame:
    """The clusters with the largest contributions: those of their items together."""
    sums = unit_sums(codes, parts)
    rows = _listed(sums, n)
    names = pair.labels(unit).to_numpy()
    first = np.unique(codes, return_index=True)[1]
    gain = parts.sum()
    without = [gain_of(pair, codes != row) for row in rows]
    return pd.DataFrame(
        {
            "cluster": names[first[rows]],
            "n_items": np.bincount(codes)[rows],
            "outcome": named_outcomes(sums[rows]),
            "contribution": sums[rows],
            "share": sums[rows] / gain if gain else np.nan,
            "gain_without": without,
        }
    )


def _signed(gain: float) -> str:
    return f"{'-' if gain < 0 else ''}{gain_text(abs(gain))}"


def _short(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    text = shown(" ".join(cell.split()), max(_SHOWN, 80))
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
