"""What a comparison says of several samples of each question: lines, columns, a section, JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.examination import samples as of_page
from simstudy.examination.limits import limits
from simstudy.examination.rows import facts, ranking
from simstudy.text.numerals import gain_text
from tests.comparisons.test_sample_noise import samples


@pytest.mark.usefixtures("empty_figures")
def test_two_systems_have_both_noises_below_the_answer(tmp_path: Path) -> None:
    outputs = samples(np.random.default_rng(7), systems=2)
    found = ss.examine(outputs, unit="sample_of")
    row = ss.comparisons.noises(outputs).iloc[0]
    (line,) = [line for line in found.text.splitlines() if line.startswith("Standard error of the gain: ")]
    assert line == (
        f"Standard error of the gain: {row['se']:.2f} points; between questions {row['se_between']:.2f}, within "
        f"questions {row['se_within']:.2f} ({100 * row['share_within']:.0f} % of the variance)."
    )
    assert (
        f"With one sample of each question it would be {row['se_one']:.2f} points. With more samples it falls to about "
        f"{row['se_between']:.2f} points (95 % interval {gain_text(row['se_between_low'])} to "
        f"{gain_text(row['se_between_high'])})."
    ) in found.text
    found.write(tmp_path / "out")
    assert pd.read_csv(tmp_path / "out" / "noises.csv")["se_one"].item() == float(f"{row['se_one']:.6g}")
    assert (tmp_path / "out" / "figures" / "noises.png").is_file()
    assert "## Samples of each question" in (tmp_path / "out" / "README.md").read_text("utf-8")
    content = json.loads(found.to_json())
    assert content["noises"][0]["share_within"] == row["share_within"]
    scores = ss.comparisons.noises(outputs, of="scores")
    assert [one["se"] for one in content["score_noises"]] == scores["se"].tolist()
    assert pd.read_csv(tmp_path / "out" / "score_noises.csv")["se"].tolist() == pytest.approx(scores["se"], rel=1e-5)
    assert facts(found)["Items"] == "300 samples of 60 questions, which the test resamples"
    said = " ".join(limits(found))
    assert "The results are for items like these." in said
    assert "No clusters of items are known" not in said
    assert "if a system were trained again is not part" in said
    one_by_one = ss.examine(outputs, unit="item")
    assert "resampled one by one" not in " ".join(limits(one_by_one)), "a note says it"


def test_a_part_larger_than_the_whole_is_explained() -> None:
    """Each system has one right and one wrong sample of nearly every question: gains hardly vary between questions.

    The variance of samples of 0 and 100 is 5,000. A question's mean of two samples has half of it, and a gain that of
    both systems.
    """
    n = 20
    right = np.tile([0, 1], (2, n))
    right[0, :2] = 1
    items = pd.DataFrame({"id": range(2 * n), "sample_of": np.repeat(np.arange(n), 2)})
    scores = pd.DataFrame(right.T, columns=["a", "b"])
    found = ss.examine(ss.Outputs.from_scores(scores, "accuracy", items=items), unit="sample_of")
    # One question has a gain of 50 and nineteen of 0; its first system has no variance within.
    se = 50 * np.sqrt((1 / n) * (1 - 1 / n) / (n - 1))
    within = np.sqrt((n * 5000 - 2500) / n**2)
    said = (
        f"Standard error of the gain: {se:.2f} points; between questions 0, within questions {within:.2f} (100 % of "
        "the variance). By chance the estimate within questions is larger than the whole. Between questions, it is "
        "then 0."
    )
    assert said in " ".join(found.text.split())
    usual = ss.examine(samples(np.random.default_rng(7), systems=2), unit="sample_of")
    assert "larger than the whole" not in usual.text


def test_a_leaderboard_has_a_column_and_others_have_nothing() -> None:
    outputs = samples(np.random.default_rng(8), systems=3)
    text = ss.examine(outputs, unit="sample_of").text
    # Of the median pair, more samples leave the rest of the variance at best.
    share = ss.comparisons.noises(outputs)["share_within"].median()
    said = f"Noise within questions: {100 * share:.0f} % of the variance of a gain (median pair). "
    fewer = 100 * (1 - np.sqrt(1 - share))
    assert f"{said}More samples reduce its standard error by {fewer:.0f} % at most." in " ".join(text.split())
    assert " within " in text
    scores = ss.comparisons.noises(outputs, of="scores")
    assert f" {100 * scores['share_within'].iloc[0]:.0f}% " in text
    plain = ss.examine(ss.truth.correlated_accuracies([0.5, 0.6, 0.7], 100))
    assert len(plain.noises) == 0
    assert "within" not in plain.text
    assert "noises" not in json.loads(plain.to_json())


def test_the_section_has_all_pairs_or_neighbours_and_draws_those_of_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a leaderboard has the noises of each system beside its name."""
    outputs = samples(np.random.default_rng(8), systems=5)
    found = ss.examine(outputs, unit="sample_of")
    drawn: list[pd.DataFrame] = []
    monkeypatch.setattr("simstudy.plot.noise_curve", drawn.append)
    rows = found.noises
    of = {name: rows[name].map(gain_text) for name in ("gain", "se", "se_within", "se_one")}
    # fmt: off
    between, share = ([f"{one} ({low}–{high})" for one, low, high in rows[columns].map(form).to_numpy()]
                      for columns, form in ((["se_between", "se_between_low", "se_between_high"], gain_text),
                                            (["share_within", "share_low", "share_high"], "{:.0%}".format)))
    expected = pd.DataFrame(
        {"better": rows["system_a"], "worse": rows["system_b"], "gain": of["gain"], "se": of["se"],
         "between questions (95 %)": between, "within": of["se_within"], "share within (95 %)": share,
         "se with one sample": of["se_one"]}
    )
    # fmt: on
    order = found.leaderboard["system"].tolist()
    pairs = list(zip(order, order[1:], strict=False))
    of_neighbours = [pair in pairs for pair in zip(rows["system_a"], rows["system_b"], strict=True)]
    for listed, own in ((20, expected), (3, expected[of_neighbours].head(3))):
        monkeypatch.setattr(of_page, "_LISTED", listed)
        (section,) = of_page.sections(found)
        assert section.table is not None
        assert section.table.text().to_numpy().tolist() == own.to_numpy().tolist()
        assert section.table.text().columns.tolist() == [*expected]
        assert section.text.startswith("Each question has 5 samples. ")
        assert section.text.endswith(" Shown are neighbours by score." if listed == 3 else "in score_noises.csv.")
    monkeypatch.setattr(of_page, "_DRAWN", 2)
    assert section.figure is not None
    section.figure.draw()
    pd.testing.assert_frame_equal(drawn[0], ss.comparisons.noise_curve(rows[of_neighbours].head(2)))
    own = ss.comparisons.noises(found.outputs, of="scores").set_index("system")
    board = ranking(found).text().set_index("system")
    assert board["se"].to_dict() == own["se"].map(gain_text).to_dict()
    assert board["within"].to_dict() == own["share_within"].map("{:.0%}".format).to_dict()


def test_a_noise_between_questions_of_0_has_a_range() -> None:
    """The same chance for all questions and systems: other questions may still change more than nothing."""
    right = np.random.default_rng(2).binomial(1, 0.5, size=(2, 120))
    items = pd.DataFrame({"id": range(120), "sample_of": np.repeat(np.arange(40), 3)})
    outputs = ss.Outputs.from_scores(pd.DataFrame(right.T, columns=["a", "b"]), "accuracy", items=items)
    row = ss.comparisons.noises(outputs).iloc[0]
    assert (row["se_between"], row["se_between_low"]) == (0, 0)
    assert 0 < row["se_between_high"] < row["se"]
    text = ss.examine(outputs, unit="sample_of").text
    assert f"With more samples it falls to about 0 points (95 % interval 0 to {row['se_between_high']:.2f})." in text
    # The third has the samples of the first in another order.
    right = np.concatenate([right, right[0].reshape(40, 3)[:, ::-1].reshape(1, 120)])
    three = ss.Outputs.from_scores(pd.DataFrame(right.T, columns=[*"abc"]), "accuracy", items=items)
    assert (ss.comparisons.noises(three)["se_between"] == 0).all()
    text = ss.examine(three, unit="sample_of").text
    assert "how far more samples reduce the standard error is not known" in text
    assert "100 % at most" not in text
    few = ss.comparisons.noises(outputs.take(np.arange(9))).iloc[0]
    assert np.isnan(few["se_between_high"])


def test_noises_are_of_the_unit_that_pairs_are_compared_by() -> None:
    """Questions come in documents: a test of questions has another standard error than one of documents."""
    outputs = samples(np.random.default_rng(7), systems=2)
    questions = outputs.items["sample_of"].to_numpy()
    items = outputs.items.assign(cluster=pd.factorize(questions)[0] // 4)
    outputs = ss.Outputs.from_statistics(outputs.statistics, outputs.metric, outputs.names, items=items)
    errors = {}
    for unit in ("cluster", "sample_of"):
        found = ss.examine(outputs, unit=unit)
        assert found.noises["se"].item() == ss.comparisons.noises(outputs, unit=unit)["se"].item()
        errors[unit] = found.noises["se"].item()
    assert errors["cluster"] != errors["sample_of"]
    assert ss.examine(outputs).noises["se"].item() == errors["cluster"]


def test_samples_that_are_items_have_no_noise_by_questions(tmp_path: Path) -> None:
    rows = [(s, q, k, (q + k * s) % 2) for s in (0, 1) for q in range(12) for k in range(3)]
    pd.DataFrame(rows, columns=["system", "item", "sample", "score"]).to_csv(tmp_path / "runs.csv", index=False)
    text = ss.examine(tmp_path / "runs.csv", "accuracy").text
    assert "The samples of a question form one cluster." in text
    assert "Standard error of the gain" in text
    text = " ".join(ss.examine(tmp_path / "runs.csv", "accuracy", unit="item").text.split())
    assert "12 questions with 36 samples. unit='item' makes each sample an item of its own. All tests," in text
    assert "form one cluster" not in text
    assert "Standard error of the gain" not in text
