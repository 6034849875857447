"""Comparisons of which some were selected, or that are few: what is corrected, and which questions have an answer."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
from pandas.testing import assert_frame_equal

import simstudy as ss


class TestSelected:
    """Of 15 pairs some are significant by themselves; corrected for fewer than 15 more would be."""

    def test_pairs_selected_by_results_are_not_corrected(self, pairs: ss.Comparisons) -> None:
        selected = pairs.significant()
        fewer, expected = ss.Comparisons(selected.frame), pairs.significant(corrected="holm")
        assert 15 > len(fewer.significant(corrected="holm")) > len(expected)
        # A selection of all that are left is still one.
        twice = selected[selected["gain"] > 0]
        assert len(twice) == len(selected)
        others = selected.related("group"), selected.two_sided(), pairs[pairs["gain"] > 5], copy.copy(selected), twice
        for some in (selected, *others):
            for ask in (
                lambda some: some.significant(corrected="holm"), lambda some: some.corrected(),
                ss.comparisons.corrected, lambda some: some.equivalence(3), lambda some: some.groups(),
                lambda some: ss.comparisons.groups(pairs=some), lambda some: some.ranks(),
            ):  # fmt: skip
                with pytest.raises(ValueError, match="must be all compared pairs, not the [0-9]+ that you selected"):
                    ask(some)
        for corrected in (pairs.corrected().significant(), expected):
            assert_frame_equal(corrected.significant(corrected="holm").frame, expected.frame)
        better = pairs.equivalence(3).significant()["conclusion"].str.startswith("better").sum()
        assert better == len(expected), "better: significant after Holm's correction"

    def test_all_pairs_and_a_relation_class_are_families(self, pairs: ss.Comparisons) -> None:
        assert_frame_equal(pairs[pairs["gain"] >= 0].corrected().frame, pairs.corrected().frame)
        same = pairs.related("group").frame.query("relation == 'same group'")
        # Holm: the smallest of three times 3.
        corrected = ss.Comparisons(same, pairs.systems).corrected()
        assert corrected["p_holm"].min() == pytest.approx(min(1, 3 * same["p_value"].min()))

    def test_masks(self, pairs: ss.Comparisons) -> None:
        mask = pairs["gain"] > 5
        for given in (mask, mask.to_numpy()):
            assert_frame_equal(pairs[given].frame, pairs.frame[mask])
            assert pairs[given].systems is pairs.systems
        for wrong in (mask.head(3), mask.to_numpy()[:3], np.ones((15, 2), dtype=bool), mask[::-1]):
            with pytest.raises(ValueError, match="a mask must have one value for each of the 15 pairs"):
                pairs[wrong]


class TestFewPairs:
    METHODS = (
        *("corrected", "two_sided", "related", "significant", "groups", "thresholds", "significant_gains", "curve"),
        *("ranks", "signature", "verdict", "_repr_html_", "__repr__", "__len__"),
    )

    def test_one_pair_has_all_answers(self, pairs: ss.Comparisons, tmp_path: Path) -> None:
        single = ss.Comparisons(pairs.frame.head(1), pairs.systems)
        assert all(getattr(single, name)() is not None for name in self.METHODS)
        assert single.equivalence(1)["p_equivalence_holm"].tolist() == single.equivalence(1)["p_equivalence"].tolist()
        single.to_csv(tmp_path / "one.csv")
        assert ss.Comparisons.read_csv(tmp_path / "one.csv").verdict() == single.verdict()

    def test_no_pair_has_an_answer_or_says_why_not(self, pairs: ss.Comparisons, tmp_path: Path) -> None:
        none = ss.Comparisons(pairs.frame.head(0), pairs.systems)
        none.to_csv(tmp_path / "none.csv")
        refused = ("corrected", "related", "groups", "thresholds", "significant_gains", "curve", "ranks", "signature")
        expected = dict.fromkeys(refused, "pairs must have at least one row")
        expected |= {"verdict": "first and second must name two systems: there are no pairs"}
        for empty in (none, ss.Comparisons.read_csv(tmp_path / "none.csv", pairs.systems)):
            messages = {}
            for name in self.METHODS:
                try:
                    getattr(empty, name)()
                except ValueError as error:
                    messages[name] = str(error)
            assert messages == expected
            assert [len(empty.significant()), len(empty.two_sided()), *empty] == [0, 0]
            for ask in (lambda: empty.equivalence(1), lambda: empty.significant(corrected="bh")):  # noqa: B023
                with pytest.raises(ValueError, match="pairs must have at least one row"):
                    ask()
