"""What p-values and intervals rest on, in words: one formulation for pages, terminals and papers."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import pandas as pd

from simstudy.engines.descriptions import SIDES, described_level
from simstudy.engines.registry import TESTS, SignificanceTest
from simstudy.outputs.samples import SAMPLE_OF
from simstudy.papers.document import Cite, Code, Text, joined
from simstudy.papers.references import BOOTSTRAP, HOLM, RANKS, SCORE_OF_GAINS, SCORE_OF_SHARES, SIMSTUDY
from simstudy.statistics.decisions import Decision, two_sided
from simstudy.statistics.multiplicity import RANK_DRAWS
from simstudy.statistics.pvalues import CONVENTIONS
from simstudy.text.numerals import counted, units_name, units_text
from simstudy.text.plain_text import shown

#: What one-sided p-values suppose.
IF_PREDICTED = "One-sided p-values are valid only if the better system of a pair was predicted."

# How an interval of a gain is made, by column interval, and how one of a score.
_INTERVALS: dict[str, Text] = {
    "score": ["score intervals for paired proportions", Cite((SCORE_OF_GAINS,))],
    "jackknife": ["t intervals with standard errors by the jackknife"],
    "bootstrap": ["t intervals with standard errors by the bootstrap", Cite((BOOTSTRAP,))],
    "wilson": ["score intervals", Cite((SCORE_OF_SHARES,))],
}


# What intervals are called in a sentence.
_KINDS = {"score": "score intervals", "jackknife": "t intervals of gains", "bootstrap": "t intervals by the bootstrap"}


# A class has a score, and no item: where both systems are wrong, one answer may cost more than the other.
_OF_CLASSES = ("macro_f1", "balanced_accuracy", "mcc")


def named(test: SignificanceTest, sides: str) -> str:
    """A test in a sentence: with an article, unless it has the name of a person or of a method."""
    if test.title.partition(" ")[0].endswith("'s") or test.title.startswith("approximate "):
        return f"{sides} {test.title}"
    return f"the {sides} {test.title}"


def asks_of_scores(pair: Mapping[Any, Any] | pd.Series[Any]) -> bool:
    """Whether the test of a row is about its gain: of right or wrong answers, the sign test and Fisher's are too."""
    answers = pair["metric"] == "accuracy" and pair["n_units"] == pair["n_items"]
    return TESTS[pair["test"]].of_scores or pair["test"] == "fisher" or bool(answers)


def asked_instead(pairs: pd.DataFrame) -> str:
    """A sentence, after a blank, on the question of a test that is not about scores; empty for other tests."""
    one = pairs.iloc[0]
    test = TESTS[one["test"]]
    if asks_of_scores(one):
        return ""
    return f" The {test.title} asks whether {test.null}, not whether the scores are equal."


def differing_intervals(pairs: pd.DataFrame) -> str:
    """In how many rows interval and p-value say different things about a gain of 0, a sentence after a blank.

    Empty where they never do. A two-sided p-value is what a 95 % interval is held against.
    """
    by_two = two_sided(pairs)
    known = by_two["gain_low"].notna() & by_two["p_value"].notna()
    outside = ((by_two["gain_low"] > 0) | (by_two["gain_high"] < 0)).to_numpy()
    differ = known.to_numpy() & (outside != Decision().rejects(by_two))
    if not differ.any():
        return ""
    one = pairs.iloc[0]
    p = "p" if one["alternative"] == "two-sided" else "the two-sided p"
    said = [
        f"in {counted(n, 'row')} the interval {zero} 0, but {p} is {size} 0.05"
        for n, zero, size in (
            (int((differ & outside).sum()), "excludes", "above"),
            (int((differ & ~outside).sum()), "includes", "at most"),
        )
        if n
    ]
    kinds = " and ".join(_KINDS[kind] for kind in dict.fromkeys(pairs.loc[differ, "interval"]))
    title = TESTS[one["test"]].title
    why = f"{kinds} and the {title} are different methods"
    if not asks_of_scores(one):
        why = f"{kinds} are about the gain, and the {title} is not"
    text = f"{'; '.join(said)}: {why}."
    return f" {text[0].upper()}{text[1:]}"


def counted_units(pair: Mapping[Any, Any] | pd.Series[Any], *, of: bool = True) -> str:
    """The units of a row of Comparisons, with their items if these are others; with `of` the test set, if named."""
    test_set = f" of {pair['test_set']}" if of and pair["test_set"] else ""
    if pair["unit"] == "item":
        return f"{counted(int(pair['n_items']), 'item')}{test_set}"
    noun = "sample" if pair["unit"] == SAMPLE_OF else "item"
    return f"{units_text(pair['n_units'], pair['unit'])} with {counted(int(pair['n_items']), noun)} in all{test_set}"


def differing_units(pair: pd.Series[Any]) -> str:
    """On how many units either system of a row of Comparisons does better, a sentence."""
    if pair["interval"] == "bootstrap":
        return f"The two differ on {pair['n_units'] - pair['ties']:,} of {counted_units(pair)}."
    a, b = pair["system_a"], pair["system_b"]
    counts = f"{pair['wins']:,}, {pair['losses']:,} and {pair['ties']:,}"
    met = pair["wins"] + pair["losses"] + pair["ties"]
    # Systems of an arena meet each other in some of its battles only.
    of = counted_units(pair) if met == pair["n_units"] else f"{met:,} battles with {b}"
    if pair["metric"] in _OF_CLASSES:
        units = units_name(pair["unit"])
        units = f"{units[0].upper()}{units[1:]}"
        return f"{units} that add to the gain of {a}, take from it and do neither: {counts} of {of}."
    return f"Wins, losses and ties of {a}: {counts} of {of}."


def compared(pairs: pd.DataFrame, *, by: str = "", units: bool = True) -> Text:
    """The test of all pairs, its null hypothesis, units and p-values, in sentences for a methods section.

    `by` says by which metrics or on which domains, if there are others too; without `units` another place has them.
    """
    one, n = pairs.iloc[0], len(pairs)
    test, known = TESTS[one["test"]], described_level(pairs)
    what = ("the two systems" if n == 1 else f"{n:,} pairs of systems") + by
    exact_binary = known == "exact" and one["test"] == "sign_flips" and (pairs["interval"] == "score").all()
    mcnemar: Text = [" For right or wrong answers it is McNemar's exact test", Cite(TESTS["mcnemar"].cites), "."]
    strata, with_sides = one.get("strata"), named(test, SIDES[one["alternative"]])
    # A file of comma-separated values that is read again has NaN for "".
    stratified = isinstance(strata, str) and strata != ""
    return joined(
        [
            f"We compared {what} with {with_sides}",
            Cite(test.cites),
            f". It is {known} here{'' if known == 'approximate' else ' for independent units'}.",
            *(mcnemar if exact_binary else []),
        ],
        [f"The null hypothesis is that {test.null}."],
        [f"The test assumes: {test.assumes}."] if test.assumes and known != "exact" else [],
        [f"The units are {counted_units(one, of=False)}."] if units else [],
        [f"Resamples keep the number of units of each {shown(strata)}."] if stratified else [],
        resampled(pairs),
        [IF_PREDICTED] if one["alternative"] == "greater" else [],
    )


def resampled(pairs: pd.DataFrame) -> Text:
    """How p-values came about, in sentences."""
    one, those = pairs.iloc[0], (pairs["computation"] == "resampled").to_numpy()
    if not those.any():
        return _computed(pairs)
    rule = CONVENTIONS[one["convention"]]
    drawn = f"{pairs['n_resamples'].max():,} random resamples (seed {one['seed']})"
    if rule.name != "default":
        how: Text = [f", counted by the convention {rule.name}", Cite(rule.cites)]
    else:
        how = [" and is (count + 1) / (resamples + 1)" if len(pairs) == 1 else ", as (count + 1) / (resamples + 1)"]
        how = [*how, Cite(rule.cites)]
    if len(pairs) == 1:
        return [f"The p-value is from {drawn}", *how, "."]
    if those.all():
        return [f"The p-values are from {drawn}", *how, "."]
    return [
        f"{those.sum():,} of the {len(pairs):,} p-values are from at most {drawn}", *how,
        "; the others are exact or approximated.",
    ]  # fmt: skip


def _computed(pairs: pd.DataFrame) -> Text:
    """Whether p-values without resamples are exact or approximated, in a sentence."""
    approximated = (pairs["computation"] == "approximated").to_numpy()
    subject = "The p-values are" if len(pairs) > 1 else "The p-value is"
    if not approximated.any():
        return [f"{subject} exact."]
    by: Text = [" by a saddlepoint approximation", Cite(("lugannani1980",))] if _of_flips(pairs) else []
    if approximated.all():
        return [f"{subject} approximated", *by, "."]
    return [f"{subject} exact for {(~approximated).sum():,} pairs, and approximated", *by, " for the others."]


def _of_flips(pairs: pd.DataFrame) -> bool:
    return pairs["test"].iloc[0] in ("sign_flips", "randomization")


def intervals(pairs: pd.DataFrame, of_scores: str | None = None) -> Text:
    """How the intervals of gains are made, and those of scores if their kind is given; nothing if there are none."""
    kinds = list(dict.fromkeys(pairs.loc[pairs["gain_low"].notna(), "interval"]))
    if kinds == [of_scores]:
        return [
            "Intervals of gains and scores are 95 %, two-sided: ",
            *_INTERVALS[kinds[0]],
            ", each for one by itself.",
        ]
    many = len(pairs) > 1
    of_gains: list[Any] = ["Intervals of gains are" if many else "The interval of the gain is", " 95 %, two-sided: "]
    for k, kind in enumerate(kinds):
        of_gains += [" and "] * (k > 0) + [*_INTERVALS[kind]]
    of_gains.append(", each for one gain by itself." if many else ".")
    scores: Text = []
    if of_scores is not None:
        scores = [
            "Intervals of scores are 95 %, two-sided: ",
            *_INTERVALS[of_scores],
            ", each for one score by itself.",
        ]
    return joined(of_gains if kinds else [], scores)


def ranks(level: float, seed: int) -> Text:
    """How confidence sets of ranks are to be read, and that they are from draws, in sentences."""
    return [
        f"Confidence sets of ranks hold for all systems at once with {100 * level:g} % confidence",
        Cite((RANKS,)),
        f". {ranks_drawn(seed)}",
    ]


def ranks_drawn(seed: int) -> str:
    """That confidence sets of ranks are from draws even if p-values are not, a sentence."""
    draws = f"{RANK_DRAWS:,} draws of signs (seed {seed})"
    return f"They are from {draws}: a rank at the edge of a set may depend on the seed."


def corrected_for(family: str, column: str = "") -> Text:
    """Which family p-values are corrected for, in a sentence; if only those of one column are, the others are not."""
    if column:
        return [f"{column} is corrected for {family} by Holm's method", Cite((HOLM,)), "; p is not corrected."]
    return [f"The p-values are corrected for {family} by Holm's method", Cite((HOLM,)), "."]


def corrected_with(baseline: str | None, family: str) -> Text:
    """Which family comparisons with a baseline are corrected for, and when that is valid; nothing without one."""
    if baseline is None:
        return []
    name = shown(baseline)
    return [
        f"Comparisons with {name} are corrected for {family}. This is valid if {name} was chosen before the results "
        "were seen."
    ]


#: The sentence of one test.
NOT_CORRECTED: Text = ["The p-value is not corrected for multiple tests."]


def software(signed: str) -> Text:
    """What computed it all, with its signature."""
    return [f"All numbers are by simstudy {version('simstudy')}", Cite((SIMSTUDY,)), "; signature: ", Code(signed), "."]
