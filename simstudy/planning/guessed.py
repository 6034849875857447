"""Cases from guesses alone: a score and an agreement, a correlation or a standard deviation, or what is usual."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from simstudy.metrics import label
from simstudy.metrics.base import Metric
from simstudy.planning.asked import check_size, scale_of
from simstudy.planning.benchmarks import RELATIONS, typical
from simstudy.planning.cases import GUESSED, Case
from simstudy.planning.cluster_sizes import in_units
from simstudy.planning.forms import Difference, NormalDifference
from simstudy.planning.guesses import (
    AlikeAnswers,
    CorrelatedAnswers,
    agreement_range,
    correlation_range,
    disagreement_of,
    disagreement_of_correlation,
    of_spread,
)
from simstudy.planning.judges import Judges
from simstudy.planning.right_or_wrong import RightOrWrongDifference
from simstudy.validation import brief, check_choice, check_number

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
        Judgements of each answer: their majority, or their mean, counts.
    judge_agreement
        The correlation of the errors of two judgements of one answer, from 0 to 1; None: 0.
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
    judge_agreement: float | None = None

    def __post_init__(self) -> None:
        if self.relation is not None:
            check_choice("relation", self.relation, RELATIONS)
        for name in ("score", "cluster_size", "icc"):
            if (value := getattr(self, name)) is not None:
                check_number(name, value)
        if (self.cluster_size is None) != (self.icc is None):
            one, other = ("icc", "cluster_size") if self.icc is None else ("cluster_size", "icc")
            raise ValueError(f"{one} must be given with {other}: how many items a unit has, and how alike they are")
        if self.cluster_cv is not None and self.cluster_size is None:
            raise ValueError("cluster_size must be given with cluster_cv: how many items a unit has on average")
        if self.relation is not None:
            for name in ("agreement", "r12", "sd_difference"):
                if getattr(self, name) is not None:
                    raise ValueError(f"relation must be None with {name}, for which it has usual values")

    @property
    def judges(self) -> Judges:
        """How answers are judged."""
        return Judges(self.judge_error, self.judge_sd, self.judgements, self.judge_agreement)


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
    apart = abs(gain or 0.0)
    if score + apart > 100:
        raise ValueError(f"gain must be at most {100 - score:g} where the score is {score:g} %, not {apart:g}")

    def correlated(r12: float) -> Difference:
        return CorrelatedAnswers(score, r12)

    def agreeing(agreement: float) -> Difference:
        disagreement = disagreement_of(score, apart, agreement)
        # No more items can be won than the worse system has wrong.
        return RightOrWrongDifference(disagreement, most=max(2 * (100 - score) - 100 * disagreement, apart))

    if guesses.agreement is not None:
        possible = agreement_range(score, apart)
        cases = [_given("agreement", guesses.agreement, agreeing, "an agreement of {:g}", possible)]
    elif guesses.r12 is not None:
        ranges = [correlation_range(score, 0.0), correlation_range(score, apart)]
        possible = max(low for low, _ in ranges), min(high for _, high in ranges)
        case = _given("r12", guesses.r12, correlated, "r12 = {:g}", possible)
        if not isinstance(guesses.r12, Sequence):
            disagreement_of_correlation(score, apart, guesses.r12)
        cases = [case]
    else:
        cases = _usual(metric, guesses, "r12", partial(AlikeAnswers, score), "r12 = {:.2f} at equal scores")
    return [guesses.judges.of_verdicts(case, "answers") for case in cases]


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
    case = _given("agreement", ties, tied, "a share of ties of {:g} (the gain is the win rate above 50 %)")
    return [guesses.judges.of_verdicts(case, "pairs")]


def _of_scores(metric: Metric, guesses: Guesses) -> list[Case]:
    _refuse(guesses, metric, ("score", "agreement", "judge_error"))
    scale = scale_of(metric)

    def differing(sd: float) -> NormalDifference:
        _check_sd("sd_difference", sd, np.inf if metric.item_range is None else scale)
        return NormalDifference(float(sd), scale)

    if guesses.sd_difference is not None:
        if guesses.sd is not None or guesses.r12 is not None:
            raise ValueError("sd_difference must be given alone: sd and r12 are another way to tell it")
        cases = [
            _given(
                "sd_difference",
                guesses.sd_difference,
                differing,
                "a standard deviation of {:g} of an item's difference",
            )
        ]
    elif guesses.sd is not None:
        sd = guesses.sd
        _check_sd("sd", sd, np.inf if metric.item_range is None else scale / 2)

        def correlated(r12: float) -> Difference:
            return replace(of_spread(sd, r12), largest=scale)

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
        cases = _usual(metric, guesses, "sd", differing, "a standard deviation of {:.3g} of an item's difference")
    return [guesses.judges.of_scores(case) for case in cases]


def _check_sd(argument: str, sd: float, most: float) -> None:
    """Raise a ValueError where no scores of the metric have this standard deviation."""
    check_size(argument, sd)
    if not 0 < sd <= most:
        raise ValueError(f"{argument} must be above 0{f' and at most {most:g}' if most < np.inf else ''}, not {sd:g}")


def _given(
    argument: str, guess: Guess, make: Callable[[float], Difference], text: str,
    possible: tuple[float, float] = (-np.inf, np.inf),
) -> Case:  # fmt: skip
    """A case of one number, or of the part of a range that is possible."""
    middle, low, high = asked = _ends(argument, guess)
    part = ""
    if low < high and (low < possible[0] or high > possible[1]):
        low, high = max(low, possible[0]), min(high, possible[1])
        if low > high:
            raise ValueError(
                f"{argument} must overlap {possible[0]:.4g} to {possible[1]:.4g}, which two such systems can have, not "
                f"{brief(guess)}"
            )
        middle, part = (low + high) / 2, f", the possible part of {asked[1]:g} to {asked[2]:g}"
    ends = low, high
    differences = sorted((make(end) for end in ends), key=lambda difference: difference.sd_of(0.0))
    known = text.format(middle)
    span = f"{argument} from {low:.4g} to {high:.4g}{part or ', as given'}" if asked[1] < asked[2] else ""
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


def _in_units(case: Case, guesses: Guesses) -> Case:
    if guesses.cluster_size is None or guesses.icc is None:
        return case
    cv = None if guesses.cluster_cv is None else _ends("cluster_cv", guesses.cluster_cv)
    return in_units(case, guesses.cluster_size, guesses.icc, cv)


def _refuse(guesses: Guesses, metric: Metric | None, names: Sequence[str]) -> None:
    label = "win rates" if metric is None else metric.label
    for name in names:
        if getattr(guesses, name) is not None:
            raise ValueError(f"{name} must not be given for {label}, which does not need it")
