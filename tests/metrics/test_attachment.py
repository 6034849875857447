from __future__ import annotations

import pytest

from simstudy.metrics import METRICS
from simstudy.metrics.attachment import attachment_counts
from simstudy.outputs import Outputs

GOLD = [2, 0, 2, 3], ["nsubj:pass", "root", "obj", "punct"]


@pytest.mark.parametrize(
    ("guessed", "right_heads", "right_relations"),
    [
        (GOLD, 4, 4),
        (([2, 0, 2, 3], ["nsubj", "root", "obj:x", "punct"]), 4, 4),  # subtypes do not count
        (([2, 0, 2, 3], ["csubj:pass", "root", "iobj", "punct"]), 4, 2),
        (([2, 0, 2, 2], GOLD[1]), 3, 3),  # punctuation counts
        (([0, 1, 1, 1], GOLD[1]), 0, 0),
    ],
)
def test_hand_counted(guessed: tuple[list[int], list[str]], right_heads: int, right_relations: int) -> None:
    assert attachment_counts(guessed, GOLD, labelled=False) == (right_heads, 4, 4)
    assert attachment_counts(guessed, GOLD) == (right_relations, 4, 4)


def test_scores_are_f1_of_words_so_that_words_may_differ_in_number() -> None:
    for name in ("uas", "las"):
        assert Outputs.from_statistics([[[4, 4, 5]]], name).scores()[0] == pytest.approx(200 * 4 / 9)
        assert METRICS[name].name == name


def test_other_words() -> None:
    with pytest.raises(ValueError, match="^parses must be of the same words, not of 1 and 4$"):
        attachment_counts(([0], ["root"]), GOLD)
