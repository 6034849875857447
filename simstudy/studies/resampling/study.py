"""The study of training-set resampling: train, compare, analyse, draw. Every finished piece is kept and found again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

import pandas as pd

from simstudy.comparisons.calibration import calibration
from simstudy.comparisons.curves import curve
from simstudy.comparisons.thresholds import size_fit, thresholds
from simstudy.engines.descriptions import described_test
from simstudy.engines.registry import TESTS
from simstudy.outputs import Outputs
from simstudy.statistics.decisions import two_sided
from simstudy.studies.baselines import baseline, compare_redrawn, with_baseline
from simstudy.studies.comparing import compare_by_items, run_comparisons
from simstudy.studies.context import Findings, RunContext, Shown
from simstudy.studies.definition import Training
from simstudy.studies.figures import thinned
from simstudy.studies.problems import Problems
from simstudy.studies.resampling import page, test_sets
from simstudy.studies.resampling.definition import ResamplingStudy
from simstudy.studies.resampling.explained import explained, explained_sections
from simstudy.studies.side_by_side import side_by_side, side_by_side_sections
from simstudy.training import Task, load_task
from simstudy.training.resampling import outputs_of_variants, train_variant, training_cells, variants
from simstudy.validation import check_choice


def run(
    study: ResamplingStudy,
    context: RunContext,
    overlay: Callable[[pd.DataFrame], dict[str, pd.DataFrame]] | None = None,
    natural: Outputs | None = None,
) -> Findings:
    """Train, compare on all test sets, and analyse.

    `overlay` makes tables of the pairs at home on all items, and of `natural` outputs.
    """
    with context.clock("data"):
        task = load_task(study.task, context.data_dir, folder=study.folder)
    parts = (task.name, task.train, task.test_sets, task.systems, task.statistics, task.files)
    settings = study.model_dump(exclude={"title", "question"})
    return context.findings(run, (settings, *parts, natural), lambda: _computed(study, task, context, overlay))


def _computed(
    study: ResamplingStudy,
    task: Task,
    context: RunContext,
    overlay: Callable[[pd.DataFrame], dict[str, pd.DataFrame]] | None,
) -> Findings:
    """Train, compare on all test sets, and analyse."""
    test_sets.check(study, task)
    with context.clock("training"):
        of_metrics = {
            metric: train(task, study.training, study.seed, context, metric) for metric in study.metrics or task.metrics
        }
    outputs, *by_other_metrics = of_metrics.values()
    home, size = study.home.test_set, study.home.sizes[-1]
    whole = test_sets.find(outputs, home).head(size)
    with context.clock("comparisons"):
        pairs = _compare_all(study, outputs, context)
        (by_item,) = compare_by_items([study.comparison.on(whole, study.seed)], context)
        others = [_compare_home(study, other, context) for other in by_other_metrics]
    at_home = pairs[pairs["test_set"] == home]
    across = _across_domains(study, outputs, pairs, context)
    identical = _redrawn(study, outputs, context)
    with context.clock("analyses"):
        tables = {
            "systems": _systems(of_metrics),
            "thresholds": _thresholds(study, pairs, by_item, others),
            "curves": curve(pairs),
            "points": thinned(pairs, home, size),
            **identical,
            **across,
        }
        if overlay is not None:
            resampled = at_home if by_item is None else by_item
            tables |= overlay(resampled[resampled["n_items"] == size])
    with context.clock("what p follows from"):
        tables |= explained(at_home, whole, study.seed)
    if study.tests:
        with context.clock("tests side by side"):
            tables |= side_by_side(test_sets.find(outputs, home), study.tests, study.seed, context)
    return Findings(
        tables=tables,
        facts=_facts(study, of_metrics, pairs),
        data={"task": task.fingerprint, "files": {**task.files}},
        comparisons=pairs,
    )


def show(study: ResamplingStudy, tables: Mapping[str, pd.DataFrame]) -> Shown:
    """The page of the tables."""
    home, domain_size = study.home, study.domains.size if study.domains else None
    of_page = page.sections(tables, home=home.test_set, home_size=home.sizes[-1], domain_size=domain_size)
    beside = side_by_side_sections(tables) if study.tests else []
    return Shown(
        sections=[*of_page, *explained_sections(tables), *beside], closing=page.CLOSING, summary=page.summary(tables)
    )


def check_systems(task: Task, test_set: str, training: Training, problems: Problems) -> None:
    """Find out, before anything is trained, whether a task has this test set, and enough items to train on."""
    with problems.at("systems.test_set"):
        check_choice(f"a test set of task '{task.name}'", test_set, task.test_sets)
    with problems.at("systems.training"):
        variants(task, training.fractions, training.replicates)


def train(
    task: Task, training: Training, seed: int, context: RunContext, metric: str | None = None
) -> dict[str, Outputs]:
    """The resampled systems of a task on all its test sets; those that are trained already are found."""
    todo = variants(task, training.fractions, training.replicates)
    results = context.run("training systems", train_variant, training_cells(task, todo, seed))
    return outputs_of_variants(task, todo, results, metric)


def _compare_all(study: ResamplingStudy, outputs: dict[str, Outputs], context: RunContext) -> pd.DataFrame:
    """The home test set at all sizes, and the domains (and their home) at one."""
    home = test_sets.find(outputs, study.home.test_set)
    segments = [home.head(size) for size in study.home.sizes]
    if study.domains:
        followed = test_sets.domain_home(study, outputs)
        names = study.domains.curves or study.domains.test_sets
        others = [followed, *(test_sets.find(outputs, name) for name in names)]
        segments += [other.head(study.domains.size) for other in others] + [followed]
        # Home at the domains' size is one more of its nested sizes.
        segments.sort(key=lambda segment: (segment.test_set != home.test_set, segment.n_items))
    distinct = {(segment.test_set, segment.n_items): segment for segment in segments}.values()
    asked = [study.comparison.on(segment, study.seed) for segment in distinct]
    return pd.concat(run_comparisons("comparing systems", asked, context), ignore_index=True)


def _compare_home(study: ResamplingStudy, outputs: dict[str, Outputs], context: RunContext) -> pd.DataFrame:
    """The home test set at all sizes, by another metric than the first."""
    home = test_sets.find(outputs, study.home.test_set)
    asked = [study.comparison.on(home.head(size), study.seed) for size in study.home.sizes]
    return pd.concat(run_comparisons(f"the same by {home.metric.label}", asked, context), ignore_index=True)


def _redrawn(study: ResamplingStudy, outputs: dict[str, Outputs], context: RunContext) -> dict[str, pd.DataFrame]:
    """The winners of redrawn test sets, followed to the population."""
    asked = study.calibration
    if asked is None:
        return {}
    with context.clock("redrawn test sets"):
        own = {"unit": asked.unit} if asked.unit else {}
        setting = study.comparison.model_copy(update={"n_resamples": asked.n_resamples, **own})
        population = reduce(Outputs.join_items, (test_sets.find(outputs, name) for name in asked.population))
        pairs = compare_redrawn(setting.on(population, study.seed), asked.size, asked.n_draws, context)
        table = calibration(pairs, {"population": population}, population=True, seed=study.seed)
    return {"calibration_identical": table}


def _across_domains(
    study: ResamplingStudy, outputs: dict[str, Outputs], pairs: pd.DataFrame, context: RunContext
) -> dict[str, pd.DataFrame]:
    """The winners of one domain, followed to others and within their own test set's population."""
    if study.domains is None:
        return {}
    with context.clock("halves of the home test set"):
        home = test_sets.domain_home(study, outputs)
        others = {name: test_sets.find(outputs, name) for name in study.domains.test_sets}
        sizes = {name: other.n_items for name, other in others.items()}
        setting = study.comparison.on(home, study.seed)
        halved = baseline(setting, sizes, n_splits=study.domains.n_splits, context=context)
        whole = pairs[(pairs["test_set"] == home.test_set) & (pairs["n_items"] == home.n_items)]
        table = with_baseline(calibration(whole, others, seed=study.seed), halved)
    return {"calibration_domains": table}


def _thresholds(
    study: ResamplingStudy, pairs: pd.DataFrame, by_item: pd.DataFrame | None, by_other_metrics: list[pd.DataFrame]
) -> pd.DataFrame:
    """Thresholds by the study's p-values, two-sided where those are one-sided, and by items; then by other metrics."""
    at_home = pairs["test_set"] == study.home.test_set
    parts = [(pairs[at_home], True), (pairs[~at_home], False), *([] if by_item is None else [(by_item, False)])]
    tables = []
    for kinds in [parts, *([(table, True)] for table in by_other_metrics)]:
        if study.comparison.alternative == "greater":
            kinds = [*kinds, *((two_sided(part), fit) for part, fit in kinds)]
        for part, fit in kinds:
            if len(part):
                rows = thresholds(part, seed=study.seed)
                if fit:
                    rows = size_fit(rows)
                    rows = rows.assign(residual=rows["threshold"] / rows["fit"] - 1)
                # Test sets that name no clusters are compared by items.
                units = rows["test_set"].map(part.groupby("test_set")["unit"].first())
                tables.append(rows.assign(alternative=part["alternative"].iloc[0], unit=units))
    return pd.concat(tables, ignore_index=True)


def _systems(of_metrics: dict[str, dict[str, Outputs]]) -> pd.DataFrame:
    """Every system with its score on every test set by every metric."""
    table = next(iter(next(iter(of_metrics.values())).values())).systems
    for outputs in of_metrics.values():
        for name, found in outputs.items():
            what = "score" if len(of_metrics) == 1 else found.metric.label
            table = table.assign(**{f"{what} on {name}": found.scores()})
    return table


def _facts(study: ResamplingStudy, of_metrics: dict[str, dict[str, Outputs]], pairs: pd.DataFrame) -> dict[str, str]:
    home, *others = (test_sets.find(outputs, study.home.test_set) for outputs in of_metrics.values())
    families = home.systems["family"].value_counts(sort=False)
    sizes = sorted(home.systems["train_size"].unique(), reverse=True)
    one, whole = pairs.iloc[0], pairs[pairs["test_set"] == study.home.test_set].iloc[-1]
    units = "items" if one.unit == "item" else f"{one.unit}s ({whole.n_units:,} on the whole home test set)"
    also = f"; thresholds also by {', '.join(other.metric.label for other in others)}" if others else ""
    return {
        "Systems": f"{home.n_systems}: " + ", ".join(f"{count} {name}" for name, count in families.items()),
        "Training items drawn with replacement": ", ".join(f"{size:,}" for size in sizes),
        "Test": f"{described_test(pairs)}; units are {units}",
        "Null hypothesis": TESTS[one.test].null,
        "Metric": f"{home.metric.label}{also}",
        "Seed": str(study.seed),
    }
