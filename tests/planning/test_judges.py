"""Judges who err, alone or several, independently or together: against enumeration and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import simstudy as ss
from simstudy.planning.judged import error_of_majority
from simstudy.planning.right_or_wrong import JudgedDifference, RightOrWrongDifference
from tests.planning.options import plan_with


@pytest.mark.parametrize(("error", "judgements", "agreement"), [(0.2, 3, 0.3), (0.1, 5, 0.2), (0.35, 7, 0.7)])
def test_majorities_are_those_of_the_beta_binomial(error: float, judgements: int, agreement: float) -> None:
    a, b = (share * (1 / agreement - 1) for share in (error, 1 - error))
    expected = stats.betabinom.sf(judgements // 2, judgements, a, b)
    assert error_of_majority(error, judgements, agreement) == pytest.approx(expected)
    # Two errors correlate as was asked for: their covariance over their variance.
    both = stats.betabinom.pmf(2, 2, a, b)
    assert (both - error**2) / (error * (1 - error)) == pytest.approx(agreement)
    # Without, and with full agreement.
    for none in (0.0, 1e-12):
        expected = stats.binom.sf(judgements // 2, judgements, error)
        assert error_of_majority(error, judgements, none) == pytest.approx(expected)
    assert error_of_majority(error, judgements, 1.0) == error
    assert error_of_majority(0.0, judgements, agreement) == 0.0


def latent_errors(error: float, latent: float, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:  # type: ignore[type-arg]
    """Whether each of several judgements of an answer errs: normal variables of one correlation below a threshold."""
    shared, own = rng.standard_normal(shape[:-1])[..., None], rng.standard_normal(shape)
    return np.asarray(np.sqrt(latent) * shared + np.sqrt(1 - latent) * own < stats.norm.ppf(error))


@pytest.mark.parametrize("latent", [0.0, 0.5])
def test_the_power_of_three_judges_is_that_of_simulated_verdicts(latent: float) -> None:
    """Errors are drawn by another model than the plan's; their correlation is measured, and given to the plan."""
    error, judgements, gain, differ = 0.2, 3, 10.0, 0.3
    rng = np.random.default_rng(8)
    two = latent_errors(error, latent, (400_000, 2), rng)
    agreement = max(float(np.corrcoef(two.T)[0, 1]), 0.0)
    guess, judge = ss.Guess(score=60, agreement=1 - differ), ss.Judge(error=error, judgements=judgements)
    n = int(ss.plan(metric="accuracy", gain=gain, guess=guess, judge=judge).answers["n_items"].item())
    asked = {"judge_error": error, "judgements": judgements, "judge_agreement": agreement or None, "n_items": n}
    planned = plan_with(metric="accuracy", score=60, agreement=1 - differ, gain=gain, **asked).answers["power"].item()
    won = lost = np.zeros(0, dtype=np.int64)
    for _ in range(5):
        sets = 500
        kind = rng.choice(4, (sets, n), p=[(differ + gain / 100) / 2, (differ - gain / 100) / 2, 0.5, 0.2])
        truth = np.stack([(kind == 0) | (kind == 2), (kind == 1) | (kind == 2)])
        errs = latent_errors(error, latent, (2, sets, n, judgements), rng).sum(axis=-1) * 2 > judgements
        seen = truth ^ errs
        won = np.concatenate([won, (seen[0] & ~seen[1]).sum(axis=1)])
        lost = np.concatenate([lost, (seen[1] & ~seen[0]).sum(axis=1)])
    p = np.minimum(2 * stats.binom.sf(won - 1, won + lost, 0.5), 1)
    found = ((p <= 0.05) & (won > lost)).mean()
    # Two to three standard errors of 2,500 test sets, and 0.01 for the other model.
    assert planned == pytest.approx(found, abs=0.03)
    if latent:
        assert planned < 0.65 < 0.8


def test_the_mean_of_several_scores_keeps_the_noise_that_they_share() -> None:
    """Drawn: three scores of each answer whose errors have standard deviation 0.6 and correlation 0.4."""
    rng = np.random.default_rng(2)
    shared = rng.normal(0, 0.6 * np.sqrt(0.4), (2, 200_000))
    own = rng.normal(0, 0.6 * np.sqrt(0.6), (2, 200_000, 3)).mean(axis=-1)
    true = rng.normal(0, 1, 200_000)
    noise = shared + own
    sd = (true + noise[0] - noise[1]).std()
    guesses = {"metric": "mean", "gain": 0.1}
    judged = plan_with(**guesses, sd_difference=1.0, judge_sd=0.6, judgements=3, judge_agreement=0.4)
    known = plan_with(**guesses, sd_difference=float(sd))
    assert judged.answers["n_items"].item() == pytest.approx(known.answers["n_items"].item(), rel=0.01)


def test_the_gain_of_a_win_rate_is_the_difference_of_both_win_rates() -> None:
    """Of n verdicts without ties w are won, 60 % against 40 %; the test asks whether w is binomial (n, 1/2)."""
    plan = ss.plan(metric="win_rate", n_items=200, gain=20.0)
    wins = np.arange(201)
    significant = (2 * stats.binom.sf(wins - 1, 200, 0.5) <= 0.05) & (wins > 100)
    assert plan.answers["power"].iloc[0] == pytest.approx(stats.binom.pmf(wins, 200, 0.6)[significant].sum())


def test_a_judge_of_pairs_turns_wins_round() -> None:
    """Of n pairs without ties w are won, as the judge says: binomial with 1/2 + 0.7 x 0.1."""
    plan = ss.plan(metric="win_rate", n_items=200, gain=20.0, judge=ss.Judge(error=0.15))
    wins = np.arange(201)
    significant = (2 * stats.binom.sf(wins - 1, 200, 0.5) <= 0.05) & (wins > 100)
    chance = stats.binom.pmf(wins, 200, 0.5 + 0.7 * 0.1)
    assert plan.answers["power"].iloc[0] == pytest.approx(chance[significant].sum())
    # What is seen of a significant gain, over the true one.
    other = (2 * stats.binom.cdf(wins, 200, 0.5) <= 0.05) & (wins < 100)
    size_of = np.abs(2 * wins - 200) / 200 * 100
    expected = (chance * size_of)[significant | other].sum() / chance[significant | other].sum() / 20
    assert plan.answers["exaggeration"].iloc[0] == pytest.approx(expected)


def test_the_largest_gain_of_an_agreement_and_of_a_judge() -> None:
    """95 % with a tenth that differs: none of the worse system's 5 % of errors is left to be won."""
    assert np.isnan(
        ss.plan(metric="accuracy", n_items=5000, guess=ss.Guess(score=95, agreement=0.9))
        .answers["minimum_detectable_gain"]
        .item()
    )
    found = (
        ss.plan(metric="accuracy", n_items=5000, guess=ss.Guess(score=95, agreement=0.94))
        .answers["minimum_detectable_gain"]
        .item()
    )
    assert 0 < found <= 4
    judged = JudgedDifference(RightOrWrongDifference(0.06, most=4.0), 0.1, "answers")
    assert judged.largest == 4.0
