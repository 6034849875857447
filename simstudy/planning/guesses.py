"""Cases from guesses alone: a score and an agreement, a correlation or a standard deviation, or what is usual.

Judges who err (`simstudy.planning.judged`), and clusters, make other cases of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from simstudy.metrics import label
from simstudy.metrics.base import Metric
from simstudy.notes import Argument, Words
from simstudy.planning.arguments import RELATIONS, Clusters, Design, Guess, Judge
from simstudy.planning.benchmarks import CLUSTERS, typical, usual_cv
from simstudy.planning.cases import GUESSED, Case, scale_of
from simstudy.planning.correlated_answers import (
    AlikeAnswers,
    AnswersOfGain,
    CorrelatedAnswers,
    agreement_range,
    correlation_range,
    disagreement_of,
    disagreement_of_correlation,
    of_spread,
)
from simstudy.planning.differences import ClusteredDifference, Difference, NormalDifference
from simstudy.planning.judged import judged_scores, judged_verdicts
from simstudy.planning.right_or_wrong import RightOrWrongDifference
from simstudy.planning.settings import Range, ends
from simstudy.validation import InputError

# What a range covers that was given.
_GUESSED_RANGE = "the guessed range"


def of_guess(metric: Metric, gain: float | None, guess: Guess, clusters: Clusters, judge: Judge) -> list[Case]:
    """The cases that a guess makes: one, or, where usual values stand in, one for each relation of systems."""
    if metric.name == "accuracy":
        cases = _of_answers(metric, gain, guess, judge)
    elif metric.name == "win_rate" and guess.sd_difference is None:
        cases = _of_win_rate(guess, judge)
    else:
        cases = _of_scores(metric, guess, judge)
    return [_in_clusters(case, clusters) for case in cases]


def _of_answers(metric: Metric, gain: float | None, guess: Guess, judge: Judge) -> list[Case]:
    _refuse(metric.label, guess, ("sd", "sd_difference"))
    _refuse(metric.label, judge, ("sd",))
    if guess.agreement is not None and guess.r12 is not None:
        rule = Words("must not be given with {r12}, from which it follows", r12=Argument("Guess.r12"))
        raise InputError("Guess.agreement", rule)
    if guess.score is None:
        raise InputError("Guess.score", "must be given for accuracy: the worse system's, in percent")
    score = guess.score
    apart = abs(gain or 0.0)
    if score + apart > 100:
        raise InputError("gain", f"must be at most {100 - score:g} where the score is {score:g} %", apart)

    def correlated(r12: float) -> Difference:
        return CorrelatedAnswers(score, r12)

    def agreeing(agreement: float) -> Difference:
        disagreement = disagreement_of(score, apart, agreement)
        # No more items can be won than the worse system has wrong.
        return RightOrWrongDifference(disagreement, most=max(2 * (100 - score) - 100 * disagreement, apart))

    if guess.agreement is not None:
        possible = agreement_range(score, apart)
        cases = [_given("agreement", guess.agreement, agreeing, "an agreement of {:g}", possible=possible)]
    elif guess.r12 is not None:
        ranges = [correlation_range(score, 0.0), correlation_range(score, apart)]
        possible = max(low for low, _ in ranges), min(high for _, high in ranges)
        case = _given("r12", guess.r12, correlated, "", possible=possible)
        if not isinstance(guess.r12, Sequence):
            disagreement_of_correlation(score, apart, guess.r12)
        cases = [_of_gain(case)]
    else:
        cases = [_of_gain(case) for case in _usual(metric, guess, "r12", partial(AlikeAnswers, score))]
    return [judged_verdicts(case, judge, "answers") for case in cases]


def _of_gain(case: Case) -> Case:
    """A case of answers that correlate, which says how often the systems agree with the true gain."""
    middle, low, high = case.middle, case.low, case.high
    assert isinstance(middle, AnswersOfGain)
    assert isinstance(low, AnswersOfGain)
    assert isinstance(high, AnswersOfGain)
    return replace(case, answers=(middle, low, high))


def _of_win_rate(guess: Guess, judge: Judge) -> list[Case]:
    """A system against a baseline: each item is won, lost or tied. The gain is the difference of the win rates."""
    _refuse("win rates", guess, ("sd", "r12"))
    _refuse("win rates", judge, ("sd",))
    if guess.score not in (None, 50):
        raise InputError("Guess.score", "must be 50 for a win rate, which the baseline has against itself", guess.score)

    def tied(share: float) -> Difference:
        if not 0 <= share < 1:
            raise InputError("Guess.agreement", "must be at least 0 and below 1: the share of ties", share)
        return RightOrWrongDifference(1 - share)

    ties = 0.0 if guess.agreement is None else guess.agreement
    case = _given("agreement", ties, tied, "a share of ties of {:g} (55 % against 45 % is a gain of 10 points)")
    return [judged_verdicts(case, judge, "pairs")]


def _of_scores(metric: Metric, guess: Guess, judge: Judge) -> list[Case]:
    _refuse(metric.label, guess, ("score", "agreement"))
    _refuse(metric.label, judge, ("error",))
    scale = scale_of(metric)

    def differing(sd: float) -> NormalDifference:
        _check_sd("Guess.sd_difference", sd, np.inf if metric.item_range is None else scale)
        return NormalDifference(float(sd), scale)

    if guess.sd_difference is not None:
        if guess.sd is not None or guess.r12 is not None:
            rule = "must be given alone: it replaces {sd} and {r12}"
            raise InputError("Guess.sd_difference", Words(rule, sd=Argument("Guess.sd"), r12=Argument("Guess.r12")))
        known = "a standard deviation of {:g} of an item's difference"
        cases = [_given("sd_difference", guess.sd_difference, differing, known)]
    elif guess.sd is not None:
        sd = guess.sd
        _check_sd("Guess.sd", sd, np.inf if metric.item_range is None else scale / 2)

        def correlated(r12: float) -> Difference:
            return replace(of_spread(sd, r12), largest=scale)

        known = f"item scores with a standard deviation of {sd:g} that correlate by r12 = "
        if guess.r12 is not None:
            cases = [_given("r12", guess.r12, correlated, known + "{:g}")]
        else:
            cases = _usual(metric, guess, "r12", correlated, known + "{:.2f}")
    elif guess.r12 is not None:
        rule = "must be given with {r12} for {metric}: the standard deviation of one system's item scores"
        raise InputError("Guess.sd", Words(rule, r12=Argument("Guess.r12"), metric=metric.label))
    else:
        cases = _usual(metric, guess, "sd", differing, "a standard deviation of {:.3g} of an item's difference")
    return [judged_scores(case, judge) for case in cases]


def _check_sd(argument: str, sd: float, most: float) -> None:
    """Raise a ValueError where no scores of the metric have this standard deviation."""
    if sd > most:
        raise InputError(argument, f"must be above 0 and at most {most:g}", sd)


def _given(
    name: str, value: Range, make: Callable[[float], Difference], text: str,
    *, possible: tuple[float, float] = (-np.inf, np.inf),
) -> Case:  # fmt: skip
    """A case of one number, or of the part of a range that is possible, of a field of `Guess`."""
    given = ends(f"Guess.{name}", value)
    (middle, low, high), part = given, ""
    if low < high and (low < possible[0] or high > possible[1]):
        low, high = max(low, possible[0]), min(high, possible[1])
        if low > high:
            rule = f"must overlap {possible[0]:.4g} to {possible[1]:.4g}, which two such systems can have"
            raise InputError(f"Guess.{name}", rule, value)
        middle, part = (low + high) / 2, f", the possible part of {given[1]:g} to {given[2]:g}"
    least, most = sorted((make(low), make(high)), key=lambda difference: difference.sd_of(0.0))
    span = f"{name} from {low:.4g} to {high:.4g}{part or ', as given'}" if given[1] < given[2] else ""
    return Case(GUESSED, make(middle), least, most, text.format(middle), span, coverage=_GUESSED_RANGE if span else "")


def _usual(
    metric: Metric, guess: Guess, quantity: str, make: Callable[[float], Difference], text: str = ""
) -> list[Case]:
    """One case for each relation that has numbers of its own; one that was asked for has others' where it has none.

    Without a text, what is known has no numbers (`Case.answers`).
    """
    cases = []
    for relation in RELATIONS if guess.relation is None else (guess.relation,):
        usual = typical(metric.name, relation, quantity)
        if guess.relation is None and usual.relation != relation:
            continue
        least, most = sorted((make(usual.low), make(usual.high)), key=lambda difference: difference.sd_of(0.0))
        of = label(usual.metric) if usual.metric else "any metric"
        span = (
            f"as for 80 % of pairs of {_told(usual.relation)} on {usual.n_test_sets} known test sets ({of}; studies "
            f"{', '.join(usual.studies)})"
        )
        span = f"{usual.low:.3g} to {usual.high:.3g}, {span}" if text else span
        others = f", as no pair of {_told(relation)} is known" if usual.relation != relation else ""
        told = f"usual for pairs of {_told(usual.relation)}{others}"
        known = f"{text.format(usual.middle)} ({told})" if text else f", as {told}"
        cases.append(Case(relation, make(usual.middle), least, most, known, span, coverage="80 % of known pairs"))
    return cases


def _told(relation: str) -> str:
    return "the same family" if relation == RELATIONS[0] else relation


def _refuse(label: str, noun: Guess | Judge, names: Sequence[str]) -> None:
    for name in names:
        if getattr(noun, name) is not None:
            raise InputError(f"{type(noun).__name__}.{name}", f"must not be given for {label}, which does not need it")


def _in_clusters(case: Case, clusters: Clusters) -> Case:
    """A case of items as one of clusters, whose sizes are as unequal as known ones where nothing is said of that.

    If items of a cluster are unlike (icc at most 0), unequal sizes only make the variance smaller, and equal sizes are
    assumed.
    """
    if clusters.size is None or clusters.icc is None:
        return case
    size, icc = clusters.size, clusters.icc
    if size == 1:
        # These are items; the design is kept for what larger clusters would make of it.
        return replace(case, design=Design(size, icc), item_sd=case.middle.sd_of(0.0))
    if clusters.cv is not None:
        cv, said, covered = ends("Clusters.cv", clusters.cv), "as given", _GUESSED_RANGE
    else:
        cv, said = usual_cv(), f"as 80 % of {len(CLUSTERS)} known test sets have"
        covered = "80 % of known test sets"
        if icc <= 0:
            cv = (0.0, 0.0, 0.0)
    design, least, most = (Design(size, icc, end) for end in cv)
    low, high = (most, least) if icc < 0 else (least, most)
    unequal = f", of sizes with a coefficient of variation of {cv[0]:.2g}" if cv[0] > 0 else ""
    spans, coverage = [case.range], [case.coverage]
    if cv[1] < cv[2]:
        spans.append(f"coefficients of variation from {cv[1]:.2g} to {cv[2]:.2g}, {said}")
        coverage.append(covered)
    return replace(
        case,
        middle=ClusteredDifference(case.middle, design),
        low=ClusteredDifference(case.low, low),
        high=ClusteredDifference(case.high, high),
        known=f"{case.known}, {size:g} items a cluster{unequal}, whose differences correlate by {icc:g}",
        range="; ".join(filter(None, spans)),
        coverage=" and ".join(dict.fromkeys(filter(None, coverage))),
        unit="cluster",
        size=size,
        design=design,
        item_sd=case.middle.sd_of(0.0),
    )
