"""Verdicts of random rows: the decision and remarks by a truth table, and the numbers as they are read again."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.comparisons.verdict import verdict
from simstudy.outputs import Outputs
from tests.examination.rows import only_new_is_right, pair, scores
from tests.oracles import compared
from tests.statistics.test_proportions import by_quartic


def test_the_row_that_these_tests_make_is_one_of_comparisons() -> None:
    row = compared(only_new_is_right(6, 14)).iloc[0]
    assert set(pair().index) <= set(row.index)


ANSWERS = {
    "two-sided": "new is better than old: the gain is significant at {alpha}.",
    "both": "new is better than old: the gain is significant at {alpha}, one-sided and two-sided.",
    "one-sided": "The gain of new over old is significant at {alpha} one-sided. This is valid only if new was "
    "predicted to win.",
    "another null": "The sign test is significant at {alpha} in favour of new. It asks whether either ",
    "no gain": "There is no gain to test.",
    "not significant": "The gain of new over old is not significant at {alpha}. This does not show that the two are ",
    "out of reach": "The gain of new over old is not significant at {alpha}, and cannot be: too few units differ. ",
    "the other": "The gain is not significant. The {test} prefers old, not new. Its null hypothesis is not that the ",
    "no gain, the other": "There is no gain. The {test} prefers old. Its null hypothesis is not that the ",
    "no gain, the first": "There is no gain. The {test} prefers new. Its null hypothesis is not that the ",
}


def random_row(rng: np.random.Generator, alpha: float) -> pd.Series[Any]:
    """A row whose p-values, reach, sides, intervals and preference are drawn, many of them next to the level."""
    p, p_two_sided = alpha * rng.choice([0.1, 0.9, 1.0, 1.1, 4.0], 2)
    two_sided, gain = rng.random() < 0.5, float(rng.choice([0, 5], p=[0.1, 0.9]))
    computation = str(rng.choice(["exact", "approximated", "resampled"]))
    half = 0.0 if computation != "resampled" else float(abs(alpha - p) or 0.2 * alpha) * rng.choice([0.5, 1.0, 1.5])
    low = float(rng.choice([-1.0, 1.0, np.nan], p=[0.4, 0.4, 0.2]))
    return pair(
        metric="mean", test=rng.choice(["sign_flips", "t_paired", "sign"], p=[0.3, 0.2, 0.5]), gain=gain,
        score_b=75 - gain, alternative="two-sided" if two_sided else "greater", p_value=p, p_low=p - half,
        p_high=p + half, p_two_sided=p if two_sided else rng.choice([p_two_sided, np.nan], p=[0.9, 0.1]),
        p_floor=alpha * rng.choice([1e-9, 0.5, 0.6, 1.0, 1.1], p=[0.4, 0.15, 0.15, 0.15, 0.15]),
        better=rng.choice(["new", "", "old"] if two_sided else ["new", ""]), computation=computation,
        n_resamples=1000 if half else 0, exact_level=bool(rng.random() < 0.5), gain_low=low, gain_high=low + 9,
        n_units=int(rng.choice([5, 19, 20, 1500])), n_items=1500,
    )  # fmt: skip


def rejects_two_sided(row: pd.Series[Any], alpha: float) -> bool:
    """Whether the two-sided test, of which two of 2^m swaps are as extreme, rejects at the level."""
    floor = row["p_floor"] if row["alternative"] == "two-sided" else min(1, 2 * row["p_floor"])
    return bool(row["p_two_sided"] <= alpha and floor <= alpha)


def expected_answer(row: pd.Series[Any], alpha: float) -> str:
    preferred = str(row["better"])
    if row["alternative"] == "greater" and preferred == "" and row["p_value"] > 0.5:
        # More than half of the null distribution speaks against the gain.
        preferred = "old"
    preferred = preferred if rejects_two_sided(row, alpha) else ""
    if row["gain"] == 0:
        return {"new": "no gain, the first", "old": "no gain, the other"}.get(preferred, "no gain")
    if preferred == "old":
        return "the other"
    if row["p_floor"] > alpha:
        return "out of reach"
    if row["better"] != "new" or row["p_value"] > alpha:
        return "not significant"
    if row["test"] == "sign":
        return "another null"
    return "two-sided" if row["alternative"] == "two-sided" else "both" if preferred else "one-sided"


def expected_remarks(row: pd.Series[Any], alpha: float, answer: str) -> dict[str, bool]:
    """Sentences, or parts of them, and whether a verdict with this answer has them."""
    two_sided, no_interval, exact = row["alternative"] == "two-sided", np.isnan(row["gain_low"]), row["exact_level"]
    rough = "the interval is" if exact else "the test is" if no_interval else "test and interval are"
    is_rough = row["n_units"] < 20 and not (exact and no_interval)
    within_reach = row["p_floor"] <= alpha
    rejected, rejected_at_usual_level = (rejects_two_sided(row, level) for level in (alpha, 0.05))
    comparable = within_reach and not no_interval and row["p_two_sided"] >= 0 and ", the " not in f", {answer}"
    differ = comparable and (row["gain_low"] > 0) != rejected
    disagree = differ and rejected == rejected_at_usual_level
    above_level = exact and row["computation"] == "exact" and row["p_two_sided"] > alpha
    return {
        "only if new was predicted to win": answer == "one-sided" or (answer == "another null" and not two_sided),
        f"With {row['n_units']} items {rough} rough.": is_rough,
        f"within Monte Carlo error of {alpha:g}: more than 1,000 resamples may": within_reach
        and row["p_low"] <= alpha < row["p_high"],
        f"Interval and {'' if two_sided else 'two-sided '}p-value disagree about 0: ": disagree,
        f"The interval has 95 %, and the decision is at {alpha:g}.": differ and not disagree,
        "an exact p-value is on the safe side": disagree and above_level,
        "both are approximate": disagree and not exact,
        "and the test asks whether either system is as likely to win": disagree and row["test"] == "sign",
    }


def test_decision_and_remarks_follow_the_numbers() -> None:
    """The rules of decisions and of two-sided p-values, written out; every kind of answer and remark is there."""
    rng, answers, remarks = np.random.default_rng(5), set(), set()
    for alpha in [0.01, 0.05, 0.2] * 130:
        row = random_row(rng, alpha)
        text, answer = verdict(row, alpha=alpha), expected_answer(row, alpha)
        test = "test" if row["alternative"] == "two-sided" else "two-sided test"
        assert text.startswith(ANSWERS[answer].format(alpha=f"{alpha:g}", test=test)), row
        answers.add(answer)
        for k, (part, expected) in enumerate(expected_remarks(row, alpha, answer).items()):
            assert (part in text) == expected, (part, row)
            remarks |= {k} if expected else set()
    assert answers == set(ANSWERS)
    assert len(remarks) == 8


MEASURED = re.compile(
    r"new scores (?P<score_a>\S+) (?P<percent>% )?(?:\w+|on average), (?P<gain>\S+) (?P<points>points )?"
    r"(?P<direction>more|less) than old \((?P<score_b>\S+)(?: %)?\)\.\n"
    r"95 % interval (?P<of>of the gain of new )?(?P<gain_low>\S+) to (?P<gain_high>\S+)(?: points)?; p = 0.0310 "
    r"\((?P<sides>\S+?)(?:; two-sided p = 0.0620)?\)\.\n"
    r"Wins, losses and ties of new: (?P<wins>[\d,]+), (?P<losses>[\d,]+) and (?P<ties>[\d,]+) of 1,500 items"
)


@pytest.mark.parametrize(("metric", "unit"), [("accuracy", "%"), ("aer", "%"), ("mean", "")])
def test_numbers_can_be_read_again(metric: str, unit: str) -> None:
    """To half a unit of their last digit; a gain and the ends of an interval stay on their side of 0."""
    rng = np.random.default_rng(6)
    for _ in range(40):
        scale = 100.0 if unit else 10.0 ** rng.integers(-200, 150)
        gain = scale * 10.0 ** rng.uniform(-5, -0.3)
        score_a = scale * rng.uniform(0.5, 1)
        wins, losses = rng.integers(0, 750, 2)
        lower_is_better, two_sided = metric == "aer", rng.random() < 0.5
        numbers = {
            "score_a": score_a, "score_b": score_a + gain * (1 if lower_is_better else -1), "gain": gain,
            "gain_low": rng.choice([-1e-30, -1e-3, 1e-30, 1e-3, 0.5, 0.0]) * gain, "gain_high": 3 * gain,
        }  # fmt: skip
        sides = {} if two_sided else {"alternative": "greater", "p_two_sided": 0.062}
        row = pair(metric=metric, **numbers, wins=wins, losses=losses, ties=1500 - wins - losses, **sides)
        match = MEASURED.search(verdict(row))
        assert match, verdict(row)
        for name, number in numbers.items():
            text = match[name]
            last = 10.0 ** -len(text.partition(".")[2]) if "e" not in text else 1e-3 * abs(number)
            assert float(text) == pytest.approx(number, abs=0.501 * last)
            if name.startswith("gain"):
                assert np.sign(float(text)) == np.sign(number)
        assert (match["percent"] is not None) == (match["points"] is not None) == bool(unit)
        assert (match["direction"], match["of"] is not None) == (("less", True) if lower_is_better else ("more", False))
        assert match["sides"] == ("two-sided" if two_sided else "one-sided")
        assert [int(match[name].replace(",", "")) for name in ("wins", "losses")] == [wins, losses]
        assert match["ties"] == f"{1500 - wins - losses:,}"


def test_both_ends_of_a_monte_carlo_interval_have_decimals_that_tell_them_from_p() -> None:
    """By Clopper and Pearson's limits of 2^18 resamples, among them some of which one end begins with 0.02."""
    n = 2**18
    for n_extreme in [0, *np.unique(np.geomspace(3, 0.9 * n, 40).astype(int))]:
        p = (n_extreme + 1) / (n + 1)
        low, high = stats.binomtest(int(n_extreme), n).proportion_ci(0.95)
        row = pair(p_value=p, p_low=low, p_high=high, n_resamples=n, n_extreme=n_extreme, computation="resampled")
        match = re.search(
            r"p (?:<|<=|=) ([0-9.]+) \(two-sided, 95 % Monte Carlo interval ([0-9.]+) to ([0-9.]+)\)", verdict(row)
        )
        assert match, verdict(row)
        shown_p, shown_low, shown_high = map(float, match.groups())
        decimals = len(match[3].partition(".")[2])
        assert match[2] == "0" if low == 0 else decimals == len(match[2].partition(".")[2])
        assert (shown_low, shown_high) == pytest.approx((low, high), abs=0.51 * 10.0**-decimals)
        assert shown_low < shown_p < shown_high


def test_equal_scores_have_an_interval_of_the_first_system() -> None:
    """One item won and one lost; where nothing varies there is no interval."""
    row = compared(Outputs.from_statistics([[[1, 1], [0, 1]], [[0, 1], [1, 1]]], "accuracy", ["a", "b"])).iloc[0]
    limit = 100 * by_quartic(1, 1, 2, 0.95)[1]
    assert verdict(row).splitlines()[1:3] == [
        "a and b have the same score (50.00 % accuracy).",
        f"95 % interval of the gain of a -{limit:.2f} to {limit:.2f} points; p = 1.000 (two-sided).",
    ]
    values = np.linspace(0, 1, 30)
    assert "\nNo interval of the gain of new; p = 1.000 (" in verdict(compared(scores(values, values)).iloc[0])
    ahead = verdict(compared(scores(values + 0.5, values)).iloc[0])
    assert "0.5000 more than old (0.5000).\nNo interval; p < 0.000001 (" in ahead


@pytest.mark.parametrize(
    ("changed", "part"),
    [
        ({"test_set": "WMT24"}, " of 1,500 items of WMT24.\n"),
        ({"unit": "cluster", "n_units": 60, "wins": 9, "losses": 1, "ties": 50}, "60 clusters with 1,500 items in all"),
        ({"unit": "doc", "strata": "genre"}, "; resampling unit: cluster (doc) within strata of genre; p is not "),
        ({"test": "bootstrap", "convention": "sacrebleu"}, "paired bootstrap, exact p-value, convention sacrebleu; "),
        ({"test": "t_paired", "computation": "approximated"}, "Test: paired t test, approximated p-value; "),
        ({"n_resamples": 5000, "computation": "resampled"}, "Test: sign-flip test, 5,000 resamples; "),
        ({"metric": "macro_f1"}, "Items that add to the gain of new, take from it and do neither: 200, 125 and 1,175"),
        ({"metric": "mcc", "unit": "doc"}, "Clusters (doc) that add to the gain of new, take from it and do neither: "),
        ({"interval": "bootstrap", "metric": "auc"}, "\nThe two differ on 325 of 1,500 items."),
        ({"ties": 75}, " of new: 200, 125 and 75 of 400 battles with old."),
        ({"p_value": 0.9, "p_floor": 0.0625}, "too few units differ. Swapping them gives no p-value below 0.0625."),
    ],
)  # fmt: skip
def test_what_the_numbers_rest_on_is_named(changed: dict[str, Any], part: str) -> None:
    assert part in verdict(pair(**changed))
    assert part not in verdict(pair(test="sign"))
