"""Judges who err: their verdicts turned round at times, or their scores scattered, one or several for each answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from simstudy.planning.asked import check_size
from simstudy.planning.cases import Case
from simstudy.planning.forms import Difference, Found, Level, NormalDifference
from simstudy.planning.right_or_wrong import AnswersDifference, RightOrWrongDifference
from simstudy.validation import check_choice, check_number, check_share, check_whole


@dataclass(frozen=True)
class Judges:
    """How answers are judged.

    Attributes
    ----------
    error
        The share of verdicts that a judge turns round, below 0.5; None: judges give no verdicts, or do not err.
    sd
        The standard deviation of the scores that a judge gives to one answer; None: judges give no scores.
    judgements
        Of each answer: the majority of verdicts (an odd number) counts, or the mean of scores.
    agreement
        The correlation of the errors of two judgements of one answer, from 0 to 1; None: 0.
    """

    error: float | None = None
    sd: float | None = None
    judgements: int = 1
    agreement: float | None = None

    def __post_init__(self) -> None:
        check_whole("judgements", self.judgements, 1)
        if self.error is not None:
            check_error("judge_error", self.error)
        if self.sd is not None:
            check_size("judge_sd", self.sd)
            if self.sd < 0:
                raise ValueError(f"judge_sd must be at least 0, not {self.sd:g}")
        if self.judgements > 1 and self.error is None and self.sd is None:
            raise ValueError("judgements must be 1 where neither judge_error nor judge_sd is given")
        if self.agreement is not None:
            check_share("judge_agreement", self.agreement)
            if self.judgements == 1:
                raise ValueError("judge_agreement must be None where each answer has one judgement")

    def of_verdicts(self, case: Case, of: str) -> Case:
        """The case as the judges' verdicts show it; `of` is "answers" or "pairs" (`JudgedDifference`)."""
        if self.error is None:
            return case
        error = error_of_majority(self.error, self.judgements, self.agreement or 0.0)
        majority = f"{self._several}, and {100 * error:.3g} % of majority verdicts" if self.judgements > 1 else ""
        text = (
            f"{case.known}, and a judge who errs on {100 * self.error:g} % of the verdicts{majority}, whatever "
            f"the system and the item, so that gains look {1 - 2 * error:.3g} times as large as they are"
        )

        def judged(difference: Difference) -> Difference:
            assert isinstance(difference, AnswersDifference)
            return JudgedDifference(difference, error, of)

        return replace(case.changed(judged), known=text)

    def of_scores(self, case: Case) -> Case:
        """The case as the judges' scores show it."""
        if self.sd is None:
            return case
        # The variance of a mean of judgements whose errors correlate (Kish 1965).
        alike = (1 + (self.judgements - 1) * (self.agreement or 0.0)) / self.judgements
        noise = 2 * self.sd**2 * alike

        def judged(difference: Difference) -> Difference:
            return NormalDifference(float(np.sqrt(difference.sd_of(0.0) ** 2 + noise)), difference.largest)

        text = f"{case.known}, and a judge's standard deviation of {self.sd:g}{self._several}"
        return replace(case.changed(judged), known=text)

    @property
    def _several(self) -> str:
        """How many judgements an answer has, in brackets; empty for one."""
        if self.judgements == 1:
            return ""
        errors = f"correlate by {self.agreement:g}" if self.agreement else "are taken to be independent"
        return f" ({self.judgements} judgements of each answer, whose errors {errors})"


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

    def __post_init__(self) -> None:
        check_error("error", self.error)
        check_choice("of", self.of, ("answers", "pairs"))

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

    def found(self, gain: float, n: int, level: Level) -> Found:
        seen = self._seen(gain).found(self.visible * gain, n, level)
        # What is seen is compared with what is true.
        return replace(seen, exaggeration=self.visible * seen.exaggeration)

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
    check_error("judge_error", error)
    check_whole("judgements", judgements, 1)
    check_share("judge_agreement", agreement)
    if judgements % 2 == 0:
        raise ValueError(f"judgements must be an odd number where the majority decides, not {judgements}")
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


def check_error(argument: str, error: float) -> None:
    """Raise a ValueError where a judge is no better than a coin."""
    check_number(argument, error)
    if not 0 <= error < 0.5:
        raise ValueError(f"{argument} must be at least 0 and below 0.5, where verdicts are coins, not {error:g}")
