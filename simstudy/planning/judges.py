"""Judges who err: their verdicts turned round at times, or their scores scattered, one or several for each answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from simstudy.planning.arguments import Judge
from simstudy.planning.cases import Case
from simstudy.planning.differences import Detection, Difference, NormalDifference
from simstudy.planning.fields import check_error, check_odd
from simstudy.planning.level import Level
from simstudy.planning.right_or_wrong import AnswersDifference, RightOrWrongDifference
from simstudy.validation import check_share


def judged_verdicts(case: Case, judge: Judge, of: str) -> Case:
    """The case as a judge's verdicts show it; `of` is "answers" or "pairs" (`JudgedDifference`)."""
    if judge.error is None:
        return case
    error = error_of_majority(judge.error, judge.judgements, judge.agreement or 0.0)
    majority = f"{_several(judge)}, and {100 * error:.3g} % of majority verdicts" if judge.judgements > 1 else ""
    known = (
        f"{case.known}, and a judge who errs on {100 * judge.error:g} % of the verdicts{majority}, whatever "
        f"the system and the item, so that gains look {1 - 2 * error:.3g} times as large as they are"
    )

    def judged(difference: Difference) -> Difference:
        assert isinstance(difference, AnswersDifference)
        return JudgedDifference(difference, error, of)

    return replace(case.changed(judged), known=known)


def judged_scores(case: Case, judge: Judge) -> Case:
    """The case as a judge's scores show it."""
    if judge.sd is None:
        return case
    # The variance of a mean of judgements whose errors correlate (Kish 1965).
    alike = (1 + (judge.judgements - 1) * (judge.agreement or 0.0)) / judge.judgements
    noise = 2 * judge.sd**2 * alike

    def judged(difference: Difference) -> Difference:
        return NormalDifference(float(np.sqrt(difference.sd_of(0.0) ** 2 + noise)), difference.largest)

    known = f"{case.known}, and a judge's standard deviation of {judge.sd:g}{_several(judge)}"
    return replace(case.changed(judged), known=known)


def _several(judge: Judge) -> str:
    """How many judgements an answer has, in brackets; empty for one."""
    if judge.judgements == 1:
        return ""
    errors = f"correlate by {judge.agreement:g}" if judge.agreement else "are taken to be independent"
    return f" ({judge.judgements} judgements of each answer, whose errors {errors})"


@dataclass(frozen=True)
class JudgedDifference(Difference):
    """Right and wrong, as a judge says who errs: what is found of a true gain is found of a smaller one.

    Attributes
    ----------
    true
        The difference that a judge without error would see, of right and wrong answers.
    error
        The share of verdicts that the judge turns round, below 0.5, whatever the truth is.
    of
        "answers": each system's answer is judged, right or wrong. "pairs": the judge says which one is better, and ties
        are ties.
    """

    true: AnswersDifference
    error: float
    of: str

    @property
    def largest(self) -> float:
        return self.true.largest

    def sd_of(self, gain: float) -> float:
        return self._seen(gain).sd_of(self.visible * gain) / self.visible

    def allowing(self, gain: float) -> JudgedDifference:
        return JudgedDifference(self.true.allowing(gain), self.error, self.of)

    def power(self, gain: float, n: int, level: Level) -> float:
        return self._seen(gain).power(self.visible * gain, n, level)

    def within(self, gain: float, margin: float, n: int, tail: float, *, both: bool) -> float:
        # The margin is one of true gains: on verdicts it is as much smaller as gains are.
        return self._seen(abs(gain)).within(self.visible * gain, self.visible * margin, n, tail, both=both)

    def detection(self, gain: float, n: int, level: Level) -> Detection:
        seen = self._seen(gain).detection(self.visible * gain, n, level)
        # What is seen is compared with what is true.
        return replace(seen, exaggeration=self.visible * seen.exaggeration)

    @property
    def step(self) -> float:
        return self.true.step / self.visible

    @property
    def visible(self) -> float:
        return 1 - 2 * self.error

    def _seen(self, gain: float) -> RightOrWrongDifference:
        true = self.true.at(gain)
        if self.of == "pairs":
            return true
        # Of two verdicts on one item either none or both are turned round, or one is.
        differ, one = true.disagreement, 2 * self.error * (1 - self.error)
        return RightOrWrongDifference(differ * (1 - one) + (1 - differ) * one, true.scale)


def error_of_majority(error: float, judgements: int, agreement: float = 0.0) -> float:
    """The share of majority verdicts that are wrong, of an odd number of judgements.

    Parameters
    ----------
    error
        The share of single verdicts that are wrong, below 0.5.
    judgements
        Of each answer, an odd number.
    agreement
        The correlation of the errors of two judgements of one answer, from 0 to 1. Answers are differently hard to
        judge: their error rates have a beta distribution (the beta-binomial model), which gives this correlation. Of
        latent normal errors with the same correlation the share is the same to 0.003.

    Examples
    --------
    >>> round(error_of_majority(0.2, 3), 6)   # 3 x 0.04 x 0.8 + 0.008
    0.104
    >>> round(error_of_majority(0.2, 3, 1.0), 6)   # all three err together
    0.2
    """
    check_error("error", error)
    check_odd("judgements", judgements)
    check_share("agreement", agreement)
    if error * (1 - agreement) == 0:
        return float(error)
    # Given the judgements so far, the next one is wrong with the prior's share and theirs, weighted (Pólya's urn).
    places = agreement * np.arange(judgements)
    of_wrong, of_right, of_all = (
        np.concatenate([[0.0], np.log(share * (1 - agreement) + places).cumsum()]) for share in (error, 1 - error, 1.0)
    )
    wrong = np.arange(judgements // 2 + 1, judgements + 1)
    ways = special.gammaln(judgements + 1) - special.gammaln(wrong + 1) - special.gammaln(judgements - wrong + 1)
    return float(np.exp(ways + of_wrong[wrong] + of_right[judgements - wrong] - of_all[judgements]).sum())
