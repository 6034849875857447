"""Chinchor 1992: worked examples, cases built after hers, and a MUC-like set of systems.

Nancy Chinchor, "The Statistical Significance of the MUC-4 Results", MUC-4, 1992. Everything is compared by approximate
randomization with 9,999 shuffles, as she did, and by the exact p-value beside it.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import Field

import simstudy as ss
from simstudy.sections import Figure, Section, Table
from simstudy.studies import EACH_ONCE, Cell, Findings, Keys, RunContext, Study, one_of, significant

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
READING = {"pair": "GE / UMASS", "level": 0.0994, "n_shuffles": 9999, "cutoff": 0.1, "confidence": 0.635}

MUC_LIKE = "MUC-like"
MUC_METRICS = ("muc_recall", "muc_precision", "muc_f", "muc_f_2p", "muc_f_2r")
RULES = ("maximal", "greedy", "adjacent")

Fraction = Annotated[float, Field(gt=0, lt=1)]


class MucLike(Keys):
    """The synthetic test set; see `simstudy.messages`."""

    n_systems: Annotated[int, Field(ge=2, le=100)]
    n_messages: Annotated[int, Field(ge=2, le=500)]
    """Exact p-values of F take time that grows with the third power of this."""
    metrics: Annotated[list[Annotated[str, one_of(MUC_METRICS)]], EACH_ONCE] = Field(min_length=1)


class Settings(Study):
    """The keys of study.toml."""

    cutoff: Fraction = 0.1
    certainty: Fraction = 0.99
    muc: MucLike


def run(study: Settings, context: RunContext) -> Findings:
    """Her examples, cases after hers, then a MUC-like set of systems with its groups."""
    rules: dict[str, Any] = {"alpha": study.cutoff, "certainty": study.certainty}
    tables: dict[str, pd.DataFrame] = {}
    with context.clock("examples"):
        worked = built(WORKED, "muc_precision", "worked")
        tables["worked"] = tested(shuffled(worked, study.seed), exact(worked), study)
        tables["readings"] = readings()
        cases = {name: built(runs, "muc_f", name) for name, runs in CONSTRUCTED.items()}
        of_cases = {name: shuffled(case, study.seed) for name, case in cases.items()}
        constructed = pd.concat([tested(of_cases[name], exact(case), study) for name, case in cases.items()])
        named = constructed["system_a"] + " / " + constructed["system_b"]
        tables["constructed"] = constructed.assign(published=named.map(PUBLISHED).astype(float)).reset_index(drop=True)
    with context.clock("the MUC-like set"):
        outputs = ss.messages(study.muc.n_systems, study.muc.n_messages, seed=study.seed, test_set=MUC_LIKE)
        by_metric = {metric: outputs.with_metric(metric) for metric in study.muc.metrics}
        of_set, exactly = compare_all(by_metric, study, context)
    with context.clock("groups"):
        tables["scores"] = pd.DataFrame({"system": outputs.names} | {m: o.scores() for m, o in by_metric.items()})
        tables["pairs"] = pd.concat([decided(of_set[m], exactly[m], study) for m in of_set], ignore_index=True)
        tables["decisions"] = decisions(tables["pairs"])
        every = [*of_cases.values(), *of_set.values()]
        grouped = [[ss.groups(pairs, rule=rule, **rules) for rule in RULES] for pairs in every]
        tables["groups"] = pd.concat([found for of_one in grouped for found in of_one], ignore_index=True)
        tables["intransitive"] = pd.concat([ss.intransitive(pairs, **rules) for pairs in every], ignore_index=True)
        tables["gain_ranges"] = pd.concat([ss.gain_ranges(p, **rules) for p in of_set.values()], ignore_index=True)
    titles = {f"case_{k}": title for k, title in enumerate(of_cases, start=1)} | dict(zip(of_set, of_set, strict=True))
    drawn = [
        drawn_pairs(pairs, maximal, name, title, rules)
        for (name, title), pairs, (maximal, *_) in zip(titles.items(), every, grouped, strict=True)
    ]
    n = len(of_cases)
    return Findings(
        tables,
        [*example_sections(tables), *sum(drawn[:n], []), *set_sections(tables, rules), *sum(drawn[n:], [])],
        {
            "Test": "approximate randomization, |difference|, 9,999 shuffles, beside the exact p-value",
            "Cutoff and certainty": f"{study.cutoff:g} and {study.certainty:g}",
            "MUC-like set": f"{study.muc.n_systems} systems, {study.muc.n_messages} messages (synthetic)",
            "Seed": str(study.seed),
        },
        "p-values are two-sided and, but for the columns holm and bh, not corrected for the number of pairs. Scores "
        "and gains are in percent and points; p-values and certainties are fractions.",
        {"The MUC-like set": decision_rows(tables)},
        comparisons=pd.concat([both[m] for m in of_set for both in (of_set, exactly)], ignore_index=True),
    )


# What is computed


def built(correct: dict[str, Runs], metric: str, name: str) -> ss.Outputs:
    """Message-level counts (possible, actual, correct, partial) from runs of correct fills."""
    four = np.zeros((len(correct), MESSAGES, 4), dtype=np.int64)
    four[:, :RELEVANT, :2] = FILLS
    for k, runs in enumerate(correct.values()):
        four[k, :RELEVANT, 2] = np.repeat([fills for _, fills in runs], [n for n, _ in runs])
    return ss.Outputs.from_statistics(four, metric, list(correct), task="constructed", test_set=name)


def shuffled(outputs: ss.Outputs, seed: int) -> pd.DataFrame:
    """All pairs by 9,999 shuffles, as she counts them."""
    return ss.compare(outputs, test="randomization", convention="chinchor1992", seed=seed)


def exact(outputs: ss.Outputs) -> pd.DataFrame:
    """All pairs by all shuffles there are."""
    return ss.compare(outputs, test="randomization", alternative="two-sided", monte_carlo=False)


def tested(shuffled: pd.DataFrame, exact: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """Each pair by 9,999 shuffles, with their certainty, and exactly."""
    columns = ["test_set", "metric", "system_a", "system_b", "score_a", "score_b", "gain", "p_value", "n_extreme"]
    certainty = ss.certainty(shuffled["n_extreme"], shuffled["n_resamples"], study.cutoff)
    return shuffled[columns].assign(certainty=certainty, exact_p=exact["p_value"])


def readings() -> pd.DataFrame:
    """The printed confidence, what the printed level gives, and which level would give the printed confidence."""
    reading: dict[str, Any] = dict(READING)
    n, cutoff = reading["n_shuffles"], reading["cutoff"]
    nearest = int(np.abs(ss.certainty(np.arange(n + 1), n, cutoff) - reading["confidence"]).argmin())
    computed = float(ss.certainty(round(reading["level"] * (n + 1)) - 1, n, cutoff))
    return pd.DataFrame([{**reading, "computed": computed, "level_of_printed": (nearest + 1) / (n + 1)}])


def compare_all(
    by_metric: dict[str, ss.Outputs], study: Settings, context: RunContext
) -> tuple[dict[str, pd.DataFrame], dict[str, pd.DataFrame]]:
    """For each metric all pairs by shuffles, and exactly."""
    cells = [
        Cell(f"{metric}, {how}", {"outputs": o.fingerprint(), "how": how, "seed": study.seed}, (o, how, study.seed))
        for how in ("shuffled", "exact")
        for metric, o in by_metric.items()
    ]
    found = context.run("comparing systems", compared, cells)
    n = len(by_metric)
    return dict(zip(by_metric, found[:n], strict=True)), dict(zip(by_metric, found[n:], strict=True))


def compared(outputs: ss.Outputs, how: str, seed: int) -> pd.DataFrame:
    """One cell: all pairs of the systems in one of the two ways."""
    return exact(outputs) if how == "exact" else shuffled(outputs, seed)


def decided(shuffled: pd.DataFrame, exact: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """One row a pair: p by shuffles, certainty, decision, corrected p, and the exact p."""
    table = ss.corrected(shuffled)
    columns = ["metric", "system_a", "system_b", "score_a", "score_b", "gain", "p_value", "p_holm", "p_bh", "n_extreme"]
    return table[columns].assign(
        certainty=ss.certainty(table["n_extreme"], table["n_resamples"], study.cutoff),
        significant=significant(table, study.cutoff, study.certainty),
        exact_p=exact["p_value"],
        at_cutoff=study.cutoff,
    )


def decisions(pairs: pd.DataFrame) -> pd.DataFrame:
    """By metric, how many pairs each way of deciding calls different."""
    below = pairs[["p_value", "exact_p", "p_holm", "p_bh"]].le(pairs["at_cutoff"], axis=0)
    in_doubt = below["p_value"] & ~pairs["significant"]
    flags = pd.DataFrame(
        {
            "n_pairs": True,
            "certain": pairs["significant"],
            "in_doubt": in_doubt,
            "exact": below["exact_p"],
            "in_doubt_exact": in_doubt & below["exact_p"],
            "shuffled_other_than_exact": below["p_value"] != below["exact_p"],
            "holm": below["p_holm"],
            "bh": below["p_bh"],
        }
    )
    return flags.groupby(pairs["metric"], sort=False).sum().reset_index()


# What the page shows

PAIR = {"pair": "{system_a} / {system_b}", "scores": "{score_a:.2f} / {score_b:.2f}", "gain": "{gain:.2f}"}
TESTED = {"p, 9,999 shuffles": "{p_value:.4f}", "certainty": "{certainty:.3f}", "exact p": "{exact_p:.3g}"}


def example_sections(tables: dict[str, pd.DataFrame]) -> list[Section]:
    """Worked examples, a printed confidence level, constructed cases."""
    reading = {
        "pair": "{pair}",
        "cutoff, shuffles": "{cutoff:g}, {n_shuffles:,}",
        "printed level": "{level:.4f}",
        "printed confidence": "{confidence:.3f}",
        "certainty of the printed level": "{computed:.3f}",
        "level with the printed confidence": "{level_of_printed:.4f}",
    }
    return [
        Section(
            "Worked examples",
            'Section "Examples": A has 15 of 20 on each of 50 relevant messages, B the same but for one with 0, C 18. '
            "One message that differs can not be significant: every shuffle has the same difference.",
            table=Table(tables["worked"], PAIR | TESTED),
        ),
        Section(
            "A printed confidence level",
            "The certainty that the level is at or below the cutoff, given so many shuffles.",
            table=Table(tables["readings"], reading),
        ),
        Section(
            "Constructed cases",
            "Message-level scores built so that the published patterns appear: systems that resemble each other differ "
            "significantly by a smaller gain. Published levels where the paper prints them.",
            table=Table(tables["constructed"], {**PAIR, "published p": "{published:.4f}", **TESTED}),
        ),
    ]


def set_sections(tables: dict[str, pd.DataFrame], rules: dict[str, Any]) -> list[Section]:
    """The MUC-like set: decisions by metric, what must not be concluded, groups by rule."""
    groups, triples = (tables[name][tables[name]["test_set"] == MUC_LIKE] for name in ("groups", "intransitive"))
    n_groups = groups.groupby(["metric", "rule"], sort=False)["group"].nunique().unstack().reset_index()
    kinds = pd.crosstab(triples["metric"], triples["kind"]).reindex(tables["gain_ranges"]["metric"], fill_value=0)
    warning = {
        "metric": "{metric}",
        "smallest significant gain": "{smallest_significant:.2f}",
        "largest gain that is not": "{largest_not_significant:.2f}",
        "pairs between the two": "{n_between}",
    } | {kind: f"{{{kind}}}" for kind in map(str, kinds)}
    return [
        Section(
            "A MUC-like set: how many pairs differ",
            f"Synthetic systems on messages of shared difficulty: pairs that differ at {rules['alpha']:g} with "
            f"certainty {rules['certainty']:g}; those at or below it but in doubt (and how many of these the exact "
            "p-value calls different); by the exact p-value; and by p-values corrected for all pairs of the metric "
            "(Holm; Benjamini-Hochberg).",
            table=decision_rows(tables),
        ),
        Section(
            "Her warning: a gain range is not a test, and groups are not transitive",
            "Pairs whose gain lies between the smallest significant and the largest not significant gain can not be "
            "told by their gain; triples of systems in which A and B, B and C do not differ but A and C do (not "
            "transitive), and in which the wider gain is not significant but a narrower one within it is.",
            table=Table(tables["gain_ranges"].join(kinds, on="metric"), warning),
        ),
        Section(
            "Groups by three rules",
            "How many groups each rule makes of the systems: the maximal sets of systems no two of which differ, "
            "clusters from the top, and runs of neighbours that do not differ.",
            table=Table(n_groups, {name: f"{{{name}}}" for name in ("metric", *RULES)}),
        ),
    ]


def decision_rows(tables: dict[str, pd.DataFrame]) -> Table:
    """How many pairs differ, by metric and by way of deciding."""
    columns = {
        "metric": "{metric}",
        "pairs": "{n_pairs}",
        "certainly differ": "{certain}",
        "in doubt (differ exactly)": "{in_doubt} ({in_doubt_exact})",
        "exact p": "{exact}",
        "Holm": "{holm}",
        "Benjamini-Hochberg": "{bh}",
    }
    return Table(tables["decisions"], columns)


def drawn_pairs(
    pairs: pd.DataFrame, maximal: pd.DataFrame, name: str, title: str, rules: dict[str, Any]
) -> list[Section]:
    """The matrix and the groups of one table, in the manner of her figures 3-6 and 7-11."""
    return [
        Section(
            f"{title}: significance levels",
            "Systems by score; blue pairs differ certainly.",
            figure=Figure(f"matrix_{name}", lambda: titled(ss.plot.matrix(pairs, **rules), title)),
        ),
        Section(
            f"{title}: groups",
            "Dots on a line are systems no two of which differ certainly; the line is thin beside others.",
            figure=Figure(f"groups_{name}", lambda: titled(ss.plot.groups(maximal), title)),
        ),
    ]


def titled(ax: Any, title: str) -> Any:
    """The panel, with a title."""
    ax.set_title(title, loc="left", fontsize=10, fontweight="bold")
    return ax
