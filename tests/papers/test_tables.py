"""Marks and numbers of tables: which pairs they are about, and how they are corrected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.comparisons import Comparisons
from simstudy.examination import Examination
from simstudy.papers.document import Cell, Table, cells
from simstudy.papers.leaderboards import marks_against
from simstudy.text.numerals import interval_format, number_text
from tests.examination.rows import only_new_is_right, pair
from tests.statistics.test_proportions import by_quartic


def boards(p: Mapping[str, float], **changed: object) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A leaderboard of a, b, c … and its pairs, each with its p-value: {"ab": 0.01}."""
    rows = [
        pair(**{"system_a": one[0], "system_b": one[1], "better": one[0], "p_value": value, "p_floor": 0.0, **changed})
        for one, value in p.items()
    ]
    names = list(dict.fromkeys("".join(sorted(p))))
    names.sort()
    return pd.DataFrame({"system": names}), ss.comparisons.corrected(pd.DataFrame(rows).infer_objects())


# Holm by hand: of the three pairs 0.004 * 3 = 0.012, 0.012 * 2 = 0.024, 0.06 * 1 = 0.06.
BY_HAND = {"ab": 0.06, "ac": 0.004, "bc": 0.012}


@pytest.mark.parametrize(
    ("baseline", "marks"),
    [
        # With the best, after correction for all three pairs: ab 0.06, ac 0.012.
        (None, {"b": "", "c": "†"}),
        # With c, for its own two pairs: ac 0.004 * 2 = 0.008, bc 0.012.
        ("c", {"a": "‡", "b": "†"}),
        # With b: ab 0.06, bc 0.012 * 2 = 0.024, which is worse.
        ("b", {"a": "", "c": "§"}),
    ],
)
def test_marks_are_of_pairs_with_one_system_and_corrected_for_their_family(
    baseline: str | None, marks: dict[str, str]
) -> None:
    assert marks_against(*boards(BY_HAND), baseline, 0.05) == marks


def test_a_mark_needs_a_gain_that_the_test_prefers_and_can_find() -> None:
    for changed in ({"better": "b"}, {"gain": 0.0}, {"p_floor": 0.06}):
        board, pairs = boards({"ab": 0.001})
        assert marks_against(board, pairs, None, 0.05) == {"b": "‡"}
        assert marks_against(board, pairs.assign(**changed), None, 0.05) == {"b": ""}
    # Too few units for the second level, not for the first.
    board, pairs = boards({"ab": 0.001}, p_floor=0.02)
    assert marks_against(board, pairs, None, 0.05) == {"b": "†"}


def test_levels_follow_alpha() -> None:
    board, pairs = boards({"ab": 0.03})
    assert [marks_against(board, pairs, None, alpha)["b"] for alpha in (0.02, 0.1, 0.2)] == ["", "†", "‡"]


@pytest.fixture(scope="module")
def found() -> Examination:
    rng = np.random.default_rng(8)
    right = rng.random((300, 5)) < np.array([0.9, 0.88, 0.75, 0.6, 0.58])
    return ss.examine(ss.Outputs.from_scores(pd.DataFrame(right, columns=list("vwxyz")), "accuracy", test_set="exam"))


def column(table: Table, name: str) -> list[Cell]:
    place = [heading for heading, _ in table.columns].index(name)
    return [cells(row)[place] for row in table.rows]


def test_a_leaderboard_has_the_numbers_of_the_examination(found: Examination) -> None:
    table, board = found.paper().table("leaderboard"), found.leaderboard
    assert [cell.text for cell in column(table, "System")] == board["system"].tolist()
    for cell, score, between, row in zip(column(table, "Accuracy (%)"), board["score"], column(table, "95 % CI"),
                                         board.itertuples(), strict=True):  # fmt: skip
        assert float(cell.text) == pytest.approx(score, abs=0.051)
        low, high = between.text.strip("[]").split(", ")
        assert float(low) == pytest.approx(row.score_low, abs=0.051)
        assert float(high) == pytest.approx(row.score_high, abs=0.051)
    assert [cell.bold for cell in column(table, "Accuracy (%)")] == [True, False, False, False, False]
    ranks = [
        f"{low}–{high}" if low < high else f"{low}"
        for low, high in zip(board["rank_low"], board["rank_high"], strict=True)
    ]
    assert [cell.text for cell in column(table, "Rank")] == [f"{k} ({of})" for k, of in enumerate(ranks, 1)]


def test_the_caption_says_what_is_bold_and_what_marks_claim(found: Examination) -> None:
    first = found.leaderboard["system"].iloc[0]
    caption = found.to_markdown("leaderboard").split("\n\n")[-1]
    assert caption.startswith("5 systems by accuracy on 300 items of exam. Bold: the best score. 95 % CI: ")
    marked = (
        f"‡: significantly worse than {first}, the best score, at 0.01 (two-sided sign-flip test, Holm's "
        f"correction for all 10 pairs)."
    )
    assert caption.endswith(marked)
    beside = found.to_markdown("leaderboard", baseline="x").split("\n\n")[-1]
    family = "(two-sided sign-flip test, Holm's correction for the 4 pairs with x)"
    assert f"‡: significantly better than x at 0.01 {family}." in beside
    assert f"¶: significantly worse than x at 0.01 {family}." in beside
    assert "†" not in beside
    none = ss.examine(only_new_is_right(1, 30).select(["new", "old"]))
    assert "‡" not in none.to_markdown()


def test_pairs_come_with_both_p_values_and_many_are_neighbours(found: Examination) -> None:
    table = found.paper().table("pairs")
    known = {(row["system_a"], row["system_b"]): row for row in found.pairs.frame.to_dict("records")}
    assert len(table.rows) == 10
    systems = zip(column(table, "Better"), column(table, "Worse"), strict=True)
    shown = zip(*(column(table, name) for name in ("Gain", "95 % CI", "p", "p (Holm)")), strict=True)
    for (better, worse), (gain, interval, *ps) in zip(systems, shown, strict=True):
        row = known[better.text, worse.text]
        for p, name in zip(ps, ("p_value", "p_holm"), strict=True):
            value = float(row[name])
            small = p.text == "< 0.000001" and value < 1e-6
            assert small or float(p.text) == pytest.approx(value, rel=0.06, abs=5e-4)
        assert gain.text == f"{row['gain']:.1f}"
        low, high = interval.text.replace("−", "-").strip("[]").split(", ")
        assert (float(low), float(high)) == pytest.approx((row["gain_low"], row["gain_high"]), abs=0.051)
        assert gain.mark == ("‡" if row["p_holm"] <= 0.01 else "†" if row["p_holm"] <= 0.05 else "")
    # As many pairs as a table lists, and more.
    for n_systems, n_pairs, rows in ((10, 45, 45), (11, 55, 10)):
        many = ss.examine(ss.truth.correlated_accuracies(np.linspace(0.5, 0.9, n_systems).tolist(), 100))
        for paper, n in ((many.paper(), rows), (many.paper(every_pair=True), n_pairs)):
            listed = paper.table("pairs")
            assert len(listed.rows) == n
            said = str(listed.caption[0])
            assert (f", of {n} neighbours by score among {n_pairs} pairs" in said) == (n < n_pairs)
            assert ("neighbours" in said) == (n < n_pairs)
            assert f"p (Holm): corrected for all {n_pairs} pairs." in said


def test_relations_other_preferences_and_margins_are_columns_where_there_are_any(found: Examination) -> None:
    """The first leads the second by three wide wins, and loses twenty items to it by a little."""
    narrow = [0.1] * 3 + [0.15] * 20
    made = pd.DataFrame({"a": [0.9] * 3 + [0.1] * 20, "b": narrow, "c": [0.0] * 23})
    outputs = ss.describe_systems(
        ss.Outputs.from_scores(made, "mean"), pd.DataFrame({"system": list("abc"), "group": list("xyx")})
    )
    examined = ss.examine(outputs, by="group", margin=0.09, test="sign")
    table, concluded = examined.paper().table("pairs"), examined.pairs["conclusion"].tolist()
    assert len(set(concluded)) > 1
    known = {"ab": ("different groups", "b"), "ac": ("same group", ""), "bc": ("different groups", "")}
    names = examined.pairs["system_a"] + examined.pairs["system_b"]
    expected = {name: (*known[name], said) for name, said in zip(names, concluded, strict=True)}
    read = zip(*(column(table, name) for name in ("Better", "Worse", "Relation", "Test prefers", "Margin 0.09")),
               strict=True)  # fmt: skip
    assert {a.text + b.text: tuple(cell.text for cell in rest) for a, b, *rest in read} == expected
    plain = [heading for heading, _ in found.paper().table("pairs").columns]
    assert plain == ["Better", "Worse", "Gain", "95 % CI", "p", "p (Holm)"]


@pytest.mark.parametrize(
    ("metric", "options", "why"),
    [
        ("accuracy", {}, "score intervals and the sign-flip test are different methods."),
        ("mean", {"test": "sign"}, "t intervals of gains are about the gain, and the sign test is not."),
        ("mean", {"test": "wilcoxon"}, "t intervals of gains are about the gain, and the Wilcoxon signed-rank test is "
         "not."),
        ("accuracy", {"alternative": "greater"}, "score intervals and the sign-flip test are different methods."),
    ],
)  # fmt: skip
def test_rows_whose_interval_and_p_value_differ_about_0_are_counted(
    metric: str, options: dict[str, Any], why: str
) -> None:
    """Ten random boards, counted by hand; where there is no such row nothing is said."""
    p = "the two-sided p" if "alternative" in options else "p"
    told = []
    for seed in range(10):
        scores = np.random.default_rng(seed).normal(size=(40, 5)) + np.linspace(0, 0.8, 5)
        scores = (scores > 0).astype(int) if metric == "accuracy" else scores
        pairs = ss.compare(ss.Outputs.from_scores(pd.DataFrame(scores, columns=list("vwxyz")), metric), **options)
        outside, small = pairs["gain_low"] > 0, pairs["p_two_sided"] <= 0.05
        above, below = int((outside & ~small).sum()), int((~outside & small).sum())
        caption = str(pairs.to_markdown("pairs").split("\n\n")[-1])
        said = [f"{n} row{'s' * (n > 1)} the interval {what} 0.05" for n, what in (
            (above, f"excludes 0, but {p} is above"), (below, f"includes 0, but {p} is at most")) if n]  # fmt: skip
        assert (f" In {'; in '.join(said)}: {why}" in caption) == bool(said)
        assert ("the interval excludes" in caption or "the interval includes" in caption) == bool(said)
        told.append(bool(said))
    assert any(told)
    assert "test" in options or not all(told)


def test_a_board_of_a_test_that_does_not_ask_of_scores_says_what_it_asks(found: Examination) -> None:
    scores = np.random.default_rng(0).normal(size=(40, 3)) + [0, 1, 2]
    outputs = ss.Outputs.from_scores(pd.DataFrame(scores, columns=list("abc")), "mean")
    asked = "The sign test asks whether either system is as likely to win a unit, not whether the scores are equal."
    by_sign = ss.examine(outputs, test="sign")
    assert asked in by_sign.text
    assert asked in by_sign.to_markdown()
    assert asked in by_sign.to_markdown(baseline="a").split("Methods:")[0].split("Results:")[1]
    assert asked in ss.compare(outputs, test="sign").to_markdown()
    assert "asks whether" not in ss.examine(outputs).text
    # Of right and wrong answers it is McNemar's exact test.
    assert "asks whether" not in ss.examine(found.outputs, test="sign").text


def test_the_mark_of_a_caution_stands_beside_its_interval() -> None:
    """Differences to the last system are skewed. Two bare asterisks would be italics in Markdown."""
    rng = np.random.default_rng(3)
    scores = np.column_stack([rng.normal(size=(80, 3)), rng.lognormal(sigma=2, size=80)])
    outputs = ss.Outputs.from_scores(pd.DataFrame(scores, columns=list("abcd")), "mean")
    for names, n in (("abcd", 3), ("ad", 1)):
        pairs = ss.compare(outputs.select(list(names)), test="t_paired")
        text, latex = pairs.to_markdown("pairs"), pairs.to_latex("pairs")
        marked = [line for line in text.split("\n") if "\\]\\*" in line]
        assert len(marked) == n == latex.count("$^{*}$")
        assert all(line.replace("*", "").startswith("| d |") for line in marked)
        rows = "1 row" if n == 1 else f"{n} rows"
        said = f"*: p-value and interval are approximate in {rows} (skewed differences)."
        assert text.endswith(f" \\{said}")
        assert said in latex
        by_swaps = ss.compare(outputs.select(list(names)), test="randomization").to_markdown("pairs")
        assert f"*: interval is approximate in {rows} (skewed differences)." in by_swaps


def test_two_systems_are_one_table_and_other_tables_are_refused() -> None:
    pairs = ss.compare(only_new_is_right(10, 30))
    assert [one.name for one in ss.examine(only_new_is_right(10, 30)).paper().tables] == ["pairs"]
    rows = pairs.to_markdown("pairs").split("\n")
    # Of 40 items; McNemar's exact p is 2 / 2^10.
    low, high = (100 * limit for limit in by_quartic(10, 0, 40, 0.95))
    assert rows[2] == f"| **new** | **100.0**‡ | 25.0 | \\[{low:.1f}, {high:.1f}\\] | 0.00195 |"
    assert rows[3] == "| old | 75.0 |  |  |  |"
    with pytest.raises(ValueError, match=r"^table must be one of pairs, not 'leaderboard'$"):
        pairs.to_latex("leaderboard")
    with pytest.raises(ValueError, match="alpha must lie between 0 and 1"):
        pairs.to_latex(alpha=2)


def test_selected_pairs_say_what_they_were_corrected_for(found: Examination) -> None:
    selected = found.pairs.significant(corrected="holm")
    for some in (selected, selected[np.arange(len(selected)) == 0]):
        assert "p (Holm): corrected for all pairs that were compared." in some.to_markdown("pairs")
        assert "corrected for all pairs that were compared by Holm's method" in some.to_markdown()
    plain = ss.compare(found.outputs)
    with pytest.raises(ValueError, match="pairs must be all compared pairs"):
        plain.significant().to_latex()
    with pytest.raises(ValueError, match="there must be pairs"):
        Comparisons(plain.frame.head(0)).to_latex()
    with pytest.raises(ValueError, match="pairs must be of one test, not"):
        Comparisons(pd.concat([plain.frame, ss.compare(found.outputs, test="sign").frame])).to_latex()


def test_a_baseline_is_one_of_three_or_more_systems(found: Examination) -> None:
    with pytest.raises(ValueError, match=r"^baseline must be a system, not 'X' .did you mean 'x'..: one of v, w,"):
        found.to_latex(baseline="X")
    with pytest.raises(ValueError, match="^baseline must not be given with two systems"):
        ss.examine(only_new_is_right(10, 30)).to_latex(baseline="old")


@pytest.mark.parametrize(
    ("largest", "halves", "form"),
    [
        # 14 points: no decimal would do, but percentages have one. 1.3: one. 0.13: two. 0.0131: four of a fraction.
        (80.0, [14.0, 20.0], "z.1f"), (80.0, [20.0, 1.3], "z.1f"), (80.0, [20.0, 0.13], "z.2f"),
        (0.31, [0.0131], "z.3f"), (2000.0, [14.0], "z.0f"), (80.0, [], "z.2f"), (0.31, [float("nan")], "z.4f"),
        (1e13, [1.0], ".4g"),
    ],
)  # fmt: skip
def test_numbers_have_the_digits_that_their_intervals_deserve(largest: float, halves: list[float], form: str) -> None:
    assert interval_format(largest, halves) == form


def test_no_number_reads_0_that_is_none() -> None:
    texts = {0.04: "0.04", -0.04: "−0.04", 0.0: "0.0", -12.34: "−12.3", 1e-7: "0.0000001", float("nan"): ""}
    assert {number: number_text(number, "z.1f") for number in texts} == texts
    assert number_text(-0.0, "z.1f") == "0.0"


def test_of_many_pairs_a_baseline_has_its_own_and_is_not_the_best_by_them() -> None:
    """The first of 11 systems alone has ten more items right: p is 2^-9 against each other one; Holm: 10 times."""
    right = pd.DataFrame({name: np.arange(60) < (40 if name == "a" else 30) for name in "abcdefghijk"})
    found = ss.examine(ss.Outputs.from_scores(right, "accuracy"))
    table = found.paper(baseline="b").table("pairs")
    assert {name for row in table.rows for name in row[:2]} == {*"abcdefghijk"}
    assert len(table.rows) == 10
    assert [[row[1], row[-2], row[-1]] for row in table.rows if row[0] == "a"] == [["b", "0.00195", "0.0195"]]
    assert "p (Holm): corrected for the 10 pairs with b." in "".join(map(str, table.caption))
    told = "b may be the best if all pairs are tested at once, as for the ranks; with its own pairs alone it is not."
    for may, said in ((True, True), (False, False)):
        other = replace(found)
        vars(other)["leaderboard"] = found.leaderboard.assign(may_be_best=may)
        assert (told in other.to_markdown(baseline="b")) == said
    assert len(found.paper(baseline="b", every_pair=True).table("pairs").rows) == 55
