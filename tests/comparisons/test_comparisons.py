"""The class Comparisons: its schema, its methods against the functions that they stand for, and how it shows itself."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from scipy import stats

import simstudy as ss
from simstudy import schema
from simstudy.decisions import REASONS, Decision, two_sided
from simstudy.multiplicity import corrected

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def outputs() -> ss.Outputs:
    rng = np.random.default_rng(3)
    right = rng.random((300, 6)) < np.linspace(0.5, 0.75, 6)
    made = ss.Outputs.from_scores(pd.DataFrame(right, columns=list("abcdef")), "accuracy")
    return ss.describe_systems(made, pd.DataFrame({"system": list("abcdef"), "group": list("xxyyzz")}))


@pytest.fixture(scope="module")
def pairs(outputs: ss.Outputs) -> ss.Comparisons:
    return ss.compare(outputs)


def mcnemar(outputs: ss.Outputs, first: str, second: str) -> float:
    """The p-value of a pair by scipy's binomial: of right and wrong answers sign flips are McNemar's exact test."""
    a, b = (outputs.statistics[outputs.names.index(name), :, 0] for name in (first, second))
    return float(stats.binomtest(int((a > b).sum()), int((a != b).sum())).pvalue)


class TestSchema:
    def test_a_comparison_has_these_columns_in_this_order(self, pairs: ss.Comparisons) -> None:
        assert tuple(pairs.frame.columns) == schema.OWN

    def test_columns_are_of_the_types_that_it_says(self, pairs: ss.Comparisons) -> None:
        kinds = {"text": "OUT", "number": "f", "whole": "iu", "flag": "b"}
        full = pairs.corrected().equivalence(2.0).frame
        assert set(full.columns) == set(schema.KNOWN)
        for name, column in schema.KNOWN.items():
            kind = "O" if isinstance(full[name].dtype, pd.StringDtype) else np.dtype(full[name].dtype).kind
            # The margin and degrees of freedom may be whole.
            assert kind in kinds[column.kind] + ("iu" if column.kind == "number" else ""), name

    def test_fractions_are_from_0_to_1(self, pairs: ss.Comparisons) -> None:
        full = pairs.corrected().equivalence(2.0).frame
        for column in schema.COLUMNS:
            if column.unit == "fraction":
                assert full[column.name].between(0, 1).all(), column.name

    def test_methods_add_what_it_says_that_they_add(self, pairs: ss.Comparisons) -> None:
        for method, found in (("corrected", pairs.corrected()), ("equivalence", pairs.equivalence(2.0))):
            added = set(found.frame) - set(pairs.frame)
            assert added == {one.name for one in schema.COLUMNS if one.added_by == method}

    def test_the_docstring_and_the_page_have_every_column(self) -> None:
        assert ss.Comparisons.__doc__ is not None
        for name in schema.KNOWN:
            assert f"``{name}``" in ss.Comparisons.__doc__
        assert schema.markdown() in (DOCS / "python.md").read_text(encoding="utf-8")


class TestMethods:
    def test_significant_pairs_are_those_of_mcnemar(self, outputs: ss.Outputs, pairs: ss.Comparisons) -> None:
        p = {frozenset(two): mcnemar(outputs, *two) for two in combinations(outputs.names, 2)}
        for alpha in (0.001, 0.05, 0.3):
            found = {frozenset(two) for two in pairs.significant(alpha)[["system_a", "system_b"]].to_numpy()}
            assert found == {two for two, value in p.items() if value <= alpha}
        holm = stats.false_discovery_control(list(p.values()), method="bh") <= 0.05
        assert len(pairs.significant(0.05, corrected="bh")) == holm.sum()
        # Holm: the k-th smallest of m against alpha / (m - k + 1), up to the first that is too large.
        ordered = np.sort(list(p.values()))
        fails = ordered > 0.05 / np.arange(len(ordered), 0, -1)
        assert len(pairs.significant(0.05, corrected="holm")) == (fails.argmax() if fails.any() else len(ordered))

    def test_methods_are_the_functions(self, outputs: ss.Outputs, pairs: ss.Comparisons) -> None:
        for name in ("thresholds", "curve", "significant_gains", "ranks", "signature"):
            function = getattr(ss.analyses, name)
            by_method, of_class, of_frame = getattr(pairs, name)(), function(pairs), function(pairs.frame)
            for other in (of_class, of_frame):
                assert_frame_equal(by_method, other) if name != "signature" else None
                assert name != "signature" or by_method == other
        assert_frame_equal(pairs.groups(), ss.groups(corrected(pairs.frame), p="p_holm"))
        one_sided = ss.compare(outputs, alternative="greater")
        assert_frame_equal(one_sided.two_sided().frame, two_sided(one_sided.frame))
        assert_frame_equal(one_sided.two_sided()[["p_value"]], pairs[["p_value"]])

    def test_relations_come_from_the_systems_of_the_outputs(self, pairs: ss.Comparisons) -> None:
        classes = pairs.related("group")
        of_group = dict(zip("abcdef", "xxyyzz", strict=True))
        for a, b, relation in classes[["system_a", "system_b", "relation"]].to_numpy():
            assert relation == ("same group" if of_group[a] == of_group[b] else "different groups")
        with pytest.raises(ValueError, match="systems must be given"):
            ss.Comparisons(pairs.frame).related("group")

    def test_nothing_is_changed_in_place(self, pairs: ss.Comparisons) -> None:
        before = pairs.frame.copy()
        pairs.corrected().equivalence(1).related("group").two_sided().significant(corrected="holm")
        assert_frame_equal(pairs.frame, before)

    def test_files_come_back(self, pairs: ss.Comparisons, tmp_path: Path) -> None:
        full = pairs.corrected()
        full.to_csv(tmp_path / "pairs.csv")
        back = ss.Comparisons.read_csv(tmp_path / "pairs.csv")
        for name in full.frame:
            if schema.KNOWN[name].kind == "number":
                np.testing.assert_allclose(back[name], full[name], rtol=1e-15, err_msg=name)
            else:
                assert back[name].tolist() == full[name].tolist(), name
        (tmp_path / "other.csv").write_text("a,b\n1,2\n")
        with pytest.raises(ValueError, match="path must be Comparisons, as `compare` returns them; no column task"):
            ss.Comparisons.read_csv(tmp_path / "other.csv")


class TestPair:
    def test_it_is_found_by_either_order(self, outputs: ss.Outputs, pairs: ss.Comparisons) -> None:
        one, other = pairs.pair("a", "f"), pairs.pair("f", "a")
        assert (
            (one.system_a, one.system_b, one.gain)
            == (other.system_a, other.system_b, other.gain)
            == ("f", "a", one.gain)
        )
        assert one.p_value == pytest.approx(mcnemar(outputs, "a", "f"), rel=1e-9)
        f, a = (outputs.scores()[outputs.names.index(name)] for name in "fa")
        assert (one.score_a, one.score_b, one.gain) == pytest.approx((f, a, f - a))
        assert one.gain_low < one.gain < one.gain_high

    def test_it_decides_as_the_table_does(self, pairs: ss.Comparisons) -> None:
        assert [pair.significant(0.1) for pair in pairs] == Decision(0.1).significant(pairs.frame).tolist()
        for pair in pairs:
            assert (pair.why_not(0.1) == "") == pair.significant(0.1)
            assert pair.verdict() == ss.verdict(pair) == ss.verdict(pair.row) == repr(pair)

    def test_wrong_names(self, pairs: ss.Comparisons) -> None:
        with pytest.raises(ValueError, match="there must be a system 'g'"):
            pairs.pair("a", "g")
        with pytest.raises(ValueError, match="'a' and 'a' must be there once, not 0 times"):
            pairs.pair("a", "a")
        with pytest.raises(ValueError, match="must name two systems, where there are 15 pairs"):
            pairs.verdict()
        assert pairs.verdict("a", "f").startswith("f is better than a")


def test_every_reason_is_given() -> None:
    """One pair for each reason, and one that is significant; the reason is there where, and only where, none is."""
    table = pd.DataFrame(
        {
            "system_a": "a", "system_b": "b", "favours": ["a", "a", "a", "b", "a", "a"],
            "gain": [1.0, 0.0, 1.0, 1.0, 1.0, 1.0], "p_value": [0.001, 0.001, 0.2, 0.001, 0.001, 0.049],
            "p_floor": [0.0, 0.0, 0.0, 0.0, 0.5, 0.0], "n_extreme": 48, "n_resamples": [0, 0, 0, 0, 0, 999],
        }
    )  # fmt: skip
    decision = Decision(0.05, certainty=0.99)
    assert decision.why_not(table).tolist() == ["", *REASONS]
    assert decision.significant(table).tolist() == [True] + [False] * 5


class TestShown:
    def test_a_prompt_shows_gain_interval_and_p(self, pairs: ss.Comparisons) -> None:
        shown = repr(pairs)
        assert shown.startswith(
            "Comparisons: 15 pairs of 6 systems on 300 items (accuracy, sign-flip test, two-sided)\n"
        )
        assert shown.splitlines()[1].split() == [
            "system_a",
            "system_b",
            "gain",
            "95",
            "%",
            "interval",
            "p",
            "significant",
            "at",
            "0.05",
        ]
        best = pairs.frame.iloc[0]
        assert f"{best['gain']:.2f}" in shown.splitlines()[2]
        assert f"{best['gain_low']:.2f} to {best['gain_high']:.2f}" in shown.splitlines()[2]
        assert shown.endswith("… and 5 more")
        assert max(map(len, shown.splitlines())) < 100
        assert "<table" in pairs._repr_html_()

    def test_names_act_on_no_terminal(self) -> None:
        scores = pd.DataFrame({"\x1b[31mred": [1, 0, 1, 1], "<b>": [0, 0, 1, 0]})
        found = ss.compare(ss.Outputs.from_scores(scores, "accuracy"))
        assert "\x1b" not in repr(found) + found._repr_html_()
        assert "<b>" not in found._repr_html_()

    @pytest.mark.parametrize(
        ("asked", "error", "said"),
        [
            (lambda pairs: pairs.iloc, AttributeError, "has no attribute 'iloc'; the pandas table is .frame"),
            (lambda pairs: pairs.p_value, AttributeError, "has no attribute 'p_value'; the pandas table is .frame"),
            (lambda pairs: pairs.signifcant, AttributeError, "has no attribute 'signifcant'$"),
            (lambda pairs: pairs["p_valu"], KeyError, "did you mean"),
            (lambda pairs: pairs[0], KeyError, "rows are taken from .frame"),
            (
                lambda pairs: ss.Comparisons(pairs.frame[["gain"]]),
                ValueError,
                "frame must be Comparisons, as `compare`",
            ),
            (lambda pairs: ss.Comparisons("pairs.csv"), ValueError, "frame must be Comparisons.*not 'pairs.csv'"),
            (
                lambda pairs: pairs.significant(corrected="bonferroni"),
                ValueError,
                "corrected must be .*not 'bonferroni'",
            ),
            (lambda pairs: pairs.significant(5), ValueError, "alpha must"),
        ],
    )
    def test_slips_are_told(self, pairs: ss.Comparisons, asked: Any, error: type[Exception], said: str) -> None:
        with pytest.raises(error, match=said):
            asked(pairs)

    def test_no_pair_is_significant(self, pairs: ss.Comparisons) -> None:
        none = pairs.significant(1e-12)
        assert len(none) == 0
        assert repr(none) == "Comparisons: no pairs"
