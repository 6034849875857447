"""The paper's example of modifier relations: what it prints, what its counts give, and what independence costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import simstudy as ss
from simstudy.studies import Cell, RunContext, clopper_pearson, derived_seed

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

METRICS = ("recall", "precision", "f1")


def responses(relations: int, metric: str) -> ss.Outputs:
    """The example as response-level outputs of methods I and II, for so many relations."""
    ids = [f"relation {k + 1}" for k in range(relations)] + [f"spurious {k + 1}" for k in range(sum(SPURIOUS))]
    gold, given = np.arange(len(ids)) < relations, np.zeros((2, len(ids)), dtype=bool)
    for first, (both, only_1, only_2) in ((0, FOUND), (relations, SPURIOUS)):
        given[:, first : first + both] = True
        given[0, first + both : first + both + only_1] = True
        given[1, first + both + only_1 : first + both + only_1 + only_2] = True
    counts = np.stack([given & gold, given, np.broadcast_to(gold, given.shape)], axis=-1)
    names = {"task": "modifiers", "test_set": f"{relations} relations"}
    return ss.Outputs.from_statistics(counts, metric, ["I", "II"], ids, **names)


def found_or_not(relations: int) -> ss.Outputs:
    """The relations alone: what tests of recall as a mean look at."""
    return responses(relations, "recall").take(np.arange(relations))


def quantities(relations: int) -> dict[str, tuple[str, float]]:
    """What the paper prints of the example, and what comes out: name -> (in words, value)."""
    of_metric = {metric: responses(relations, metric) for metric in METRICS}
    chi = ss.compare(of_metric["precision"], test="chi_square").frame.iloc[0]
    return {
        **{
            f"{metric}_{name}": (f"{metric} of {name}, %", float(score))
            for metric, outputs in of_metric.items()
            for name, score in sorted(zip(outputs.names, outputs.scores(), strict=True))
        },
        "chi_square": ("chi-square of the precisions", float(chi.statistic)),
        "chi_square_p": ("its p-value", float(chi.p_value)),
        "r12": ("correlation r12 of the recalls", float(ss.comparisons.correlation(found_or_not(relations))["r12"][0])),
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


def randomization(n_shuffles: int, seed: int, n_jobs: int) -> pd.DataFrame:
    """For each metric, one- and two-sided: the paper's count, the exact p-value, ours of two runs."""
    rows = []
    seeds = (seed, derived_seed(seed, "a second run") % 2**64)
    for metric in METRICS:
        for alternative in ("two-sided", "greater"):
            asked: dict[str, Any] = {"test": "randomization", "alternative": alternative}
            exact = {n: float(ss.compare(responses(n, metric), **asked)["p_value"][0]) for n in RELATIONS}
            twice = run_twice(
                responses(RELATIONS[0], metric), seeds=seeds, n_resamples=n_shuffles, n_jobs=n_jobs, **asked
            ).iloc[0]
            low, high = clopper_pearson(twice.n_extreme_1, n_shuffles)
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
                    "z_ours": z(twice.n_extreme_1, n_shuffles, p),
                    "z_printed": np.nan if printed is None else z(printed, PRINTED_SHUFFLES, p),
                }
            )
    return pd.DataFrame(rows).astype({"printed_n_extreme": "Int64"})


def run_twice(
    outputs: ss.Outputs, *, seeds: tuple[int, int] = (0, 1), test: str = "sign_flips", **options: Any
) -> pd.DataFrame:
    """All pairs of two runs with different seeds, and how far apart the runs are (the first check of section 3.3).

    The columns are system_a, system_b and gain, p_value and n_extreme of both runs (``_1``, ``_2``), and z: the
    difference of the two counts in standard errors. It is beyond 2 for one pair in twenty, beyond 4 hardly ever.
    """
    if len(seeds) != 2 or seeds[0] == seeds[1] or "seed" in options:
        raise ValueError(f"seeds must be two different ones (and there is no other seed), not {seeds}")
    if test not in (resampling := [name for name, known in ss.TESTS.items() if known.n_resamples]):
        raise ValueError(f"test must be one of {', '.join(resampling)}, not '{test}'")
    first, second = (
        ss.compare(outputs, test=test, seed=seed, **{**options, "monte_carlo": True}).frame for seed in seeds
    )
    count_1, count_2, drawn = first["n_extreme"], second["n_extreme"], first["n_resamples"]
    pooled = (count_1 + count_2) / (2 * drawn)
    spread = np.sqrt(2 * drawn * pooled * (1 - pooled))
    return pd.DataFrame(
        {
            **{name: first[name] for name in ("system_a", "system_b", "gain")},
            "p_value_1": first["p_value"],
            "p_value_2": second["p_value"],
            "n_extreme_1": count_1,
            "n_extreme_2": count_2,
            "z": (count_1 - count_2) / np.where(spread > 0, spread, 1.0),
        }
    )


def z(n_extreme: int, n_shuffles: int, p: float) -> float:
    """How many standard errors a count of extreme shuffles is from what the exact p-value lets expect."""
    return float((n_extreme - p * n_shuffles) / np.sqrt(p * (1 - p) * n_shuffles))


def example_tests(context: RunContext) -> pd.DataFrame:
    """Every test that applies to the example, by metric; recall as found or not found, relation by relation."""
    cells = [Cell(f"all tests, {metric}", (metric,)) for metric in METRICS]
    return pd.DataFrame([row for rows in context.run("the example", tests_of, cells) for row in rows])


def tests_of(metric: str) -> list[dict[str, Any]]:
    """One cell: what every test that applies says of one metric."""
    rows = []
    outputs = found_or_not(RELATIONS[0]) if metric == "recall" else responses(RELATIONS[0], metric)
    for test in ss.comparisons.applicable(outputs):
        both = ss.compare(outputs, test=test, alternative="two-sided").frame.iloc[0]
        row = {"metric": metric, "test": test, "better": str(both.system_a), "gain": float(both.gain)}
        has_one = "greater" in ss.TESTS[test].alternatives
        one = float(ss.compare(outputs, test=test, alternative="greater")["p_value"][0]) if has_one else float("nan")
        p_values = {"p_one_sided": one, "p_two_sided": float(both.p_value)}
        rows.append({**row, **p_values, "exact": bool(both.exact_level)})
    return rows


def independence() -> pd.DataFrame:
    """How many times larger the standard deviation of a gain is taken to be."""
    r12 = np.array(list(PRINTED_RATIOS))
    computed = 1 / np.sqrt(1 - r12)
    return pd.DataFrame({"r12": r12, "printed": PRINTED_RATIOS.values(), "computed": computed})
