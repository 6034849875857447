from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simstudy.metrics import METRICS
from simstudy.metrics.aer import Aer, alignment_counts
from simstudy.outputs import Outputs

LINKS = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)))


@given(LINKS, LINKS, LINKS)
def test_aer_is_one_minus_the_share_of_right_links(guessed, sure, possible) -> None:  # type: ignore[no-untyped-def]
    possible = possible | sure
    counts = alignment_counts(guessed, sure, possible)
    METRICS["aer"].check(np.array([[counts]]))
    both = len(guessed) + len(sure)
    in_sure = sum(link in sure for link in guessed)
    in_possible = sum(link in possible for link in guessed)
    expected = 100 * (1 - (in_sure + in_possible) / both) if both else 0
    assert METRICS["aer"].score(np.array(counts)) == pytest.approx(expected, abs=1e-12)


def test_sure_links_count_as_possible_whether_listed_or_not() -> None:
    assert alignment_counts({(0, 0)}, {(0, 0)}, set()) == alignment_counts({(0, 0)}, {(0, 0)}, {(0, 0)}) == (1, 1, 1, 1)


def test_fewer_errors_are_better() -> None:
    assert not Aer().higher_is_better
    none, all_wrong = METRICS["aer"].score(np.array([[2, 2, 2, 2], [0, 0, 2, 2]]))
    assert (none, all_wrong) == (0, 100)


@pytest.mark.parametrize("counts", [[2, 1, 3, 3], [1, 4, 3, 3], [3, 3, 3, 2], [-1, 0, 0, 0]])
def test_rules(counts: list[int]) -> None:
    with pytest.raises(
        ValueError, match="must have 0 <= in_sure <= in_possible <= guessed and in_sure <= sure, unlike"
    ):
        Outputs.from_statistics([[counts]], "aer")
