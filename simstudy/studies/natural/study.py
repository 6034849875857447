"""The study of natural comparisons: read what others made, compare, analyse, draw."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd

from simstudy.analyses.duplicates import distinct
from simstudy.analyses.ranks import ranks
from simstudy.analyses.relation_classes import ALL_PAIRS, confidence
from simstudy.analyses.thresholds import size_fit
from simstudy.comparisons.comparisons import Comparisons
from simstudy.examination import Analysed, classified
from simstudy.outputs import TestSet
from simstudy.running.progress import progress_bar
from simstudy.statistics.decisions import two_sided
from simstudy.studies.comparing import compare_by_items, run_comparisons
from simstudy.studies.context import Findings, RunContext
from simstudy.studies.natural import gains, page
from simstudy.studies.natural.checks import check
from simstudy.studies.natural.cross_domain import cross_domain
from simstudy.studies.natural.definition import NaturalStudy
from simstudy.studies.natural.leaderboards import leaderboards
from simstudy.studies.natural.sources import n_test_sets, read_all
from simstudy.studies.plotted_pairs import plotted_pairs


@dataclass(frozen=True)
class Compared:
    """A test set, and the comparisons on its segments (the whole comes last) and by items where these are no units."""

    test_set: TestSet
    segments: list[pd.DataFrame]
    by_items: pd.DataFrame | None


def run(study: NaturalStudy, context: RunContext) -> Findings:
    """Read, compare on all test sets, analyse and draw."""
    with context.clock("data"), progress_bar("reading outputs", n_test_sets(study.test_sets)) as advance:
        found, hashes = read_all(
            study.name,
            study.test_sets,
            context.data_dir,
            advance,
            allow_outside=context.allow_outside,
            duplicates=study.duplicates,
        )
    asked = [one.with_settings(study.comparison.unit, **study.comparison.settings(study.seed)) for one in found]
    test_sets, duplicates = _distinct(asked)
    check(study, test_sets)
    with context.clock("comparisons"):
        compared = _compare_all(test_sets, context)
    with context.clock("leaderboards"):
        boards = leaderboards(test_sets, study.seed, context)
    with context.clock("calibration"):
        calibrated = [cross_domain(study, part, test_sets, context) for part in study.calibration]
    with context.clock("analyses and figures"):
        tables = _analyse(study, compared, boards)
        tables["duplicates"] = duplicates
        if calibrated:
            tables["calibration"] = pd.concat(calibrated, ignore_index=True)
        sections = page.sections(tables, study)
    everything = pd.concat([table for one in compared for table in one.segments], ignore_index=True)
    return Findings(
        tables=tables,
        sections=sections,
        facts=page.facts(study, everything, [note for one in found for note in one.notes]),
        closing=page.closing(study),
        summary=gains.summary(tables["significant_gains"], study.shown),
        data={"files": hashes},
        comparisons=everything,
    )


def _distinct(test_sets: list[TestSet]) -> tuple[list[TestSet], pd.DataFrame]:
    """The systems to compare, and the near-duplicates among all; the column dropped says which were left out."""
    kept, tables = [], []
    for one in test_sets:
        outputs, alike = distinct(one.outputs, one.duplicates)
        kept.append(replace(one, outputs=outputs))
        staying = set(outputs.names)
        names = alike[["system_a", "system_b"]].to_numpy().tolist()
        dropped = [" and ".join(name for name in pair if name not in staying) for pair in names]
        tables.append(alike.assign(metric=one.metric, dropped=dropped))
    return kept, pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True)


def _compare_all(test_sets: list[TestSet], context: RunContext) -> list[Compared]:
    segments = [one.segments() for one in test_sets]
    pairs = iter(run_comparisons("comparing systems", [part for parts in segments for part in parts], context))
    of_segments = [[next(pairs) for _ in parts] for parts in segments]
    by_items = compare_by_items(test_sets, context)
    return [Compared(*each) for each in zip(test_sets, of_segments, by_items, strict=True)]


def _analyse(study: NaturalStudy, compared: list[Compared], boards: pd.DataFrame) -> dict[str, pd.DataFrame]:
    shown = study.shown or list(dict.fromkeys(one.test_set.name for one in compared))[:6]
    fitted, scaled, curves, points = [], [], [], []
    for one in compared:
        # Without a column that tells classes apart there is one class.
        for k, by in enumerate(one.test_set.by or ("",)):
            for tables in [one.segments, *([] if one.by_items is None else [[one.by_items]])]:
                classes = [classified(table, one.test_set.outputs, by) for table in tables]
                analysed = [Analysed(Comparisons(pairs), study.alpha, study.seed) for pairs in classes]
                of_unit = {"by": by, "unit": tables[0]["unit"].iloc[0]}
                again = {ALL_PAIRS} if k else set()
                rows = size_fit(pd.concat([part.thresholds for part in analysed], ignore_index=True))
                wanted = pd.concat([part.gains for part in analysed], ignore_index=True)
                fitted.append(rows[~rows["relation"].isin(again)].assign(**of_unit))
                scaled.append(wanted[~wanted["relation"].isin(again)].assign(**of_unit))
                if one.test_set.name in shown and not k and tables is one.segments:
                    curves.append(analysed[-1].curve)
                    points += [_drawn(rows) for _, rows in analysed[-1].pairs.frame.groupby("relation", sort=False)]
    whole_sets = pd.concat([one.segments[-1] for one in compared], ignore_index=True)
    if study.comparison.alternative == "greater":
        # Who leads a leaderboard, nobody said beforehand.
        whole_sets = two_sided(whole_sets)
    columns = ["test_set", "n_items", "metric", "alternative", "relation", "gain", "p_value", "confidence"]
    drawn = [table for table in curves if len(table)] or curves[:1]
    return {
        "leaderboard": boards.drop(columns="task"),
        "thresholds": pd.concat(fitted, ignore_index=True),
        "significant_gains": pd.concat(scaled, ignore_index=True),
        "ranks": ranks(whole_sets, alpha=study.alpha, leaderboards=boards),
        "curves": pd.concat(drawn, ignore_index=True),
        "points": pd.concat(points, ignore_index=True)[columns],
    }


def _drawn(pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs of one relation class that a figure shows: all, unless they are very many."""
    drawn = pairs if len(pairs) <= page.POINTS else plotted_pairs(pairs, page.POINTS)
    return drawn.assign(confidence=confidence(drawn))
