"""What one row of Comparisons says, in words that a paper can print."""

from __future__ import annotations

import re
from math import isnan
from typing import TYPE_CHECKING, Any

import pandas as pd

from simstudy.comparisons.equivalence import BETTER, BOTH, EQUIVALENT, UNDECIDED, equivalence
from simstudy.engines.descriptions import approximate_parts
from simstudy.engines.registry import DEFAULT_TEST, TESTS
from simstudy.metrics import label
from simstudy.papers.basis import asks_of_scores, differing_units
from simstudy.statistics.decisions import Decision, one_row
from simstudy.statistics.decisions import two_sided as by_two_sides
from simstudy.text.numerals import counted, p_digits, p_floor, p_text, score_format, units_name, units_text
from simstudy.text.plain_text import shown
from simstudy.validation import InputError, check_fraction

if TYPE_CHECKING:
    from simstudy.comparisons.pair import Pair

#: With fewer units tests and intervals are rough; the study error_rates says how rough.
FEW_UNITS = 20

#: If fewer units differ, they may lack large differences that are rare: docs/validation.md has the error rates.
FEW_DIFFER = 50

# Some of the columns of Comparisons; what has these has all.
_NEEDED = {"system_a", "system_b", "better", "unit", "test_set", "gain", "gain_low", "p_value", "p_floor", "test"}


def verdict(pair: pd.Series[Any] | Pair, *, alpha: float = 0.05, margin: float | None = None) -> str:
    """One row of Comparisons in words: the decision, the numbers, what they rest on, then cautions.

    Parameters
    ----------
    pair
        `simstudy.comparisons.Pair`, or a row of the table of `simstudy.Comparisons`.
    alpha
        The level.
    margin
        The smallest true gain that would matter, on the metric's scale, chosen beforehand; then it also says whether
        the better system is not worse than the other, and whether the two are equivalent (`Comparisons.equivalence`).

    Raises
    ------
    ValueError
        For an alpha that is no fraction, and a margin that is not above 0.

    Examples
    --------
    >>> import simstudy as ss
    >>> outputs = ss.Outputs.from_statistics([[[1, 1]] * 40, [[1, 1]] * 30 + [[0, 1]] * 10], "accuracy", ["new", "old"])
    >>> print(ss.compare(outputs).verdict())
    new is better than old: the gain is significant at 0.05.
    new scores 100.00 % accuracy, 25.00 points more than old (75.00 %).
    95 % interval 14.05 to 40.19 points; p = 0.00195 (two-sided).
    Wins, losses and ties of new: 10, 0 and 30 of 40 items.
    Test: sign-flip test, exact p-value; resampling unit: item; p is not corrected for multiple tests.
    """
    check_fraction("alpha", alpha)
    pair = getattr(pair, "row", pair)
    if not isinstance(pair, pd.Series) or not {*pair.index} >= _NEEDED:
        raise InputError("pair", "must be one pair of Comparisons, such as pairs.pair('new', 'old')", pair)
    pair = with_shown_names(pair)
    cautions = " ".join(cautions_of(pair, alpha))
    answer = " ".join(decided(pair, alpha, margin))
    return "\n".join(filter(None, [answer, _measured(pair, alpha), _basis(pair), cautions]))


def with_shown_names(pair: pd.Series[Any]) -> pd.Series[Any]:
    """The row with names as people see them; those of its two systems still differ."""
    a, b = shown(pair["system_a"]), shown(pair["system_b"])
    names = {pair["system_b"]: b if a != b else f"{b} (2)", pair["system_a"]: a}
    systems = {name: names.get(pair[name], pair[name]) for name in ("system_a", "system_b", "better")}
    return pd.Series({**pair, **systems, **{name: shown(pair[name]) for name in ("unit", "test_set")}})


def _measured(pair: pd.Series[Any], alpha: float) -> str:
    a, b = pair["system_a"], pair["system_b"]
    percent, points = (" %", " points") if pair["metric_unit"] == "percent" else ("", "")
    # A gain that is there must not read 0.00.
    digits = score_format(max(abs(pair["score_a"]), abs(pair["score_b"])), pair["gain"])
    score_a, score_b, gain = (format(pair[name], digits) for name in ("score_a", "score_b", "gain"))
    # Nor does a bound that is not 0: its side of 0 is what it is looked at for.
    bounds = [pair["gain_low"], pair["gain_high"]]
    low, high = (format(bound, score_format(pair["score_a"], pair["gain"], bound)) for bound in bounds)
    score = f"{score_a}{percent} {of_metric(pair['metric'])}"
    if pair["gain"] == 0:
        said = f"{a} and {b} have the same score ({score})"
    else:
        more = "less" if pair["score_a"] < pair["score_b"] else "more"
        said = f"{a} scores {score}, {gain}{points} {more} than {b} ({score_b}{percent})"
    between = "no interval" if isnan(pair["gain_low"]) else f"95 % interval {low} to {high}{points}"
    if pair["gain"] == 0 or (pair["score_a"] < pair["score_b"]):
        between = between.replace("interval", f"interval of the gain of {a}", 1)
    numbers = f"{between}; {_p_values(pair, alpha)}"
    return f"{said}.\n{numbers[0].upper()}{numbers[1:]}.\n{differing_units(pair)}"


def of_metric(name: str) -> str:
    """The words after a score: "accuracy", or "on average" for the metric "mean"."""
    return re.sub(r"^mean\b", "on average", label(name))


def _p_values(pair: pd.Series[Any], alpha: float) -> str:
    two_sided = pair["alternative"] == "two-sided"
    how = "two-sided" if two_sided else "one-sided"
    if pair["computation"] == "resampled":
        how += f", 95 % Monte Carlo interval {' to '.join(_monte_carlo_interval(pair, alpha))}"
    if not two_sided and not isnan(pair["p_two_sided"]):
        how += f"; two-sided p {_equals(pair, 'p_two_sided', alpha)}"
    return f"p {_equals(pair, 'p_value', alpha)} ({how})"


def _monte_carlo_interval(pair: pd.Series[Any], alpha: float) -> list[str]:
    """Both ends to the same decimals, with which they do not read as p itself."""
    p, ends = pair["p_value"], [pair["p_low"], pair["p_high"]]
    written = [p_digits(end, alpha, p_floor(pair["n_resamples"])) for end in ends]
    decimals = max(len(end.partition(".")[2]) for end in written)
    if any(end != p and f"{end:.{decimals}f}" == f"{p:.{decimals}f}" for end in ends):
        decimals += 1
    return [f"{end:.{decimals}f}" if end else "0" for end in ends]


def _equals(pair: pd.Series[Any], name: str, alpha: float) -> str:
    text = p_text(pair[name], alpha, p_floor(pair["n_resamples"]))
    return text if text.startswith("<") else f"= {text}"


def _basis(pair: pd.Series[Any]) -> str:
    """What the numbers rest on: test, resampling unit, strata, and that there is no correction."""
    resampled = pair["computation"] == "resampled"
    parts = [TESTS[pair["test"]].title]
    parts.append(f"{pair['n_resamples']:,} resamples" if resampled else f"{pair['computation']} p-value")
    if pair["convention"] != "default":
        parts.append(f"convention {pair['convention']}")
    strata = pair.get("strata")
    # A file of comma-separated values that is read again has NaN for "".
    within = f" within strata of {shown(strata)}" if isinstance(strata, str) and strata else ""
    unit = f"{units_name(pair['unit'], 1)}{within}"
    return f"Test: {', '.join(parts)}; resampling unit: {unit}; p is not corrected for multiple tests."


def decided(pair: pd.Series[Any], alpha: float, margin: float | None) -> list[str]:
    """The decision about a row of Comparisons, and about the margin, in sentences."""
    if margin is None:
        return [_significance(pair, alpha)]
    row = equivalence(one_row(pair), margin, alpha=alpha).iloc[0]
    conclusion = row["conclusion"]
    said = [_significance(pair, alpha, doubt=False)]
    points = "" if pair["metric_unit"] != "percent" else " point" if margin == 1 else " points"
    one, two = f"one-sided test at {alpha / 2:g}", f"two one-sided tests at {alpha / 2:g}"
    if conclusion == BOTH:
        return [*said, f"But it is smaller than the margin of {margin:g}{points}: the two are equivalent ({two})."]
    if conclusion == BETTER:
        if row["p_equivalence"] >= 1 - alpha / 2:
            return [*said, f"It is larger than the margin of {margin:g}{points} ({one})."]
        return [*said, f"Whether it exceeds the margin of {margin:g}{points} is not decided."]
    if conclusion == UNDECIDED:
        return [*said, f"Neither non-inferiority nor equivalence is shown for a margin of {margin:g}{points}."]
    said.append(f"{pair['system_a']} is not worse than {pair['system_b']} by {margin:g}{points} or more ({one}).")
    if conclusion == EQUIVALENT:
        return [*said, f"The two are equivalent: the true gain is within {margin:g}{points} either way ({two})."]
    return [*said, f"The two are not shown to be equivalent: {pair['system_b']} may be worse by {margin:g}{points}."]


def _significance(pair: pd.Series[Any], alpha: float, *, doubt: bool = True) -> str:
    a, two_sided = pair["system_a"], pair["alternative"] == "two-sided"
    if other := _other_preferred(pair, alpha):
        test = "The test" if two_sided else "The two-sided test"
        preferred = other if pair["gain"] == 0 else f"{other}, not {a}"
        so = "There is no gain" if pair["gain"] == 0 else "The gain is not significant"
        return (
            f"{so}. {test} prefers {preferred}. Its null hypothesis is not that the scores are equal, but that "
            f"{TESTS[pair['test']].null}."
        )
    if pair["gain"] == 0:
        return "There is no gain to test."
    b, decision, row = pair["system_b"], Decision(alpha), one_row(pair)
    if decision.significant(row)[0]:
        if not asks_of_scores(pair):
            about = TESTS[pair["test"]]
            predicted = "" if two_sided else f" One-sided, this is valid only if {a} was predicted to win."
            return (
                f"The {about.title} is significant at {alpha:g} in favour of {a}. It asks whether {about.null}, not "
                f"whether the scores are equal.{predicted}"
            )
        if two_sided:
            return f"{a} is better than {b}: the gain is significant at {alpha:g}."
        if decision.significant(by_two_sides(row))[0]:
            return f"{a} is better than {b}: the gain is significant at {alpha:g}, one-sided and two-sided."
        return (
            f"The gain of {a} over {b} is significant at {alpha:g} one-sided. This is valid only if {a} was predicted "
            "to win."
        )
    not_significant = f"The gain of {a} over {b} is not significant at {alpha:g}"
    warning = " This does not show that the two are equally good." if doubt else ""
    if not decision.within_reach(row)[0]:
        return (
            f"{not_significant}, and cannot be: too few units differ. Swapping them gives no p-value below "
            f"{p_digits(pair['p_floor'])}.{warning}"
        )
    return f"{not_significant}.{warning}"


def _other_preferred(pair: pd.Series[Any], alpha: float) -> str:
    """The system that a two-sided test prefers although its score is not the better; empty where there is none."""
    row = by_two_sides(one_row(pair))
    preferred = str(row["better"].iloc[0])
    other = preferred != pair["system_a"] or pair["gain"] == 0
    return preferred if other and Decision(alpha).rejects(row)[0] else ""


def cautions_of(pair: pd.Series[Any], alpha: float) -> list[str]:
    """Sentences on the numbers of a row of Comparisons that a reader should know."""
    return [*_remarks(pair, alpha), *_footing(pair, alpha)]


def _remarks(pair: pd.Series[Any], alpha: float) -> list[str]:
    """What a reader should know of the numbers: few units, and an interval that does not say what the test does."""
    remarks = []
    no_interval = isnan(pair["gain_low"])
    if pair["n_units"] < FEW_UNITS and not (pair["exact_level"] and no_interval):
        rough = "the interval is" if pair["exact_level"] else "the test is" if no_interval else "test and interval are"
        remarks.append(f"With {units_text(pair['n_units'], pair['unit'])} {rough} rough.")
    if not Decision(alpha).within_reach(one_row(pair))[0]:
        # The first sentence says that the test cannot reject: neither resamples nor the interval change that.
        return remarks
    if pair["p_low"] <= alpha < pair["p_high"]:
        remarks.append(
            f"That p-value is within Monte Carlo error of {alpha:g}: more than {pair['n_resamples']:,} resamples may "
            "decide otherwise."
        )
    p_value = pair["p_two_sided"]
    if no_interval or isnan(p_value) or _other_preferred(pair, alpha):
        return remarks
    rejected, at_usual = (Decision(level).rejects(by_two_sides(one_row(pair)))[0] for level in (alpha, 0.05))
    if (pair["gain_low"] > 0) != rejected:
        if rejected != at_usual:
            remarks.append(f"The interval has 95 %, and the decision is at {alpha:g}.")
            return remarks
        approximate = "the interval is approximate" if pair["exact_level"] else "both are approximate"
        if pair["exact_level"] and pair["computation"] == "exact" and p_value > alpha:
            # An exact test rejects at most as often as its level says, and of few units that differ less often.
            approximate += ", an exact p-value is on the safe side"
        null = TESTS[pair["test"]].null
        asks = "" if null.endswith(TESTS[DEFAULT_TEST].null) else f", and the test asks whether {null}"
        which = "p-value" if pair["alternative"] == "two-sided" else "two-sided p-value"
        remarks.append(f"Interval and {which} disagree about 0: {approximate}{asks}.")
    return remarks


def _footing(pair: pd.Series[Any], alpha: float) -> list[str]:
    """Sentences on what a row of Comparisons rests on, and its caution; none for right and wrong answers.

    Right and wrong answers need none: the verdict has their wins and losses, and test and interval hold for few too.
    """
    said = []
    if not isnan(pair["accepted_a"]):
        (of_a, wrong_a), (of_b, wrong_b) = ((pair[f"accepted_{x}"], pair[f"wrong_{x}"]) for x in "ab")
        a, b = pair["system_a"], pair["system_b"]
        said.append(
            f"Answers: {of_a:,.0f} by {a}, {wrong_a:,.0f} of them wrong, and {of_b:,.0f} by {b}, {wrong_b:,.0f} wrong."
        )
    elif pair["interval"] == "jackknife" and not isnan(pair["skewness"]):
        said.append(f"Skewness of the differences: {pair['skewness']:.2f}.")
    n_differ = pair["wins"] + pair["losses"]
    approximated = pair["interval"] == "jackknife" and not pair["exact_level"] and not isnan(pair["skewness"])
    few = pair["n_units"] >= FEW_UNITS and n_differ < FEW_DIFFER
    if approximated and few and Decision(alpha).significant(one_row(pair))[0]:
        said.append(f"Few units differ ({units_text(n_differ, pair['unit'])}): large rare differences may be missing.")
    # A file of comma-separated values that is read again has NaN for "".
    caution = pair["caution"] if isinstance(pair["caution"], str) else ""
    approximate = approximate_parts(one_row(pair))
    if caution and approximate:
        # With few units another sentence says what is approximate.
        said.append(f"{caution.capitalize()}{f': {approximate}' if pair['n_units'] >= FEW_UNITS else ''}.")
    return said


def cautioned(pairs: pd.DataFrame) -> str:
    """What a page says of column caution, after a sentence; nothing where no pair has one."""
    rows = pairs[pairs["caution"] != ""]
    approximate = approximate_parts(rows)
    if rows.empty or not approximate:
        return ""
    return (
        f" Column caution: where it says so ({len(rows):,} of {counted(len(pairs), 'pair')}), few effective units or "
        f"skewed differences: {approximate}."
    )
