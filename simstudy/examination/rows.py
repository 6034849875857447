"""What people see of an examination, the same on a page and in a terminal: its facts, and its tables as texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from simstudy.comparisons.other_systems import OTHER_VARIANTS
from simstudy.comparisons.significant_gains import CLOSE_PAIRS
from simstudy.engines.descriptions import SIDES, described_test
from simstudy.engines.registry import TESTS
from simstudy.examination.samples import with_noises
from simstudy.metrics import label
from simstudy.outputs.samples import SAMPLE_OF
from simstudy.pages.sections import Column, Table
from simstudy.pairs import ALL_PAIRS
from simstudy.papers.pairs import most_significant_first, p_texts
from simstudy.readers.logs import SCORED_BY
from simstudy.text.numerals import counted, score_format, units_text
from simstudy.text.plain_text import line, shown
from simstudy.text.reprs import listed

if TYPE_CHECKING:
    from simstudy.examination.examination import Examination

# Characters of the names of the systems that may be the best.
_NAMES = 150


def facts(found: Examination) -> dict[str, str]:
    """What was compared and how."""
    one, k = found.pairs.frame.iloc[0], found.outputs.n_systems
    which = "all" if len(found.pairs) == k * (k - 1) // 2 else "these"
    known = {"Test set": shown(one.test_set)} if one.test_set else {}
    known |= {
        "Systems": f"{found.outputs.n_systems:,} ({counted(len(found.pairs), 'pair')})",
        "Items": items_text(found),
        "Metric": label(str(one.metric)),
        "Test": described_test(found.pairs.frame),
        "Null hypothesis": TESTS[one.test].null,
        "Correction": f"Holm, for {which} {len(found.pairs):,} pairs",
        "Signature": signature(found),
    }
    if len(found.pairs) == 1:
        del known["Correction"]
    return known | ({"Note": "; ".join(map(line, found.notes))} if found.notes else {})


def signature(found: Examination) -> str:
    """The signature of the pairs, with the names of the scores in logs where these have several."""
    question, bar, rest = found.pairs.signature().partition("|")
    items = found.outputs.items
    if SCORED_BY not in items:
        return f"{question}{bar}{rest}"
    names = dict.fromkeys(name for names in items[SCORED_BY].astype(str).unique() for name in names.split("+"))
    return f"{question}|score:{shown('+'.join(names))}|{rest}"


def items_text(found: Examination) -> str:
    """How many items, and in how many clusters, if these have several items."""
    one, n = found.pairs.frame.iloc[0], found.outputs.n_items
    of = " samples of" if one.unit == SAMPLE_OF else " in"
    units = "" if one.n_units == n else f"{of} {units_text(one.n_units, one.unit)}, which the test resamples"
    return f"{n:,}{units}"


def sides(found: Examination) -> str:
    """Whether its p-values are one-sided or two-sided."""
    return SIDES[found.pairs["alternative"].iloc[0]]


def ranking(found: Examination) -> Table:
    """Systems, best first, with the intervals of their scores, their confidence sets for ranks, and their groups."""
    rows, digits = found.leaderboard, _digits(found)
    groups = found.groups.groupby("system")["group"].agg(lambda numbers: " ".join(map(str, numbers)))
    last = rows["rank_high"].where(rows["rank_low"] < rows["rank_high"]).astype("Int64")
    rows, noise = with_noises(rows, found)
    return Table(
        rows.assign(groups=groups.loc[rows["system"]].to_numpy(), last_rank=last),
        {
            "system": "{system:name}",
            "score": f"{{score:{digits}}}",
            "95 %": f"{{score_low:{digits}}}–{{score_high:{digits}}}",
            "rank": "{rank}",
            "ranks (95 %)": "{rank_low}[–{last_rank}]",
            "groups": "{groups}",
            **noise,
        },
    )


def may_be_best(board: pd.DataFrame) -> str:
    """Which systems of a leaderboard may be the best, in a sentence."""
    best = [shown(name) for name in board.loc[board["may_be_best"], "system"]]
    sure = f"({100 * board['level'].iloc[0]:g} % confidence)"
    if len(best) == 1:
        return f"{best[0]} is the best of {len(board):,} systems {sure}."
    return f"{len(best):,} of {len(board):,} systems may be the best {sure}: {listed(best, characters=_NAMES)}."


def pair_rows(found: Examination, most: int, *, also_significant: int = 0) -> tuple[str, Table]:
    """A title, and pairs: the most significant first, or, where these are too many, neighbours by score.

    So many of the most significant pairs are then there as well.
    """
    if len(found.pairs) <= most:
        pairs, title = sorted_pairs(found), "Pairs, the most significant first"
    else:
        pairs = found.neighbours.head(most)
        title = f"Neighbours by score, {len(pairs):,} of {len(found.pairs):,} pairs"
        if also_significant:
            first = found.pairs.frame.iloc[most_significant_first(found.pairs.frame)[:also_significant]]
            title = (
                f"Neighbours by score ({len(pairs):,}) and the {len(first):,} most significant of all "
                f"{len(found.pairs):,} pairs; the page would be too large with the others, which are in pairs.csv of a "
                "folder"
            )
            pairs = pd.concat([first, pairs[~pairs.index.isin(first.index)]], ignore_index=True)
    digits = _digits(found)
    other = pairs["better"].where(pairs["better"] != pairs["system_a"])
    columns: dict[str, str | Column] = {
        "better": "{system_a:name}",
        "worse": "{system_b:name}",
        "relation": "{relation:name}",
        "gain": f"{{gain:{digits}}}",
        "95 %": f"{{gain_low:{digits}}} to {{gain_high:{digits}}}",
        "wins/losses": "{wins:,}/{losses:,}",
        "p": Column("{p}", source="p_value"),
        "test prefers": "[{other:name}]",
        "p (Holm)": Column("{holm}", source="p_holm"),
        "p (BH)": Column("{bh}", source="p_bh"),
    }
    if "conclusion" in pairs:
        columns[f"margin {pairs['margin'].iloc[0]:g}"] = "{conclusion}"
    if (pairs["caution"] != "").any():
        columns["caution"] = "[{caution}]"
    dull = {
        "relation": (pairs["relation"] == ALL_PAIRS).all(),
        "test prefers": (other.fillna("") == "").all(),
        "wins/losses": (pairs["interval"] == "bootstrap").all(),
    }
    rows = pairs.assign(other=other, **p_texts(pairs, found.alpha))
    return f"{title} ({sides(found)} p)", Table(rows, {name: columns[name] for name in columns if not dull.get(name)})


def sorted_pairs(found: Examination) -> pd.DataFrame:
    """Comparisons, the most significant first; of equal p-values the widest gain first."""
    return found.pairs.frame.iloc[most_significant_first(found.pairs.frame)].reset_index(drop=True)


def threshold_rows(found: Examination) -> Table:
    """The gain that is usually significant, by both rules."""
    columns = {"relation": "{relation:name}", "pairs": "{n_pairs:,}", "pairs with p ≈ 0.05": "{n_window}"}
    rows = gain_rows(found.thresholds, found.gains, ["relation"])
    return Table(rows, {**columns, **gain_columns(_digits(found))})


def gain_rows(thresholds: pd.DataFrame, gains: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Significant gains of all pairs and of those in doubt (``close_80``) beside the thresholds, by these keys."""
    doubtful = gains.loc[gains["pairs"] == CLOSE_PAIRS, [*keys, "true_80"]].rename(columns={"true_80": "close_80"})
    rows = gains[gains["pairs"] == ALL_PAIRS].merge(doubtful, on=keys, how="left")
    return rows.merge(thresholds[[*keys, "n_window", "threshold", "low", "high"]], on=keys, how="left")


def gain_columns(form: str, *, intervals: bool = True) -> dict[str, Column]:
    """The columns of `gain_rows`, their gains in this format."""

    def column(value: str, bounds: str | None = None) -> Column:
        known = intervals and bounds is not None
        interval = f"[ ({{{bounds}low:{form}}}–{{{bounds}high:{form}}})]" if known else ""
        return Column(f"{{{value}:{form}}}{interval}", missing="too few pairs")

    return {
        "threshold": column("threshold", ""),
        "observed, half of the pairs": column("observed_50", "observed_50_"),
        "observed, 95 % of the pairs": column("observed_95"),
        "minimum detectable gain": column("true_80", "true_80_"),
        "minimum detectable gain, close pairs": column("close_80"),
    }


def gains_text(sides: str, alpha: float, intervals: str) -> str:
    """The meaning of the columns of `gain_columns`; `intervals` says what these hold for."""
    return (
        f"Threshold: 95th percentile of the gains of pairs with 0.04 <= p <= 0.06 ({sides}; Berg-Kirkpatrick et al. "
        "2012, section 3.1.1), if there are at least 20 such pairs. The other columns follow from the standard errors "
        f"of all pairs of a class by the normal approximation ({sides}, alpha = {alpha:g}, before correction for "
        "several tests). Observed: the gain on this test set that is significant for half, and for 95 %, of the pairs. "
        "Minimum detectable gain: the true gain that a test set like this detects with power 0.8, on average over the "
        "pairs. A pair is close if its gain is below twice the gain at which it would be just significant. "
        f"{intervals}{' ' * bool(intervals)}A number has no interval where no interval is known to cover."
    )


def intervals_for(gains: pd.DataFrame) -> str:
    """A sentence for each kind of interval of gains: what it holds for. Rows may have different kinds."""
    known = gains[gains["interval_for"] != ""]
    kinds = known.groupby("interval_for", sort=False)["relation"].unique()
    several = [f" of relation {listed([shown(name) for name in names])}" if len(kinds) > 1 else "" for names in kinds]
    return " ".join(
        f"The 95 % intervals{of} hold for {kind} on these items{', not for other systems' * (kind == OTHER_VARIANTS)}."
        for kind, of in zip(kinds.index, several, strict=True)
    )


def _digits(found: Examination) -> str:
    return score_format(np.abs(found.outputs.scores()).max())


def systems(found: Examination) -> pd.DataFrame:
    """The leaderboard with what else is known of the systems."""
    known = found.outputs.systems.drop(columns="family").rename(columns={"name": "system"})
    return found.leaderboard.merge(known, on="system", how="left").dropna(axis="columns", how="all")
