"""Cases as judges who err show them: answers and pairs by wrong verdicts, scores by noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import special

from simstudy.planning.arguments import Judge
from simstudy.planning.cases import Case
from simstudy.planning.differences import Difference, NormalDifference
from simstudy.planning.right_or_wrong import AnswersDifference, JudgedDifference


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
    errors = f"correlate by {judge.agreement:g}" if judge.agreement else "are assumed to be independent"
    return f" ({judge.judgements} judgements of each answer, whose errors {errors})"


def error_of_majority(error: float, judgements: int, agreement: float = 0.0) -> float:
    """The share of majority verdicts that are wrong, of an odd number of judgements.

    `agreement` is the correlation of the errors of two judgements of one answer: answers' error rates have a beta
    distribution (the beta-binomial model). Of latent normal errors that correlate as much it is the same to 0.003.
    """
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
