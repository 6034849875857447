"""What every metric does, what its rules are, and what it is called."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, fbeta_score, precision_score, recall_score

from simstudy.metrics import METRICS, FBeta, Metric, Ratio, get_metric
from simstudy.metrics.arrays import ARRAYS, ArrayMetric
from simstudy.metrics.base import summed
from simstudy.metrics.user_metrics import metric as user_metric
from simstudy.outputs import Outputs


def valid_sums(metric: Metric, shape: tuple[int, ...], most: int, rng: np.random.Generator) -> np.ndarray:
    """Statistics (*shape, S) from 1 to `most` that keep the metric's rules."""
    # Ascending, since parts are named before wholes; for fills it is the other way, and two parts share a whole.
    ascending = np.sort(rng.integers(1, most // 2, size=(*shape, len(metric.statistics))), axis=-1)
    return ascending[..., ::-1] * [2, 2, 1, 1] if metric.statistics[0] == "possible" else ascending


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
class TestEveryMetric:
    """The contract: a score of sums, elementwise, defined for every sum that can occur."""

    def test_it_scores_elementwise_any_shape_and_kind_of_number_and_an_empty_sum(self, metric, rng) -> None:  # type: ignore[no-untyped-def]
        assert get_metric(metric.name) is get_metric(metric) is metric
        sums = valid_sums(metric, (3, 4), 5000, rng)
        scores = metric.score(sums)
        assert (scores.shape, scores.dtype) == ((3, 4), np.float64)
        assert scores[1, 2] == metric.score(sums[1, 2])
        np.testing.assert_array_equal(scores, metric.score(sums.astype(np.float32)))
        assert np.isfinite(metric.score(np.zeros(len(metric.statistics), dtype=int)))

    def test_statistics_that_keep_the_rules_score_on_the_scale_and_negative_ones_are_refused(self, metric, rng) -> None:  # type: ignore[no-untyped-def]
        statistics = valid_sums(metric, (5, 40), 50, rng)
        metric.check(statistics)
        scores = metric.score(statistics.sum(axis=1))
        most = {"percent": 100, "probability": 1}.get(metric.unit, np.inf)
        assert ((scores >= 0) & (scores <= most)).all()
        with pytest.raises(ValueError, match=re.escape(f"statistics for metric '{metric.name}' must have")):
            metric.check(np.full((1, 1, len(metric.statistics)), -1))


def test_against_scikit_learn(rng: np.random.Generator) -> None:
    gold, guessed = rng.integers(0, 2, size=(2, 200))
    counts = np.array([(gold & guessed).sum(), guessed.sum(), gold.sum()])
    assert METRICS["precision"].score(counts) == pytest.approx(100 * precision_score(gold, guessed))
    assert METRICS["recall"].score(counts) == pytest.approx(100 * recall_score(gold, guessed))
    for beta in (0.5, 1, 2, 0.7):
        assert FBeta(beta).score(counts) == pytest.approx(100 * fbeta_score(gold, guessed, beta=beta))
    with pytest.raises(ValueError, match="beta must be a number above 0"):
        FBeta(0)
    right = np.array([(gold == guessed).sum(), 200])
    assert METRICS["accuracy"].score(right) == pytest.approx(100 * accuracy_score(gold, guessed))


def test_ratios_are_ratios_of_weighted_sums(rng: np.random.Generator) -> None:
    ratio = Ratio("mine", ("a", "b"), numerator=(1, 0), denominator=(1, -1))
    for metric in (ratio, *METRICS.values()):
        if isinstance(metric, Ratio):
            sums = rng.permutation(np.arange(1, 1 + len(metric.statistics)))
            above, below = np.dot(metric.numerator, sums), np.dot(metric.denominator, sums)
            assert metric.score(sums) == pytest.approx(metric.scale * above / below)
            assert metric.defined(np.stack([sums, 0 * sums])).tolist() == [True, False]
    shares = [name for name, metric in METRICS.items() if metric.is_proportion and len(metric.statistics) > 2]
    assert {"precision", "recall"} <= {*shares}
    assert not {"f1", "muc_f"} & {*shares}, "F and MUC weigh their sums"
    ratios = [replace(ratio, denominator=below) for below in ((1, -1), (0, 2), (1, 1))]
    assert [metric.is_proportion for metric in ratios] == [False, False, True]


def test_labels_are_right_if_they_equal_the_gold_label() -> None:
    """Blanks around a label do not count; its case does."""
    counter = METRICS["accuracy"].text_counter([["noun "], ["verb"], ["a b"]])
    assert counter is not None
    assert counter.statistics([" noun", "Verb", "a b\n"]).tolist() == [[1, 1], [0, 1], [1, 1]]
    assert METRICS["f1"].text_counter([["noun"]]) is None
    of_texts = {"accuracy", "bleu", "chrf", "chrf++", "rouge1", "rouge2", "rougeL", "wer", "cer", "ter"}
    assert of_texts <= {name for name, metric in METRICS.items() if metric.counts_texts}


def test_statistics_of_the_item_are_statistics() -> None:
    with pytest.raises(ValueError, match="^of_item of metric 'own' must be among hit, of, unlike 'total'$"):
        Ratio("own", ("hit", "of"), numerator=(1, 0), denominator=(0, 1), of_item=("total",))
    for metric in METRICS.values():
        assert metric.of_item, "a missing answer costs something"
        assert set(metric.shared) <= set(metric.of_item)


def test_a_definition_has_what_decides_numbers() -> None:
    """Not labels and units."""
    assert len({metric.definition for metric in METRICS.values()}) == len(METRICS)
    plain = Ratio("r", ("a", "b"), numerator=(1, 0), denominator=(0, 1))
    changes = [
        {"name": "s"}, {"statistics": ("a", "c")}, {"numerator": (-1, 0)}, {"denominator": (0, 2)}, {"scale": 1.0},
        {"higher_is_better": False}, {"shared": ("b",)}, {"item_range": (0, 1)},
    ]  # fmt: skip
    assert len({replace(plain, **change).definition for change in [{}, *changes]}) == 1 + len(changes)  # type: ignore[arg-type]
    assert replace(plain, label="R", unit="percent") == plain


def test_unlike_gold_counts_are_refused_with_item_and_system() -> None:
    """Two systems differ from the first one, on different items: the message has the first such item."""
    counts = np.tile([2, 3, 5], (4, 6, 1))
    counts[1, 4, 2], counts[3, 2, 2] = 6, 7
    with pytest.raises(ValueError, match=r"one 'gold' of each item, but item 'i2' .*has 5 by '?a'? and 7 by '?d'?"):
        METRICS["f1"].check_shared(counts, list("abcd"), [f"i{k}" for k in range(6)])


@given(st.tuples(*[st.integers(0, 40)] * 4))
def test_muc_scores_are_by_the_definition(parts: tuple[int, int, int, int]) -> None:
    """Precision, recall and F as Chinchor defines them, in fractions; 0 if a denominator is 0."""
    missing, wrong, correct, partial = parts
    possible, actual, right = correct + partial + missing, correct + partial + wrong, correct + Fraction(partial, 2)
    recall, precision = right / (possible or 1), right / (actual or 1)
    expected = {"muc_recall": recall, "muc_precision": precision}
    for name, beta in {"muc_f": Fraction(1), "muc_f_2p": Fraction(1, 2), "muc_f_2r": Fraction(2)}.items():
        below = beta**2 * precision + recall
        expected[name] = (1 + beta**2) * precision * recall / below if below else Fraction(0)
    METRICS["muc_f"].check(np.array([[[possible, actual, correct, partial]]]))
    for name, score in expected.items():
        sums = np.array([possible, actual, correct, partial])
        assert METRICS[name].score(sums) == pytest.approx(float(100 * score), abs=1e-12)


#: A metric's statistics that keep its rules, changes that each break a rule, and the first such rule.
RULES = {
    "bleu": (
        [3, 2, 1, 0, 4, 3, 2, 1, 4, 5],
        [(0, -1), (1, 4), (4, 5), (9, -1)],
        "0 <= correct_1 <= total_1 <= hyp_length",
    ),
    "chrf": ([1] * 6 + [2] * 6 + [3] * 6, [(0, -1), (2, 3), (14, 0)], "0 <= match_char_1 <= hyp_char_1"),
    "muc_f": ([6, 6, 4, 2], [(2, -1), (3, -1), (0, 5), (1, 5)], "0 <= correct"),
    "aer": ([2, 3, 3, 3], [(0, -1), (0, 4), (1, 1), (1, 4), (3, 1)], "0 <= in_sure <= in_possible <= guessed"),
    "f1": ([2, 3, 3], [(0, -1), (1, 1), (2, 1)], "0 <= correct <= guessed"),
    "accuracy": ([1, 2], [(0, -1), (1, 0)], "0 <= correct <= total"),
    "wer": ([3, 2], [(0, -1), (1, -1)], "0 <= errors"),
    "ap": ([1, 1], [(0, -1), (0, 2), (1, 0)], "scores of at least 0"),
    "mean": ([1, 1], [(1, -1), (1, 0)], "0 <= count"),
    "word_perplexity": ([1, 1], [(1, -1)], "0 <= words"),
}


@pytest.mark.parametrize("name", RULES)
def test_counts_that_break_a_rule_are_refused(name: str) -> None:
    good, changes, rule = RULES[name]
    statistics = np.array(good, dtype=float)[None, None]
    METRICS[name].check(statistics)
    for k, (place, value) in enumerate(changes):
        wrong = statistics.copy()
        wrong[..., place] = value
        first = re.escape(rule) if k == 0 else ".*"
        message = f"^statistics for metric '{name}' must have {first}, unlike .* = .* of system 's', item 'i'$"
        with pytest.raises(ValueError, match=message):
            METRICS[name].check(wrong, ["s"], ["i"])


def test_narrow_integers_do_not_wrap_around() -> None:
    with pytest.raises(ValueError, match="correct \\+ partial <= possible"):
        Outputs.from_statistics(np.array([[[250, 250, 200, 100]]], np.uint8), "muc_f")


@pytest.mark.parametrize("n_statistics", [1, 2, 4, 5])
@pytest.mark.parametrize("kind", [np.int8, np.int64, np.float64])
def test_sums_of_units_have_the_bits_of_numpy(n_statistics: int, kind: type, rng: np.random.Generator) -> None:
    """Whole numbers are exact in any order, however narrow they are; decimals keep numpy's."""
    statistics = (100 * rng.random((3, 1001, n_statistics))).astype(kind)
    sums = summed(statistics)
    assert sums.dtype == (np.float64 if kind is np.float64 else np.int64)
    np.testing.assert_array_equal(sums, statistics.sum(axis=1, dtype=sums.dtype))
    np.testing.assert_array_equal(summed(statistics[0]), sums[0])


def test_perplexities_are_of_the_whole_text() -> None:
    """Not means of items: log-likelihoods -6 and -2 of texts of 2 and 6 words, or 12 and 20 bytes."""
    words, size = (np.array([[[6.0, n], [2.0, m]]]) for n, m in ((2, 6), (12, 20)))
    assert METRICS["word_perplexity"].test_set_scores(words) == pytest.approx(np.exp(8 / 8))
    assert METRICS["byte_perplexity"].test_set_scores(size) == pytest.approx(np.exp(8 / 32))
    assert METRICS["bits_per_byte"].test_set_scores(size) == pytest.approx(8 / 32 / np.log(2))


@pytest.mark.parametrize(
    "array_metric", [ARRAYS["median"], user_metric("first", lambda score: score[0], resample=True)]
)
def test_coins_swap_items_between_systems_in_their_order(array_metric: ArrayMetric, rng: np.random.Generator) -> None:
    one, other = rng.normal(size=(2, 7, 1))
    coins = rng.integers(0, 2, size=(20, 7))
    swapped = [np.where(coins[..., None] == side, one, other) for side in (0, 1)]
    expected = [array_metric.test_set_scores(rows) for rows in swapped]
    np.testing.assert_array_equal(array_metric.swapped(one, other, coins), expected)
