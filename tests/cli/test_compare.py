"""`simstudy compare` as its users meet it: files in; sentences, tables, JSON and exit codes out."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.cli.command import as_json, compare, write_wide
from tests.statistics.test_proportions import by_quartic


def test_the_verdict_is_what_came_out_and_what_follows(two: str) -> None:
    """Of 2^2 swaps of the two items that differ two are as extreme. Tango's limits by R's formula of a quartic."""
    low, high = (100 * limit for limit in by_quartic(2, 0, 8, 0.95))
    code, out, err = compare(two, "--metric", "accuracy")
    assert (code, err) == (0, "")
    assert out == (
        "The gain of new over old is not significant at 0.05, and cannot be: too few units differ. Swapping them gives "
        "no p-value below 0.500. This does not show that the two are equally good.\n"
        f"new scores 100.00 % accuracy, 25.00 points more than old (75.00 %).\n95 % interval {low:.2f} to {high:.2f} "
        "points; p = 0.500 (two-sided).\nWins, losses and ties of new: 2, 0 and 6 of 8 items.\n"
        "Test: sign-flip test, exact p-value; resampling unit: item; p is not corrected for multiple tests.\n"
        "With 8 items the interval is rough.\n"
        "Note: Read scores.csv as a table with a column for each system: old, new; items by 'item' (8).\n"
    )


def test_the_verdict_by_the_bootstrap(two: str) -> None:
    """A resample has twice the gain where it has at least 4 of the 2 items in 8: P(Binomial(8, 1/4) >= 4).

    Two-sided also those without any of them; 7,459 and 6,561 of 65,536.
    """
    code, out, err = compare(two, "--metric", "accuracy", "--test", "bootstrap", "--alternative", "greater")
    assert (code, err) == (0, "")
    assert "p = 0.114 (one-sided; two-sided p = 0.214).\nWins, " in out
    assert "\nTest: paired bootstrap, approximated p-value; resampling unit: item; " in out
    assert "no p-value below 0.250. This does not show that the two are equally good.\n" in out
    assert "\nWith 8 items test and interval are rough.\n" in out
    assert f"{7459 / 65536:.3f} {(7459 + 6561) / 65536:.3f}" == "0.114 0.214"


@pytest.mark.parametrize(
    ("test", "alternative", "p", "said"),
    [
        ("sign_flips", "two-sided", 2**-5, ["p = 0.0312 (two-sided).", "Test: sign-flip test, exact p-value;"]),
        (
            "randomization",
            "greater",
            2**-6,
            ["p = 0.0156 (one-sided; two-sided p =", "Test: approximate randomization, exact p-value;"],
        ),
        ("sign", "greater", 2**-6, ["p = 0.0156 (one-sided; two-sided p = 0.0312)", "Test: sign test, exact p-value;"]),
        ("mcnemar", "two-sided", 2**-5, ["p = 0.0312 (two-sided).", "Test: McNemar's test, exact p-value;"]),
        (
            "t_paired",
            "greater",
            stats.t.sf(0.6 / np.sqrt(0.6 * 0.4 / 9), 9),
            [" (one-sided; two-sided p =", "Test: paired t test, approximated p-value;"],
        ),
    ],
)
def test_every_test_can_be_asked_for(test: str, alternative: str, p: float, said: list[str]) -> None:
    """Six of ten items differ, all for the better: 2^-6 of all swaps have such a gain. The t is by its formula."""
    path = write_wide("scores.csv", {"old": [0] * 6 + [1] * 4, "new": [1] * 10})
    arguments = (path, "--metric", "accuracy", "--test", test, "--alternative", alternative)
    (pair,) = as_json(*arguments)["pairs"]
    assert pair["p_value"] == pytest.approx(p, rel=1e-12)
    assert (pair["system_a"], pair["gain"]) == ("new", 60)
    code, out, _ = compare(*arguments)
    assert code == 0
    assert all(part in out for part in said)
    sides = ", one-sided and two-sided" if alternative == "greater" else ""
    assert out.startswith(f"new is better than old: the gain is significant at 0.05{sides}.\n")
    assert " and 4 of 10 items.\nTest: " in out
    assert "\nWith 10 items " in out


def test_names_that_look_like_markup_are_printed_as_they_are() -> None:
    path = write_wide("scores.csv", {"[red]:100:": [1, 0, 1], "[/b]": [1, 1, 1]})
    out = compare(path, "--metric", "accuracy")[1]
    assert out.splitlines()[1].startswith("[/b] scores 100.00")
    assert "more than [red]:100: (66.67" in out


# Many systems


def test_tables_of_many_systems_are_the_numbers_of_the_json(four: str) -> None:
    asked = ("--test", "sign", "--alternative", "greater", "--unit", "item")
    options = ("--metric", "accuracy", "--columns", "domain=genre,cluster=doc", *asked)
    code, out, err = compare(four, *options, "--verbose")
    assert (code, err) == (0, "")
    content = as_json(four, *options)
    assert list(content) == [
        *("schema", "simstudy", "settings", "verdict", "notes", "systems", "pairs", "groups", "thresholds"),
        *("significant_gains", "near_duplicates"),
    ]
    # What is 0 or off is said as such; what was not given is null.
    asked_for = {"paths": [four], "columns": "domain=genre,cluster=doc", "unit": "item"}
    asked_for |= {"seed": 0, "lowercase": False, "references": None, "margin": None}
    assert {name: content["settings"][name] for name in asked_for} == asked_for
    assert {name for group in content["groups"] for name in group} == set("abcd")
    assert content["verdict"] is None
    right = pd.read_csv(four)[list("abcd")]
    lines = [line.split() for line in out.splitlines()]
    for row in content["systems"]:
        assert row["score"] == pytest.approx(100 * right[row["system"]].mean())
        between = f"{row['score_low']:.2f}–{row['score_high']:.2f}"
        assert [row["system"], f"{row['score']:.2f}", between, str(row["rank"])] in [line[:4] for line in lines]
    assert len(content["pairs"]) == 6
    for pair in content["pairs"]:
        a, b = right[pair["system_a"]], right[pair["system_b"]]
        wins, losses = int((a > b).sum()), int((b > a).sum())
        assert pair["p_value"] == pytest.approx(stats.binomtest(wins, wins + losses, alternative="greater").pvalue)
        (line,) = [line for line in lines if line[:2] == [pair["system_a"], pair["system_b"]]]
        assert float(line[2]) == pytest.approx(pair["gain"], abs=0.01)
        assert line[3:6] == [f"{pair['gain_low']:.2f}", "to", f"{pair['gain_high']:.2f}"]
        assert line[6] == f"{wins}/{losses}"
        assert (pair["wins"], pair["losses"], pair["ties"]) == (wins, losses, 30 - wins - losses)
    assert [pair["p_value"] for pair in content["pairs"]] == sorted(pair["p_value"] for pair in content["pairs"])


def test_the_folder_has_tables_figures_page_and_manifest(four: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["/bin/simstudy", "compare", "a b"])
    options = ("--metric", "accuracy", "--columns", "domain=genre,cluster=doc", "--systems", "systems.csv")
    code, out, err = compare(four, *options, "--out", "report/one")
    assert (code, err) == (0, "")
    assert "Figures and report: report/one/index.html" in out
    folder = Path("report/one")
    tables = ("curve", "deciding_items", "duplicates", "groups", "pairs", "significant_gains", "systems", "thresholds")
    assert sorted(path.stem for path in folder.glob("*.csv")) == list(tables)
    content = as_json(four, *options)
    pairs = pd.read_csv(folder / "pairs.csv")
    # Tables are written with six digits.
    np.testing.assert_allclose(pairs["p_value"], [pair["p_value"] for pair in content["pairs"]], rtol=2e-6)
    assert pairs["relation"].tolist() == [pair["relation"] for pair in content["pairs"]]
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert "`simstudy compare 'a b'`" in page
    for drawn in (folder / "figures").iterdir():
        assert drawn.stat().st_size > 1000
    for figure in ("groups", "leaderboard", "gain_confidence", "matrix"):
        assert f"figures/{figure}.png" in page
        assert (folder / "figures" / f"{figure}.svg").exists()
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    for used in (four, "systems.csv"):
        assert sha256(Path(used).read_bytes()).hexdigest() in json.dumps(manifest)


@pytest.mark.parametrize(
    ("options", "relations"),
    [
        (["--by", "base_model"], {"ac": "same base model", "ab": "different base models", "ad": "base model unknown"}),
        ([], {"ab": "same group", "cd": "same group", "ac": "different groups"}),
    ],
)
def test_relation_classes_are_those_of_a_column_of_the_systems(
    four: str, options: list[str], relations: dict[str, str]
) -> None:
    files = (four, "--systems", "systems.csv", "--columns", "domain=genre,cluster=doc")
    content = as_json(*files, "--metric", "accuracy", *options)
    found = {pair["system_a"] + pair["system_b"]: pair["relation"] for pair in content["pairs"]}
    assert {names: found[names] for names in relations} == relations
    assert {row["relation"] for row in content["thresholds"]} == {*found.values(), "all pairs"}


# Items: domains, clusters, those that are missing


def test_domains_are_never_mixed_silently(four: str) -> None:
    options = (four, "--metric", "accuracy", "--columns", "domain=genre,cluster=doc")
    across = "clusters have items of several domains, such as 'd0' of 'news' and 'web'"
    note = "items of 3 domains are tested together: news 10, web 10, mail 10"
    said = compare(*options, "--unit", "item")[1]
    assert [f"Note: {one}\n" in said for one in (across, note)] == [True, True]
    stratified = ("--strata", "domain", "--unit", "item", "--test", "bootstrap")
    assert as_json(*options, *stratified)["notes"][1:] == [across]
    alone = as_json(*options, "--domain", "web", "--test", "sign", "--unit", "item")
    few = "only 10 items: intervals are rough with fewer than 20"
    assert alone["notes"][1:] == [across, few]
    right = pd.read_csv(four).query("genre == 'web'")
    assert {pair["n_items"] for pair in alone["pairs"]} == {10}
    assert {row["system"]: row["score"] for row in alone["systems"]} == pytest.approx(
        {name: 100 * right[name].mean() for name in "abcd"}
    )


def test_near_duplicates_are_named_and_dropped_on_demand() -> None:
    """By the twenty answers that are wrong, of which nineteen are the same."""
    lines = [f"the word{i} and more" for i in range(40)]
    Path("gold").write_text("\n".join(lines))
    Path("one").write_text("\n".join([*lines[:20], *["nothing"] * 20]))
    Path("same").write_text("\n".join([*lines[:20], *["nothing"] * 19, "else"]))
    Path("other").write_text("\n".join([*["something"] * 24, *lines[24:]]))
    options = ("one", "same", "other", "--metric", "accuracy", "--references", "gold")
    plain = as_json(*options)
    assert plain["near_duplicates"] is None
    assert not any("near-duplicates" in note for note in plain["notes"])
    kept = as_json(*options, "--duplicates", "note")
    assert [(row["system_a"], row["system_b"], row["share"]) for row in kept["near_duplicates"]] == [
        ("one", "same", 0.95)
    ]
    assert any("of near-duplicates, first one / same" in note for note in kept["notes"])
    dropped = as_json(*options, "--duplicates", "drop")
    assert [row["system"] for row in dropped["systems"]] == ["one", "other"]
    assert "near-duplicates dropped: same" in dropped["notes"]
    assert dropped["verdict"].splitlines()[1].startswith("one scores 50.00")
    code, _, err = compare(*options, "--duplicates", "drop", "--fail-unless-better", "same", "other")
    assert (code, err) == (2, "simstudy: --fail-unless-better: system 'same' was dropped as a near-duplicate\n")


@pytest.mark.slow
def test_a_million_lines() -> None:
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 2, 10**6)
    systems = {name: np.where(rng.random(10**6) < p, gold, 2) for name, p in (("old", 0.8), ("new", 0.801))}
    for name, labels in {"gold": gold, **systems}.items():
        Path(name).write_text("\n".join("ABC"[label] for label in labels))
    asked = ("--test", "mcnemar", "--alternative", "greater")
    (pair,) = as_json("old", "new", "--metric", "accuracy", "--references", "gold", *asked)["pairs"]
    old, new = (systems[name] == gold for name in ("old", "new"))
    wins, losses = int((new & ~old).sum()), int((old & ~new).sum())
    assert pair["n_items"] == 10**6
    assert pair["system_a"] == ("new" if wins > losses else "old")
    expected = stats.binomtest(max(wins, losses), wins + losses, alternative="greater").pvalue
    assert pair["p_value"] == pytest.approx(expected, rel=1e-9)


@pytest.mark.usefixtures("undrawn")
def test_out_never_replaces_files_of_others() -> None:
    """Neither what is compared, nor anything that was in the folder before."""
    path = write_wide("scores.csv", {"old": [0] * 6 + [1] * 4, "new": [1] * 10})
    options = (path, "--metric", "accuracy", "--test", "sign")
    code, _, err = compare(*options, "--out", ".")
    assert (code, err) == (2, f"simstudy: --out must be a folder of its own, but . holds the input {path}\n")
    Path("mine").mkdir()
    Path("mine/README.md").write_text("mine")
    code, _, err = compare(*options, "--out", "mine")
    expected = (
        "simstudy: --out must be new, empty or a folder that simstudy wrote, but mine holds README.md, which is not of "
        "an earlier run or has been changed since\n"
    )
    assert (code, err) == (2, expected)
    assert Path("mine/README.md").read_text() == "mine"
    assert compare(*options, "--out", "new")[0] == compare(*options, "--out", "new")[0] == 0
