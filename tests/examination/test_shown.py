"""Charts, figures and tables of an examination: every column that people see, its labels and its limits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy import plot
from simstudy.comparisons import Comparisons
from simstudy.examination import Examination, charts, examine, notes, sections
from simstudy.examination.page import page_of
from simstudy.examination.printed import answer, significant_gain
from simstudy.examination.rows import pair_rows, threshold_rows
from simstudy.metrics.mean import LOWER_MEAN
from simstudy.notes import notes_kept
from simstudy.outputs import Outputs, TestSet
from simstudy.pages import charts as of_pages
from simstudy.text.numerals import gain_text, p_adjusted, p_short, p_text
from simstudy.truth import correlated_accuracies
from tests.examination.rows import only_new_is_right, pair

# Two relations of the pairs, and one that no pair has.
CURVE = pd.DataFrame(
    {"relation": ["same group", "different groups", "all pairs", "same group", "different groups"],
     "gain": [1.0, 2.0, 3.0, 4.0, 900.0], "n_pairs": [150, 149, 151, 152, 153], "confidence": np.arange(0.5, 1, 0.1),
     "confidence_05": np.arange(0.1, 0.6, 0.1), "confidence_95": np.arange(0.91, 0.96, 0.01)}
)  # fmt: skip


@pytest.fixture(scope="module")
def found() -> Examination:
    """Nine systems of three groups at a level of 0.2; p-values are from 999 resamples."""
    outputs = correlated_accuracies(np.linspace(0.5, 0.8, 9).tolist(), 150, seed=2)
    outputs = replace(outputs, systems=outputs.systems.assign(group=list("xyzxyzxyz")), test_set="exam")
    return examine(outputs, by="group", alpha=0.2, n_resamples=999, monte_carlo=True, seed=2)


def test_points_of_pairs_have_their_texts_and_end_where_every_gain_is_significant(found: Examination) -> None:
    frame = found.pairs.frame
    better = frame["better"].where(frame.index != 3, frame["system_b"])
    turned = replace(found, pairs=replace(found.pairs, frame=frame.assign(better=better)))
    chart = charts.gain_confidence(turned, CURVE)
    expected = pd.DataFrame(
        {"a": frame["system_a"], "b": frame["system_b"], "relation": frame["relation"], "gain": frame["gain"],
         "gain_text": [f"{gain:.2f}" for gain in frame["gain"]],
         "interval": [f"{row.gain_low:.2f} to {row.gain_high:.2f}" for row in frame.itertuples()],
         "p": [p_text(p, 0.2, 0.001) for p in frame["p_value"]],
         "holm": [p_adjusted(q, p, 0.2, 0.001) for q, p in zip(frame["p_holm"], frame["p_value"], strict=True)],
         "confidence": (1 - frame["p_value"]).where(frame.index != 3, 0.0)}
    )  # fmt: skip
    pd.testing.assert_frame_equal(chart.tables["pairs"], expected)
    unsure = frame.loc[(frame["p_value"] > 0.005) | (frame.index == 3), "gain"].max()
    assert unsure < frame["gain"].max()
    assert chart.settings == {
        "x": "gain (accuracy, points)", "y": "confidence, 1 − p (two-sided)", "end": pytest.approx(1.05 * unsure),
        "relations": [*dict.fromkeys(frame["relation"])], "lowest": 0.0, "label": "gain and confidence of 36 pairs",
    }  # fmt: skip
    lines = CURVE.head(4).rename(columns={"confidence_05": "low", "confidence_95": "high"})
    pd.testing.assert_frame_equal(chart.tables["curve"], lines.drop(columns="n_pairs"))
    # Of few pairs all are drawn, of equal systems too; one-sided confidence begins at a half.
    few = examine(found.outputs.head(100).select(found.outputs.names[::4]), alternative="greater")
    settings = charts.gain_confidence(few, few.curve).settings
    assert (settings["lowest"], settings["y"]) == (0.5, "confidence, 1 − p (one-sided)")
    assert settings["end"] == pytest.approx(1.05 * few.pairs["gain"].max())
    same = examine(Outputs.from_scores(pd.DataFrame({name: [0.5, 0.25] * 20 for name in "abc"}), "mean"))
    settings = charts.gain_confidence(same, same.curve).settings
    assert (settings["end"], settings["x"]) == (1.05, "gain (mean)")
    assert charts.pair_points(same)["interval"].tolist() == [""] * 3
    assert len(charts.neighbours(same).tables["rows"]) == 0, "there is no interval to draw"


def test_charts_of_systems_and_of_all_pairs_have_their_numbers_and_labels(found: Examination) -> None:
    frame, board, order = found.pairs.frame, found.leaderboard, found.leaderboard["system"].tolist()
    matrix, groups = charts.matrix(found), charts.groups(found)
    cells = matrix.tables["pairs"]
    assert cells["p_value"].tolist() == frame["p_value"].tolist()
    short = [p_short(p, 0.2, 0.001).replace("0.", ".") for p in frame["p_value"]]
    assert cells["p_short"].tolist() == short != [p_short(p, 0.2).replace("0.", ".") for p in frame["p_value"]]
    assert [order[k] for k in cells["column"]] == frame["system_a"].tolist()
    assert [order[k] for k in cells["row"]] == frame["system_b"].tolist()
    lanes = matrix.tables["groups"]
    assert 1 < lanes["lane"].max() + 1 < len(lanes)
    assert matrix.settings == {
        "alpha": 0.2, "groups": "groups that do not differ significantly (Holm)", "lanes": lanes["lane"].max() + 1,
        "significant": "significant at 0.2 (two-sided, not corrected): the stronger the colour, the smaller p",
        "label": "p-values of 36 pairs",
    }  # fmt: skip
    assert groups.tables["systems"]["system"].tolist() == matrix.tables["systems"]["system"].tolist() == order
    assert groups.tables["systems"]["score"].tolist() == board["score"].tolist()
    pd.testing.assert_frame_equal(groups.tables["groups"], lanes)
    assert (groups.settings["x"], groups.settings["lanes"]) == ("accuracy, %", matrix.settings["lanes"])
    two = examine(Outputs.from_scores(pd.DataFrame({"a": [1.0, 2] * 9, "b": [3.0, 4] * 9}), "mean"), margin=3)
    assert charts.groups(two).settings["lanes"] == charts.matrix(two).settings["lanes"] == 0
    assert (charts.pair(two).settings["margin"], charts.pair(two).settings["x"]) == (3, "gain (mean)")
    for chart, rows in ((charts.intervals_of(found, frame), frame), (charts.neighbours(found), found.neighbours)):
        ends = chart.tables["rows"].rename(columns={"low": "gain_low", "high": "gain_high"})
        columns = ["gain", "gain_low", "gain_high"]
        assert ends[columns].to_numpy().tolist() == rows[columns].to_numpy().tolist()
        assert ends["name"].tolist() == (rows["system_a"] + " – " + rows["system_b"]).tolist()
        assert ends["title"].tolist() == [f"p {p_text(p, 0.2, 0.001)}" for p in rows["p_value"]]
        assert chart.settings["x"] == "gain (accuracy, points)"
        assert chart.settings["others"] == "not significant"
    # Ten wins of ten, p = 2 / 2^10 = 0.001953125: no text of it reads as the level that it is below or above.
    for level, least, text in ((0.002, ".00195", "0.00195"), (0.00195, ".002", "0.001953")):
        ten = examine(only_new_is_right(10, 30), alpha=level)
        assert charts.matrix(ten).tables["pairs"][["p_short", "p", "holm"]].iloc[0].tolist() == [least, text, text]
        assert charts.pair(ten).tables["rows"]["title"].tolist() == [f"p {text}"]
    drawn = of_pages.leaderboard(board.assign(level=0.9), 2, x="accuracy, %")
    assert drawn.settings == {
        "x": "accuracy, %, with 90 % interval", "ranks": "rank, 90 % confidence set", "furthest": board["rank_high"][1],
    }  # fmt: skip
    told = drawn.tables["systems"].rename(columns={"low": "score_low", "high": "score_high"})
    pd.testing.assert_frame_equal(told.drop(columns="title"), board[[*told.drop(columns="title")]].head(2))
    assert told["title"].tolist() == [
        f"{row.system}: {row.score:.2f} ({row.score_low:.2f} to {row.score_high:.2f}), rank {row.rank}, confidence set "
        f"{row.rank_low} to {row.rank_high}" for row in board.head(2).itertuples()
    ]  # fmt: skip
    errors = Outputs.from_statistics([[[k, 1], [k + 1, 1]] * 10 for k in range(3)], LOWER_MEAN, list("abc"))
    assert charts.leaderboard(examine(errors), 3).settings["x"] == "mean, lower is better, with 95 % interval"


def test_figures_draw_what_was_found_at_its_level(found: Examination, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, tuple[list[Any], dict[str, Any]]] = {}
    for name in ("leaderboard", "curve", "groups", "matrix", "gain_intervals", "smaller_test_sets"):
        monkeypatch.setattr(plot, name, lambda *given, name=name, **named: asked.update({name: ([*given], named)}))
    made, two = replace(found), examine(found.outputs.select(found.outputs.names[:2]), alpha=0.2)
    made.__dict__["curve"] = CURVE
    level: dict[str, float] = {"alpha": 0.2}
    expected: dict[str, tuple[list[pd.DataFrame], dict[str, float]]] = {
        "leaderboard": ([made.leaderboard], {}), "curve": ([made.pairs.frame, CURVE.iloc[[0, 3, 4]]], {}),
        "groups": ([made.groups], {}), "matrix": ([made.pairs.frame], level),
        "gain_intervals": ([made.neighbours], level), "smaller_test_sets": ([made.sizes], {}),
    }  # fmt: skip
    for one, figures in ((made, expected), (two, {"gain_intervals": ([two.pairs.frame], level)})):
        for section in page_of(one, "c").sections:
            if section.figure is not None:
                section.figure.draw()
        for name, (tables, named) in figures.items():
            assert asked[name][1] == named
            for given, table in zip(asked[name][0], tables, strict=True):
                pd.testing.assert_frame_equal(getattr(given, "frame", given), table)
    texts = {section.heading: section.text for section in page_of(made, "c").sections}
    assert "Lines are running medians" in texts["Gain against confidence"]
    n = made.leaderboard["may_be_best"].sum()
    drawn = (
        f"They are from 2,000 draws of signs (seed {made.seed}): a rank at the edge of a set may depend on the seed."
    )
    assert f"2024): {n} systems may be the best. {drawn}" in texts["Systems"]
    assert "The figure shows p, which is not corrected for the number of pairs." in texts["Pairs"]
    assert "alpha = 0.2" in texts["The gain that is significant on this test set"]
    # There is no room for nine systems.
    made.__dict__["curve"] = CURVE.head(0)
    monkeypatch.setattr(sections, "_MOST_SYSTEMS", 8)
    few = {section.heading: section for section in page_of(made, "c").sections}
    assert (few["Pairs"].figure, "Groups" in few, "The figure" in few["Pairs"].text) == (None, False, False)
    assert "running medians" not in few["Gain against confidence"].text
    board = few["Systems"].figure
    assert board is not None
    board.draw()
    assert len(asked["leaderboard"][0][0]) == 8


def test_a_table_of_pairs_has_every_number_of_each_pair(found: Examination) -> None:
    frame = found.pairs.frame
    cautions = np.where(np.arange(len(frame)) == 7, "beware", "")
    other = np.where(np.arange(len(frame)) == 9, frame["system_b"], frame["system_a"])
    made = replace(found, pairs=replace(found.pairs, frame=frame.assign(caution=cautions, better=other, wins=1234)))
    title, table = pair_rows(made, 36)
    assert title == "Pairs, the most significant first (two-sided p)"
    rows = made.pairs.frame.sort_values(["p_value", "gain"], ascending=[True, False], kind="stable")
    p = rows["p_value"].tolist()
    corrected = {name: [p_adjusted(q, one, 0.2, 0.001) for q, one in zip(rows[name], p, strict=True)]
                 for name in ("p_holm", "p_bh")}  # fmt: skip
    expected = pd.DataFrame(
        {"better": rows["system_a"], "worse": rows["system_b"], "relation": rows["relation"],
         "gain": rows["gain"].map("{:.2f}".format),
         "95 %": [f"{row.gain_low:.2f} to {row.gain_high:.2f}" for row in rows.itertuples()],
         "wins/losses": [f"1,234/{losses}" for losses in rows["losses"]],
         "p": [p_text(one, 0.2, 0.001) for one in p],
         "test prefers": np.where(rows["better"] == rows["system_b"], rows["system_b"], ""),
         "p (Holm)": corrected["p_holm"], "p (BH)": corrected["p_bh"], "caution": rows["caution"]}
    ).astype(object)  # fmt: skip
    pd.testing.assert_frame_equal(table.text(), expected.reset_index(drop=True))
    title, table = pair_rows(made, 5)
    assert title == "Neighbours by score, 5 of 36 pairs (two-sided p)"
    assert table.text()["worse"].tolist() == made.neighbours["system_b"].head(5).tolist()


def test_thresholds_and_gains_stand_beside_their_relation(found: Examination) -> None:
    """All numbers are made up, each another one; one of the thresholds has no interval."""
    made = replace(found)
    columns = {"threshold": [1.5, 2.5, 3.5], "low": [1.0, np.nan, 3.0], "high": [2.0, np.nan, 4.0]}
    made.__dict__["thresholds"] = found.thresholds.assign(**columns)
    names = ["observed_95", *(f"{name}{end}" for name in ("observed_50", "true_80") for end in ("", "_low", "_high"))]
    made.__dict__["gains"] = found.gains.assign(**{name: np.arange(6.0) + k / 9 for k, name in enumerate(names)})
    text = threshold_rows(made).text().set_index("relation")
    gains = made.gains.set_index(["relation", "pairs"])[names]
    assert {*text.index} == {*made.thresholds["relation"]} == {"same group", "different groups", "all pairs"}
    for known in made.thresholds.to_dict("records"):
        every, close = gains.loc[(known["relation"], "all pairs")], gains.loc[(known["relation"], "close pairs")]
        observed, true = (f"{every[name]:.2f} ({every[f'{name}_low']:.2f}–{every[f'{name}_high']:.2f})"
                          for name in ("observed_50", "true_80"))  # fmt: skip
        between = "" if np.isnan(known["low"]) else f" ({known['low']:.2f}–{known['high']:.2f})"
        assert text.loc[known["relation"]].tolist() == [
            f"{known['n_pairs']}", f"{known['n_window']}", f"{known['threshold']:.2f}{between}", observed,
            f"{every['observed_95']:.2f}", true, f"{close['true_80']:.2f}",
        ]  # fmt: skip
    # People are told the gains of all pairs.
    every = made.gains[(made.gains["relation"] == "all pairs") & (made.gains["pairs"] == "all pairs")].iloc[0]
    just, least = significant_gain(made).values()
    assert just.startswith(f"{gain_text(every['observed_50'])} points (half of the pairs with this gain have p <= 0.2 ")
    assert least.startswith(f"{gain_text(every['true_80'])} points with power 0.8")


def test_the_answer_has_the_first_two_systems_and_the_margin_in_words() -> None:
    """Of 4,000 items four differ. The sign test may prefer the other system of the first two."""
    right = pd.DataFrame({name: np.arange(4000) < n for name, n in (("a", 3000), ("b", 2996), ("c", 2000))})
    *_, lead, _, near = answer(examine(Outputs.from_scores(right, "accuracy"), margin=1))
    assert lead.startswith("a leads b by 0.10 points: not significant (Holm-adjusted p = 0.125)")
    assert near == "With a margin of 1 point, 1 of 3 pairs is equivalent (Holm)."
    scores = pd.DataFrame({"a": [0.9] * 3 + [0.1] * 20, "b": [0.1] * 3 + [0.15] * 20, "c": [0.0] * 3 + [0.14] * 20})
    lead = answer(examine(Outputs.from_scores(scores, "mean"), test="sign"))[1]
    assert lead.endswith("; the test does not prefer it).")


def test_notes_count_what_they_are_about() -> None:
    def kept(function: Any, *given: Any) -> tuple[str, ...]:
        with notes_kept() as told:
            function(*given)
        return tuple(told)

    every = correlated_accuracies([0.5] * 25, 36)
    dropped = ", ".join(every.names[3:23])
    (note,) = kept(notes.note_duplicates, every, every.select(every.names[:3]), pd.DataFrame())
    assert note == f"near-duplicates dropped: {dropped} and 2 more"
    domains = [name for k, name in enumerate("abcdefgh") for _ in range(k + 1)]
    outputs = replace(every, items=every.items.assign(domain=domains))
    (note,) = kept(notes.note_domains, outputs, None)
    assert note == "items of 8 domains are tested together: h 8, g 7, f 6, e 5, d 4, c 3 and 2 more"
    pairs = pd.DataFrame([pair(), pair(system_a="x", system_b="y"), pair(system_a="z")]).infer_objects()
    (note,) = kept(notes.note_resamples, pairs, {"n_resamples": 99})
    assert note.startswith("the number of resamples is not used")
    resampled = pairs.assign(computation=["exact", "exact", "resampled"])
    assert kept(notes.note_resamples, resampled, {"n_resamples": 99}) == kept(notes.note_resamples, pairs, {}) == ()
    board = pd.DataFrame({"system": ["new", "old", "x", "y", "z"], "n_undefined": [0, 0, 0, 2, 0]})
    worse = pairs.assign(better=["old", "x", "old"], test="sign", p_value=0.03)

    def examined(rows: pd.DataFrame, alpha: float = 0.05) -> Examination:
        found = Examination(Comparisons(rows), alpha, test_set=TestSet(every), duplicates=pd.DataFrame())
        vars(found)["leaderboard"] = board
        return found

    assert kept(notes.note_pairs, examined(worse, 0.02)) == ()
    assert " prefers the system with the worse score in 2 pairs, first " in kept(notes.note_pairs, examined(worse))[0]
    few = pairs.assign(gain_low=np.nan, ties=[20, 3, 3], n_units=20)
    assert [note.partition(":")[2].partition(",")[0] for note in kept(notes.note_pairs, examined(few))] == [
        " the two systems do equally well on every unit", " the difference is the same on every unit",
        " without one of the units a score is undefined (0 / 0)",
    ]  # fmt: skip
