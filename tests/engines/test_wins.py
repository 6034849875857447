"""On how many units each system does better: by counting, and by putting one's results in the other's place."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy.engines.question import Question
from simstudy.engines.wins import win_counts
from simstudy.metrics import METRICS, Metric, Ratio
from simstudy.outputs import Outputs
from tests.engines.pairs import KINDS, ask, best_first, made
from tests.oracles import ERROR_RATE, GEOMETRIC, ascending, compared


def counted(statistics: np.ndarray, metric: Metric | str) -> tuple[int, int, int]:
    row = ask(statistics, metric, n_resamples=20)
    assert row.wins + row.losses + row.ties == statistics.shape[1]
    return int(row.wins), int(row.losses), int(row.ties)


def n_differ(statistics: np.ndarray, metric: Metric) -> int:
    """The third count, of which p_floor is made."""
    n = statistics.shape[1]
    return int(win_counts(Question(statistics, metric, ["a", "b"], "item", np.array([0, n])))[2][0])


def by_hand(signs: np.ndarray) -> tuple[int, int, int]:
    return int((signs > 0).sum()), int((signs < 0).sum()), int((signs == 0).sum())


@pytest.mark.parametrize("metric", ["accuracy", ERROR_RATE], ids=["accuracy", "error rate"])
def test_right_and_wrong(metric: str | Metric, rng: np.random.Generator) -> None:
    right = (rng.random((2, 80)) < [[0.7], [0.5]]).astype(int)
    assert right[0].sum() > right[1].sum()
    shown = right if metric == "accuracy" else 1 - right
    statistics = np.stack([shown, np.ones_like(right)], axis=-1)
    assert counted(statistics, metric) == by_hand(right[0] - right[1])
    # The same pair, handed in the other way round.
    assert counted(statistics[::-1], metric) == by_hand(right[0] - right[1])


def test_counts_without_a_sign_have_differences_below_0(rng: np.random.Generator) -> None:
    """As numpy's narrowest numbers, whose own differences wrap; the metric is no ratio."""
    counts = rng.integers(1, 200, (2, 50, 4))
    expected = counted(counts, GEOMETRIC)
    assert min(expected[:2]) > 10
    assert counted(counts.astype(np.uint8), GEOMETRIC) == expected


def test_means_of_decimals(rng: np.random.Generator) -> None:
    """0.1 + 0.2 and 0.3 are level although they differ in their last bit."""
    tenths = rng.integers(0, 4, size=(2, 60))
    tenths[0] += rng.random(60) < 0.5
    decimals = tenths / 10 + 0.1 - 0.1
    assert ((decimals[0] != decimals[1]) & (tenths[0] == tenths[1])).any() or (decimals * 10 != tenths).any()
    outputs = Outputs.from_scores(pd.DataFrame({"a": decimals[0], "b": (tenths / 10)[1]}))
    row = compared(outputs, n_resamples=20).iloc[0]
    sign = 1 if row.system_a == "a" else -1
    assert (row.wins, row.losses, row.ties) == by_hand(sign * (tenths[0] - tenths[1]))


def test_scores_that_differ_in_their_last_bit_only_are_level(rng: np.random.Generator) -> None:
    """Scores without a common unit, 40 of 60 of them worked out in another way."""
    b = rng.normal(size=60) * np.pi
    a = np.where(np.arange(60) < 40, b * 1.1 / 1.1, b + rng.normal(size=60))
    assert (a[:40] != b[:40]).any()
    row = compared(Outputs.from_scores(pd.DataFrame({"a": a, "b": b})), n_resamples=20).iloc[0]
    assert row.ties == 40
    assert row.wins == (np.sign(a.mean() - b.mean()) * (a - b)[40:] > 0).sum()


def swapped_one_by_one(pair: np.ndarray, metric: Ratio) -> np.ndarray:
    """For each unit: does the pair's pooled ratio rise (1), fall (-1) or stay where the first's results are had twice?

    To put one system's results in the other's place is to change the sum of both by their difference: in fractions.
    """
    direction = 1 if metric.higher_is_better else -1
    both = pair.sum(axis=(0, 1))

    def ratio(above: Fraction, below: Fraction) -> Fraction:
        return above / below

    above, below = (int(both @ np.array(weights)) for weights in (metric.numerator, metric.denominator))
    signs = []
    for first, second in zip(*pair, strict=True):
        moved_above, moved_below = (
            int((first - second) @ np.array(weights)) for weights in (metric.numerator, metric.denominator)
        )
        # A small part of the exchange, so that its own effect on the price of a guess does not count.
        part = Fraction(1, 10**9)
        after = ratio(above + part * moved_above, below + part * moved_below)
        change = direction * (after - ratio(Fraction(above), Fraction(below)))
        signs.append((change > 0) - (change < 0))
    return np.array(signs)


@pytest.mark.parametrize("kind", ["f1", "precision", "f0.5", "muc_f", "muc_f_2p", "ratings by count"])
def test_of_ratios_what_is_more_is_held_against_what_it_costs(kind: str) -> None:
    rng = np.random.default_rng(len(kind))
    for n in (5, 30):
        metric, statistics = made(kind, n, rng)
        row = ask(statistics, metric, n_resamples=20)
        pair = best_first(statistics, row)
        assert isinstance(metric, Ratio)
        assert (row.wins, row.losses, row.ties) == by_hand(swapped_one_by_one(pair, metric))


def test_a_lower_geometric_mean_is_better() -> None:
    """An error rate of the same form: the systems change places, and the new first is better where it has less."""
    metric, statistics = made("geometric", 40, np.random.default_rng(3))
    loss = replace(GEOMETRIC, name="loss", higher_is_better=False)
    better, worse, level = counted(statistics, metric)
    assert better != worse
    assert counted(statistics, loss) == (better, worse, level)
    assert ask(statistics, metric, n_resamples=20).system_a != ask(statistics, loss, n_resamples=20).system_a


@pytest.mark.parametrize("name", ["bleu", "chrf"])
def test_counts_of_nothing_are_no_trouble(name: str) -> None:
    """No 4-gram matches anywhere: no score is asked of fewer than none."""
    rng = np.random.default_rng(4)
    if name == "bleu":
        total = np.sort(rng.integers(1, 9, size=(2, 20, 4)), axis=-1)[..., ::-1]
        correct = rng.binomial(total, 0.5)
        correct[..., 2:] = 0
        lengths = np.stack([total[..., 0], np.broadcast_to(total[0, :, 0], (2, 20))], axis=-1)
        statistics = np.concatenate([correct, total, lengths], axis=-1)
    else:
        hyp = rng.integers(1, 9, size=(2, 20, 6))
        ref = np.broadcast_to(rng.integers(1, 9, size=(20, 6)), hyp.shape)
        match = rng.binomial(np.minimum(hyp, ref), 0.4)
        match[..., 3:] = 0
        statistics = np.concatenate([match, hyp, ref], axis=-1)
    better, worse, _ = counted(statistics, name)
    assert better > worse > 0


def test_units_may_differ_and_be_level() -> None:
    """Half of all guesses are right: one right and one wrong more are worth nothing, and still a difference."""
    unit = [[[2, 4, 4], [1, 2, 2]], [[1, 2, 4], [2, 4, 2]]]
    statistics = np.array(unit)
    assert counted(statistics, "precision") == (0, 0, 2)
    assert n_differ(statistics, METRICS["precision"]) == 2
    assert ask(statistics, "precision").p_floor == 0.25


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_equal_on_every_statistic_is_level(kind: str) -> None:
    rng = np.random.default_rng(1)
    metric, statistics = made(kind, 12, rng)
    statistics = statistics.copy()
    statistics[1, 4:] = statistics[0, 4:]
    better, worse, level = counted(statistics, metric)
    assert level >= 8
    assert better + worse <= 4
    assert n_differ(statistics, metric) <= 4


def test_recall_does_not_see_what_else_was_guessed() -> None:
    """Different guesses with the same hits: level, and no difference for recall; a difference for precision."""
    statistics = np.array([[[2, 3, 4], [1, 1, 4]], [[2, 5, 4], [1, 2, 4]]])
    assert counted(statistics, "recall") == (0, 0, 2)
    assert n_differ(statistics, METRICS["recall"]) == 0
    assert counted(statistics, "precision") == (2, 0, 0)
    assert n_differ(statistics, METRICS["precision"]) == 2


def test_documents_are_counted_as_wholes(tagged: Outputs) -> None:
    """By the share of right words, a document's words counted together."""
    correct = tagged.statistics[..., 0].reshape(5, 15, 4).sum(axis=2)
    for row in compared(tagged).itertuples():
        i, j = (tagged.names.index(name) for name in (row.system_a, row.system_b))
        assert (row.wins, row.losses, row.ties) == by_hand(correct[i] - correct[j])


@pytest.mark.parametrize("kind", ["one decision", "f1", "geometric"])
def test_many_pairs_in_parts_are_each_pair(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    metric = made(kind, 2, rng)[0]
    statistics = np.concatenate([made(kind, 30, rng)[1] for _ in range(3)])
    if kind == "f1":
        statistics = ascending(statistics)
    outputs = Outputs.from_statistics(statistics, metric)
    columns: Any = ["wins", "losses", "ties", "p_floor"]
    whole = compared(outputs, n_resamples=20)[columns]
    monkeypatch.setattr("simstudy.engines.wins._TOGETHER", 200)
    pd.testing.assert_frame_equal(compared(outputs, n_resamples=20)[columns], whole)
