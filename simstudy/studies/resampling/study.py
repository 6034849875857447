"""The study of training-set resampling: train, compare, analyse, draw. Every finished piece is kept and found again."""

from __future__ import annotations

from functools import reduce

import pandas as pd

from simstudy.analyses.calibration import calibration, with_baseline
from simstudy.analyses.curves import curve
from simstudy.analyses.thresholds import size_fit, thresholds
from simstudy.engines.registry import TESTS
from simstudy.examination.rows import described_test
from simstudy.outputs import Outputs
from simstudy.statistics.decisions import two_sided
from simstudy.studies.baselines import baseline, compare_redrawn
from simstudy.studies.comparing import compare_by_items, run_comparisons
from simstudy.studies.context import Findings, RunContext
from simstudy.studies.definition import Training
from simstudy.studies.problems import Problems
from simstudy.studies.resampling import page, test_sets
from simstudy.studies.resampling.definition import Calibration, Domains, ResamplingStudy
from simstudy.studies.resampling.explained import explained
from simstudy.studies.resampling.overlay import natural_outputs, overlaid
from simstudy.studies.side_by_side import side_by_side
from simstudy.training import Task, load_task
from simstudy.training.resampling import outputs_of_variants, train_variant, training_cells, variants
from simstudy.validation import check_choice


def run(study: ResamplingStudy, context: RunContext) -> Findings:
    """Train, compare on all test sets, analyse and draw."""
    with context.clock("data"):
        task = load_task(study.task, context.data_dir, folder=study.folder)
    test_sets.check(study, task)
    with context.clock("data of others"):
        natural, hashes, note = natural_outputs(study, context)
    with context.clock("training"):
        of_metrics = {
            metric: train(task, study.training, study.seed, context, metric) for metric in study.metrics or task.metrics
        }
        outputs = next(iter(of_metrics.values()))
    with context.clock("comparisons"):
        pairs = _compare_all(study, outputs, context)
        home, size = study.home.test_set, study.home.sizes[-1]
        whole = test_sets.find(outputs, home).head(size)
        (by_item,) = compare_by_items([study.comparison.on(whole, study.seed)], context)
        by_other_metrics = [_compare_home(study, other, context) for other in [*of_metrics.values()][1:]]
    halved = None
    if study.domains:
        with context.clock("halves of the home test set"):
            halved = _baseline(study, study.domains, outputs, context)
    redrawn = None
    if study.calibration:
        with context.clock("redrawn test sets"):
            redrawn = _redrawn(study, study.calibration, outputs, context)
    with context.clock("analyses and figures"):
        tables = {"systems": pd.DataFrame(), "thresholds": _thresholds(study, pairs, by_item), "curves": curve(pairs)}
        tables["points"] = page.thinned(pairs, home, size)
        tables |= _calibrations(study, outputs, pairs, redrawn=redrawn, halved=halved)
        others = [rows for table in by_other_metrics for rows in _fitted(study, table)]
        tables["thresholds"] = pd.concat([tables["thresholds"], *others], ignore_index=True)
        tables["systems"] = _systems(of_metrics)
        if natural is not None:
            resampled = by_item if by_item is not None else pairs[pairs["test_set"] == home]
            resampled = resampled[resampled["n_items"] == size]
            tables |= overlaid(study, natural, resampled, context)
        domain_size = study.domains.size if study.domains else None
        sections = page.sections(tables, home=home, home_size=size, domain_size=domain_size)
    with context.clock("what p follows from"):
        at_home = pairs[pairs["test_set"] == home]
        told, sections_told = explained(at_home, whole, study.seed)
        tables |= told
        sections += sections_told
    if study.tests:
        with context.clock("tests side by side"):
            at_all_sizes = test_sets.find(outputs, home)
            beside, sections_beside = side_by_side(at_all_sizes, study.tests, study.seed, context)
        tables |= beside
        sections += sections_beside
    return Findings(
        tables=tables,
        sections=sections,
        facts=_facts(study, of_metrics, pairs) | ({"Natural comparisons": note} if note else {}),
        closing=page.CLOSING,
        summary=page.summary(tables),
        data={"task": task.fingerprint, "files": {**task.files, **hashes}},
        comparisons=pairs,
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


def _redrawn(
    study: ResamplingStudy, asked: Calibration, outputs: dict[str, Outputs], context: RunContext
) -> pd.DataFrame:
    own = {"unit": asked.unit} if asked.unit else {}
    setting = study.comparison.model_copy(update={"n_resamples": asked.n_resamples, **own})
    return compare_redrawn(setting.on(_population(asked, outputs), study.seed), asked.size, asked.n_draws, context)


def _baseline(
    study: ResamplingStudy, domains: Domains, outputs: dict[str, Outputs], context: RunContext
) -> pd.DataFrame:
    """What following winners gives within their own test set's population."""
    home = test_sets.domain_home(study, outputs)
    sizes = {name: test_sets.find(outputs, name).n_items for name in domains.test_sets}
    return baseline(study.comparison.on(home, study.seed), sizes, n_splits=domains.n_splits, context=context)


def _population(asked: Calibration, outputs: dict[str, Outputs]) -> Outputs:
    return reduce(Outputs.join_items, (test_sets.find(outputs, name) for name in asked.population))


def _calibrations(
    study: ResamplingStudy,
    outputs: dict[str, Outputs],
    pairs: pd.DataFrame,
    *,
    redrawn: pd.DataFrame | None,
    halved: pd.DataFrame | None,
) -> dict[str, pd.DataFrame]:
    tables = {}
    if study.calibration and redrawn is not None:
        population = {"population": _population(study.calibration, outputs)}
        tables["calibration_identical"] = calibration(redrawn, population, population=True, seed=study.seed)
    if study.domains and halved is not None:
        others = {name: test_sets.find(outputs, name) for name in study.domains.test_sets}
        followed = test_sets.domain_home(study, outputs)
        whole = pairs[(pairs["test_set"] == followed.test_set) & (pairs["n_items"] == followed.n_items)]
        tables["calibration_domains"] = with_baseline(calibration(whole, others, seed=study.seed), halved)
    return tables


def _thresholds(study: ResamplingStudy, pairs: pd.DataFrame, by_item: pd.DataFrame | None) -> pd.DataFrame:
    """Thresholds by the study's p-values, by two-sided ones where those are one-sided, and by items."""
    at_home = pairs["test_set"] == study.home.test_set
    parts = [(pairs[at_home], True), (pairs[~at_home], False)]
    parts += [(by_item, False)] if by_item is not None else []
    parts += [(two_sided(part), fitted) for part, fitted in parts if study.comparison.alternative == "greater"]
    tables = [rows for part, fit in parts if len(part) for rows in _fitted(study, part, fit=fit, both=False)]
    return pd.concat(tables, ignore_index=True)


def _fitted(study: ResamplingStudy, pairs: pd.DataFrame, *, fit: bool = True, both: bool = True) -> list[pd.DataFrame]:
    """Thresholds, if asked with c / sqrt(n) and how far they are from it, and for both sides."""
    rows = thresholds(pairs, seed=study.seed)
    if fit:
        rows = size_fit(rows)
        rows = rows.assign(residual=rows["threshold"] / rows["fit"] - 1)
    found = [rows.assign(alternative=pairs["alternative"].iloc[0], unit=pairs["unit"].iloc[0])]
    if both and study.comparison.alternative == "greater":
        found += _fitted(study, two_sided(pairs), fit=fit, both=False)
    return found


def _systems(of_metrics: dict[str, dict[str, Outputs]]) -> pd.DataFrame:
    """Every system with its score on every test set by every metric."""
    table = next(iter(next(iter(of_metrics.values())).values())).systems
    for outputs in of_metrics.values():
        for name, found in outputs.items():
            what = "score" if len(of_metrics) == 1 else found.metric.label
            table = table.assign(**{f"{what} on {name}": found.scores()})
    return table


def _facts(study: ResamplingStudy, of_metrics: dict[str, dict[str, Outputs]], pairs: pd.DataFrame) -> dict[str, str]:
    first, *others = (test_sets.find(outputs, study.home.test_set).metric.label for outputs in of_metrics.values())
    home = test_sets.find(next(iter(of_metrics.values())), study.home.test_set)
    systems = home.systems
    families = systems["family"].value_counts(sort=False)
    sizes = ", ".join(f"{size:,}" for size in sorted(systems["train_size"].unique(), reverse=True))
    one, whole = pairs.iloc[0], pairs[pairs["test_set"] == study.home.test_set].iloc[-1]
    units = "items" if one.unit == "item" else f"{one.unit}s ({whole.n_units:,} on the whole home test set)"
    return {
        "Systems": f"{len(systems)}: " + ", ".join(f"{count} {name}" for name, count in families.items()),
        "Training items drawn with replacement": sizes,
        "Test": f"{described_test(pairs)}; units are {units}",
        "Null hypothesis": TESTS[one.test].null,
        "Metric": first + (f"; thresholds also by {', '.join(others)}" if others else ""),
        "Seed": str(study.seed),
    }
