"""Chinchor 1992: worked examples, cases built after hers, and a MUC-like set of systems.

Nancy Chinchor, "The Statistical Significance of the MUC-4 Results", MUC-4, 1992. Everything is compared by approximate
randomization with 9,999 shuffles, as she did, and by the exact p-value beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import simstudy as ss
from simstudy.pages.sections import Section
from simstudy.studies import Cell, Decision, Findings, RunContext, ShippedTables, Shown, label

from .analyses import adjacent_groups, gain_ranges, intransitive
from .muc_like import muc_like
from .page import MUC_LIKE, decision_rows, drawn_pairs, example_sections, set_sections
from .settings import Settings

# Every case has 100 messages; in half of them there are 20 slots to fill, and every system fills them all. For each
# system: runs of (messages, correct fills in each of them).
MESSAGES, RELEVANT, FILLS = 100, 50, 20
Runs = list[tuple[int, int]]

# Section "Examples", in precision.
WORKED: dict[str, Runs] = {"A": [(50, 15)], "B": [(1, 0), (49, 15)], "C": [(50, 18)]}

# TST3: GE and GE-CMU share most of their answers. MDC and Paramax differ steadily, SRA from both here and there.
CONSTRUCTED: dict[str, dict[str, Runs]] = {
    "GE, GE-CMU, UMASS": {
        "GE": [(40, 11), (10, 12)],
        "GE-CMU": [(10, 6), (2, 16), (28, 11), (10, 12)],
        "UMASS": [(13, 11), (13, 15), (14, 7), (10, 8)],
    },
    "SRA, Paramax, MDC": {
        "SRA": [(26, 10), (16, 0), (8, 5)],
        "Paramax": [(33, 5), (14, 9), (3, 2)],
        "MDC": [(44, 5), (6, 5)],
    },
}

# The significance levels of TST3, figure 9, and the confidence printed for one of them.
PUBLISHED = {"GE / GE-CMU": 0.0415, "GE / UMASS": 0.0994, "GE-CMU / UMASS": 0.8918}
# How often she shuffled.
N_SHUFFLES = 9999
READING = {"pair": "GE / UMASS", "level": 0.0994, "n_shuffles": N_SHUFFLES, "alpha": 0.1, "confidence": 0.635}

# How all pairs are compared: by 9,999 shuffles, as she counts them, and by all shuffles that there are, which are exact
# if they cost no more than so many random ones.
WAYS: dict[str, dict[str, Any]] = {
    "shuffled": {"convention": "chinchor1992"},
    "exact": {"alternative": "two-sided", "n_resamples": 2**24},
}
Both = tuple[pd.DataFrame, pd.DataFrame]


def run(study: Settings, context: RunContext) -> Findings:
    """Her examples, cases after hers, then a MUC-like set of systems with its groups."""
    rules: dict[str, Any] = {"alpha": study.alpha, "certainty": study.certainty}
    with context.clock("examples"):
        worked = tested(*both(built(WORKED, "muc_precision", "worked"), study.seed), study)
        cases = {name: both(built(runs, "muc_f", name), study.seed) for name, runs in CONSTRUCTED.items()}
        constructed = pd.concat([tested(*case, study) for case in cases.values()])
        named = constructed["system_a"] + " / " + constructed["system_b"]
        constructed = constructed.assign(published=named.map(PUBLISHED).astype(float)).reset_index(drop=True)
        tables = {"worked": worked, "readings": readings(), "constructed": constructed}
    with context.clock("the MUC-like set"):
        outputs = muc_like(study.muc.n_systems, study.muc.n_messages, study.seed)
        by_metric = {metric: outputs.with_metric(metric) for metric in study.muc.metrics}
        sets = compare_all(by_metric, study.seed, context)
    with context.clock("groups"):
        tables["scores"] = pd.DataFrame({"system": outputs.names} | {m: o.scores() for m, o in by_metric.items()})
        tables["pairs"] = pd.concat([decided(*found, study) for found in sets.values()], ignore_index=True)
        tables["decisions"] = decisions(tables["pairs"])
        every = [shuffled for shuffled, _ in (*cases.values(), *sets.values())]
        tables["groups"] = pd.concat([grouped(pairs, rules) for pairs in every], ignore_index=True)
        tables["intransitive"] = pd.concat([intransitive(pairs, **rules) for pairs in every], ignore_index=True)
        tables["gain_ranges"] = pd.concat(
            [gain_ranges(pairs, **rules) for pairs, _ in sets.values()], ignore_index=True
        )
    return Findings(
        tables=tables,
        facts={
            "Test": "approximate randomization, |difference|, 9,999 shuffles, beside the exact p-value",
            "Cutoff and certainty": f"{study.alpha:g} and {study.certainty:g}",
            "MUC-like set": f"{study.muc.n_systems} systems, {study.muc.n_messages} messages (synthetic)",
            "Seed": str(study.seed),
        },
        comparisons=pd.concat([pairs for found in sets.values() for pairs in found], ignore_index=True),
    )


def show(study: Settings, tables: ShippedTables) -> Shown:
    """Her examples and the cases after hers, then the MUC-like set, each with the matrices and groups of its pairs."""
    rules: dict[str, Any] = {"alpha": study.alpha, "certainty": study.certainty}
    maximal = tables["groups"][tables["groups"]["rule"] == "maximal"]
    is_muc_like = maximal["test_set"] == MUC_LIKE

    def drawn(of: pd.DataFrame, groups: pd.DataFrame, column: str, file: str) -> list[Section]:
        return [
            section
            for k, (name, pairs) in enumerate(of.groupby(column, sort=False), start=1)
            for section in drawn_pairs(
                pairs.assign(n_resamples=N_SHUFFLES, alternative="two-sided"),
                groups[groups[column] == name],
                file.format(k=k, name=name),
                label(str(name)),
                rules,
            )
        ]

    cases = drawn(tables["constructed"], maximal[~is_muc_like], "test_set", "case_{k}")
    sets = drawn(tables["pairs"], maximal[is_muc_like], "metric", "{name}")
    return Shown(
        sections=[*example_sections(tables), *cases, *set_sections(tables, rules), *sets],
        closing="p-values are two-sided and, but for the columns holm and bh, not corrected for the number of pairs. "
        "Scores and gains are in percent and points; p-values and certainties are fractions.",
        summary={"The MUC-like set": decision_rows(tables)},
    )


# What is computed


def built(correct: dict[str, Runs], metric: str, name: str) -> ss.Outputs:
    """Message-level counts (possible, actual, correct, partial) from runs of correct fills."""
    four = np.zeros((len(correct), MESSAGES, 4), dtype=np.int64)
    four[:, :RELEVANT, :2] = FILLS
    for k, runs in enumerate(correct.values()):
        four[k, :RELEVANT, 2] = np.repeat([fills for _, fills in runs], [n for n, _ in runs])
    return ss.Outputs.from_statistics(four, metric, list(correct), task="constructed", test_set=name)


def compared(outputs: ss.Outputs, how: str, seed: int) -> pd.DataFrame:
    """One cell: all pairs of the systems in one of the two ways."""
    pairs: ss.Comparisons = ss.compare(outputs, test="randomization", seed=seed, **WAYS[how])
    return pairs.frame


def both(outputs: ss.Outputs, seed: int) -> Both:
    """All pairs by shuffles, and exactly."""
    return compared(outputs, "shuffled", seed), compared(outputs, "exact", seed)


def grouped(pairs: pd.DataFrame, rules: dict[str, Any]) -> pd.DataFrame:
    """The groups of one table by each of the three rules."""
    by_rule = [ss.comparisons.groups(pairs, rule=rule, p="p_value", **rules) for rule in ("maximal", "greedy")]
    return pd.concat([*by_rule, adjacent_groups(pairs, **rules)], ignore_index=True)


def tested(shuffled: pd.DataFrame, exact: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """Each pair by 9,999 shuffles, with their certainty, and exactly."""
    columns = ["test_set", "metric", "system_a", "system_b", "score_a", "score_b", "gain", "p_value", "n_extreme"]
    certainty = ss.comparisons.certainty(shuffled["n_extreme"], shuffled["n_resamples"], study.alpha)
    return shuffled[columns].assign(certainty=certainty, exact_p=exact["p_value"])


def readings() -> pd.DataFrame:
    """The printed confidence, what the printed level gives, and which level would give the printed confidence."""
    reading: dict[str, Any] = dict(READING)
    n, alpha = reading["n_shuffles"], reading["alpha"]
    nearest = int(np.abs(ss.comparisons.certainty(np.arange(n + 1), n, alpha) - reading["confidence"]).argmin())
    computed = float(ss.comparisons.certainty(round(reading["level"] * (n + 1)) - 1, n, alpha))
    return pd.DataFrame([{**reading, "computed": computed, "level_of_printed": (nearest + 1) / (n + 1)}])


def compare_all(by_metric: dict[str, ss.Outputs], seed: int, context: RunContext) -> dict[str, Both]:
    """For each metric all pairs by shuffles, and exactly."""
    cells = [Cell(f"{metric}, {how}", (o, how, seed)) for metric, o in by_metric.items() for how in WAYS]
    found = context.run("comparing systems", compared, cells)
    return dict(zip(by_metric, zip(found[::2], found[1::2], strict=True), strict=True))


def decided(shuffled: pd.DataFrame, exact: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """One row a pair: p by shuffles, certainty, decision, corrected p, and the exact p."""
    table = ss.comparisons.corrected(shuffled)
    columns = ["metric", "system_a", "system_b", "score_a", "score_b", "gain", "p_value", "p_holm", "p_bh", "n_extreme"]
    return table[columns].assign(
        certainty=ss.comparisons.certainty(table["n_extreme"], table["n_resamples"], study.alpha),
        significant=Decision(study.alpha, study.certainty).significant(table),
        exact_p=exact["p_value"],
        at_alpha=study.alpha,
    )


def decisions(pairs: pd.DataFrame) -> pd.DataFrame:
    """By metric, how many pairs each way of deciding calls different."""
    below = pairs[["p_value", "exact_p", "p_holm", "p_bh"]].le(pairs["at_alpha"], axis=0)
    uncertain = below["p_value"] & ~pairs["significant"]
    flags = pd.DataFrame(
        {
            "n_pairs": True,
            "certain": pairs["significant"],
            "uncertain": uncertain,
            "exact": below["exact_p"],
            "uncertain_exact": uncertain & below["exact_p"],
            "shuffled_other_than_exact": below["p_value"] != below["exact_p"],
            "holm": below["p_holm"],
            "bh": below["p_bh"],
        }
    )
    return flags.groupby(pairs["metric"], sort=False).sum().reset_index()
