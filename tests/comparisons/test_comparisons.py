"""The class Comparisons: its schema, its methods against scipy and the decision, its files, and how it shows itself."""

from __future__ import annotations

import copy
import pickle
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal, assert_series_equal
from scipy import stats

import simstudy as ss
from simstudy import schema
from simstudy.comparisons.printed import first_rows
from simstudy.statistics.decisions import REASONS, Decision
from simstudy.statistics.multiplicity import corrected


def mcnemar(outputs: ss.Outputs, first: str, second: str) -> float:
    """The p-value of a pair by scipy's binomial: sign flips of right and wrong answers are McNemar's exact test."""
    a, b = (outputs.statistics[outputs.names.index(name), :, 0] for name in (first, second))
    return float(stats.binomtest(int((a > b).sum()), int((a != b).sum())).pvalue)


class TestSchema:
    def test_columns_have_the_order_the_types_and_the_methods_of_the_schema(self, pairs: ss.Comparisons) -> None:
        kinds = {"text": "OUT", "number": "f", "whole": "iu", "flag": "b"}
        assert tuple(pairs.frame.columns) == schema.OWN
        full = pairs.corrected().equivalence(2.0).frame
        assert set(full.columns) == set(schema.KNOWN)
        for name, column in schema.KNOWN.items():
            kind = "O" if isinstance(full[name].dtype, pd.StringDtype) else np.dtype(full[name].dtype).kind
            # The margin and degrees of freedom may be whole.
            assert kind in kinds[column.kind] + ("iu" if column.kind == "number" else ""), name
        for method, longer in (("corrected", pairs.corrected()), ("equivalence", pairs.equivalence(2.0))):
            added = set(longer.frame) - set(pairs.frame)
            assert added == {column.name for column in schema.COLUMNS if column.added_by == method}
        assert all(f"``{name}``" in str(ss.Comparisons.__doc__) for name in schema.KNOWN)


class TestMethods:
    def test_significant_pairs_are_those_of_mcnemar(self, outputs: ss.Outputs, pairs: ss.Comparisons) -> None:
        p = {frozenset(two): mcnemar(outputs, *two) for two in combinations(outputs.names, 2)}
        for alpha in (0.001, 0.05, 0.3):
            names = pairs.significant(alpha)[["system_a", "system_b"]].to_numpy()
            assert {frozenset(two) for two in names} == {two for two, value in p.items() if value <= alpha}
        rejected = stats.false_discovery_control(list(p.values()), method="bh") <= 0.05
        assert len(pairs.significant(0.05, corrected="bh")) == rejected.sum()
        # Holm: the k-th smallest of m against alpha / (m - k + 1), up to the first that is too large.
        ordered = np.sort(list(p.values()))
        fails = ordered > 0.05 / np.arange(len(ordered), 0, -1)
        assert len(pairs.significant(0.05, corrected="holm")) == (fails.argmax() if fails.any() else len(ordered))

    def test_methods_are_the_functions_and_hand_on_their_options(self, outputs: ss.Outputs) -> None:
        for name in ("groups", "thresholds", "significant_gains", "curve", "ranks", "signature"):
            assert getattr(ss.Comparisons, name) is getattr(ss.comparisons, name)
        pairs = ss.compare(outputs, test="randomization", monte_carlo=True, n_resamples=199)
        frame = pairs.frame
        certain = Decision(0.1, 0.9).significant(frame)
        assert 0 < certain.sum() < len(pairs.significant(0.1))
        assert_frame_equal(pairs.significant(0.1, certainty=0.9).frame, frame[certain])
        certain = Decision(0.2, 0.9, "p_holm").significant(corrected(frame))
        assert_frame_equal(pairs.significant(0.2, corrected="holm", certainty=0.9).frame, corrected(frame)[certain])
        assert_frame_equal(pairs.equivalence(2.0, alpha=0.6).frame, ss.comparisons.equivalence(frame, 2.0, alpha=0.6))
        row, pair = frame.iloc[7], list(pairs)[7]
        for options in ({}, {"alpha": 0.6}, {"margin": 20.0}, {"alpha": 0.6, "margin": 3.0}):
            expected, alone = ss.verdict(row, **options), ss.Comparisons(frame.iloc[[7]])
            assert (expected != ss.verdict(row)) == bool(options)
            assert pair.verdict(**options) == alone.verdict(**options) == expected
            assert pairs.verdict(*alone.names, **options) == expected
        assert ss.verdict(pair).split() == repr(pair).split() == pair.verdict().split()
        for alpha in (0.05, 0.6):
            decided = Decision(alpha).significant(frame).tolist()
            assert [pair.significant(alpha) for pair in pairs] == decided
            assert [pair.why_not(alpha) == "" for pair in pairs] == decided

    def test_two_sided_pairs_keep_nothing_of_one_side(self, outputs: ss.Outputs, pairs: ss.Comparisons) -> None:
        one_sided = ss.compare(outputs, alternative="greater")
        two_sided = one_sided.corrected().equivalence(2.0).two_sided()
        assert_frame_equal(two_sided.frame, one_sided.two_sided().frame)
        assert tuple(two_sided.frame) == schema.OWN
        again, expected = (table.corrected().equivalence(2.0).frame for table in (two_sided, pairs))
        assert_frame_equal(again[[*schema.ADDED]], expected[[*schema.ADDED]])
        assert_frame_equal(pairs.corrected().two_sided().frame, pairs.corrected().frame)

    def test_relations_come_from_the_systems_of_the_outputs(self, pairs: ss.Comparisons) -> None:
        classes = pairs.related("group")
        group = dict(zip("abcdef", "xxyyzz", strict=True))
        for a, b, relation in classes[["system_a", "system_b", "relation"]].to_numpy():
            assert relation == ("same group" if group[a] == group[b] else "different groups")
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

    def test_copies_keep_table_and_systems(self, pairs: ss.Comparisons) -> None:
        for copied in (copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))):
            selected, pair = copied(pairs.significant()), copied(pairs.pair("a", "f"))
            assert_frame_equal(selected.frame, pairs.significant().frame)
            assert_frame_equal(selected.systems, pairs.systems)
            assert selected.selected
            assert_series_equal(pair.row, pairs.pair("a", "f").row)
            assert (selected, pair) != (pairs.significant(), pairs.pair("a", "f")), "equal only if it is one object"


class TestFiles:
    FORMULAS = ("=SUM(A1)", "@x", "-3x", "+t")
    OTHERS = ("'=x", "'@x", "'tis", "-3", "a,b", "line\nend", "nan", "", "True", '"q"', "naïve Ωж")

    @pytest.mark.parametrize("names", [[*FORMULAS, *OTHERS], ["1", "02"]])
    def test_tables_and_names_come_back_and_no_cell_is_a_formula(self, tmp_path: Path, names: list[str]) -> None:
        scores = pd.DataFrame(np.random.default_rng(1).random((40, len(names))) < 0.5, columns=names)
        pairs = ss.compare(ss.Outputs.from_scores(scores, "accuracy", test_set="+t")).corrected()
        pairs = ss.Comparisons(pairs.frame.assign(**{"=own": "=1"}))
        pairs.to_csv(tmp_path / "pairs.csv")
        read = ss.Comparisons.read_csv(tmp_path / "pairs.csv")
        for name in pairs.frame:
            if name in schema.KNOWN and schema.KNOWN[name].kind == "number":
                np.testing.assert_array_equal(read[name], pairs[name], err_msg=name)
            else:
                assert read[name].tolist() == pairs[name].tolist(), name
        cells = pd.read_csv(tmp_path / "pairs.csv", dtype=str, keep_default_na=False)
        assert not cells.isin(self.FORMULAS).any(axis=None)

    @pytest.mark.parametrize("content", [b"", b"\x80\x00\xff", b'a,b\n1,"2\n', b"a\n1,2\n1,2,3\n", b"a,b\n1,2\n"])
    def test_other_files_are_refused_in_one_line(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "pairs.csv").write_bytes(content)
        with pytest.raises(ValueError, match="^path '.*pairs.csv' must be (a CSV file of )?Comparisons[^\n]*$"):
            ss.Comparisons.read_csv(tmp_path / "pairs.csv")


class TestPair:
    def test_it_is_found_by_either_order(self, outputs: ss.Outputs, pairs: ss.Comparisons) -> None:
        pair = pairs.pair("a", "f")
        assert_series_equal(pair.row, pairs.pair("f", "a").row)
        f, a = (outputs.scores()[outputs.names.index(name)] for name in "fa")
        assert (pair.system_a, pair.system_b) == ("f", "a")
        assert (pair.score_a, pair.score_b, pair.gain) == pytest.approx((f, a, f - a))
        assert pair.p_value == pytest.approx(mcnemar(outputs, "a", "f"), rel=1e-9)
        assert pair.gain_low < pair.gain < pair.gain_high

    @pytest.mark.parametrize(
        ("ask", "message"),
        [
            (lambda pairs: pairs.pair("a", "g"), "must be systems, not 'g'; there are e, f, d, c, b and 1 more"),
            (lambda pairs: pairs.significant(1e-12).pair("a", "b"), "must be systems, not 'a'; there are no pairs"),
            (lambda pairs: pairs.pair("a", "a"), "must be two systems, not 'a' twice"),
            (lambda pairs: pairs[pairs["gain"] != pairs.pair("a", "f").gain].pair("a", "f"), "'a' and 'f' name none"),
            (lambda pairs: ss.Comparisons(pd.concat([pairs.frame] * 2)).pair("a", "f"), "name 2 .several test sets"),
            (lambda pairs: pairs.verdict(), "must name two systems: there are 15 pairs"),
            (lambda pairs: pairs.verdict(second="a"), "must both be named, or neither, not only 'a'"),
            (lambda pairs: pairs.verdict(""), "must both be named, or neither, not only ''"),
        ],
    )
    def test_names_that_are_not_those_of_one_pair(self, pairs: ss.Comparisons, ask: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            ask(pairs)


def test_every_reason_is_given() -> None:
    """One pair for each reason, and one that is significant, which has none."""
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
        lines = repr(pairs).splitlines()
        assert lines[0] == "Comparisons: 15 pairs of 6 systems on 300 items (accuracy, sign-flip test, two-sided)"
        head = "system_a system_b gain 95 % interval p, not corrected significant at 0.05"
        assert lines[1].split() == head.split()
        best = pairs.frame.iloc[0]
        assert lines[2].split()[2:6] == [
            f"{best['gain']:.2f}",
            f"{best['gain_low']:.2f}",
            "to",
            f"{best['gain_high']:.2f}",
        ]
        assert lines[-1] == "… and 8 more"
        assert max(map(len, lines)) < 100

    def test_a_corrected_table_shows_what_is_significant_after_correction(self, pairs: ss.Comparisons) -> None:
        shown, full = first_rows(pairs.corrected().frame), pairs.corrected().frame
        assert ((full["p_value"] <= 0.05) & (full["p_holm"] > 0.05)).any(), "correction must matter here"
        assert shown["significant at 0.05"].tolist() == ["yes" if p <= 0.05 else "no" for p in full["p_holm"]]
        rounded = shown["p (Holm)"].str.strip("< ").astype(float)
        assert rounded.to_numpy() == pytest.approx(full["p_holm"].to_numpy(), rel=0.01, abs=1e-6)

    @pytest.mark.parametrize(("column", "other"), [("task", "t"), ("test_set", "s"), ("n_items", 77), ("metric", "f1")])
    def test_test_sets_that_differ_in_one_thing_are_counted(
        self, pairs: ss.Comparisons, column: str, other: Any
    ) -> None:
        both = ss.Comparisons(pd.concat([pairs.frame, pairs.frame.assign(**{column: other})]))
        assert repr(both).startswith("Comparisons: 30 pairs of 6 systems on 2 test sets (accuracy, sign-flip test, ")

    @pytest.mark.parametrize(
        ("ask", "error", "message"),
        [
            (lambda pairs: pairs.iloc, AttributeError, "has no attribute 'iloc'; the pandas table is .frame"),
            (lambda pairs: pairs.p_value, AttributeError, "'p_value'; it is a column, pairs.\"p_value\".$"),
            (lambda pairs: pairs.p_bh, AttributeError, 'it is a column, pairs."p_bh"., which corrected.. adds'),
            (lambda pairs: pairs[["gain", "p_holm"]], KeyError, "no column 'p_holm': corrected.. adds it"),
            (lambda pairs: pairs.signifcant, AttributeError, "has no attribute 'signifcant'$"),
            (lambda pairs: pairs["p_valu"], KeyError, "did you mean"),
            (lambda pairs: pairs[0], KeyError, "select rows by a mask, or from .frame"),
            (lambda pairs: ss.Comparisons(pairs.frame[["gain"]]), ValueError, "must be Comparisons, as `compare`"),
            (lambda pairs: ss.Comparisons("pairs.csv"), ValueError, "frame must be Comparisons.*not 'pairs.csv'"),
            (lambda pairs: pairs.significant(corrected="sidak"), ValueError, "corrected must be .*not 'sidak'"),
            (lambda pairs: pairs.significant(5), ValueError, "alpha must"),
        ],
    )
    def test_slips_are_named(self, pairs: ss.Comparisons, ask: Any, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            ask(pairs)
