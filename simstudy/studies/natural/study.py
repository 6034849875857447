"""The study of natural comparisons: read what others made, compare, analyse, draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from simstudy.comparisons.comparisons import Comparisons
from simstudy.comparisons.duplicates import distinct
from simstudy.comparisons.ranks import ranks
from simstudy.comparisons.relation_classes import confidence
from simstudy.comparisons.thresholds import size_fit
from simstudy.examination import classified
from simstudy.outputs import TestSet
from simstudy.pairs import ALL_PAIRS
from simstudy.running.progress import doing
from simstudy.statistics.decisions import two_sided
from simstudy.studies.comparing import compare_by_items, leaderboards, run_comparisons
from simstudy.studies.context import Findings, RunContext, Shown
from simstudy.studies.figures import POINTS, plotted_pairs
from simstudy.studies.natural import gains, page
from simstudy.studies.natural.cross_domain import cross_domain, homes_of
from simstudy.studies.natural.definition import NaturalStudy
from simstudy.studies.natural.facts import answers, facts
from simstudy.studies.natural.kept import KeptReads
from simstudy.studies.natural.sources import n_test_sets, read_all
from simstudy.studies.problems import Problems, check_comparison
from simstudy.tables import TEST_SET

#: A test set, and the comparisons on its segments (the whole comes last) and by items where these are no units.
Compared = tuple[TestSet, list[pd.DataFrame], pd.DataFrame | None]


def run(study: NaturalStudy, context: RunContext) -> Findings:
    """Read, compare on all test sets, and analyse."""
    kept = KeptReads(context.reads)
    with context.clock("data"), doing("reading outputs", n_test_sets(study.test_sets)) as advance:
        found, hashes = read_all(
            study.name,
            study.test_sets,
            context.data_dir,
            advance,
            allow_outside=context.allow_outside,
            duplicates=study.duplicates,
            home=context.home,
            kept=kept,
        )
    asked = [one.with_settings(study.comparison.unit, **study.comparison.settings(study.seed)) for one in found]
    test_sets, duplicates = _distinct(asked)
    check(study, test_sets)
    if context.listed is None:
        kept.write()
    settings = study.model_dump(exclude={"title", "question"})
    return context.findings(
        run, (settings, found, hashes), lambda: _computed(study, found, test_sets, duplicates, hashes, context)
    )


def _computed(
    study: NaturalStudy,
    found: Sequence[TestSet],
    test_sets: list[TestSet],
    duplicates: pd.DataFrame,
    hashes: dict[str, str],
    context: RunContext,
) -> Findings:
    """Compare on all test sets, and analyse."""
    with context.clock("comparisons"):
        compared = _compare_all(test_sets, context)
    with context.clock("leaderboards"):
        boards = leaderboards(test_sets, study.seed, context)
    with context.clock("calibration"):
        calibrated = [cross_domain(study, part, test_sets, context) for part in study.calibration]
    with context.clock("analyses"):
        tables = _analyse(study, compared, boards)
        tables["duplicates"] = duplicates
        if calibrated:
            tables["calibration"] = pd.concat(calibrated, ignore_index=True)
    everything = pd.concat([table for _, segments, _ in compared for table in segments], ignore_index=True)
    return Findings(
        tables=tables,
        facts=facts(study, everything, [note for one in found for note in one.notes]),
        answers=answers(study, tables["leaderboard"], _whole_sets(study, compared)),
        data={"files": hashes},
        comparisons=everything,
    )


def show(study: NaturalStudy, tables: Mapping[str, pd.DataFrame]) -> Shown:
    """The page of the tables."""
    return Shown(
        sections=page.sections(tables, study),
        closing=page.closing(study),
        summary=gains.summary(tables["significant_gains"], study.shown),
    )


def check(study: NaturalStudy, test_sets: Sequence[TestSet]) -> None:
    """Raise a StudyError that says every comparison that cannot be made of these systems, and why."""
    problems = Problems(study.name)
    # One list of sizes serves all test sets of an entry; one of them must have as many items.
    for entry in study.test_sets:
        of_entry = [one for one in test_sets if one.name in entry.names and one.metric in entry.metrics]
        largest = max(one.outputs.n_items for one in of_entry)
        for one in of_entry:
            where, n_items = f"test set '{one.name}'", one.outputs.n_items
            if one.outputs.n_systems < 2:
                problems.add(where, "fewer than 2 systems are left, without near-duplicates and those of leave_out")
                continue
            for size in one.sizes:
                if size > largest:
                    problems.add(f"{where}, sizes", f"{size} is more than its {n_items} items")
            for segment in one.segments():
                size = segment.outputs.n_items
                with problems.at(where if size == n_items else f"{where}, sizes {size}"):
                    check_comparison(segment)
    for number, followed in enumerate(study.calibration):
        with problems.at(f"calibration.{number}"):
            for home, _ in homes_of(followed, test_sets):
                check_comparison(study.comparison.on(home, study.seed))
    problems.raise_any()


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
    return list(zip(test_sets, of_segments, compare_by_items(test_sets, context), strict=True))


def _analyse(study: NaturalStudy, compared: list[Compared], boards: pd.DataFrame) -> dict[str, pd.DataFrame]:
    shown = study.shown or list(dict.fromkeys(one.name for one, _, _ in compared))[:6]
    fitted: list[pd.DataFrame] = []
    scaled: list[pd.DataFrame] = []
    curves, points = [], []
    for one, segments, by_items in compared:
        # Without a column that tells classes apart there is one class.
        for k, by in enumerate(one.by or ("",)):
            for tables in [segments, *([] if by_items is None else [[by_items]])]:
                classes = [Comparisons(classified(table, one.outputs, by)) for table in tables]
                of_unit = {"by": by, "unit": tables[0]["unit"].iloc[0]}
                rows = size_fit(pd.concat([pairs.thresholds(seed=study.seed) for pairs in classes], ignore_index=True))
                gains_of = [pairs.significant_gains(alpha=study.alpha) for pairs in classes]
                for found, table in ((fitted, rows), (scaled, pd.concat(gains_of, ignore_index=True))):
                    # All pairs are the same by every column.
                    found.append((table[table["relation"] != ALL_PAIRS] if k else table).assign(**of_unit))
                if one.name in shown and not k and tables is segments:
                    curves.append(classes[-1].curve())
                    points += [_drawn(rows) for _, rows in classes[-1].frame.groupby("relation", sort=False)]
    columns = ["test_set", "n_items", "metric", "alternative", "relation", "gain", "p_value", "confidence"]
    drawn = [table for table in curves if len(table)] or curves[:1]
    return {
        "leaderboard": boards.drop(columns="task"),
        "thresholds": pd.concat(fitted, ignore_index=True),
        "significant_gains": pd.concat(scaled, ignore_index=True),
        "ranks": _ranks(_whole_sets(study, compared), boards, study.alpha),
        "curves": pd.concat(drawn, ignore_index=True),
        "points": pd.concat(points, ignore_index=True)[columns],
    }


def _ranks(pairs: pd.DataFrame, boards: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Significant neighbours of each test set, and what its leaderboard says of the best system and of ranks."""
    sizes = boards.assign(rank_width=boards["rank_high"] - boards["rank_low"]).groupby(TEST_SET, sort=False)
    sets = sizes.agg(n_may_be_best=("may_be_best", "sum"), rank_width=("rank_width", "median"))
    return ranks(pairs, alpha=alpha).merge(sets, left_on=TEST_SET, right_index=True, how="left")


def _whole_sets(study: NaturalStudy, compared: list[Compared]) -> pd.DataFrame:
    """All pairs on whole test sets, two-sided: who leads a leaderboard, nobody said beforehand."""
    pairs = pd.concat([segments[-1] for _, segments, _ in compared], ignore_index=True)
    return two_sided(pairs) if study.comparison.alternative == "greater" else pairs


def _drawn(pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs of one relation class that a figure shows: all, unless they are very many."""
    drawn = pairs if len(pairs) <= POINTS else plotted_pairs(pairs, POINTS)
    return drawn.assign(confidence=confidence(drawn))
