"""Every metric: scores of sums, of texts and of labels."""

from __future__ import annotations

import numpy as np
import pandas as pd

import simstudy as ss
from simstudy.metrics import METRICS, Metric, get_metric
from simstudy.metrics.influence import contributions
from tests.approved.record import STUDIES, Values, recording
from tests.documentation import EXAMPLES

TEXTS = EXAMPLES / "translations"
OF_TEXTS = ("bleu", "chrf", "chrf++", "rouge1", "rouge2", "rougeL", "wer", "cer", "ter")
OF_LABELS = ("accuracy", "macro_f1", "balanced_accuracy", "mcc")
OF_ARRAYS = ("auc", "median", "pearson", "spearman")


def counts(metric: Metric) -> np.ndarray:
    """Statistics of two systems on twelve items that could be counts of the metric: no part exceeds its whole."""
    rng = np.random.default_rng(11)
    shape = (2, 12, len(metric.statistics))
    values = rng.integers(1, 9, shape)
    for place, name in enumerate(metric.statistics):
        part_of = {"correct": ("total", "guessed", "gold", "hyp"), "match": ("hyp", "ref"), "in": ("guessed",)}
        kind, _, rest = name.partition("_")
        for whole in part_of.get(kind, ()):
            for other, wide in enumerate(metric.statistics):
                if wide == whole or wide == f"{whole}_{rest}":
                    values[..., place] = np.minimum(values[..., place], values[..., other])
    return values


@recording(STUDIES)
def metric_scores() -> Values:
    """Scores, item scores and jackknife contributions of each metric of sums."""
    values: Values = {}
    for name in [*METRICS, "precision@10", "ndcg@10", "pass@2", "majority@3"]:
        metric = get_metric(name)
        statistics = counts(metric)
        values[name] = {
            "scores": metric.score(statistics.sum(axis=1)),
            "items": metric.score(statistics[0]),
            "contributions": contributions(statistics, metric)[0],
            "empty": metric.score(np.zeros((1, len(metric.statistics)))),
            "higher": metric.higher_is_better,
            "unit": metric.unit,
        }
    return values


@recording(STUDIES)
def scores_of_outputs() -> Values:
    """Texts, labels and arrays: their sums of counts, and their scores."""
    values: Values = {}
    for name in OF_TEXTS:
        paths = [TEXTS / "old.txt", TEXTS / "new.txt"]
        outputs = ss.load(paths, name, references=TEXTS / "ref.txt").outputs
        values[name] = {"scores": outputs.scores(), "sums": outputs.statistics.sum(axis=1)}
    rng = np.random.default_rng(0)
    gold = rng.choice(["yes", "no", "maybe"], 300, p=[0.5, 0.4, 0.1])
    predicted = pd.DataFrame(
        {name: np.where(rng.random(300) < p, gold, "no") for name, p in [("new", 0.8), ("old", 0.7)]}
    )
    for name in OF_LABELS:
        outputs = ss.Outputs.from_labels(gold, predicted, name)
        pairs = ss.compare(outputs).frame
        values[name] = {
            "scores": outputs.scores(),
            "p": pairs["p_value"],
            "se": pairs["gain_se"],
            "low": pairs["gain_low"],
        }
    human = rng.normal(size=100)
    for name in OF_ARRAYS:
        columns = [human > 0, human] if name == "auc" else [human, human]
        arrays = np.stack([np.stack([columns[0] * 1.0, columns[1] + rng.normal(0, s, 100)], -1) for s in (0.8, 1.5)])
        outputs = ss.Outputs.from_statistics(arrays[..., 1:] if name == "median" else arrays, name, ["new", "old"])
        pairs = ss.compare(outputs, n_resamples=999).frame
        values[name] = {
            "scores": outputs.scores(),
            "p": pairs["p_value"],
            "se": pairs["gain_se"],
            "low": pairs["gain_low"],
        }
    return values
