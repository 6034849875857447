"""The study of Yeh 2000: the modifier example, what correlation costs, all tests side by side, dependent items."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from simstudy.analyses.correlation import correlation, independence_ratio
from simstudy.cells import Cell
from simstudy.choices import check_choice
from simstudy.engines.comparisons import applicable, compare, run_twice
from simstudy.engines.registry import ALTERNATIVES, TESTS
from simstudy.fingerprints import derived_seed
from simstudy.generators.clustered import all_alike, clustered_accuracies
from simstudy.generators.resampled import variants
from simstudy.outputs import Outputs
from simstudy.pvalues import clopper_pearson
from simstudy.runner import progress_bar, run_cells
from simstudy.studies.definition import StudyError
from simstudy.studies.findings import Findings, RunContext
from simstudy.studies.problems import Problems
from simstudy.studies.resampling.study import train
from simstudy.studies.side_by_side import side_by_side
from simstudy.studies.yeh_2000 import page
from simstudy.studies.yeh_2000.definition import METRICS, PRINTED_SHUFFLES, Dependence, Example, Yeh2000
from simstudy.tasks import Task, load_task


def run(study: Yeh2000, context: RunContext) -> Findings:
    """Compute every figure that the paper prints, and do its experiments on systems of our own."""
    with context.clock("data"):
        task = load_task(study.systems.task, context.data_dir)
    _check(study, task)
    with context.clock("the example"):
        tables = {
            "example": _example(study),
            "randomization": _randomization(study, context.n_jobs),
            "example_tests": _example_tests(study),
            "independence": _independence(study),
            "five_flips": pd.DataFrame(
                {"correlation": study.flips, "all_alike": [all_alike(5, r) for r in study.flips]}
            ),
        }
    with context.clock("dependent items"):
        tables["dependence"] = _dependence(study, context)
    with context.clock("training"):
        outputs = train(task, study.systems.training, study.seed, context)[study.systems.test_set]
    with context.clock("tests side by side"):
        beside = side_by_side(outputs, study.tests, study.seed, context)
    tables |= beside.tables
    return Findings(
        tables,
        page.example_sections(tables) + beside.sections + page.dependence_sections(tables, study.dependence),
        {
            "Shuffles": f"{study.n_shuffles:,}",
            "Systems": f"{outputs.n_systems} of task {task.name} on {outputs.n_items:,} items",
            "Seed": str(study.seed),
        },
        page.CLOSING,
        page.summary(tables),
        {"task": task.fingerprint, "files": dict(task.files)},
    )


def _check(study: Yeh2000, task: Task) -> None:
    """Raise a StudyError that says everything that is wrong, before anything is drawn or trained."""
    problems = Problems(study.name)
    known: list[str] = []
    for relations in study.example.relations:
        with problems.at("example.relations"):
            known = list(quantities(study.example, relations))
    for name in study.printed if known else ():
        with problems.at("printed"):
            check_choice("a name", name, known)
    with problems.at("systems.test_set"):
        check_choice(f"a test set of task '{task.name}'", study.systems.test_set, task.test_sets)
    with problems.at("systems.training"):
        variants(task, study.systems.training.fractions, study.systems.training.replicates)
    problems.raise_any()


def responses(example: Example, relations: int, metric: str) -> Outputs:
    """The example as response-level outputs of methods I and II."""
    found = example.found_by_both + example.found_by_1 + example.found_by_2
    if relations < found:
        raise StudyError(f"{relations} is less than the {found} that were found")
    spurious = example.spurious_in_both + example.spurious_in_1 + example.spurious_in_2
    gold = [f"relation {k + 1}" for k in range(relations)]
    wrong = [f"spurious {k + 1}" for k in range(spurious)]
    methods = {}
    for name, in_1 in (("I", True), ("II", False)):
        methods[name] = [
            *_part(gold, example.found_by_both, example.found_by_1, example.found_by_2, in_1),
            *_part(wrong, example.spurious_in_both, example.spurious_in_1, example.spurious_in_2, in_1),
        ]
    return Outputs.from_responses(gold, methods, metric, task="modifiers", test_set=f"{relations} relations")


def _part(responses: list[str], both: int, only_1: int, only_2: int, in_1: bool) -> list[str]:
    first = both if in_1 else both + only_1
    return responses[:both] + responses[first : first + (only_1 if in_1 else only_2)]


def quantities(example: Example, relations: int) -> dict[str, tuple[str, float]]:
    """What the paper prints of the example and what comes out: name -> (in words, value)."""
    scores = {m: dict(zip(o.names, o.scores(), strict=True)) for m, o in _by_metric(example, relations).items()}
    precision = responses(example, relations, "precision")
    chi = compare(precision, test="chi_square").iloc[0]
    found = _relations_only(example, relations)
    return {
        **{
            f"{metric}_{number}": (f"{metric} of {name}, %", float(scores[metric][name]))
            for metric in scores
            for number, name in ((1, "I"), (2, "II"))
        },
        "chi_square": ("chi-square of the precisions", float(chi.statistic)),
        "chi_square_p": ("its p-value", float(chi.p_value)),
        "r12": ("correlation r12 of the recalls", float(correlation(found)["r12"][0])),
    }


def _by_metric(example: Example, relations: int) -> dict[str, Outputs]:
    return {metric: responses(example, relations, metric) for metric in METRICS}


def _relations_only(example: Example, relations: int) -> Outputs:
    """Found or not, for the relations alone: what tests of recall as a mean look at."""
    return responses(example, relations, "recall").take(np.arange(relations))


def _example(study: Yeh2000) -> pd.DataFrame:
    by_reading = [quantities(study.example, relations) for relations in study.example.relations]
    rows: list[dict[str, Any]] = []
    for name, (words, _) in by_reading[0].items():
        row: dict[str, Any] = {"quantity": words, "printed": study.printed.get(name, "")}
        for relations, found in zip(study.example.relations, by_reading, strict=True):
            row[f"of {relations} relations"] = found[name][1]
        rows.append(row)
    return pd.DataFrame(rows)


def _randomization(study: Yeh2000, n_jobs: int) -> pd.DataFrame:
    """For each metric, one- and two-sided: the paper's count, the exact p-value, ours of two runs."""
    rows = []
    for metric, outputs in _by_metric(study.example, study.example.relations[0]).items():
        for alternative in ALTERNATIVES:
            settings: dict[str, Any] = {"test": "randomization", "alternative": alternative}
            exact = {
                relations: float(
                    compare(responses(study.example, relations, metric), monte_carlo=False, **settings).p_value[0]
                )
                for relations in study.example.relations
            }
            seeds = (study.seed, derived_seed(study.seed, "a second run") % 2**64)
            twice = run_twice(outputs, seeds=seeds, n_resamples=study.n_shuffles, n_jobs=n_jobs, **settings).iloc[0]
            low, high = clopper_pearson(twice.n_extreme_1, study.n_shuffles)
            p = exact[study.example.relations[0]]
            printed = study.printed_counts.get(metric) if alternative == "greater" else None
            rows.append(
                {
                    "metric": metric,
                    "alternative": alternative,
                    "printed_p": study.printed_levels.get(f"{metric}, {alternative}", ""),
                    "printed_n_extreme": printed,
                    **{f"exact_p_{relations}": value for relations, value in exact.items()},
                    "p_value": twice.p_value_1,
                    "p_low": float(low),
                    "p_high": float(high),
                    "p_value_again": twice.p_value_2,
                    "z_of_two_runs": twice.z,
                    "z_ours": _z(twice.n_extreme_1, study.n_shuffles, p),
                    "z_printed": np.nan if printed is None else _z(printed, PRINTED_SHUFFLES, p),
                }
            )
    return pd.DataFrame(rows).astype({"printed_n_extreme": "Int64"})


def _z(n_extreme: int, n_shuffles: int, p: float) -> float:
    """How many standard errors a count of extreme shuffles is from what the exact p-value lets expect."""
    return float((n_extreme - p * n_shuffles) / np.sqrt(p * (1 - p) * n_shuffles))


def _example_tests(study: Yeh2000) -> pd.DataFrame:
    """Every test that applies to the example, by metric; recall as found or not found, relation by relation."""
    relations = study.example.relations[0]
    outputs = {**_by_metric(study.example, relations), "recall": _relations_only(study.example, relations)}
    rows = []
    for metric, of_metric in outputs.items():
        for test in applicable(of_metric):
            both = compare(of_metric, test=test, alternative="two-sided").iloc[0]
            row = {"metric": metric, "test": test, "better": both.system_a, "gain": both.gain}
            has_one = "greater" in TESTS[test].alternatives
            one = float(compare(of_metric, test=test, alternative="greater").p_value[0]) if has_one else np.nan
            rows.append({**row, "p_one_sided": one, "p_two_sided": both.p_value, "exact": both.exact})
    return pd.DataFrame(rows)


def _independence(study: Yeh2000) -> pd.DataFrame:
    r12, printed = zip(*study.printed_ratios, strict=True)
    return pd.DataFrame({"r12": r12, "printed": printed, "computed": independence_ratio(r12)})


def _dependence(study: Yeh2000, context: RunContext) -> pd.DataFrame:
    settings = study.dependence
    cells = [
        Cell(
            label=f"dependence {within:g} by {unit}",
            description={
                "kind": "dependence",
                "settings": settings.model_dump(exclude={"within"}),
                "within": within,
                "unit": unit,
                "seed": study.seed,
            },
            arguments=(settings, within, unit, study.seed),
        )
        for within in settings.within
        for unit in ("item", "cluster")
    ]
    with progress_bar("dependent items", len(cells)) as advance:
        counts = run_cells(
            _rejections, cells, n_jobs=context.n_jobs, cache=context.cells, finished=lambda _: advance(1)
        )
    rows = []
    for cell, n_rejected in zip(cells, counts, strict=True):
        low, high = clopper_pearson(n_rejected, settings.n_data)
        row = {"within": cell.description["within"], "unit": cell.description["unit"], "alpha": settings.alpha}
        share = {"n_data": settings.n_data, "n_rejected": n_rejected, "share": n_rejected / settings.n_data}
        rows.append({**row, **share, "low": float(low), "high": float(high)})
    return pd.DataFrame(rows)


def _rejections(settings: Dependence, within: float, unit: str, seed: int) -> int:
    """How many pairs of equally good systems randomization of this unit tells apart, two-sided."""
    rejected = 0
    for k in range(settings.n_data):
        pair = clustered_accuracies(
            [settings.accuracy, settings.accuracy],
            settings.n_clusters,
            settings.cluster_size,
            within=within,
            between=settings.between,
            seed=derived_seed(seed, "dependence", within, k) % 2**64,
        )
        row = compare(pair, test="randomization", alternative="two-sided", unit=unit)
        rejected += int(row["p_value"][0] <= settings.alpha)
    return rejected
