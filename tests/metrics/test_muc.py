from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simstudy.metrics import METRICS
from simstudy.outputs import Outputs

BETAS = {"muc_f": Fraction(1), "muc_f_2p": Fraction(1, 2), "muc_f_2r": Fraction(2)}


def by_definition(possible: int, actual: int, correct: int, partial: int, beta: Fraction) -> dict[str, Fraction]:
    """Precision, recall and F as Chinchor defines them, in fractions; 0 where a denominator is 0."""
    found = correct + Fraction(partial, 2)
    recall = found / possible if possible else Fraction(0)
    precision = found / actual if actual else Fraction(0)
    below = beta**2 * precision + recall
    return {
        "muc_recall": recall,
        "muc_precision": precision,
        "f": (1 + beta**2) * precision * recall / below if below else Fraction(0),
    }


@given(st.tuples(*[st.integers(0, 40)] * 4))
def test_f_is_that_of_precision_and_recall(parts: tuple[int, int, int, int]) -> None:
    missing, wrong, correct, partial = parts
    found = correct + partial
    sums = (found + missing, found + wrong, correct, partial)
    METRICS["muc_f"].check(np.array([[sums]]))
    for name, beta in BETAS.items():
        expected = by_definition(*sums, beta)
        for metric, value in ((name, expected["f"]), *((m, expected[m]) for m in ("muc_recall", "muc_precision"))):
            assert METRICS[metric].score(np.array(sums)) == pytest.approx(float(100 * value), abs=1e-12)


@pytest.mark.parametrize(
    "fills",
    [[5, 5, -1, 0], [5, 5, 0, -1], [5, 9, 4, 2], [9, 5, 4, 2], [5.0, 5.0, 4.5, 1.0]],
    ids=["negative correct", "negative partial", "more than possible", "more than actual", "more in decimals"],
)
def test_rules(fills: list[float]) -> None:
    with pytest.raises(
        ValueError, match=r"correct \+ partial <= actual, unlike possible = .* of system 'system-1', item '0'$"
    ):
        Outputs.from_statistics([[fills]], "muc_f")


def test_narrow_integers_do_not_wrap_around() -> None:
    with pytest.raises(ValueError, match="correct \\+ partial <= possible"):
        Outputs.from_statistics(np.array([[[250, 250, 200, 100]]], np.uint8), "muc_f")
