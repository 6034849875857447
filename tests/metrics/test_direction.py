"""Lower is better: errors x compare as -x does where higher is better, in everything but the scores themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

import simstudy as ss
from simstudy.metrics.direction import directed, sounds_like_error
from simstudy.metrics.mean import LOWER_MEAN, Mean
from simstudy.outputs import Outputs
from simstudy.statistics.pvalues import CONVENTIONS
from tests.oracles import compared as table_of

#: What a negated score changes of Comparisons and leaderboards.
SCORES = ["metric", "score_a", "score_b", "score", "score_low", "score_high"]

#: Tests of counts ask what share is right, and -1 is no count.
OF_COUNTS = ["mcnemar", "two_proportions", "chi_square"]


def both(errors: np.ndarray, *, of: float = 0.0) -> tuple[Outputs, Outputs]:
    """Outputs of errors (items, systems) of which lower is better, and of `of` less the errors."""
    n, k = errors.shape
    names = [f"s{j}" for j in range(k)]
    items = pd.DataFrame({"id": range(n), "cluster": [i // 3 for i in range(n)], "domain": [i // 6 for i in range(n)]})
    systems = pd.DataFrame({"name": names, "family": [name if j % 2 else "s0" for j, name in enumerate(names)]})
    told: dict[str, Any] = {"systems": systems, "items": items}
    lower = Outputs.from_scores(pd.DataFrame(errors, columns=names), lower_is_better=True, **told)
    return lower, Outputs.from_scores(pd.DataFrame(of - errors, columns=names), **told)


def assert_same(one: pd.DataFrame, other: pd.DataFrame, *, rtol: float | None = None) -> None:
    kept = [name for name in one.columns if name not in SCORES]
    how: dict[str, Any] = {"check_exact": True} if rtol is None else {"rtol": rtol}
    assert_frame_equal(one[kept], other[kept], **how)


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


#: Whole numbers and decimals, of either sign, ties included.
ERRORS = st.one_of(
    st.lists(st.integers(-3, 3), min_size=36, max_size=36),
    st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.3, 1.7, -0.2]), min_size=36, max_size=36),
    st.lists(st.floats(-5, 5, width=32), min_size=36, max_size=36),
    st.lists(st.integers(0, 1), min_size=36, max_size=36),
)


def compared(outputs: Outputs, asked: dict[str, Any]) -> pd.DataFrame:
    resamples = {"n_resamples": 99} if ss.TESTS[asked["test"]].n_resamples else {}
    return table_of(outputs, **asked, **resamples)


class TestCompare:
    """Comparisons, by every test."""

    @pytest.mark.parametrize("unit", ["item", "cluster"])
    @given(values=ERRORS, data=st.data())
    @settings(max_examples=6, deadline=None)
    def test_errors_are_negated_scores(self, unit: str, values: list[float], data: st.DataObject) -> None:
        lower, higher = both(np.array(values).reshape(12, 3))
        known = ss.analyses.applicable(higher, unit=unit)
        asked = data.draw(st.sampled_from([asked for asked in options(unit) if asked["test"] in known]))
        one, other = compared(lower, asked), compared(higher, asked)
        assert_same(one, other)
        assert one["score_a"].tolist() == (-other["score_a"]).tolist()
        assert (one["score_a"] <= one["score_b"] + 1e-12).all(), "the better system has the lower score"

    @given(values=st.lists(st.booleans(), min_size=36, max_size=36), data=st.data())
    @settings(max_examples=6, deadline=None)
    def test_wrong_answers_are_right_ones_taken_away(self, values: list[bool], data: st.DataObject) -> None:
        """Tests of counts look at what is right: 1 less the error."""
        lower, higher = both(np.array(values).reshape(12, 3).astype(int), of=1)
        known = ss.analyses.applicable(higher, unit="item")
        assert known == ss.analyses.applicable(lower, unit="item")
        assert set(OF_COUNTS) <= set(known)
        asked = data.draw(st.sampled_from([asked for asked in options("item") if asked["test"] in known]))
        assert_same(compared(lower, asked), compared(higher, asked), rtol=1e-9)

    def test_ties_with_a_mean_size_are_ties_either_way(self) -> None:
        """Sacrebleu's rule on 12 items: in seven of 100 resamples the size is just gain and mean size together."""
        right = [0x907, 0x9BB, 0xC31]  # the answers of each system, a bit an item
        values = np.array([[word >> k & 1 for word in right] for k in range(12)])
        lower, higher = both(values, of=1)
        asked = {"test": "bootstrap", "convention": "sacrebleu", "unit": "item"}
        assert_same(compared(lower, asked), compared(higher, asked), rtol=1e-9)


@pytest.fixture(scope="module")
def boards() -> tuple[Outputs, Outputs]:
    """Fourteen systems on 90 items of documents."""
    rng = np.random.default_rng(3)
    errors = rng.gamma(2, 0.1, (90, 1)) + rng.gamma(2, np.linspace(0.1, 0.13, 14), (90, 14))
    return both(errors.round(3))


def elsewhere(outputs: Outputs) -> pd.DataFrame:
    pairs = table_of(outputs.take(range(40)), unit="item", n_resamples=500)
    table = ss.calibration(pairs, {"there": outputs.take(range(40, 90))}, min_pairs=2, n_bootstrap=50)
    assert table["share"].notna().any()
    return table


class TestAnalyses:
    """What is made of Comparisons and Outputs."""

    @pytest.mark.parametrize("unit", ["item", "cluster"])
    def test_leaderboards(self, boards: tuple[Outputs, Outputs], unit: str) -> None:
        one, other = (ss.leaderboard(outputs, unit=unit, n_bootstrap=300) for outputs in boards)
        assert_same(one, other)
        assert one["system"].tolist() == boards[0].best_first().names == boards[1].best_first().names
        mirrored = {"score": -other["score"], "score_low": -other["score_high"], "score_high": -other["score_low"]}
        for name, expected in mirrored.items():
            np.testing.assert_array_equal(one[name], expected)

    @pytest.mark.parametrize(("alternative", "unit"), [("two-sided", "cluster"), ("greater", "item")])
    def test_tables_of_pairs(self, boards: tuple[Outputs, Outputs], unit: str, alternative: str) -> None:
        pairs = [table_of(o, unit=unit, alternative=alternative, n_resamples=500) for o in boards]
        for analysis in (
            ss.curve, ss.thresholds, ss.significant_gains, ss.ranks, ss.groups, ss.analyses.corrected,
            lambda table: ss.equivalence(table, 0.02),
            lambda table: ss.groups(ss.analyses.corrected(table), p="p_holm"),
        ):  # fmt: skip
            assert_same(analysis(pairs[0]), analysis(pairs[1]))  # type: ignore[operator]
        boarded = [ss.ranks(t, leaderboards=ss.leaderboard(o, unit=unit)) for t, o in zip(pairs, boards, strict=True)]
        assert_same(*boarded)

    @pytest.mark.parametrize(
        "analysis",
        [elsewhere, ss.analyses.correlation, lambda o: ss.analyses.near_duplicates(o, share=0.1)],
    )
    def test_tables_of_outputs(self, boards: tuple[Outputs, Outputs], analysis: Any) -> None:
        assert_same(analysis(boards[0]), analysis(boards[1]))


class TestMetrics:
    """Two metrics that differ in direction are two."""

    def test_a_direction_is_part_of_the_name(self) -> None:
        lower, higher = both(np.arange(6).reshape(3, 2))
        assert (lower.metric.name, higher.metric.name) == ("mean (lower is better)", "mean")
        assert set(table_of(lower, unit="item")["metric"]) == {LOWER_MEAN}
        assert lower.with_metric("mean").best_first().names == ["s1", "s0"]
        assert higher.with_metric(LOWER_MEAN).metric == lower.metric == Mean(higher_is_better=False)
        assert lower.fingerprint() != lower.with_metric("mean").fingerprint()

    def test_directions_do_not_join(self) -> None:
        lower, higher = both(np.arange(6).reshape(3, 2))
        with pytest.raises(ValueError, match=r"the metrics differ: 'mean \(lower is better\)' and 'mean'$"):
            lower.join_items(higher)
        own = [Outputs.from_statistics(higher.statistics, Mean("eer", higher_is_better=up)) for up in (True, False)]
        with pytest.raises(ValueError, match="differ: .*higher_is_better=True.* and .*higher_is_better=False"):
            own[0].join_systems(own[1])

    def test_what_a_metrics_definition_says_stands(self) -> None:
        frame = pd.DataFrame({"a": [1, 0], "b": [0, 0]})
        with pytest.raises(ValueError, match="=True must not be given for metric 'accuracy': higher is better; the"):
            Outputs.from_scores(frame, "accuracy", lower_is_better=True)
        aer = ss.Outputs.from_statistics([[[1, 1, 1, 1]]], "aer").metric
        assert directed(aer, True) is aer
        with pytest.raises(ValueError, match="lower_is_better=False must not be given for metric 'aer': lower is b"):
            directed(aer, False)
        with pytest.raises(ValueError, match="must be True, False or None .not said., not 'yes'"):
            Outputs.from_scores(frame, lower_is_better="yes")  # type: ignore[arg-type]

    def test_columns_that_are_called_errors_warn(self) -> None:
        frame = pd.DataFrame({"wer_a": [1, 0], "wer_b": [0, 0]})
        with pytest.warns(UserWarning, match="the scores are called 'wer_a', but higher is assumed to be better"):
            Outputs.from_scores(frame)
        for said in (True, False):
            assert Outputs.from_scores(frame, lower_is_better=said).metric.higher_is_better is not said
        Outputs.from_scores(frame, LOWER_MEAN)
        Outputs.from_scores(pd.DataFrame({"focal_loss": [1, 0], "b": [0, 0]}))


CALLED_ERRORS = (
    "wer WER ter cer error Errors err eval_loss evalLoss loss perplexity word_perplexity ppl rmse RMSE mae "
    "mse nll brier brier_score fpr fnr wer_old old.wer NLLLoss top-1-error top1_error mean_absolute_error "
    "false_positives false-negative-rate negative_log_likelihood latency mean_latency runtime seconds cost toxicity "
    "n_tokens inferenceTime"
)


CALLED_OTHERWISE = (
    "score power answer tower terse center lossless glossary accuracy bleu answer_f1 negative_loss 1-wer "
    "neg_mean_squared_error log_likelihood error_reduction errorless serrate timeliness costume"
)


def test_names_say_whether_they_are_of_errors() -> None:
    assert [name for name in CALLED_ERRORS.split() if not sounds_like_error(name)] == []
    assert [name for name in CALLED_OTHERWISE.split() if sounds_like_error(name)] == []
