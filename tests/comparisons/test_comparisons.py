"""The class Comparisons: its schema, its methods against the functions that they stand for, and how it shows itself."""

from __future__ import annotations

import copy
import pickle
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
from simstudy.comparisons.printed import first_rows
from simstudy.statistics.decisions import REASONS, Decision
from simstudy.statistics.multiplicity import corrected


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

    def test_methods_add_what_it_says_that_they_add(self, pairs: ss.Comparisons) -> None:
        for method, found in (("corrected", pairs.corrected()), ("equivalence", pairs.equivalence(2.0))):
            added = set(found.frame) - set(pairs.frame)
            assert added == {one.name for one in schema.COLUMNS if one.added_by == method}

    def test_the_docstring_has_every_column(self) -> None:
        assert ss.Comparisons.__doc__ is not None
        for name in schema.KNOWN:
            assert f"``{name}``" in ss.Comparisons.__doc__


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

    @pytest.mark.parametrize("p", ["p_value", "p_holm", "p_bh"])
    def test_groups_are_the_functions_whoever_corrects(self, pairs: ss.Comparisons, p: str) -> None:
        by_hand = ss.comparisons.groups(corrected(pairs.frame), p=p)
        for found in (pairs.groups(p=p), ss.comparisons.groups(pairs, p=p), ss.comparisons.groups(pairs.frame, p=p)):
            assert_frame_equal(found, by_hand)
        assert p != "p_holm" or pairs.groups().equals(by_hand)

    def test_methods_are_the_functions_and_hand_on_what_they_are_asked(self, outputs: ss.Outputs) -> None:
        for name in ("groups", "thresholds", "significant_gains", "curve", "ranks", "signature"):
            assert getattr(ss.Comparisons, name) is getattr(ss.comparisons, name)
        pairs = ss.compare(outputs, test="randomization", monte_carlo=True, n_resamples=199)
        frame = pairs.frame
        certain = Decision(0.1, 0.9).significant(frame)
        assert 0 < certain.sum() < len(pairs.significant(0.1))
        assert_frame_equal(pairs.significant(0.1, certainty=0.9).frame, frame[certain])
        sure = Decision(0.2, 0.9, "p_holm").significant(corrected(frame))
        assert_frame_equal(pairs.significant(0.2, corrected="holm", certainty=0.9).frame, corrected(frame)[sure])
        assert_frame_equal(pairs.equivalence(2.0, alpha=0.6).frame, ss.comparisons.equivalence(frame, 2.0, alpha=0.6))
        for k, one in list(enumerate(pairs))[::7]:
            for asked in ({"alpha": 0.6}, {"margin": 20.0}, {"alpha": 0.6, "margin": 3.0}):
                said = ss.verdict(frame.iloc[k], **asked)
                assert said != ss.verdict(frame.iloc[k])
                alone = ss.Comparisons(frame.iloc[[k]])
                assert {one.verdict(**asked), alone.verdict(**asked), pairs.verdict(*alone.names, **asked)} == {said}
            assert one.significant(0.6) == (one.why_not(0.6) == "") == Decision(0.6).significant(frame)[k]

    def test_by_two_sides_nothing_is_left_of_one_side(self, outputs: ss.Outputs, pairs: ss.Comparisons) -> None:
        one_sided = ss.compare(outputs, alternative="greater")
        found = one_sided.corrected().equivalence(2.0).two_sided()
        assert_frame_equal(found.frame, one_sided.two_sided().frame)
        assert tuple(found.frame) == schema.OWN
        for name, column in pairs.corrected().equivalence(2.0).frame.items():
            if name in schema.ADDED:
                pd.testing.assert_series_equal(found.corrected().equivalence(2.0)[str(name)], column)
        kept = pairs.corrected()
        assert_frame_equal(kept.two_sided().frame, kept.frame)

    def test_relations_come_from_the_systems_of_the_outputs(self, pairs: ss.Comparisons) -> None:
        classes = pairs.related("group")
        of_group = dict(zip("abcdef", "xxyyzz", strict=True))
        for a, b, relation in classes[["system_a", "system_b", "relation"]].to_numpy():
            assert relation == ("same group" if of_group[a] == of_group[b] else "different groups")
        with pytest.raises(ValueError, match="systems must be given"):
            ss.Comparisons(pairs.frame).related("group")
        other = pd.DataFrame({"name": list("fedcba"), "maker": list("xyxyxy")})
        classes = pairs.related("maker", other)
        assert classes.systems is other
        assert (classes["relation"] == "same maker").sum() == 6

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
                np.testing.assert_array_equal(back[name], full[name], err_msg=name)
            else:
                assert back[name].tolist() == full[name].tolist(), name
        (tmp_path / "other.csv").write_text("a,b\n1,2\n")
        missing = f"task, .*, metric_unit and {len(schema.OWN) - 5} more"
        with pytest.raises(ValueError, match=f"other.csv' must be Comparisons, .*; no column {missing}$"):
            ss.Comparisons.read_csv(tmp_path / "other.csv")

    @pytest.mark.parametrize("content", [b"", b"\x80\x00\xff", b'a,b\n1,"2\n', b"a\n1,2\n1,2,3\n"])
    def test_files_that_are_no_tables(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "pairs.csv").write_bytes(content)
        with pytest.raises(ValueError, match="^path '.*pairs.csv' must be a CSV file of Comparisons.*: [^\n]*$"):
            ss.Comparisons.read_csv(tmp_path / "pairs.csv")

    def test_names_come_back_from_files_and_no_cell_is_a_formula(self, tmp_path: Path) -> None:
        formulas = ["=SUM(A1)", "@x", "-3x", "+t"]
        names = [*formulas, "'=x", "'@x", "'tis", "-3", "a,b", "line\nend", "nan", "", "True", '"q"', "naïve Ωж"]
        scores = pd.DataFrame(np.random.default_rng(1).random((40, len(names))) < 0.5, columns=names)
        found = ss.compare(ss.Outputs.from_scores(scores, "accuracy", test_set="+t"))
        pairs = ss.Comparisons(found.frame.assign(**{"=own": "=1"}))
        pairs.to_csv(tmp_path / "pairs.csv")
        read = ss.Comparisons.read_csv(tmp_path / "pairs.csv")
        for column in {*schema.names_of("text") & {*read.frame}, "=own"}:
            assert read[column].tolist() == pairs[column].tolist(), column
        cells = pd.read_csv(tmp_path / "pairs.csv", dtype=str, keep_default_na=False)
        assert not cells.isin(formulas).any(axis=None)


def test_copies_keep_table_and_systems(pairs: ss.Comparisons) -> None:
    for made in (copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
        found = made(pairs.significant())
        assert_frame_equal(found.frame, pairs.significant().frame)
        assert_frame_equal(found.systems, pairs.systems)
        assert found.selected
        pair = made(pairs.pair("a", "f"))
        pd.testing.assert_series_equal(pair.row, pairs.pair("a", "f").row)
        assert repr(pair) == repr(pairs.pair("a", "f"))
        assert (found, pair) != (pairs.significant(), pairs.pair("a", "f")), "equal only where it is one object"


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
        with pytest.raises(ValueError, match="must be systems, not 'g'; there are e, f, d, c, b and 1 more"):
            pairs.pair("a", "g")
        with pytest.raises(ValueError, match="first and second must be systems, not 'a'; there are no pairs"):
            pairs.significant(1e-12).pair("a", "b")
        with pytest.raises(ValueError, match="must be two systems, not 'a' twice"):
            pairs.pair("a", "a")
        without = pairs[~((pairs["system_a"] == "f") & (pairs["system_b"] == "a"))]
        with pytest.raises(ValueError, match="must name one pair; 'a' and 'f' name none"):
            without.pair("a", "f")
        twice = ss.Comparisons(pd.concat([pairs.frame, pairs.frame.assign(test_set="other")]))
        with pytest.raises(ValueError, match="must name one pair; 'a' and 'f' name 2 .several test sets"):
            twice.pair("a", "f")
        with pytest.raises(ValueError, match="must name two systems: there are 15 pairs"):
            pairs.verdict()
        with pytest.raises(ValueError, match="must both be named, or neither, not only 'a'"):
            pairs.verdict(second="a")
        with pytest.raises(ValueError, match="must both be named, or neither, not only ''"):
            pairs.verdict("")
        assert pairs.verdict("a", "f").startswith("f is better than a")


def test_every_reason_is_given() -> None:
    """One pair for each reason, and one that is significant; the reason is there where, and only where, none is."""
    table = pd.DataFrame(
        {
            "system_a": "a", "system_b": "b", "better": ["a", "a", "a", "b", "a", "a"],
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
        head = "system_a system_b gain 95 % interval p, not corrected significant at 0.05"
        assert shown.splitlines()[1].split() == head.split()
        best = pairs.frame.iloc[0]
        assert f"{best['gain']:.2f}" in shown.splitlines()[2]
        assert f"{best['gain_low']:.2f} to {best['gain_high']:.2f}" in shown.splitlines()[2]
        assert shown.endswith("… and 8 more")
        assert max(map(len, shown.splitlines())) < 100
        assert "<table" in pairs._repr_html_()

    def test_a_corrected_table_shows_what_is_significant_after_correction(self, pairs: ss.Comparisons) -> None:
        shown, known = first_rows(pairs.corrected().frame), pairs.corrected().frame
        loose = known["p_value"] <= 0.05
        assert (loose & (known["p_holm"] > 0.05)).any(), "correction must matter here"
        assert shown["significant at 0.05"].tolist() == ["yes" if p <= 0.05 else "no" for p in known["p_holm"]]
        rounded = shown["p (Holm)"].str.strip("< ").astype(float)
        assert rounded.to_numpy() == pytest.approx(known["p_holm"].to_numpy(), rel=0.01, abs=1e-6)

    @pytest.mark.parametrize(("column", "other"), [("task", "t"), ("test_set", "s"), ("n_items", 77), ("metric", "f1")])
    def test_what_tells_test_sets_apart_is_counted(self, pairs: ss.Comparisons, column: str, other: Any) -> None:
        changed = pairs.frame.copy()
        changed[column] = other
        both = ss.Comparisons(pd.concat([pairs.frame, changed]))
        said = "Comparisons: 30 pairs of 6 systems on 2 test sets (accuracy, sign-flip test, two-sided)"
        assert repr(both).splitlines()[0] == said
        assert said in both._repr_html_()

    def test_names_act_on_no_terminal(self) -> None:
        scores = pd.DataFrame({"\x1b[31mred": [1, 0, 1, 1], "<b>": [0, 0, 1, 0]})
        found = ss.compare(ss.Outputs.from_scores(scores, "accuracy"))
        assert "\x1b" not in repr(found) + found._repr_html_()
        assert "<b>" not in found._repr_html_()

    @pytest.mark.parametrize(
        ("asked", "error", "said"),
        [
            (lambda pairs: pairs.iloc, AttributeError, "has no attribute 'iloc'; the pandas table is .frame"),
            (lambda pairs: pairs.p_value, AttributeError, "'p_value'; it is a column, pairs.\"p_value\".$"),
            (lambda pairs: pairs.p_bh, AttributeError, 'it is a column, pairs."p_bh"., which corrected.. adds'),
            (lambda pairs: pairs[["gain", "p_holm"]], KeyError, "no column 'p_holm': corrected.. adds it"),
            (lambda pairs: pairs["conclusion"], KeyError, "no column 'conclusion': equivalence.. adds it"),
            (lambda pairs: pairs.signifcant, AttributeError, "has no attribute 'signifcant'$"),
            (lambda pairs: pairs["p_valu"], KeyError, "did you mean"),
            (lambda pairs: pairs[0], KeyError, "select rows by a mask, or from .frame"),
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
