"""The facts and answers of a study of natural comparisons, in words that its manifest keeps beside the tables."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from simstudy.engines.descriptions import SIDES, described_computation
from simstudy.engines.registry import TESTS
from simstudy.examination.rows import may_be_best
from simstudy.metrics import label
from simstudy.statistics.decisions import Decision
from simstudy.statistics.multiplicity import corrected
from simstudy.studies.natural.definition import NaturalStudy
from simstudy.text.numerals import counted
from simstudy.text.plain_text import shown

# Test sets whose answers a terminal has room for, and notes that the head of a page has room for.
_MOST_ANSWERS, _MOST_NOTES = 8, 4


def answers(study: NaturalStudy, boards: pd.DataFrame, pairs: pd.DataFrame) -> list[str]:
    """For each test set and metric: which systems may be the best, and how many pairs differ significantly."""
    keys = list(boards[["test_set", "metric"]].drop_duplicates().itertuples(index=False, name=None))
    keys = [key for key in keys if key[0] in study.shown] if study.shown else keys
    said = []
    for name, metric in keys[:_MOST_ANSWERS]:
        board, own = (rows[(rows["test_set"] == name) & (rows["metric"] == metric)] for rows in (boards, pairs))
        differ = int(Decision(study.alpha, p="p_holm").significant(corrected(own)).sum())
        said.append(
            f"{shown(name)} ({label(metric)}): {may_be_best(board)} {differ:,} of {counted(len(own), 'pair')} differ "
            f"significantly at {study.alpha:g} (two-sided, Holm)."
        )
    more = len(keys) - len(said)
    return said + ([f"And {more:,} more: leaderboard.csv and ranks.csv have all."] if more else [])


def facts(study: NaturalStudy, pairs: pd.DataFrame, notes: Sequence[str]) -> dict[str, str]:
    """What was run."""
    one, told = pairs.iloc[0], list(dict.fromkeys(notes))
    units = sorted(pairs["unit"].unique(), key=lambda unit: unit != "item")
    listed = {
        "Test sets": f"{pairs['test_set'].nunique()}, {len(pairs):,} comparisons of pairs",
        "Test": f"{TESTS[one.test].title} ({one.test}), {SIDES[one.alternative]}; {described_computation(pairs)}",
        "Null hypothesis": TESTS[one.test].null,
        "Units": " or, where the data name documents, ".join(units),
        "Seed": str(study.seed),
    }
    more = [f"and {len(told) - _MOST_NOTES} more notes of this kind"] if len(told) > _MOST_NOTES else []
    return listed | ({"Data": "; ".join([*told[:_MOST_NOTES], *more])} if told else {})
