from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.comparisons.correlation import correlation
from simstudy.outputs import Outputs
from tests.oracles import GEOMETRIC, compared


def scored(rng: np.random.Generator) -> pd.DataFrame:
    """Three systems on 50 items that share what is hard."""
    easy = rng.normal(size=50)
    return pd.DataFrame({name: easy + rng.normal(size=50) * noise for name, noise in [("d", 0.5), ("b", 1), ("a", 4)]})


def test_r12_and_both_deviations_are_scipys_and_numpys(rng: np.random.Generator) -> None:
    frame = scored(rng)
    table = correlation(Outputs.from_scores(frame, task="t", test_set="s"))
    assert len(table) == 3
    for row in table.itertuples():
        a, b = frame[row.system_a], frame[row.system_b]
        assert row.r12 == pytest.approx(stats.pearsonr(a, b).statistic)
        assert row.sd_paired == pytest.approx(np.std(a - b, ddof=1) / np.sqrt(50))
        assert row.sd_independent == pytest.approx(np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 50))
        assert row.ratio == pytest.approx(row.sd_independent / row.sd_paired)


def test_systems_that_never_vary_or_never_differ() -> None:
    frame = pd.DataFrame({"x": [0.1, 0.9, 0.4], "same": [0.1, 0.9, 0.4], "flat": [0.1] * 3, "level": [0.3] * 3})
    table = correlation(Outputs.from_scores(frame)).set_index(["system_a", "system_b"])
    alike = table.loc[("same", "x")]
    assert (alike.r12, alike.sd_paired, alike.ratio) == (1, 0, np.inf)
    one_flat = table.loc[("x", "level")]
    assert np.isnan(one_flat.r12)
    assert one_flat.sd_paired == pytest.approx(frame["x"].std(ddof=1) / np.sqrt(3))
    assert one_flat.ratio == pytest.approx(1)
    both_flat = table.loc[("level", "flat")]
    assert np.isnan([both_flat.r12, both_flat.ratio]).all()
    assert (both_flat.sd_independent, both_flat.sd_paired) == (0, 0)


def test_a_shift_leaves_nothing_but_rounding() -> None:
    """Scores that differ by a constant: the gain does not vary, whatever the last bits say."""
    first = np.linspace(0.1, 0.9, 37) ** 3
    table = correlation(Outputs.from_scores(pd.DataFrame({f"{k}": first + k / 7 for k in range(6)})))
    assert (table["sd_paired"] == 0).all()
    assert table["r12"].tolist() == pytest.approx([1] * 15)


@pytest.mark.parametrize("metric", ["f1", "precision", "recall", "aer"])
def test_the_correlation_of_a_ratio_is_that_of_what_items_do_to_it(metric: str, rng: np.random.Generator) -> None:
    """What an item does to a score is the score's derivative by how often the item is there, here by differences."""
    guessed, gold = rng.integers(3, 9, size=(3, 40)), np.broadcast_to(rng.integers(3, 6, size=40), (3, 40))
    right = rng.integers(0, 1 + np.minimum(guessed, gold))
    counts = np.stack([right, guessed, gold], axis=-1)
    if metric == "aer":
        counts = np.stack([np.minimum(right, guessed - 1), right, guessed, gold], axis=-1)
    outputs = Outputs.from_statistics(counts, metric)
    ranked, step = outputs.best_first(), 1e-4
    sums = ranked.statistics.sum(axis=1)[:, None, :]
    more, less = (ranked.metric.score(sums + sign * step * ranked.statistics) for sign in (1, -1))
    parts = (more - less) / (2 * step)
    table = correlation(outputs)
    (i, j), n = np.triu_indices(3, 1), 40
    np.testing.assert_allclose(table["r12"], np.corrcoef(parts)[i, j], atol=1e-6)
    inflation = np.sqrt(n / (n - 1))
    np.testing.assert_allclose(table["sd_paired"], inflation * np.sqrt(((parts[i] - parts[j]) ** 2).sum(1)), rtol=1e-5)


def test_without_item_scores_it_is_what_leaving_an_item_out_takes_away(rng: np.random.Generator) -> None:
    counts = np.concatenate([rng.integers(1, 9, size=(3, 30, 2)), np.full((3, 30, 2), 9)], axis=-1)
    ranked = Outputs.from_statistics(counts, GEOMETRIC).best_first()
    kept = [np.delete(ranked.statistics, item, axis=1).sum(axis=1) for item in range(30)]
    without = np.array([100 * np.sqrt(sums[:, 0] * sums[:, 1] / (sums[:, 2] * sums[:, 3])) for sums in kept]).T
    table = correlation(ranked)
    i, j = np.triu_indices(3, 1)
    np.testing.assert_allclose(table["r12"], np.corrcoef(without)[i, j])
    variance = 29 / 30 * ((without[i] - without[j] - (without[i] - without[j]).mean(1, keepdims=True)) ** 2).sum(1)
    np.testing.assert_allclose(table["sd_paired"], np.sqrt(variance), err_msg="the jackknife's (Efron and Stein 1981)")
    np.testing.assert_allclose(table["sd_paired"], compared(ranked, n_resamples=100)["gain_se"])


def test_sd_of_the_gain_is_that_of_clusters(rng: np.random.Generator) -> None:
    """Sixty clusters of ten, answers of a cluster alike: numpy's standard error of cluster means, and compare's."""
    easy = np.repeat(rng.normal(size=(60, 2)), 10, axis=0)
    frame = pd.DataFrame((easy + 0.3 * rng.normal(size=(600, 2)) > 0).astype(int), columns=["a", "b"])
    items = pd.DataFrame({"id": range(600), "cluster": np.repeat(np.arange(60), 10)})
    outputs = Outputs.from_scores(frame, "accuracy", items=items)
    row = correlation(outputs).iloc[0]
    means = frame.groupby(items["cluster"]).mean()
    assert row.r12 == pytest.approx(means.corr().loc["a", "b"])
    assert row.sd_paired == pytest.approx(100 * (means["a"] - means["b"]).sem())
    assert row.sd_paired == pytest.approx(compared(outputs)["gain_se"].item())
    by_items = correlation(outputs, unit="item").iloc[0]
    assert by_items.sd_paired == pytest.approx(100 * (frame["a"] - frame["b"]).sem())
    assert row.n_items == by_items.n_items == 600
    assert row.sd_paired > 1.5 * by_items.sd_paired


def test_too_few_systems_or_items_are_refused(rng: np.random.Generator) -> None:
    counts = np.stack([rng.integers(0, 3, size=(2, 20)), np.full((2, 20), 3), np.full((2, 20), 5)], axis=-1)
    with pytest.raises(ValueError, match="at least 2 systems and 2 resampling units, not 1 and 20"):
        correlation(Outputs.from_statistics(counts[:1], "recall"))
    with pytest.raises(ValueError, match="at least 2 systems and 2 resampling units, not 2 and 1"):
        correlation(Outputs.from_statistics(counts[:, :1], "recall"))


def test_nothing_to_find_is_no_variation() -> None:
    table = correlation(Outputs.from_statistics(np.zeros((2, 5, 3), dtype=int), "recall"))
    assert table["r12"].isna().all()
    assert table["sd_paired"].tolist() == [0]


def test_ratio_of_equal_deviations_follows_r12() -> None:
    """Two systems, both right on half of 200 items, on k of these together: s1 = s2, and r12 = k / 50 - 1.

    With r12 = 0.38, 0.50 and 0.80 the ratio 1 / sqrt(1 - r12) is 1.27, 1.41 and 2.24 (Yeh 2000, section 2.1).
    """
    for k, ratio in ((69, 1.27), (75, 1.41), (90, 2.24)):
        right = np.zeros((200, 2), dtype=int)
        right[:100, 0] = right[100 - k : 200 - k, 1] = 1
        row = correlation(Outputs.from_scores(pd.DataFrame(right, columns=["a", "b"]), "accuracy")).iloc[0]
        assert row.r12 == pytest.approx(k / 50 - 1)
        assert row.ratio == pytest.approx(ratio, abs=0.005)
