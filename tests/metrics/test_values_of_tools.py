"""Golden values of other tools: each line of values_of_tools.jsonl is one value, computed here by simstudy.

`source` names the tool's version, file and test that assert the value. Where no test of the tool has a number, it says
"computed" and the function of the tool that computed the value. `expected` is the tool's own number: sacrebleu's BLEU
and chrF are percentages, all other shares and rates are fractions.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.engines.classical_tests import fisher_exact
from simstudy.metrics import get_metric
from simstudy.metrics.annotations import bracket_counts, span_counts, strict_spans, tagged_spans
from simstudy.metrics.mean import share_right, strength_penalty
from simstudy.metrics.ranking import ranking_measure
from simstudy.readers.trees import parse_trees
from simstudy.statistics.bradley_terry import strengths
from simstudy.statistics.multiplicity import benjamini_hochberg, holm
from simstudy.statistics.proportions import wilson
from simstudy.statistics.pvalues import clopper_pearson

Value = dict[str, Any]

VALUES: list[Value] = [
    json.loads(line)
    for line in Path(__file__).with_name("values_of_tools.jsonl").read_text(encoding="utf-8").rstrip("\n").split("\n")
]


def score_of_counts(metric: str, counts: Any) -> float:
    known = get_metric(metric)
    return float(known.score(np.array(counts))) / known.scale


def score_of_texts(value: Value) -> float:
    if value["references"] is None:
        return score_of_counts(value["metric"], value["outputs"])
    texts = pd.DataFrame({"system": value["outputs"]})
    outputs = ss.Outputs.from_texts(value["references"], texts, value["metric"], **value.get("options", {}))
    return float(outputs.scores()[0]) / outputs.metric.scale


def spans_or_score(value: Value) -> Any:
    metric, tags, ends = value["metric"], value["outputs"], value.get("options", {}).get("ends", False)
    strict = metric == "span_f1:strict"
    if value["references"] is not None:
        pairs = zip(tags, value["references"], strict=True)
        return score_of_counts(metric, np.sum([span_counts(*pair, strict=strict, ends=ends) for pair in pairs], axis=0))
    if not isinstance(tags[0], str):
        return score_of_counts(metric, tags)
    spans = strict_spans(tags, ends) if strict else tagged_spans(tags)
    return [list(span) for span in sorted(spans, key=lambda span: span[1])]


def score_of_ranking(value: Value) -> float:
    return ranking_measure(value["metric"]).score(value["outputs"], value["references"])  # type: ignore[union-attr]


def counts_or_score_of_trees(value: Value) -> Any:
    """(correct, guessed, gold) brackets of one sentence, or F1 of several."""
    outputs, references = (parse_trees("".join(value[side]), "") for side in ("outputs", "references"))
    counts = np.sum([bracket_counts(*pair) for pair in zip(outputs, references, strict=True)], axis=0)
    return counts.tolist() if value["metric"] == "brackets" else score_of_counts(value["metric"], counts)


def share_of_samples(value: Value) -> float:
    right, n = value["outputs"]
    return float(share_right("pass@", int(value["metric"].removeprefix("pass@")), right, n))


def strengths_of_winners(value: Value) -> np.ndarray:
    winners, losers = np.array(value["outputs"]).T
    return strengths(winners, losers, np.ones(len(winners)), value["references"], strength_penalty(value["metric"]))


def p_value_or_interval(value: Value) -> Any:
    name, outputs, options = value["metric"], value["outputs"], value.get("options", {})
    match name:
        case "holm":
            return holm(np.array(outputs))
        case "benjamini_hochberg":
            return benjamini_hochberg(np.array(outputs))
        case "wilson":
            return wilson(outputs[0] / outputs[1], outputs[1], **options)
        case "clopper_pearson":
            return clopper_pearson(*outputs, **options)
        case "fisher":
            (true_1, false_1), (true_2, false_2) = outputs
            return fisher_exact(true_1, true_1 + false_1, true_2, true_2 + false_2)
        case "two_proportions":
            # The first item has all counts. Precision does not look at the gold count, 100.
            statistics = [[[right, n, 100], [0, 0, 0]] for right, n in outputs]
            compared = ss.Outputs.from_statistics(statistics, "precision")
        case _:
            scores = [outputs, value["references"]]
            if value["references"] is None:
                wins, losses = outputs
                scores = [[1] * wins + [0] * losses, [0] * wins + [1] * losses]
            compared = ss.Outputs.from_scores(pd.DataFrame(dict(zip("ab", scores, strict=True))))
    return ss.compare(compared, test=name, **options).frame["p_value"].item()


COMPUTED: dict[str, Callable[[Value], Any]] = {
    **dict.fromkeys(("jiwer", "rouge-score", "sacrebleu"), score_of_texts),
    **dict.fromkeys(("seqeval", "conlleval"), spans_or_score),
    **dict.fromkeys(("scipy", "statsmodels"), p_value_or_interval),
    "trec_eval": score_of_ranking,
    "EVALB": counts_or_score_of_trees,
    "human-eval": share_of_samples,
    "choix": strengths_of_winners,
}


@pytest.mark.parametrize("value", VALUES, ids=[f"{value['tool']}-{i}" for i, value in enumerate(VALUES, start=1)])
def test_values_are_those_of_other_tools(value: Value) -> None:
    computed, expected, tolerance = COMPUTED[value["tool"]](value), value["expected"], value["tolerance"]
    if tolerance == 0:
        assert computed == expected, value["source"]
    else:
        np.testing.assert_allclose(computed, expected, rtol=0, atol=tolerance, err_msg=value["source"])
