"""Tables of pairs of systems: gains with their intervals, p-values, and marks of those that are significant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.engines.descriptions import SIDES, approximate_parts
from simstudy.metrics import label
from simstudy.pairs import ALL_PAIRS, order_of
from simstudy.papers.basis import counted_units, differing_intervals
from simstudy.papers.document import BETTER_MARKS, CAUTION_MARK, Cell, Table
from simstudy.statistics.decisions import Decision
from simstudy.text.numerals import counted, interval_format, number_text, p_adjusted, p_floor, p_text
from simstudy.text.plain_text import shown

# Marks of two levels: the level, and a fifth of it (0.05 and 0.01).
_FINER = 5

#: Pairs that a table lists, unless all are asked for; of more, those of neighbours by score.
MOST_PAIRS = 45


def p_texts(pairs: pd.DataFrame, alpha: float = 0.05) -> dict[str, list[str]]:
    """p-values as people see them, never rounded across alpha; corrected ones are bounds if the p-value itself is."""
    columns = (pairs[name].tolist() for name in ("p_value", "p_holm", "p_bh", "n_resamples"))
    written: dict[str, list[str]] = {"p": [], "holm": [], "bh": []}
    for p, holm, bh, n_resamples in zip(*columns, strict=True):
        floor = p_floor(n_resamples)
        written["p"].append(p_text(p, alpha, floor))
        written["holm"].append(p_adjusted(holm, p, alpha, floor))
        written["bh"].append(p_adjusted(bh, p, alpha, floor))
    return written


def most_significant_first(pairs: pd.DataFrame) -> NDArray[np.intp]:
    """The order of the pairs, of equal p-values the widest gain first."""
    return np.lexsort((-pairs["gain"].to_numpy(), pairs["p_value"].to_numpy()))


def marks(pairs: pd.DataFrame, alpha: float, p: str, signs: Sequence[str] = BETTER_MARKS) -> list[str]:
    """The mark of each pair whose gain is significant at the level, and at a fifth of it; "" for others."""
    once, twice = (Decision(level, p=p).significant(pairs) for level in (alpha, alpha / _FINER))
    return [signs[1] if two else signs[0] if one else "" for one, two in zip(once, twice, strict=True)]


def meaning(used: set[str], signs: Sequence[str], claim: str, how: str, alpha: float) -> str:
    """What marks claim, a sentence that ends with the test in brackets; only of marks that are used."""
    levels = {sign: f"{level:g}" for sign, level in zip(signs, (alpha, alpha / _FINER), strict=True) if sign in used}
    return f" {', '.join(levels)}: {claim} at {' and '.join(levels.values())} ({how})." if levels else ""


def heading(name: str, unit: str) -> str:
    """A metric's label with its unit, for a heading; a label that is a common noun begins with a capital."""
    written = label(name)
    written = written.capitalize() if written.replace(" ", "").isalpha() and written.islower() else written
    return written + (" (%)" if unit == "percent" else "")


def gained(pairs: pd.DataFrame) -> str:
    """What gains are of: "points of accuracy", "BLEU"."""
    one = pairs.iloc[0]
    return ("points of " if one["metric_unit"] == "percent" else "") + label(str(one["metric"]))


def number_format(pairs: pd.DataFrame, halves: Sequence[float] = ()) -> str:
    """The format of scores and gains, by the intervals of gains and those of half widths `halves`."""
    known = (pairs["gain_high"] - pairs["gain_low"]).to_numpy(dtype=np.float64) / 2
    return interval_format(float(pairs[["score_a", "score_b"]].abs().to_numpy().max()), [*known, *halves])


def interval(low: float, high: float, form: str) -> str:
    """An interval of a table; empty if there is none."""
    return "" if np.isnan(low) else f"[{number_text(low, form)}, {number_text(high, form)}]"


def on(pairs: pd.DataFrame) -> str:
    """The test set: its name and its units."""
    return counted_units({**pairs.iloc[0], "test_set": shown(pairs["test_set"].iloc[0])})


def of_pairs(pairs: pd.DataFrame, *, alpha: float, form: str, most: int | None = MOST_PAIRS, family: str = "") -> Table:
    """A row for each pair, the most significant first; of more than `most` pairs only neighbours by score.

    The pairs have p_holm, which is corrected for `family`, by default all of them. Marks are by it.
    """
    n = len(pairs)
    limit = n if most is None else most
    few = n <= limit
    # Millions of pairs are not put in order for the few that are shown.
    rows = pairs.iloc[most_significant_first(pairs)] if few else pairs[order_of(pairs).neighbours].head(limit)
    signs, texts = marks(rows, alpha, "p_holm"), p_texts(rows, alpha)
    cautions = rows["caution"].fillna("")
    other = rows["better"].where(rows["better"] != rows["system_a"]).fillna("")
    columns: dict[str, tuple[str, list[Any]]] = {
        "Better": ("left", [*map(shown, rows["system_a"])]),
        "Worse": ("left", [*map(shown, rows["system_b"])]),
        "Relation": ("left", [*map(shown, rows["relation"])]),
        "Gain": ("right", [Cell(number_text(gain, form), mark=sign)
                           for gain, sign in zip(rows["gain"], signs, strict=True)]),
        "95 % CI": ("middle", [Cell(interval(low, high, form), mark=CAUTION_MARK if caution else "")
                               for low, high, caution in zip(rows["gain_low"], rows["gain_high"], cautions,
                                                             strict=True)]),
        "p": ("right", texts["p"]),
        "p (Holm)": ("right", texts["holm"]),
        "Test prefers": ("left", [*map(shown, other)]),
        **({f"Margin {rows['margin'].iloc[0]:g}": ("left", rows["conclusion"].tolist())} if "margin" in rows else {}),
    }  # fmt: skip
    if (rows["relation"] == ALL_PAIRS).all():
        del columns["Relation"]
    if (other == "").all():
        del columns["Test prefers"]
    which = "" if few else f", of {len(rows):,} neighbours by score among {n:,} pairs"
    sides = SIDES[pairs["alternative"].iloc[0]]
    caption = (
        f"Gains in {gained(pairs)} on {on(pairs)}{which}. 95 % CI: the interval of each gain by itself. p: {sides}, "
        f"not corrected. p (Holm): corrected for {family or f'all {n:,} pairs'}."
    )
    caption += meaning({*signs}, BETTER_MARKS, "the gain is significant", f"{sides}, by p (Holm)", alpha)
    caption += differing_intervals(rows) + cautioned(rows)
    return Table("pairs", [(name, kind) for name, (kind, _) in columns.items()],  # type: ignore[misc]
                 [*zip(*(cells for _, cells in columns.values()), strict=True)], [caption])  # fmt: skip


def cautioned(rows: pd.DataFrame) -> str:
    """What the mark of cautions means, a sentence; nothing if there are none."""
    marked = rows[rows["caution"].fillna("") != ""]
    approximate = approximate_parts(marked)
    if marked.empty or not approximate:
        return ""
    kinds = ", ".join(dict.fromkeys(marked["caution"]))
    return f" {CAUTION_MARK}: {approximate} in {counted(len(marked), 'row')} ({kinds})."


def of_two(pairs: pd.DataFrame, *, alpha: float, form: str) -> Table:
    """A row for each system of one pair, the better first."""
    row = pairs.iloc[0]
    (sign,), (p,) = marks(pairs, alpha, "p_value"), p_texts(pairs, alpha)["p"]
    a, b = shown(row["system_a"]), shown(row["system_b"])
    known = not np.isnan(row["gain_low"])
    caution = str(row["caution"]) if known and isinstance(row["caution"], str) else ""
    between = Cell(interval(row["gain_low"], row["gain_high"], form), mark=CAUTION_MARK if caution else "")
    sides = SIDES[row["alternative"]]
    best = row["gain"] > 0
    rows: list[list[Cell | str]] = [
        [Cell(a, bold=best), Cell(number_text(row["score_a"], form), best, sign), number_text(row["gain"], form),
         between, p],
        [b if a != b else f"{b} (2)", number_text(row["score_b"], form), "", "", ""],
    ]  # fmt: skip
    caption = f"Two systems on {on(pairs)}. 95 % CI: the interval of the gain. p: {sides}, of one test, not corrected."
    caption += meaning({sign}, BETTER_MARKS, "the gain is significant", f"{sides}, by p", alpha) + cautioned(pairs)
    head: Any = [
        ("System", "left"),
        (heading(row["metric"], row["metric_unit"]), "right"),
        ("Gain", "right"),
        ("95 % CI", "middle"),
        ("p", "right"),
    ]
    return Table("pairs", head, rows, [caption])
