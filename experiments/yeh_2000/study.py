"""Yeh 2000: the modifier example, what assuming independence costs, all tests side by side, dependent items.

Alexander Yeh, "More accurate tests for the statistical significance of result differences", COLING 2000.
"""

from __future__ import annotations

from typing import Annotated, Any, Self

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

import simstudy as ss
from simstudy.sections import Figure, Section, Table
from simstudy.studies import (
    EACH_ONCE,
    TASKS,
    Cell,
    Findings,
    Keys,
    Positive,
    Problems,
    RunContext,
    SideBySide,
    Size,
    Study,
    Training,
    all_alike,
    check_systems,
    clopper_pearson,
    derived_seed,
    independence_ratio,
    one_of,
    side_by_side,
    train,
)

# Finding modifier relations, methods I and II (sections 2.2 and 3.3): what both found, only I, only II.
FOUND, SPURIOUS = (19, 28, 6), (5, 43, 9)

# How many relations there are to find: the scan reads 104, but the printed percentages are those of 103.
RELATIONS = (103, 104)

# What the paper prints of the example, by the names of `quantities`.
PRINTED = {
    "recall_I": "45.6",
    "recall_II": "24.3",
    "precision_I": "49.5",
    "precision_II": "64.1",
    "f1_I": "47.5",
    "f1_II": "35.2",
    "chi_square": "2.38",
    "chi_square_p": "0.10 - 0.20",
    "r12": "0.35",
}

# Its significance levels (section 3.3, and 2.2 for both sides of precision), and how many of its shuffles were as
# extreme, one-sided.
PRINTED_LEVELS = {
    ("recall", "greater"): "0.00009",
    ("f1", "greater"): "0.014",
    ("precision", "greater"): "0.025",
    ("precision", "two-sided"): "< 0.04",
}
PRINTED_COUNTS = {"recall": 96, "f1": 14_794, "precision": 25_770}
PRINTED_SHUFFLES = 2**20

# The table of section 2.1: r12, and how many times larger independence makes the standard deviation of a gain.
PRINTED_RATIOS = {0.38: 1.27, 0.50: 1.41, 0.80: 2.24}

# Correlations of five coins (section 4).
FLIPS = (0.0, 0.1, 0.2, 0.4, 0.8)

METRICS = ("recall", "precision", "f1")

Correlation = Annotated[float, Field(ge=0, lt=1)]
Fraction = Annotated[float, Field(gt=0, lt=1)]


class Systems(Keys):
    """Real systems: variants of base models, trained on resampled training sets."""

    task: Annotated[str, one_of(TASKS)]
    test_set: str
    training: Training = Training()


class Dependence(Keys):
    """Equally good systems on items that come in clusters (section 4)."""

    accuracy: Fraction
    n_clusters: Size
    cluster_size: Size
    within: Annotated[list[Correlation], EACH_ONCE] = Field(min_length=1)
    """Latent correlations of a system's results on the items of one cluster."""
    between: Correlation
    """Latent correlation of two systems on one item."""
    n_data: Positive
    """Test sets that are drawn for each correlation."""
    alpha: Fraction = 0.05

    @model_validator(mode="after")
    def _shares(self) -> Self:
        if max(self.within) + self.between > 1:
            both = f"{max(self.within)} + {self.between}"
            raise ValueError(f"within and between must not exceed 1 together, unlike {both}")
        return self


class Settings(Study):
    """The keys of study.toml."""

    n_shuffles: Positive = PRINTED_SHUFFLES
    systems: Systems
    tests: SideBySide = SideBySide()
    dependence: Dependence


def run(study: Settings, context: RunContext) -> Findings:
    """Compute every figure that the paper prints, and do its experiments on systems of our own."""
    with context.clock("data"):
        task = ss.load_task(study.systems.task, context.data_dir)
    problems = Problems(study.name)
    check_systems(task, study.systems.test_set, study.systems.training, problems)
    problems.raise_any()
    with context.clock("the example"):
        tables = {
            "example": example(),
            "randomization": randomization(study, context.n_jobs),
            "example_tests": example_tests(),
            "independence": independence(),
            "five_flips": pd.DataFrame({"correlation": FLIPS, "all_alike": [all_alike(5, r) for r in FLIPS]}),
        }
    with context.clock("dependent items"):
        tables["dependence"] = dependence(study, context)
    with context.clock("training"):
        outputs = train(task, study.systems.training, study.seed, context)[study.systems.test_set]
    with context.clock("tests side by side"):
        beside = side_by_side(outputs, study.tests, study.seed, context)
    return Findings(
        tables | beside.tables,
        [*example_sections(tables), *beside.sections, *dependence_sections(tables, study.dependence)],
        {
            "Shuffles": f"{study.n_shuffles:,}",
            "Systems": f"{outputs.n_systems} of task {task.name} on {outputs.n_items:,} items",
            "Seed": str(study.seed),
        },
        "No p-value here is corrected for the number of pairs. Percentages are percentages; p-values, shares and "
        "correlations are fractions.",
        {
            "Significance levels that the paper prints, exact, and by our shuffles": Table(
                tables["randomization"],
                {name: LEVELS[name] for name in ("metric", "alternative", "paper", "exact p (103)", "our shuffles")},
            )
        },
        {"task": task.fingerprint, "files": dict(task.files)},
    )


# What is computed


def responses(relations: int, metric: str) -> ss.Outputs:
    """The example as response-level outputs of methods I and II, for so many relations."""
    gold = [f"relation {k + 1}" for k in range(relations)]
    wrong = [f"spurious {k + 1}" for k in range(sum(SPURIOUS))]
    methods: dict[str, list[str]] = {"I": [], "II": []}
    for names, (both, only_1, only_2) in ((gold, FOUND), (wrong, SPURIOUS)):
        methods["I"] += names[: both + only_1]
        methods["II"] += names[:both] + names[both + only_1 : both + only_1 + only_2]
    return ss.Outputs.from_responses(gold, methods, metric, task="modifiers", test_set=f"{relations} relations")


def found_or_not(relations: int) -> ss.Outputs:
    """The relations alone: what tests of recall as a mean look at."""
    return responses(relations, "recall").take(np.arange(relations))


def quantities(relations: int) -> dict[str, tuple[str, float]]:
    """What the paper prints of the example, and what comes out: name -> (in words, value)."""
    of_metric = {metric: responses(relations, metric) for metric in METRICS}
    chi = ss.compare(of_metric["precision"], test="chi_square").iloc[0]
    return {
        **{
            f"{metric}_{name}": (f"{metric} of {name}, %", float(score))
            for metric, outputs in of_metric.items()
            for name, score in sorted(zip(outputs.names, outputs.scores(), strict=True))
        },
        "chi_square": ("chi-square of the precisions", float(chi.statistic)),
        "chi_square_p": ("its p-value", float(chi.p_value)),
        "r12": ("correlation r12 of the recalls", float(ss.correlation(found_or_not(relations))["r12"][0])),
    }


def example() -> pd.DataFrame:
    """What is printed and what comes out, for each reading of the number of relations."""
    readings = {f"of {relations} relations": quantities(relations) for relations in RELATIONS}
    return pd.DataFrame(
        [
            {"quantity": words, "printed": PRINTED[name], **{key: found[name][1] for key, found in readings.items()}}
            for name, (words, _) in quantities(RELATIONS[0]).items()
        ]
    )


def randomization(study: Settings, n_jobs: int) -> pd.DataFrame:
    """For each metric, one- and two-sided: the paper's count, the exact p-value, ours of two runs."""
    rows = []
    seeds = (study.seed, derived_seed(study.seed, "a second run") % 2**64)
    for metric in METRICS:
        for alternative in ("two-sided", "greater"):
            asked: dict[str, Any] = {"test": "randomization", "alternative": alternative}
            exact = {
                n: float(ss.compare(responses(n, metric), monte_carlo=False, **asked).p_value[0]) for n in RELATIONS
            }
            twice = ss.run_twice(
                responses(RELATIONS[0], metric), seeds=seeds, n_resamples=study.n_shuffles, n_jobs=n_jobs, **asked
            ).iloc[0]
            low, high = clopper_pearson(twice.n_extreme_1, study.n_shuffles)
            p = exact[RELATIONS[0]]
            printed = PRINTED_COUNTS[metric] if alternative == "greater" else None
            rows.append(
                {
                    "metric": metric,
                    "alternative": alternative,
                    "printed_p": PRINTED_LEVELS.get((metric, alternative), ""),
                    "printed_n_extreme": printed,
                    **{f"exact_p_{relations}": value for relations, value in exact.items()},
                    "p_value": twice.p_value_1,
                    "p_low": float(low),
                    "p_high": float(high),
                    "p_value_again": twice.p_value_2,
                    "z_of_two_runs": twice.z,
                    "z_ours": z(twice.n_extreme_1, study.n_shuffles, p),
                    "z_printed": np.nan if printed is None else z(printed, PRINTED_SHUFFLES, p),
                }
            )
    return pd.DataFrame(rows).astype({"printed_n_extreme": "Int64"})


def z(n_extreme: int, n_shuffles: int, p: float) -> float:
    """How many standard errors a count of extreme shuffles is from what the exact p-value lets expect."""
    return float((n_extreme - p * n_shuffles) / np.sqrt(p * (1 - p) * n_shuffles))


def example_tests() -> pd.DataFrame:
    """Every test that applies to the example, by metric; recall as found or not found, relation by relation."""
    rows = []
    for metric in METRICS:
        outputs = found_or_not(RELATIONS[0]) if metric == "recall" else responses(RELATIONS[0], metric)
        for test in ss.applicable(outputs):
            both = ss.compare(outputs, test=test, alternative="two-sided").iloc[0]
            row = {"metric": metric, "test": test, "better": both.system_a, "gain": both.gain}
            has_one = "greater" in ss.TESTS[test].alternatives
            one = float(ss.compare(outputs, test=test, alternative="greater").p_value[0]) if has_one else np.nan
            rows.append({**row, "p_one_sided": one, "p_two_sided": both.p_value, "exact": both.exact})
    return pd.DataFrame(rows)


def independence() -> pd.DataFrame:
    """How many times larger the standard deviation of a gain is taken to be."""
    r12 = list(PRINTED_RATIOS)
    return pd.DataFrame({"r12": r12, "printed": PRINTED_RATIOS.values(), "computed": independence_ratio(r12)})


def dependence(study: Settings, context: RunContext) -> pd.DataFrame:
    """For each correlation within clusters, how often randomization of items, and of clusters, rejects."""
    settings = study.dependence
    described = settings.model_dump(exclude={"within"})
    cells = [
        Cell(
            label=f"dependence {within:g} by {unit}",
            description={"settings": described, "within": within, "unit": unit, "seed": study.seed},
            arguments=(settings, within, unit, study.seed),
        )
        for within in settings.within
        for unit in ("item", "cluster")
    ]
    counts = context.run("dependent items", rejections, cells)
    table = pd.DataFrame([{name: cell.description[name] for name in ("within", "unit")} for cell in cells])
    low, high = clopper_pearson(counts, settings.n_data)
    return table.assign(
        alpha=settings.alpha,
        n_data=settings.n_data,
        n_rejected=counts,
        share=np.array(counts) / settings.n_data,
        low=low,
        high=high,
    )


def rejections(settings: Dependence, within: float, unit: str, seed: int) -> int:
    """One cell: how many pairs of equally good systems randomization of this unit tells apart, two-sided."""
    rejected = 0
    for k in range(settings.n_data):
        pair = ss.clustered_accuracies(
            [settings.accuracy, settings.accuracy],
            settings.n_clusters,
            settings.cluster_size,
            within=within,
            between=settings.between,
            seed=derived_seed(seed, "dependence", within, k) % 2**64,
        )
        row = ss.compare(pair, test="randomization", alternative="two-sided", unit=unit)
        rejected += int(row["p_value"][0] <= settings.alpha)
    return rejected


# What the page shows

LEVELS = {
    "metric": "{metric}",
    "alternative": "{alternative}",
    "paper": "{printed_p}",
    "its count": "{printed_n_extreme:,}",
    **{f"exact p ({relations})": f"{{exact_p_{relations}:.6f}}" for relations in RELATIONS},
    "our shuffles": "{p_value:.5f}",
    "95 %": "{p_low:.5f} – {p_high:.5f}",
    "z, paper": "{z_printed:+.1f}",
    "z, ours": "{z_ours:+.1f}",
    "z, two runs": "{z_of_two_runs:+.1f}",
}

TESTED = {
    "metric": "{metric}",
    "test": "{test}",
    "p, one-sided": "{p_one_sided:.3g}",
    "p, two-sided": "{p_two_sided:.3g}",
    "exact": "{exact:yes}",
}


def example_sections(tables: dict[str, pd.DataFrame]) -> list[Section]:
    """The modifier example, and what assuming independence costs."""
    readings = {f"of {relations} relations": f"{{of {relations} relations:.3f}}" for relations in RELATIONS}
    return [
        Section(
            "The modifier example",
            "What the paper prints (sections 2.2 and 3.3) and what its counts give, for each reading of the number of "
            "relations.",
            table=Table(tables["example"], {"quantity": "{quantity}", "the paper prints": "{printed}", **readings}),
        ),
        Section(
            "Randomization of the example's responses",
            "The paper's counts of extreme shuffles against the exact share of all shuffles (a grid of "
            "binomial weights; the number of relations that neither method finds hardly matters) and against our own "
            "shuffles, with 95 % intervals. z is the distance from the exact value in standard errors; the last column "
            "compares a second run with other random numbers (section 3.3).",
            table=Table(tables["randomization"], LEVELS),
        ),
        Section(
            "All tests on the example",
            "Recall relation by relation, precision and F of responses. Fisher's test asks of precision whether what "
            "only one method finds is true more often than what only the other finds (Evert 2004, section 3.3). A "
            "method that finds far less, as II here, may have the better precision and yet be no better where the two "
            "differ (footnote 13 there).",
            table=Table(tables["example_tests"], TESTED),
        ),
        Section(
            "What assuming independence costs",
            "How many times larger the standard deviation of a gain is taken to be (section 2.1).",
            table=Table(
                tables["independence"],
                {"r12": "{r12:.2f}", "the paper prints": "{printed:.2f}", "1 / sqrt(1 - r12)": "{computed:.3f}"},
            ),
        ),
    ]


def dependence_sections(tables: dict[str, pd.DataFrame], settings: Dependence) -> list[Section]:
    """Items that depend on each other."""
    clusters = f"{settings.n_clusters} clusters of {settings.cluster_size} items"
    drawn = Figure(
        "dependence", lambda: ss.plot.single(ss.plot.type_1_errors, tables["dependence"], title=clusters, width=5.2)
    )
    flips = tables["five_flips"].assign(one_in=1 / tables["five_flips"]["all_alike"])
    return [
        Section(
            "Items that depend on each other",
            f"Two systems of accuracy {settings.accuracy:g} on {clusters}, {settings.n_data:,} test sets, for each "
            "correlation of the items of a cluster (on the latent scale): the share on which randomization rejects, "
            "swapping items and swapping clusters (section 4). 95 % intervals.",
            figure=drawn,
        ),
        Section(
            "Five flips",
            "The paper's example: 1/32 for independent coins, more for positively correlated ones.",
            table=Table(
                flips,
                {
                    "correlation of the coins": "{correlation:g}",
                    "P(all five land on one given side)": "{all_alike:.4f} (1/{one_in:.1f})",
                },
            ),
        ),
    ]
