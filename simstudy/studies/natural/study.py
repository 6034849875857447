"""The study of natural comparisons: read what others made, compare, analyse, draw."""

from __future__ import annotations

import pandas as pd

from simstudy.analyses.ranks import ranks
from simstudy.analyses.relation_classes import ALL_PAIRS, confidence
from simstudy.analyses.thresholds import size_fit
from simstudy.decisions import two_sided
from simstudy.examination import Analysed, classified, distinct
from simstudy.outputs import Outputs
from simstudy.progress import progress_bar
from simstudy.studies.comparing import compare_by_items, run_comparisons
from simstudy.studies.interface import Findings, RunContext
from simstudy.studies.natural import gains, page
from simstudy.studies.natural.checks import check, settings_of
from simstudy.studies.natural.cross_domain import cross_domain
from simstudy.studies.natural.definition import NaturalStudy
from simstudy.studies.natural.leaderboards import leaderboards
from simstudy.studies.natural.sources import Found, n_test_sets, read_all
from simstudy.studies.points import even_choice

Key = tuple[str, str]
"""Name of a test set, and metric."""


def run(study: NaturalStudy, context: RunContext) -> Findings:
    """Read, compare on all test sets, analyse and draw."""
    with context.clock("data"), progress_bar("reading outputs", n_test_sets(study.test_sets)) as advance:
        found, hashes = read_all(
            study.name, study.test_sets, context.data_dir, advance, allow_outside=context.allow_outside
        )
    outputs, duplicates = _distinct(study, found)
    check(study, outputs, {key: part.settings for key, part in found.items()})
    with context.clock("comparisons"):
        pairs = _compare_all(study, found, outputs, context)
        whole = [(one, settings_of(study, found[key].settings), study.seed) for key, one in outputs.items()]
        by_items = dict(zip(outputs, compare_by_items(whole, context), strict=True))
    with context.clock("leaderboards"):
        boards = leaderboards(outputs, study.comparison.unit, study.seed, context)
    with context.clock("calibration"):
        calibrated = [cross_domain(study, part, outputs, context) for part in study.calibration]
    with context.clock("analyses and figures"):
        tables = _analyse(study, found, outputs, pairs, by_items, boards)
        tables["duplicates"] = duplicates
        if calibrated:
            tables["calibration"] = pd.concat(calibrated, ignore_index=True)
        sections = page.sections(tables, study)
    everything = pd.concat(pairs.values(), ignore_index=True)
    facts = page.facts(study, everything, [note for part in found.values() for note in part.loaded.notes])
    summary = gains.summary(tables["significant_gains"], study.shown)
    return Findings(
        tables=tables,
        sections=sections,
        facts=facts,
        closing=page.closing(study),
        summary=summary,
        data={"files": hashes},
        comparisons=everything,
    )


def _distinct(study: NaturalStudy, found: dict[Key, Found]) -> tuple[dict[Key, Outputs], pd.DataFrame]:
    """The systems to compare, and the near-duplicates among all; the column dropped says which were left out."""
    kept, tables = {}, []
    for key, part in found.items():
        kept[key], alike = distinct(part.loaded.outputs, part.settings.duplicates or study.duplicates)
        staying = set(kept[key].names)
        names = alike[["system_a", "system_b"]].to_numpy().tolist()
        dropped = [" and ".join(name for name in pair if name not in staying) for pair in names]
        tables.append(alike.assign(metric=key[1], dropped=dropped))
    return kept, pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True)


def _compare_all(
    study: NaturalStudy, found: dict[Key, Found], outputs: dict[Key, Outputs], context: RunContext
) -> dict[tuple[str, str, int], pd.DataFrame]:
    """Comparisons by test set, metric and size: initial segments and the whole."""
    segments: dict[tuple[str, str, int], Outputs] = {}
    for (name, metric), whole in outputs.items():
        sizes = [size for size in found[name, metric].settings.sizes if size < whole.n_items]
        for size in [*sizes, whole.n_items]:
            segments[name, metric, size] = whole.head(size)
    asked = [
        (segment, settings_of(study, found[name, metric].settings), study.seed)
        for (name, metric, _), segment in segments.items()
    ]
    return dict(zip(segments, run_comparisons("comparing systems", asked, context), strict=True))


def _analyse(
    study: NaturalStudy,
    found: dict[Key, Found],
    outputs: dict[Key, Outputs],
    pairs: dict[tuple[str, str, int], pd.DataFrame],
    by_items: dict[Key, pd.DataFrame | None],
    boards: pd.DataFrame,
) -> dict[str, pd.DataFrame]:
    shown = study.shown or list(dict.fromkeys(name for name, _ in outputs))[:6]
    fitted, scaled, curves, points = [], [], [], []
    for key, whole in outputs.items():
        name, metric = key
        of_sizes = [table for (n, m, _), table in pairs.items() if (n, m) == key]
        by_item = by_items[key]
        # Without a column that tells classes apart there is one class.
        for k, by in enumerate(found[key].settings.by or [""]):
            for tables in [of_sizes, *([] if by_item is None else [[by_item]])]:
                analysed = [Analysed(classified(table, whole, by), study.alpha, study.seed) for table in tables]
                of_unit = {"by": by, "unit": tables[0]["unit"].iloc[0]}
                again = {ALL_PAIRS} if k else set()
                rows = size_fit(pd.concat([one.thresholds for one in analysed], ignore_index=True))
                wanted = pd.concat([one.gains for one in analysed], ignore_index=True)
                fitted.append(rows[~rows["relation"].isin(again)].assign(**of_unit))
                scaled.append(wanted[~wanted["relation"].isin(again)].assign(**of_unit))
                if name in shown and not k and tables is of_sizes:
                    curves.append(analysed[-1].curve)
                    points += [_drawn(rows) for _, rows in analysed[-1].pairs.groupby("relation", sort=False)]
    whole_sets = pd.concat(
        [pairs[name, metric, whole.n_items] for (name, metric), whole in outputs.items()], ignore_index=True
    )
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
    drawn = pairs if len(pairs) <= page.POINTS else even_choice(pairs, page.POINTS)
    return drawn.assign(confidence=confidence(drawn))
