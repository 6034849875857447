"""Outputs of sets of responses: Yeh's example of two extractors, counted by hand."""

import numpy as np
import pytest

from simstudy.metrics import METRICS
from simstudy.outputs import Outputs

YEH = {"both": range(19), "only I": range(19, 47), "only II": range(47, 53)}

YEH_SPURIOUS = {"both": range(200, 205), "only I": range(205, 248), "only II": range(248, 257)}


@pytest.fixture
def relations() -> Outputs:
    """The modifier relations of Yeh (2000, section 3.3): 103 gold (recalls of 45.6 and 24.3 % are of 103)."""
    found = {
        name: [*YEH["both"], *YEH[f"only {name}"], *YEH_SPURIOUS["both"], *YEH_SPURIOUS[f"only {name}"]]
        for name in ("I", "II")
    }
    return Outputs.from_responses(range(103), found, "f1", task="modifiers", test_set="Yeh")


def test_responses_of_yehs_example(relations: Outputs) -> None:
    for metric, printed in (("recall", [45.6, 24.3]), ("precision", [49.5, 64.1]), ("f1", [47.5, 35.2])):
        assert relations.with_metric(metric).scores().round(1).tolist() == printed
    assert relations.n_items == 103 + 5 + 43 + 9
    # What a swap can change are the 28 + 6 + 43 + 9 = 86 responses that he shuffles.
    first, second = relations.statistics
    assert (first != second).any(axis=-1).sum() == 86
    assert (relations.task, relations.test_set, relations.names) == ("modifiers", "Yeh", ["I", "II"])


def test_responses_come_gold_first_and_sets_in_the_order_of_their_text() -> None:
    outputs = Outputs.from_responses([("b", 1), ("a", 2)], {"x": [("z", 0), ("a", 2)], "y": set("qtprs"), "none": []})
    assert outputs.items["id"].tolist() == ["('b', 1)", "('a', 2)", "('z', 0)", *"pqrst"]
    assert outputs.statistics[0].tolist() == [[0, 0, 1], [1, 1, 1], [0, 1, 0], *[[0, 0, 0]] * 5]
    assert outputs.statistics[2].sum(axis=0).tolist() == [0, 0, 2]


def test_another_metric_of_the_same_statistics(relations: Outputs) -> None:
    recall = relations.with_metric("recall")
    assert (recall.metric, relations.metric) == (METRICS["recall"], METRICS["f1"])
    np.testing.assert_array_equal(recall.statistics, relations.statistics)
    assert recall.with_metric("f1").fingerprint() == relations.fingerprint()
