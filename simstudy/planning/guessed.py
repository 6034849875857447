"""Cases from guesses alone: a score and an agreement, a correlation or a standard deviation, or what is usual."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from simstudy.metrics import label
from simstudy.metrics.base import Metric
from simstudy.planning.benchmarks import RELATIONS, typical
from simstudy.planning.cases import GUESSED, Case
from simstudy.planning.cluster_sizes import CLUSTERS, usual_cv
from simstudy.planning.designs import Design
from simstudy.planning.forms import Difference, NormalDifference
from simstudy.planning.guesses import (
    AlikeAnswers,
    CorrelatedAnswers,
    disagreement_of,
    disagreement_of_correlation,
    of_spread,
)
from simstudy.planning.mixed import JudgedDifference, error_of_majority
from simstudy.planning.right_or_wrong import AnswersDifference, RightOrWrongDifference
from simstudy.validation import brief, check_choice, check_number, check_whole

#: A number, or the ends of a range.
Guess = float | tuple[float, float]


@dataclass(frozen=True)
class Guesses:
    """What is guessed of two systems.

    Attributes
    ----------
    score
        The worse one's, in percent, where items are right or wrong.
    agreement
        The share of items on which both are right or both are wrong; of a win rate, the share of ties.
    r12
        The correlation of the two systems' item scores.
    sd
        The standard deviation of one system's item scores, on the metric's scale.
    sd_difference
        That of the two systems' difference on one item.
    relation
        One of `RELATIONS`, or None for all: whose usual numbers stand for what is not given.
    cluster_size, icc, cluster_cv
        Of a design: items of a unit, the correlation of the difference on two of them, and the standard deviation of
        the units' sizes over their mean.
    judge_error, judge_sd
        The share of verdicts that a judge turns round, or the standard deviation that a judge's scores of one answer
        have.
    judgements
        Independent judgements of each answer: their majority, or their mean, counts.
    """

    score: float | None = None
    agreement: Guess | None = None
    r12: Guess | None = None
    sd: float | None = None
    sd_difference: Guess | None = None
    relation: str | None = None
    cluster_size: float | None = None
    icc: float | None = None
    cluster_cv: Guess | None = None
    judge_error: float | None = None
    judge_sd: float | None = None
    judgements: int = 1

    def __post_init__(self) -> None:
        if self.relation is not None:
            check_choice("relation", self.relation, RELATIONS)
        check_whole("judgements", self.judgements, 1)
        for name in ("score", "sd", "cluster_size", "icc", "judge_error", "judge_sd"):
            if (value := getattr(self, name)) is not None:
                check_number(name, value)
        if (self.cluster_size is None) != (self.icc is None):
            one, other = ("icc", "cluster_size") if self.icc is None else ("cluster_size", "icc")
            raise ValueError(f"{one} must be given with {other}: how many items a unit has, and how alike they are")
        if self.cluster_cv is not None and self.cluster_size is None:
            raise ValueError("cluster_size must be given with cluster_cv: how many items a unit has on average")
        if self.judgements > 1 and self.judge_error is None and self.judge_sd is None:
            raise ValueError("judgements must be 1 where neither judge_error nor judge_sd is given")


def of_guesses(metric: Metric, guesses: Guesses, gain: float | None) -> list[Case]:
    """The cases that guesses make: one, or, where usual numbers stand in, one for each relation of systems.

    Raises
    ------
    ValueError
        For guesses that the metric has no use for or lacks, and that no two systems can have.
    """
    if metric.name == "accuracy":
        cases = _of_answers(metric, guesses, gain)
    elif metric.name == "win_rate" and guesses.sd_difference is None:
        cases = _of_win_rate(guesses)
    else:
        cases = _of_scores(metric, guesses)
    return [_in_units(case, guesses) for case in cases]


def _of_answers(metric: Metric, guesses: Guesses, gain: float | None) -> list[Case]:
    _refuse(guesses, metric, ("sd", "sd_difference", "judge_sd"))
    if guesses.agreement is not None and guesses.r12 is not None:
        raise ValueError("agreement must be None with r12, from which it follows")
    if guesses.score is None:
        raise ValueError("score must be given for accuracy: the worse system's, in percent")
    score = guesses.score
    if not 0 <= score <= 100:
        raise ValueError(f"score must be from 0 to 100 %, not {score:g}")
    if gain is not None and not 0 <= score + gain <= 100:
        raise ValueError(
            f"gain must be from {-score:g} to {100 - score:g} where the score is {score:g} %, not {gain:g}"
        )

    def correlated(r12: float) -> Difference:
        return CorrelatedAnswers(score, r12)

    def agreeing(agreement: float) -> Difference:
        return RightOrWrongDifference(disagreement_of(score, gain or 0.0, agreement))

    if guesses.agreement is not None:
        cases = [_given("agreement", guesses.agreement, agreeing, "an agreement of {:g}")]
    elif guesses.r12 is not None:
        # What no two systems can have is told, with the range.
        for end in _ends("r12", guesses.r12)[1:]:
            disagreement_of_correlation(score, gain or 0.0, end)
        cases = [_given("r12", guesses.r12, correlated, "r12 = {:g}")]
    else:
        cases = _usual(metric, guesses, "r12", partial(AlikeAnswers, score), "r12 = {:.2f} at equal scores")
    return [_judged(case, guesses, "answers") for case in cases]


def _of_win_rate(guesses: Guesses) -> list[Case]:
    """A system against a baseline: each item is won, lost or tied, and 50 % is no gain."""
    _refuse(guesses, None, ("sd", "r12", "judge_sd"))
    if guesses.score not in (None, 50):
        raise ValueError(
            f"score must be 50 for a win rate, which the baseline has against itself, not {guesses.score:g}"
        )

    def tied(share: float) -> Difference:
        if not 0 <= share < 1:
            raise ValueError(f"agreement must be at least 0 and below 1: the share of ties, not {share:g}")
        return RightOrWrongDifference(1 - share, 50.0)

    ties = 0.0 if guesses.agreement is None else guesses.agreement
    return [
        _judged(
            _given("agreement", ties, tied, "a share of ties of {:g} (the gain is the win rate above 50 %)"),
            guesses,
            "pairs",
        )
    ]


def _of_scores(metric: Metric, guesses: Guesses) -> list[Case]:
    _refuse(guesses, metric, ("score", "agreement", "judge_error"))
    if guesses.sd_difference is not None:
        if guesses.sd is not None or guesses.r12 is not None:
            raise ValueError("sd_difference must be given alone: sd and r12 are another way to tell it")
        cases = [
            _given(
                "sd_difference",
                guesses.sd_difference,
                NormalDifference,
                "a standard deviation of {:g} of an item's difference",
            )
        ]
    elif guesses.sd is not None:
        sd = guesses.sd

        def correlated(r12: float) -> Difference:
            return of_spread(sd, r12)

        known = f"item scores with a standard deviation of {sd:g}, "
        if guesses.r12 is not None:
            cases = [_given("r12", guesses.r12, correlated, known + "r12 = {:g}")]
        else:
            cases = _usual(metric, guesses, "r12", correlated, known + "r12 = {:.2f}")
    elif guesses.r12 is not None:
        raise ValueError(
            f"sd must be given with r12 for {metric.label}: the standard deviation of one system's item scores"
        )
    else:
        cases = _usual(
            metric, guesses, "sd", NormalDifference, "a standard deviation of {:.3g} of an item's difference"
        )
    if guesses.judge_sd is None:
        return cases
    if guesses.judge_sd < 0:
        raise ValueError(f"judge_sd must be at least 0, not {guesses.judge_sd:g}")
    noise = 2 * guesses.judge_sd**2 / guesses.judgements
    text = f", and a judge's standard deviation of {guesses.judge_sd:g} ({guesses.judgements} for each answer)"
    return [
        replace(
            _changed(case, lambda end: NormalDifference(float(np.sqrt(end.sd_of(0.0) ** 2 + noise)))),
            known=case.known + text,
        )
        for case in cases
    ]


def _given(argument: str, guess: Guess, make: Callable[[float], Difference], text: str) -> Case:
    middle, *ends = _ends(argument, guess)
    differences = sorted((make(end) for end in ends), key=lambda difference: difference.sd_of(0.0))
    known = text.format(middle)
    span = f"{argument} from {ends[0]:g} to {ends[1]:g}, as given" if ends[0] < ends[1] else ""
    return Case(GUESSED, make(middle), differences[0], differences[1], known, span)


def _usual(
    metric: Metric, guesses: Guesses, quantity: str, make: Callable[[float], Difference], text: str
) -> list[Case]:
    """One case for each relation that has numbers of its own; one that was asked for has others' where it has none."""
    cases = []
    for relation in RELATIONS if guesses.relation is None else (guesses.relation,):
        usual = typical(metric.name, relation, quantity)
        if guesses.relation is None and usual.relation != relation:
            continue
        ends = sorted((make(usual.low), make(usual.high)), key=lambda difference: difference.sd_of(0.0))
        of = label(usual.metric) if usual.metric else "any metric"
        span = (
            f"{usual.low:.3g} to {usual.high:.3g}, as 80 % of pairs of {usual.relation} have on {usual.n_test_sets} "
            f"known test sets ({of}; studies {', '.join(usual.studies)})"
        )
        others = f", as none of {relation} is known" if usual.relation != relation else ""
        known = f"{text.format(usual.middle)} (usual for {usual.relation}{others})"
        cases.append(Case(relation, make(usual.middle), ends[0], ends[1], known, span))
    return cases


def _ends(argument: str, guess: Guess) -> tuple[float, float, float]:
    """The middle, the lower and the upper end of what was guessed."""
    if isinstance(guess, Sequence):
        if len(guess) != 2:
            raise ValueError(f"{argument} must be a number, or the two ends of a range, not {brief(guess)}")
        for end in guess:
            check_number(argument, end)
        low, high = map(float, guess)
        if low > high:
            raise ValueError(f"{argument} must have the lower end of its range first, not {brief(guess)}")
        return (low + high) / 2, low, high
    check_number(argument, guess, "a number, or the two ends of a range")
    return float(guess), float(guess), float(guess)


def _changed(case: Case, change: Callable[[Difference], Difference]) -> Case:
    return replace(case, middle=change(case.middle), low=change(case.low), high=change(case.high))


def _judged(case: Case, guesses: Guesses, of: str) -> Case:
    if guesses.judge_error is None:
        return case
    error = error_of_majority(guesses.judge_error, guesses.judgements)
    majority = f" (the majority of {guesses.judgements}: {100 * error:.3g} %)" if guesses.judgements > 1 else ""
    text = (
        f"{case.known}, and a judge who errs on {100 * guesses.judge_error:g} % of the verdicts{majority}, whatever "
        f"the system and the item, so that gains look {1 - 2 * error:.3g} times as large as they are"
    )

    def judged(difference: Difference) -> Difference:
        assert isinstance(difference, AnswersDifference)
        return JudgedDifference(difference, error, of)

    return replace(_changed(case, judged), known=text)


def _in_units(case: Case, guesses: Guesses) -> Case:
    if guesses.cluster_size is None or guesses.icc is None:
        return case
    size, icc = guesses.cluster_size, guesses.icc
    if guesses.cluster_cv is not None:
        cv, of = _ends("cluster_cv", guesses.cluster_cv), "as given"
    elif size == 1:
        cv, of = (0.0, 0.0, 0.0), ""
    else:
        cv, of = usual_cv(), f"as 80 % of {len(CLUSTERS)} known test sets have"
    design, least, most = (Design(size, icc, end) for end in cv)
    # Unequal units tell less where their items are alike, and more where they are unlike.
    ends = (most, least) if icc < 0 else (least, most)
    unequal = f", of sizes with a coefficient of variation of {cv[0]:.2g}" if cv[0] > 0 else ""
    return replace(
        case,
        middle=design.unit(case.middle.sd_of(0.0)),
        low=ends[0].unit(case.low.sd_of(0.0)),
        high=ends[1].unit(case.high.sd_of(0.0)),
        known=f"{case.known}, {size:g} items a unit{unequal}, whose differences correlate by {icc:g}",
        range="; ".join(
            filter(None, [case.range, f"cluster_cv from {cv[1]:.2g} to {cv[2]:.2g}, {of}" * (cv[1] < cv[2])])
        ),
        unit="unit",
        size=size,
        design=design,
        item_sd=case.middle.sd_of(0.0),
    )


def _refuse(guesses: Guesses, metric: Metric | None, names: Sequence[str]) -> None:
    label = "win rates" if metric is None else metric.label
    for name in names:
        if getattr(guesses, name) is not None:
            raise ValueError(f"{name} must not be given for {label}, which does not need it")
