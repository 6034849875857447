"""Pairs of real tables: tests, intervals and analyses of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pandas as pd

import simstudy as ss
from simstudy.comparisons.correlation import correlation
from simstudy.outputs import Outputs
from simstudy.studies.natural.gains import rule_of_thumb
from simstudy.studies.side_by_side import correlation_shares, correlation_summary
from tests.approved.record import SHARED, STUDIES, Values, recording

DATA = SHARED / "data"

_T = TypeVar("_T")


@dataclass(frozen=True)
class RealTable:
    """A test set in the folder of real data.

    Attributes
    ----------
    n_systems
        As many systems are taken, evenly from the alphabetical list, for the recording of all pairs.
    tests
        Tests in the recording of all pairs.
    measure
        The rows of this measure only.
    """

    name: str
    metric: str
    path: str
    n_systems: int
    tests: tuple[str, ...] = ("sign_flips", "bootstrap", "wilcoxon")
    columns: tuple[tuple[str, str], ...] = ()
    measure: str = ""
    references: tuple[str, ...] = ()
    items: str | None = None

    def some(self, n: int) -> Outputs:
        """Some of its systems, spread evenly over their names."""
        path, columns = DATA / self.path, dict(self.columns)
        if "score" in columns:
            frame = pd.read_csv(path)
            if self.measure:
                frame = frame[frame["measure"] == self.measure]
            wide = frame.pivot(index=columns["item"], columns="system", values=columns["score"])
            outputs = ss.Outputs.from_scores(wide, metric=self.metric)
            return outputs.select(_spread(sorted(outputs.names), n))
        outputs = ss.load(
            _spread(sorted(path.iterdir()), n) if path.is_dir() else path,
            self.metric,
            references=[DATA / one for one in self.references],
            items=DATA / self.items if self.items else None,
            columns=columns,
            missing="drop",
        ).outputs
        return outputs.select(_spread(sorted(outputs.names), n))


def _spread(ordered: Sequence[_T], n: int) -> list[_T]:
    """At most n elements of a list, evenly from first to last."""
    return [ordered[int(k)] for k in np.linspace(0, len(ordered) - 1, min(n, len(ordered)))]


ANSWERS = ("sign_flips", "bootstrap", "mcnemar")
COUNTS = ("sign_flips", "bootstrap", "randomization")
TOPICS = (("item", "topic"), ("score", "score"))
ISSUES = (("item", "instance_id"), ("score", "resolved"))
DOCUMENTS = (("cluster", "doc"),)
OVERLAPS = (("correct", "ov"), ("guessed", "pred"), ("gold", "n_gold"))
PARSES = (("item", "sent"), ("correct", "las"), ("guessed", "n"), ("gold", "n_gold"))
TREC8, ROBUST = "trec_urbano/adhoc8.csv.gz", "trec_urbano/robust2004.csv.gz"
TABLES = [
    RealTable("trec8_ap", "ap", TREC8, 100, columns=TOPICS, measure="ap"),
    RealTable("trec8_rr", "rr", TREC8, 55, columns=TOPICS, measure="rr"),
    RealTable("trec8_p10", "mean", TREC8, 60, columns=TOPICS, measure="p10"),
    RealTable("robust_ap", "ap", ROBUST, 50, columns=TOPICS, measure="ap"),
    RealTable("covid_ap", "ap", "trec_covid/round5.csv.gz", 80, columns=(("item", "topic"), ("score", "ap"))),
    RealTable("covid_ndcg", "mean", "trec_covid/round2.csv.gz", 40, columns=(("item", "topic"), ("score", "ndcg20"))),
    RealTable("swe_verified", "accuracy", "swebench/swebench_verified.csv.gz", 90, ANSWERS, ISSUES),
    RealTable("swe_lite", "accuracy", "swebench/swebench_lite.csv.gz", 60, ANSWERS, ISSUES),
    RealTable(
        *("wmt24_bleu", "bleu", "wmt24_en-de/sys", 26, COUNTS, DOCUMENTS),
        references=("wmt24_en-de/ref.A.de",), items="wmt24_en-de/meta.tsv",
    ),
    RealTable("realsumm_rouge2", "rouge2", "realsumm/sys", 24, references=("realsumm/ref.txt",)),
    RealTable("segmentation_f1", "f1", "sigmorphon2022_segmentation/sentence_eng.csv.gz", 14, COUNTS, OVERLAPS),
    RealTable("parsing_las", "las", "conll2018_ud/en_pud.csv.gz", 26, COUNTS, PARSES),
]  # fmt: skip


def _table(name: str) -> RealTable:
    return next(table for table in TABLES if table.name == name)


@recording(STUDIES, quick=False, shared=True)
def all_pairs() -> Values:
    """P-values of 20,100 pairs, by three tests each."""
    values: Values = {}
    for table in TABLES:
        outputs = table.some(table.n_systems)
        frames = {test: ss.compare(outputs, test=test).frame for test in table.tests}
        first = frames["sign_flips"]
        values[f"{table.name}/n_pairs"] = len(first)
        values[f"{table.name}/scores"] = _scores(outputs)
        for test, frame in frames.items():
            assert (frame["system_a"] == first["system_a"]).all()
            values[f"{table.name}/p_{test}"] = frame["p_value"]
    return values


#: Columns of comparisons that are the same in all recordings, or that the name of a recording gives.
CONSTANT = (
    *("task", "test_set", "metric_signature", "family_a", "family_b", "relation", "seed"),
    *("convention", "metric", "metric_unit", "n_items", "test", "alternative"),
)


@recording(STUDIES, shared=True)
def few_pairs() -> Values:
    """All columns of three systems of each table, by every test that applies; small tests of resamples."""
    values: Values = {}
    for table in TABLES:
        outputs = table.some(3)
        outputs = outputs.head(min(60, outputs.n_items))
        values[f"{table.name}/scores"] = _scores(outputs)
        for test in ss.comparisons.applicable(outputs):
            n_resamples = 999 if ss.TESTS[test].n_resamples else None
            pairs = ss.compare(outputs, test=test, n_resamples=n_resamples, seed=5)
            values[f"{table.name}/{test}"] = pairs.frame.drop(columns=list(CONSTANT))
    return values


@recording(STUDIES, shared=True)
def ways_to_compare() -> Values:
    """Sides, conventions, strata, units, resamples and references."""
    answers = _table("swe_lite").some(5)
    topics = _table("trec8_ap").some(5)
    counts = _table("segmentation_f1").some(4).head(300)
    items = answers.items.assign(cluster=[name.partition("__")[0] for name in answers.items["id"]])
    clustered = ss.Outputs.from_statistics(answers.statistics, answers.metric, list(answers.names), items=items)
    ways: dict[str, Callable[[], ss.Comparisons]] = {
        "greater": lambda: ss.compare(topics, alternative="greater"),
        "bootstrap greater": lambda: ss.compare(topics, test="bootstrap", alternative="greater"),
        "bootstrap resampled": lambda: ss.compare(counts, test="bootstrap", monte_carlo=True, n_resamples=4999),
        "randomization resampled": lambda: ss.compare(topics, test="randomization", n_resamples=4999, seed=3),
        "chinchor1992": lambda: ss.compare(counts, test="randomization", convention="chinchor1992"),
        "bk2012": lambda: ss.compare(counts, test="bootstrap", convention="bk2012"),
        "clusters": lambda: ss.compare(clustered),
        "clusters, bootstrap": lambda: ss.compare(clustered, test="bootstrap"),
        "items of clusters": lambda: ss.compare(clustered, unit="item"),
        "strata": lambda: ss.compare(clustered, test="bootstrap", unit="item", strata="cluster"),
        "upper quartile": lambda: ss.compare(_seconds(), n_resamples=499),
        "upper quartile, one-sided": lambda: ss.compare(
            _seconds(), test="randomization", alternative="greater", n_resamples=499
        ),
        "against": lambda: ss.compare(topics, against=topics.names[1]),
    }
    return {name: way().frame.drop(columns=list(CONSTANT)) for name, way in ways.items()}


@recording(STUDIES, shared=True)
def analyses() -> Values:
    """Tables that are derived from pairs: corrections, groups, ranks, thresholds, curves and the like."""
    values: Values = {}
    for name, n in (("trec8_ap", 30), ("swe_verified", 24), ("parsing_las", 12)):
        outputs = _table(name).some(n)
        pairs = ss.compare(outputs)
        corrected = pairs.corrected()
        sized = pd.concat([ss.compare(outputs.head(n)).significant_gains() for n in (20, outputs.n_items)])
        correlations = correlation(outputs)
        tables = {
            "p_holm": corrected["p_holm"],
            "p_bh": corrected["p_bh"],
            "significant": [
                len(pairs.significant(0.05)),
                *(len(pairs.significant(0.05, corrected=way)) for way in ("holm", "bh")),
            ],
            "groups": pairs.groups(),
            "groups, greedy": pairs.groups(rule="greedy"),
            "thresholds": pairs.thresholds(window=(0.01, 0.1), min_pairs=5),
            "curve": pairs.curve(n_points=10),
            "significant gains": pairs.significant_gains(),
            "equivalence": pairs.equivalence(0.02 if name == "trec8_ap" else 2.0)[["p_equivalence"]],
            "leaderboard": ss.leaderboard(outputs, seed=2),
            "ranks": pairs.ranks(),
            "correlation": correlation_summary(correlations),
            "shares by correlation": correlation_shares(correlations),
            "rule of thumb": rule_of_thumb(sized, ("observed_50",)),
            "near duplicates": ss.comparisons.near_duplicates(outputs),
            "deciding items": ss.comparisons.deciding_items(outputs, *outputs.names[:2], n=5).items,
        }
        values |= {f"{name}/{what}": table for what, table in tables.items()}
    return values


def _upper_quartile(score: np.ndarray) -> float:
    return float(np.quantile(score, 0.75))


def _seconds() -> Outputs:
    """A metric that is no function of sums, of which less is better."""
    metric = ss.metric("upper quartile", _upper_quartile, resample=True, lower_is_better=True)
    seconds = np.random.default_rng(2).gamma(2, size=(2, 80, 1)) + [[[0.0]], [[0.3]]]
    return ss.Outputs.from_statistics(seconds, metric, ["new", "old"])


def _scores(outputs: Outputs) -> Values:
    return dict(zip(outputs.names, outputs.scores(), strict=True))
