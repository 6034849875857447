"""What a plan says is known of the systems: the numbers that were given, and those counted in a pilot."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import simstudy as ss
from simstudy.planning.benchmarks import typical
from simstudy.planning.spreads import spread_interval
from tests.oracles import compared
from tests.planning.forms import FORMS, PILOTS, many, numbers, pilot, told
from tests.planning.options import majority


def usual(metric: str, relation: str, quantity: str, digits: int = 3) -> list[float]:
    found = typical(metric, relation, quantity)
    numbers = [float(f"{number:.{digits}g}") for number in (found.middle, found.low, found.high)]
    return [*numbers, 80.0, float(found.n_test_sets)]


def agreeing(score: float, gain: float, r12: float) -> list[float]:
    """Of answers that correlate: the agreement in percent by the two-by-two table, and the correlation."""
    p, q = score / 100, (score + gain) / 100
    both = p * q + r12 * (p * (1 - p) * q * (1 - q)) ** 0.5
    return [100 * (both + 1 - p - q + both), r12]


def at_a_gain(score: float, gain: float) -> list[float]:
    """The usual r12 with its range at a gain: the same part of the largest that such scores allow."""
    most = ((score / (100 - score)) * (100 - score - gain) / (score + gain)) ** 0.5
    middle, low, high = (most * end for end in usual("accuracy", "same family", "r12", digits=9)[:3])
    return [*agreeing(score, gain, middle), low, high, *usual("accuracy", "same family", "r12")[3:]]


OF_UNITS = [6.0, 0.8, 0.2]

#: The numbers of what is known of each guess, and of its range, in their order.
KNOWN: dict[str, list[float]] = {
    "answers": [0.8],
    "a range of answers": [0.8, 0.75, 0.85],
    "correlated answers": [*agreeing(60, 8, 0.4), 0.3, 0.5],
    "usual answers": at_a_gain(60, 8),
    "judged answers": [0.8, 10.0, 3.0, 0.2, 100 * majority(0.1, 0.2), 1 - 2 * majority(0.1, 0.2)],
    "judged pairs": [0.1, 55.0, 45.0, 10.0, 10.0, 0.8],
    "a range of scores": [40.0, 30.0, 50.0],
    "usual scores": usual("f1", "different families", "sd"),
    "judged scores": [40.0, 20.0, 2.0, 0.3],
    "units": [40.0, *OF_UNITS],
    "a range of units": [40.0, 0.5, 6.0, 0.75, 0.2, 0.4, 0.6, 0.3, 1.2],
    "units of judged answers": [0.8, 10.0, 0.8, *OF_UNITS],
}


def shares_of_pilot() -> list[float]:
    right = pilot("of answers").statistics[..., 0]
    differ = int((right[0] != right[1]).sum())
    ends = stats.binomtest(differ, 150).proportion_ci()
    return [100 * differ / 150, 150, 100 * ends.low, 100 * ends.high, 95]


def spread_of_documents() -> list[float]:
    """Differences of documents by leaving each one out, as a ratio of sums."""
    outputs = pilot("of documents")
    codes, scores = outputs.items["cluster"].to_numpy(), outputs.statistics[..., 0]
    difference = scores[0] - scores[1]
    without = np.array([difference[codes != k].mean() for k in range(40)])
    return [*np.insert(np.array(spread_interval(39 * (without.mean() - without))), 1, 40), 95]


def pairs_of_many(form: str) -> list[float]:
    """The median and two percentiles of all six pairs, of which too few are in doubt."""
    pairs = compared(pilot(form), n_resamples=10)
    n = 150 if "answers" in form else 40
    won = 100 * (pairs["wins"] + pairs["losses"]) / n
    spreads = won if "answers" in form else pairs["gain_se"] * np.sqrt(n)
    return [spreads.median(), 6, n, 80, *np.quantile(spreads, [0.1, 0.9])]


@pytest.mark.parametrize("form", FORMS)
def test_what_is_known_of_systems_has_the_numbers_that_were_given_or_counted(form: str) -> None:
    case = told(form).cases[0]
    of_pilots = {"of answers": shares_of_pilot, "of documents": spread_of_documents}
    if many(form):
        assert numbers(case.known) == pytest.approx(pairs_of_many(form), rel=6e-3)
        spreads = [end.sd_of(0.0) / case.middle.sd_of(0.0) for end in (case.low, case.high)]
        assert numbers(case.range) == pytest.approx([*spreads, 95], abs=6e-3)
    elif form in of_pilots:
        assert numbers(f"{case.known} | {case.range}") == pytest.approx(of_pilots[form](), rel=6e-3)
    elif form in KNOWN:
        said = f"{case.said(8.0)} | {case.said_range(8.0)}".replace("r12 ", "")
        assert numbers(said) == pytest.approx(KNOWN[form], rel=6e-3)
    assert form in PILOTS or form in KNOWN


def test_a_possible_part_of_a_range_is_told_beside_the_range() -> None:
    """Systems of 90 and 94 % agree on 84 to 96 % of items."""
    guess = ss.Guess(score=90, agreement=(0.7, 0.99))
    case = ss.plan(metric="accuracy", gain=4, guess=guess).cases[0]
    assert numbers(f"{case.known} | {case.range}") == [0.9, 0.84, 0.96, 0.7, 0.99]
    assert [end.sd_of(0.0) for end in (case.low, case.middle, case.high)] == pytest.approx(
        [100 * (1 - share) ** 0.5 for share in (0.96, 0.9, 0.84)]
    )
    # Answers of 30 % correlate by -0.43 and more with one another, and those of 30 and 50 % by up to 0.65.
    part = ss.plan(metric="accuracy", gain=20, guess=ss.Guess(score=30, r12=(-0.6, 0.9)), sizes=[]).cases[0]
    said = f"{part.said(20)} | {part.said_range(20)}".replace("r12 ", "")
    expected = [*agreeing(30, 20, 0.11305), -0.4286, 0.6547, -0.6, 0.9]
    assert numbers(said) == pytest.approx(expected, abs=0.06)
