"""Lower is better: errors x compare as -x does if higher is better, in everything but the scores themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

import simstudy as ss
from simstudy.metrics import METRICS, get_metric
from simstudy.metrics.mean import LOWER_MEAN, Mean
from simstudy.metrics.registry import directed, sounds_like_error
from simstudy.outputs import Outputs
from simstudy.statistics.pvalues import CONVENTIONS
from tests.oracles import compared as table_of

#: Columns that a negated score changes.
SCORES = ["metric", "score_a", "score_b", "score", "score_low", "score_high"]

#: Tests of counts need the number of right answers, and -1 is no count.
OF_COUNTS = ["mcnemar", "two_proportions", "chi_square"]


def both(errors: np.ndarray, *, of: float = 0.0) -> tuple[Outputs, Outputs]:
    """Outputs of errors (items, systems) of which lower is better, and of `of` less the errors."""
    n, k = errors.shape
    names = [f"s{j}" for j in range(k)]
    items = pd.DataFrame({"id": range(n), "cluster": [i // 3 for i in range(n)], "domain": [i // 6 for i in range(n)]})
    lower = Outputs.from_scores(pd.DataFrame(errors, columns=names), lower_is_better=True, items=items)
    return lower, Outputs.from_scores(pd.DataFrame(of - errors, columns=names), items=items)


def assert_same(one: pd.DataFrame, other: pd.DataFrame, rtol: float | None = None) -> None:
    kept = [name for name in one.columns if name not in SCORES]
    assert_frame_equal(one[kept], other[kept], check_exact=rtol is None, rtol=rtol or 0)


def options(unit: str) -> list[dict[str, Any]]:
    """Every test on every side, computed and resampled, and with every convention."""
    asked: list[dict[str, Any]] = []
    for name, test in ss.TESTS.items():
        for side in test.alternatives:
            asked.append({"test": name, "alternative": side, "unit": unit})
            if test.n_resamples:
                asked.append({**asked[-1], "monte_carlo": True})
    for name, rule in CONVENTIONS.items():
        asked += [{"test": test, "convention": name, "unit": unit} for test in rule.tests if name != "default"]
    return [*asked, {"test": "bootstrap", "strata": "domain", "unit": unit}]


def compared(outputs: Outputs, asked: dict[str, Any]) -> pd.DataFrame:
    return table_of(outputs, **asked, **({"n_resamples": 99} if ss.TESTS[asked["test"]].n_resamples else {}))


#: Whole numbers and decimals, of either sign, ties included.
ERRORS = st.one_of(
    st.lists(st.integers(-3, 3), min_size=36, max_size=36),
    st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.3, 1.7, -0.2]), min_size=36, max_size=36),
    st.lists(st.floats(-5, 5, width=32), min_size=36, max_size=36),
)


@pytest.mark.parametrize("unit", ["item", "cluster"])
@given(values=ERRORS, data=st.data())
@settings(max_examples=8, deadline=None)
def test_errors_compare_as_negated_scores(unit: str, values: list[float], data: st.DataObject) -> None:
    lower, higher = both(np.array(values).reshape(12, 3))
    names = ss.comparisons.applicable(higher, unit=unit)
    asked = data.draw(st.sampled_from([asked for asked in options(unit) if asked["test"] in names]))
    one, other = compared(lower, asked), compared(higher, asked)
    assert_same(one, other)
    assert one["score_a"].tolist() == (-other["score_a"]).tolist()
    assert (one["score_a"] <= one["score_b"] + 1e-12).all(), "the better system has the lower score"


@given(values=st.lists(st.booleans(), min_size=36, max_size=36), data=st.data())
@settings(max_examples=8, deadline=None)
def test_wrong_answers_compare_as_right_ones(values: list[bool], data: st.DataObject) -> None:
    """Tests of counts look at right answers: 1 less the error."""
    lower, higher = both(np.array(values).reshape(12, 3).astype(int), of=1)
    names = ss.comparisons.applicable(higher, unit="item")
    assert names == ss.comparisons.applicable(lower, unit="item")
    assert set(OF_COUNTS) <= set(names)
    asked = data.draw(st.sampled_from([asked for asked in options("item") if asked["test"] in names]))
    assert_same(compared(lower, asked), compared(higher, asked), rtol=1e-9)


def test_ties_with_a_mean_size_are_ties_either_way() -> None:
    """Sacrebleu's rule on 12 items: in seven of 100 resamples the size is just gain and mean size together."""
    right = [0x907, 0x9BB, 0xC31]  # the answers of each system, a bit an item
    values = np.array([[word >> k & 1 for word in right] for k in range(12)])
    asked = {"test": "bootstrap", "convention": "sacrebleu", "unit": "item"}
    lower, higher = both(values, of=1)
    assert_same(compared(lower, asked), compared(higher, asked), rtol=1e-9)


def test_tables_of_errors_are_those_of_negated_scores() -> None:
    """Fourteen systems on 90 items of documents."""
    rng = np.random.default_rng(3)
    errors = rng.gamma(2, 0.1, (90, 1)) + rng.gamma(2, np.linspace(0.1, 0.13, 14), (90, 14))
    boards = both(errors.round(3))
    for unit, alternative in (("cluster", "two-sided"), ("item", "greater")):
        one, other = (ss.leaderboard(outputs, unit=unit, n_bootstrap=300) for outputs in boards)
        assert_same(one, other)
        assert one["system"].tolist() == boards[0].best_first().names == boards[1].best_first().names
        np.testing.assert_array_equal(one[["score", "score_low"]], -other[["score", "score_high"]])
        pairs = [table_of(outputs, unit=unit, alternative=alternative, n_resamples=500) for outputs in boards]
        room = ss.comparisons
        for analysis in (
            room.curve, room.thresholds, room.significant_gains, room.ranks, room.groups, room.corrected,
            lambda table: ss.comparisons.equivalence(table, 0.02),
            lambda table: ss.comparisons.groups(ss.comparisons.corrected(table), p="p_holm"),
        ):  # fmt: skip
            assert_same(*map(analysis, pairs))  # type: ignore[arg-type]
    for function in (ss.comparisons.correlation, lambda outputs: ss.comparisons.near_duplicates(outputs, share=0.1)):
        assert_same(*map(function, boards))  # type: ignore[arg-type]


def test_a_direction_is_part_of_the_name() -> None:
    lower, higher = both(np.arange(6).reshape(3, 2))
    assert (lower.metric.name, higher.metric.name) == ("mean (lower is better)", "mean")
    assert (lower.metric.sign, higher.metric.sign, METRICS["wer"].sign) == (-1, 1, -1)
    assert lower.with_metric("mean").best_first().names == ["s1", "s0"]
    assert higher.with_metric(LOWER_MEAN).metric == lower.metric == Mean(higher_is_better=False)
    assert lower.fingerprint() != lower.with_metric("mean").fingerprint()
    with pytest.raises(ValueError, match=r"the metrics differ: 'mean \(lower is better\)' and 'mean'$"):
        lower.join_items(higher)
    eers = [Outputs.from_statistics(higher.statistics, Mean("eer", higher_is_better=up)) for up in (True, False)]
    with pytest.raises(ValueError, match="differ: .*higher_is_better=True.* and .*higher_is_better=False"):
        eers[0].join_systems(eers[1])


def test_the_direction_of_a_metric_cannot_be_turned() -> None:
    aer, median = METRICS["aer"], get_metric("median")
    assert directed(aer, True) is directed(aer, None) is aer
    assert directed(median, True) == get_metric("median (lower is better)")
    for metric, lower, message in (
        (
            "accuracy",
            True,
            "lower_is_better=True must not be given for metric 'accuracy': higher is better; the metric",
        ),
        ("aer", False, "lower_is_better=False must not be given for metric 'aer': lower is better"),
        ("mean", "yes", "lower_is_better must be True, False or None, not 'yes'"),
    ):
        with pytest.raises(ValueError, match=f"^{message}"):
            directed(METRICS[metric], lower)  # type: ignore[arg-type]


def test_systems_without_a_score_are_refused_if_0_would_be_the_best() -> None:
    for metric, statistics in {"wer": [3, 0], "word_perplexity": [0, 0], LOWER_MEAN: [0, 0]}.items():
        outputs = Outputs.from_statistics([[statistics, statistics]], metric, systems=["a"])
        with pytest.raises(
            ValueError, match=f"^score of metric '{metric.split()[0]}.* for system 'a': .* is 0 for every"
        ):
            ss.leaderboard(outputs)


@pytest.mark.filterwarnings("error")
def test_columns_that_are_called_errors_warn() -> None:
    frame = pd.DataFrame({"wer_a": [1, 0], "wer_b": [0, 0]})
    with pytest.warns(UserWarning, match="the scores are called 'wer_a', but higher is assumed to be better"):
        Outputs.from_scores(frame)
    for lower in (True, False):
        assert Outputs.from_scores(frame, lower_is_better=lower).metric.higher_is_better is not lower
    Outputs.from_scores(frame, LOWER_MEAN)
    Outputs.from_scores(pd.DataFrame({"focal_loss": [1, 0], "b": [0, 0]}))


CALLED_ERRORS = (
    "wer WER ter cer error Errors err eval_loss evalLoss loss perplexity word_perplexity ppl rmse RMSE mae mse "
    "nll brier brier_score fpr fnr wer_old old.wer NLLLoss top-1-error mean_absolute_error false_positives "
    "false-negative-rate negative_log_likelihood latency runtime seconds cost inferenceTime"
)
CALLED_OTHERWISE = (
    "score power answer tower terse center lossless glossary accuracy bleu answer_f1 negative_loss 1-wer "
    "neg_mean_squared_error log_likelihood error_reduction errorless serrate timeliness costume"
)


def test_names_say_whether_they_are_of_errors() -> None:
    assert [name for name in CALLED_ERRORS.split() if not sounds_like_error(name)] == []
    assert [name for name in CALLED_OTHERWISE.split() if sounds_like_error(name)] == []
