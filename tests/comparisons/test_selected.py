"""Comparisons of which some were selected, or that are few: what is corrected, and what one or none can be asked."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
from pandas.testing import assert_frame_equal

import simstudy as ss


class TestSelected:
    """Of 15 pairs some are significant by themselves; corrected for fewer than 15 more would be."""

    REFUSED = "pairs must be all compared pairs, not the [0-9]+ that you selected: correct first, then select"

    def test_what_was_selected_by_results_is_not_corrected(self, pairs: ss.Comparisons) -> None:
        found = pairs.significant()
        assert 0 < len(found) < 15
        # What was refused would not have been the answer.
        fewer, all_pairs = ss.Comparisons(found.frame), pairs.significant(corrected="holm")
        assert len(fewer.significant(corrected="holm")) > len(all_pairs)
        # What takes all that are left leaves them selected.
        twice = found[found["gain"] > 0]
        assert len(twice) == len(found)
        rest = pairs[pairs["gain"] > 5], copy.copy(found), twice
        for selected in (found, found.related("group"), found.two_sided(), *rest):
            for ask in (
                lambda one: one.significant(corrected="holm"), lambda one: one.corrected(), ss.comparisons.corrected,
                lambda one: one.equivalence(3), lambda one: ss.comparisons.equivalence(one, 3),
                lambda one: one.groups(), lambda one: ss.comparisons.groups(pairs=one), lambda one: one.ranks(),
            ):  # fmt: skip
                with pytest.raises(ValueError, match=self.REFUSED):
                    ask(selected)

    def test_what_was_corrected_before_stays_so(self, pairs: ss.Comparisons) -> None:
        expected = pairs.significant(corrected="holm").frame
        first = pairs.corrected().significant()
        assert_frame_equal(first.significant(corrected="holm").frame, expected)
        assert_frame_equal(pairs.significant(corrected="holm").significant(corrected="holm").frame, expected)
        better = pairs.equivalence(3).significant()["conclusion"].str.startswith("better").sum()
        assert better == len(expected), "better: significant after Holm's correction"

    def test_all_pairs_are_a_family(self, pairs: ss.Comparisons) -> None:
        every = pairs[pairs["gain"] >= 0]
        assert_frame_equal(every.corrected().frame, pairs.corrected().frame)
        extremes = pairs.pair("a", "f").row.to_frame().T.infer_objects()
        assert len(ss.Comparisons(extremes).significant().corrected()) == 1

    def test_a_relation_class_is_a_family(self, pairs: ss.Comparisons) -> None:
        same = pairs.related("group").frame.query("relation == 'same group'")
        # Holm: the smallest of three times 3.
        found = ss.Comparisons(same, pairs.systems).corrected()
        assert found["p_holm"].min() == pytest.approx(min(1, 3 * same["p_value"].min()))

    def test_masks(self, pairs: ss.Comparisons) -> None:
        mask = pairs["gain"] > 5
        for given in (mask, mask.to_numpy()):
            found = pairs[given]
            assert_frame_equal(found.frame, pairs.frame[mask])
            assert found.systems is pairs.systems
        for wrong in (mask.head(3), mask.to_numpy()[:3], np.ones((15, 2), dtype=bool), mask[::-1]):
            with pytest.raises(ValueError, match="a mask must have one value for each of the 15 pairs"):
                pairs[wrong]


class TestFewPairs:
    ASKED = (
        *("corrected", "two_sided", "related", "significant", "groups", "thresholds", "significant_gains", "curve"),
        *("ranks", "signature", "verdict", "_repr_html_", "__repr__", "__len__"),
    )

    def test_one_pair_can_be_asked_all(self, pairs: ss.Comparisons, tmp_path: Path) -> None:
        one = ss.Comparisons(pairs.frame.head(1), pairs.systems)
        assert [getattr(one, name)() is not None for name in self.ASKED] == [True] * len(self.ASKED)
        assert one.equivalence(1)["p_equivalence_holm"].tolist() == one.equivalence(1)["p_equivalence"].tolist()
        assert one.corrected()["p_holm"].tolist() == one["p_value"].tolist()
        assert [pair.verdict() for pair in one] == [one.verdict()] == [one.pair(*one.names).verdict()]
        one.to_csv(tmp_path / "one.csv")
        assert ss.Comparisons.read_csv(tmp_path / "one.csv").verdict() == one.verdict()

    def test_no_pair_answers_or_says_why(self, pairs: ss.Comparisons, tmp_path: Path) -> None:
        none = ss.Comparisons(pairs.frame.head(0), pairs.systems)
        none.to_csv(tmp_path / "none.csv")
        said = {}
        for empty in (none, ss.Comparisons.read_csv(tmp_path / "none.csv", pairs.systems)):
            for name in self.ASKED:
                try:
                    getattr(empty, name)()
                except ValueError as error:
                    said[name] = str(error)
            assert [len(empty.significant()), len(empty.two_sided()), *empty] == [0, 0]
            for ask in (lambda: empty.equivalence(1), lambda: empty.significant(corrected="bh")):  # noqa: B023
                with pytest.raises(ValueError, match="pairs must have at least one row"):
                    ask()
        rows = "pairs must have at least one row"
        refused = ("corrected", "related", "groups", "thresholds", "significant_gains", "curve", "ranks", "signature")
        assert said.pop("verdict") == "first and second must name two systems: there are no pairs"
        assert said == dict.fromkeys(refused, rows)
