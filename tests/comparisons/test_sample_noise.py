"""Both noises of scores and gains, against algebra, simulation and what others compute of the same data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.comparisons import noise_curve, noises, per_question

ARENA = Path(__file__).parents[3] / "shared" / "data" / "eval_arena"


def samples(
    rng: np.random.Generator, n: int = 60, k: int = 5, systems: int = 3, metric: str = "accuracy", size: int = 1
) -> ss.Outputs:
    """Right and wrong samples of n questions whose chances differ; `size` questions of a document are alike."""
    hard = rng.normal(size=(1, n // size)).repeat(size, axis=1) if size > 1 else rng.normal(size=(1, n))
    chance = 1 / (1 + np.exp(-(hard + rng.normal(size=(systems, n)))))
    right = rng.binomial(1, chance.repeat(k, axis=1))
    items = pd.DataFrame({"id": range(n * k), "sample_of": np.repeat(np.arange(n), k)})
    if size > 1:
        items["cluster"] = items["sample_of"] // size
    return ss.Outputs.from_scores(pd.DataFrame(right.T, columns=list("abcdef")[:systems]), metric, items=items)


def test_parts_add_up_and_the_whole_is_that_of_compare_and_of_the_leaderboard() -> None:
    for size in (1, 3):
        outputs = samples(np.random.default_rng(size), size=size)
        gains, scores = noises(outputs), noises(outputs, of="scores")
        for table in (gains, scores):
            parts = np.hypot(table["se_between"], table["se_within"]).to_numpy()
            assert parts == pytest.approx(table["se"].to_numpy())
        unit = "sample_of" if size == 1 else "cluster"
        pairs = ss.compare(outputs, unit=unit).frame.set_index(["system_a", "system_b"])
        known = gains.set_index(["system_a", "system_b"])
        assert known["se"].to_dict() == pytest.approx(pairs["gain_se"].to_dict())
        # Whoever asks for items gets questions, also where these have clusters.
        by_question = ss.compare(outputs, unit="sample_of").frame["gain_se"].sort_values()
        assert noises(outputs, unit="item")["se"].sort_values().tolist() == pytest.approx(by_question.tolist())
        board = ss.leaderboard(outputs, unit=unit).set_index("system")
        assert scores.set_index("system")["se"].to_dict() == pytest.approx(board["score_se"].to_dict())


def test_the_noise_within_is_the_mean_of_the_questions_variances() -> None:
    outputs = samples(np.random.default_rng(3), n=20, k=4, systems=2)
    scores = 100 * outputs.statistics[..., 0].reshape(2, 20, 4)
    within = (scores.var(axis=2, ddof=1) / 4).sum() / 20**2
    total = (scores[0] - scores[1]).mean(axis=1).var(ddof=1) / 20
    row = noises(outputs).iloc[0]
    assert row["se_within"] ** 2 == pytest.approx(within)
    assert row["share_within"] == pytest.approx(within / total)
    assert row["se_one"] ** 2 == pytest.approx(total - within + 4 * within)
    assert (row["samples_a"], row["n_questions"]) == (4, 20)
    curve = noise_curve(noises(outputs), [1, 4, 10**9])["se"].tolist()
    assert curve == pytest.approx([row["se_one"], row["se"], row["se_between"]], rel=1e-4)


def test_rows_of_samples_and_means_of_them_say_the_same() -> None:
    """Also where a table has only the means and the number of samples, and clusters of questions."""
    for size in (1, 3):
        outputs = samples(np.random.default_rng(4), size=size)
        for of in ("gains", "scores"):
            pd.testing.assert_frame_equal(noises(outputs, of=of), noises(per_question(outputs), of=of))


def test_a_question_with_one_sample_gets_the_mean_variance_of_the_others() -> None:
    rng = np.random.default_rng(5)
    outputs = per_question(samples(rng, n=30, k=4, systems=2))
    assert outputs.samples is not None
    known = outputs.samples.copy()
    known[:, :10, 0], known[:, :10, 1] = 1, np.nan
    changed = ss.Outputs.from_statistics(outputs.statistics, "accuracy", samples=known)
    one = np.nanmean(known[..., 1], axis=1)
    expected = 100**2 * sum(
        np.where(np.isnan(own[:, 1]), mean, own[:, 1] / own[:, 0]).sum() for own, mean in zip(known, one, strict=True)
    )
    assert noises(changed).iloc[0]["se_within"] ** 2 == pytest.approx(expected / 30**2)
    assert noises(changed).iloc[0]["samples_a"] == pytest.approx(30 / (10 / 1 + 20 / 4))
    known[..., 0], known[..., 1] = 1, np.nan
    nothing = noises(ss.Outputs.from_statistics(outputs.statistics, "accuracy", samples=known)).iloc[0]
    assert nothing[["se_within", "se_between", "share_within", "se_one"]].isna().all()
    assert nothing["se"] > 0


def test_a_part_below_0_is_shown_as_0() -> None:
    """Questions all alike: the variance of their means is all within them, and chance makes the rest negative."""
    right = np.array([[1, 0, 1, 0, 1, 0], [0, 1, 0, 1, 1, 0]])
    items = pd.DataFrame({"id": range(6), "sample_of": [0, 0, 1, 1, 2, 2]})
    outputs = ss.Outputs.from_statistics(np.stack([right, np.ones_like(right)], axis=-1), "accuracy", items=items)
    row = noises(outputs).iloc[0]
    assert (row["se"], row["se_between"]) == (0, 0)
    assert row["se_within"] > 0
    assert np.isnan(row["share_within"])


def test_a_share_is_at_most_1_and_so_is_its_interval() -> None:
    right = np.random.default_rng(1).binomial(1, 0.5, (2, 60))
    items = pd.DataFrame({"id": range(60), "sample_of": np.repeat(range(20), 3)})
    outputs = ss.Outputs.from_statistics(np.stack([right, np.ones_like(right)], axis=-1), "accuracy", items=items)
    assert noises(outputs)["share_high"].tolist() == [1.0]


def test_what_has_no_samples_is_refused() -> None:
    plain = ss.truth.correlated_accuracies([0.5, 0.6], 40)
    with pytest.raises(ValueError, match="^outputs must have samples: a column 'sample_of' of the items says"):
        noises(plain)
    outputs = samples(np.random.default_rng(0))
    with pytest.raises(ValueError, match="^of must be one of gains, scores, not 'pairs'"):
        noises(outputs, of="pairs")
    with pytest.raises(ValueError, match="^outputs must be of at least two systems for gains"):
        noises(outputs.select(["a"]))
    halves = ss.Outputs.from_statistics(
        outputs.statistics, "accuracy", items=outputs.items.assign(half=np.arange(outputs.n_items) % 2)
    )
    with pytest.raises(ValueError, match="^unit must be of whole questions, but the samples of '0' have several of"):
        noises(halves, unit="half")
    with pytest.raises(ValueError, match="^numbers must be at least 1|^numbers must be"):
        noise_curve(noises(outputs), [0])


@pytest.mark.slow
def test_both_noises_are_unbiased_and_the_interval_of_the_share_covers() -> None:
    """Known chances of 100 questions: variances by algebra. The share's interval is of 95 %."""
    true_between = true_within = None
    found, covered, of_between = [], 0, 0
    rng = np.random.default_rng(0)
    population = rng.beta(2, 2, size=(2, 200_000))
    true_between = 100**2 * (population[0] - population[1]).var() / 100
    true_within = 100**2 * (population * (1 - population)).sum(axis=0).mean() / 5 / 100
    share = true_within / (true_between + true_within)
    n_sets = 2000
    for _ in range(n_sets):
        chance = population[:, rng.integers(0, 200_000, 100)]
        mean = rng.binomial(5, chance) / 5
        known = np.stack([np.full_like(mean, 5), mean * (1 - mean) * 5 / 4], axis=-1)
        row = noises(
            ss.Outputs.from_statistics(np.stack([mean, np.ones_like(mean)], axis=-1), "accuracy", samples=known)
        ).iloc[0]
        found.append((row["se"] ** 2 - row["se_within"] ** 2, row["se_within"] ** 2))
        covered += row["share_low"] <= share <= row["share_high"]
        of_between += row["se_between_low"] ** 2 <= true_between <= row["se_between_high"] ** 2
    between, within = np.mean(found, axis=0)
    assert between == pytest.approx(true_between, rel=0.02)
    assert within == pytest.approx(true_within, rel=0.01)
    assert 0.93 < covered / n_sets < 0.97
    assert 0.93 < of_between / n_sets < 0.97


@pytest.mark.slow
@pytest.mark.skipif(not ARENA.is_dir(), reason="needs the question-level results of eval-arena")
@pytest.mark.parametrize(
    ("name", "se", "between"), [("math500_cot", 2.1, 0.94), ("human_eval_plus", 4.3, 2.4), ("aime2024_cot", 8.0, 3.7)]
)
def test_the_noises_of_wang_come_out(name: str, se: float, between: float) -> None:
    """Means over his close pairs: within 20 points and five standard errors of the sign test, both above 10 %.

    He divides by n where we divide by n - 1, which is 2 % of the standard error on 30 questions.
    """
    outputs = ss.load(ARENA / "highk_temp0.7" / f"{name}.csv.gz", "accuracy").outputs
    names = ("system_a", "system_b")
    kept = outputs.select([n for n, score in zip(outputs.names, outputs.scores(), strict=True) if score > 10])
    table, share = noises(kept), dict(zip(kept.names, kept.statistics[..., 0], strict=True))
    wins, losses = (
        np.array([(share[a] * (1 - share[b])).sum() for a, b in table[list(pair)].to_numpy()])
        for pair in (names, names[::-1])
    )
    p = [stats.binomtest(int(w), max(int(w + one), 1)).pvalue for w, one in zip(wins, losses, strict=True)]
    close = table[(table["gain"] <= 20) & (np.array(p) > 2 * stats.norm.sf(5))]
    assert close["se_one"].mean() == pytest.approx(se, rel=0.03)
    assert close["se_between"].mean() == pytest.approx(between, rel=0.05)
