from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from shutil import copytree

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.engines.registry import TESTS
from simstudy.examination import Examination, examine, page, sections
from simstudy.examination.rows import facts, intervals_for, pair_rows
from simstudy.outputs import Outputs
from simstudy.readers.long_table import Loaded
from simstudy.truth import correlated_accuracies

COMPARISON = {"n_resamples": 2000, "monte_carlo": True}


def written(found: Examination, folder: Path) -> str:
    found = replace(found, files={"x.csv": "abc"})
    page.write(found, folder, command="simstudy compare x", settings={"alpha": found.alpha})
    return (folder / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def found(loaded: Loaded) -> Examination:
    return examine(loaded, **COMPARISON, duplicates="note")


@pytest.fixture(scope="module")
def folder(found: Examination, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Written once, and looked at by several tests."""
    folder = tmp_path_factory.mktemp("written")
    written(found, folder)
    return folder


def rows(text: str, heading: str) -> list[list[str]]:
    """The cells of the table below a heading, its header first."""
    part = text.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "---" not in line]


@pytest.mark.parametrize("alike", [False, True])
def test_a_page_of_two_has_its_notes_its_data_and_the_verdict_in_two_places(alike: bool) -> None:
    """Two that do equally well on every item have no interval, and no figure of it."""
    right = np.arange(40) < 30
    items = pd.DataFrame({"id": range(40), "cluster": np.arange(40) // 2})
    scores = pd.DataFrame({"a": right, "b": right if alike else ~right})
    two = examine(Loaded(Outputs.from_scores(scores, "accuracy", test_set="exam", items=items), notes=("one", "more")))
    made = page.page_of(two, "c")
    assert made.notes == [*two.notes]
    assert made.notes[:2] == ["one", "more"]
    assert made.data == "exam, accuracy, 20 clusters with 40 items in all"
    verdict = made.sections[0]
    assert (verdict.heading, verdict.figure is None) == ("Verdict", alike)
    assert verdict.on_screen is not None
    assert "\n".join([made.headline, *made.answer, verdict.on_screen()[0]]) == two.verdict == verdict.text


def test_of_many_near_duplicates_a_page_has_the_first(found: Examination, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "_MOST_ROWS", 2)
    three = pd.concat([found.duplicates.assign(system_b=name) for name in ("twin", "x", "y")])
    tables = {one.heading: one.table for one in page.page_of(replace(found, duplicates=three), "c").sections}
    table = tables["Near-duplicates"]
    assert table is not None
    assert table.text()["system_b"].tolist() == ["twin", "x"]


def test_a_format_of_figures_is_refused_before_anything_is_written(found: Examination, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="^figures must be one of png, svg, pdf, not 'jpg'"):
        found.write(tmp_path / "out", figures="jpg")
    assert not (tmp_path / "out" / "README.md").exists()


def test_a_folder_has_tables_figures_page_and_manifest(folder: Path) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert text.startswith("# 5 systems compared by accuracy on exam\n\n")
    assert "Made by `simstudy compare x`" in text
    manifest = json.loads((folder / "manifest.json").read_text())
    tables = {path.stem for path in folder.glob("*.csv")}
    known = {"pairs", "systems", "groups", "curve", "thresholds", "significant_gains", "duplicates", "deciding_items"}
    assert tables == known
    for name, digest in manifest["files"].items():
        assert sha256((folder / name).read_bytes()).hexdigest() == digest
    assert {name.removesuffix(".csv") for name in manifest["files"] if name.endswith(".csv")} == tables
    assert manifest["data"] == {"files": {"x.csv": "abc"}}
    assert manifest["comparison"] == {"alpha": 0.05}
    drawn = {path.name for path in (folder / "figures").iterdir()}
    shown = {"groups", "leaderboard", "gain_confidence", "gains", "matrix"}
    assert drawn == {f"{name}.{kind}" for name in shown for kind in ("png", "svg")}
    assert drawn == {name.removeprefix("figures/") for name in manifest["files"] if name.startswith("figures/")}
    of_paper = {name.removeprefix("paper/") for name in manifest["files"] if name.startswith("paper/")}
    assert of_paper == {"leaderboard.tex", "pairs.tex", "sentences.tex", "references.bib", "paper.md"}
    assert all(f"figures/{name}.png" in text for name in shown)


def test_tables_hold_every_pair_with_the_numbers_of_the_comparison(found: Examination, folder: Path) -> None:
    pairs = pd.read_csv(folder / "pairs.csv")
    assert pairs["p_value"].is_monotonic_increasing
    merged = found.pairs.frame.merge(pairs, on=["system_a", "system_b"], suffixes=("", "_file"))
    assert len(merged) == len(pairs) == 10
    intervals = ("gain_se", "gain_low", "gain_high", "wins", "losses", "ties")
    for column in ("p_value", "p_low", "p_high", "p_two_sided", "p_holm", "p_bh", "gain", "score_a", *intervals):
        np.testing.assert_allclose(merged[f"{column}_file"], merged[column], rtol=1e-5)
    systems = pd.read_csv(folder / "systems.csv")
    assert systems["system"].tolist() == ["best", "twin", "good", "fair", "worst"]
    assert systems["score"].tolist() == [90, 87.5, 82.5, 70, 20]
    assert systems["rank"].tolist() == [1, 2, 3, 4, 5]


def test_the_page_lists_systems_pairs_and_duplicates(found: Examination, folder: Path) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    header, *systems = rows(text, "Systems")
    assert [row[header.index("system")] for row in systems] == ["best", "twin", "good", "fair", "worst"]
    assert [row[header.index("score")] for row in systems] == ["90.00", "87.50", "82.50", "70.00", "20.00"]
    between = [stats.binomtest(right, 40).proportion_ci(method="wilson") for right in (36, 35, 33, 28, 8)]
    assert [row[header.index("95 %")] for row in systems] == [f"{100 * a:.2f}–{100 * b:.2f}" for a, b in between]
    assert [row[header.index("rank")] for row in systems] == ["1", "2", "3", "4", "5"]
    ends = found.leaderboard[["rank_low", "rank_high"]].to_numpy().tolist()
    assert ends[3:] == [[1, 4], [5, 5]]
    ranks = ["–".join(map(str, dict.fromkeys(one))) for one in ends]
    assert [row[header.index("ranks (95 %)")] for row in systems] == ranks
    members = found.groups.groupby("system")["group"].agg(list)
    assert [row[header.index("groups")].split() for row in systems] == [
        [str(number) for number in members[row[0]]] for row in systems
    ]
    (_, duplicate) = rows(text, "Near-duplicates")
    assert duplicate[:2] == ["best", "twin"]
    assert duplicate[-1] == "97.5%"
    assert "a note of the loader" in text


@pytest.mark.usefixtures("empty_figures")
def test_two_systems_have_a_verdict_and_nothing_of_an_earlier_run_is_left(
    loaded: Loaded, folder: Path, tmp_path: Path
) -> None:
    copytree(folder, tmp_path, dirs_exist_ok=True)
    assert (tmp_path / "figures" / "matrix.png").exists()
    two = examine(Loaded(loaded.outputs.select(["worst", "best"])))
    text = written(two, tmp_path)
    assert "best scores 90.00" in text
    assert "the gain is significant at 0.05." in text
    drawn = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert drawn == ["gain.png", "gain.svg"], "figures of the run before, which the page does not show"
    named = {name for name in json.loads((tmp_path / "manifest.json").read_text())["files"] if "/" in name}
    of_paper = {f"paper/{name}" for name in ("pairs.tex", "sentences.tex", "references.bib", "paper.md")}
    assert named == {f"figures/{name}" for name in drawn} | of_paper
    assert {f"paper/{path.name}" for path in (tmp_path / "paper").iterdir()} == of_paper


@pytest.mark.usefixtures("empty_figures")
def test_names_with_a_bar_do_not_break_the_table(loaded: Loaded, tmp_path: Path) -> None:
    two = loaded.outputs.select(["best", "worst"])
    renamed = replace(two, systems=two.systems.assign(name=["best|v2", "worst|v2"]))
    _, (better, worse, *_) = rows(written(examine(Loaded(renamed)), tmp_path).replace("\\|", "/"), "Verdict")
    assert (better, worse) == ("best/v2", "worst/v2")


@pytest.mark.usefixtures("empty_figures")
def test_figures_of_very_many_systems_are_left_out_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is 200 systems. Here it is 60, whose pairs take a tenth of the time."""
    assert sections._MOST_SYSTEMS == 200
    monkeypatch.setattr(sections, "_MOST_SYSTEMS", 60)
    outputs = correlated_accuracies(np.linspace(0.6, 0.9, 61).tolist(), 20, seed=2)
    text = written(examine(Loaded(outputs), n_resamples=100, monte_carlo=True), tmp_path)
    assert {path.stem for path in (tmp_path / "figures").iterdir()} == {"gain_confidence", "leaderboard"}
    assert "The figure has the first 60 of 61 systems. Nobody can read figures of the groups," in text
    assert len(rows(text, "Systems")) == 62
    assert len(rows(text, "Pairs")) == 51
    assert len(pd.read_csv(tmp_path / "pairs.csv")) == 61 * 60 / 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_resamples": 2000, "monte_carlo": True}, "two-sided, p-values from 2,000 resamples"),
        ({"test": "sign"}, "sign test (sign), two-sided, exact p-values"),
        ({"test": "t_paired"}, "paired t test (t_paired), two-sided, approximated p-values"),
        ({"test": "bootstrap"}, "paired bootstrap (bootstrap), two-sided, approximated p-values"),
        ({"alternative": "greater"}, "sign-flip test (sign_flips), one-sided, exact p-values"),
    ],
)
def test_facts_say_how(loaded: Loaded, options: dict[str, object], said: str) -> None:
    listed = facts(examine(loaded, **options))
    assert said in listed["Test"]
    assert listed["Null hypothesis"] == TESTS[str(options.get("test", "sign_flips"))].null
    assert (listed["Systems"], listed["Items"]) == ("5 (10 pairs)", "40")
    assert listed["Correction"] == "Holm, for all 10 pairs"
    assert "Note" not in facts(examine(Loaded(loaded.outputs.select(["good", "worst"]))))


@pytest.mark.parametrize(("alternative", "other"), [("two-sided", "one-sided"), ("greater", "two-sided")])
def test_a_page_says_which_sides_and_never_the_others(
    loaded: Loaded, tmp_path: Path, alternative: str, other: str
) -> None:
    found = examine(loaded, alternative=alternative)
    text = written(found, tmp_path)
    sides = "one-sided" if alternative == "greater" else "two-sided"
    assert f"p-values are {sides}" in page.closing(found)
    assert f", {sides}, " in facts(found)["Test"]
    assert f"({sides} p)" in pair_rows(found, 50)[0]
    assert f"({sides} p)" in pair_rows(found, 3)[0]
    warned = "two equally good systems have p <= 0.05 one time in ten" in page.closing(found)
    assert warned == (alternative == "greater")
    assert text.count(sides) >= 4
    assert other not in text
    drawn = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "figures").glob("*.svg"))
    assert other not in drawn


@pytest.mark.usefixtures("empty_figures")
def test_a_margin_is_a_column(loaded: Loaded, tmp_path: Path) -> None:
    found = examine(loaded, margin=12.5)
    text = written(found, tmp_path)
    header, *pairs = rows(text, "Pairs")
    assert header[-1] == "margin 12.5"
    assert (
        "Column margin 12.5 is corrected for all pairs. Better: the gain is significant at 0.05. Equivalent: two "
        "one-sided tests at 0.025 reject that either system is better by 12.5 or more. Not worse: one such test "
        "rejects that the other system is better by so much."
    ) in text
    assert "p_noninferiority and p_equivalence are p-values for the margin" in text.replace("\\_", "_")
    assert "p_noninferiority" not in page.closing(examine(loaded))
    said = {tuple(row[:2]): row[-1] for row in pairs}
    conclusions = zip(found.pairs["system_a"], found.pairs["system_b"], found.pairs["conclusion"], strict=True)
    assert said == {(a, b): conclusion for a, b, conclusion in conclusions}
    assert len(set(said.values())) > 1


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        (["other systems", ""], "The 95 % intervals hold for other systems on these items."),
        (
            ["other variants of these families"] * 2,
            "The 95 % intervals hold for other variants of these families on these items, not for other systems.",
        ),
        (
            ["other systems", "other variants of these families"],
            "The 95 % intervals of relation all hold for other systems on these items. The 95 % intervals of relation "
            "within hold for other variants of these families on these items, not for other systems.",
        ),
        (["", ""], ""),
    ],
)
def test_a_page_says_what_its_intervals_hold_for(kinds: list[str], said: str) -> None:
    """In words, so that it holds for a page without CSV files too."""
    assert intervals_for(pd.DataFrame({"interval_for": kinds, "relation": ["all", "within"]})) == said


@pytest.mark.usefixtures("empty_figures")
def test_gains_of_neighbours_are_there_though_two_of_them_do_equally_well_on_every_item(tmp_path: Path) -> None:
    scores = np.random.default_rng(0).normal(size=(3, 90)) + np.array([[3.0], [2.0], [1.0]])
    scores = np.concatenate([scores, scores[2:]])
    found = examine(Outputs.from_statistics(np.stack([scores, np.ones_like(scores)], axis=-1), "mean"))
    assert found.neighbours["gain_low"].notna().sum() == 2 < len(found.neighbours)
    assert "## Gains of neighbours" in written(found, tmp_path / "out")
    assert (tmp_path / "out" / "figures" / "gains.png").is_file()
