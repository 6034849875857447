"""Several metrics and domains in one call: a comparison for each, files read once, nothing mixed."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

import simstudy as ss
from simstudy.cli.command import app
from simstudy.examination.several import Several
from simstudy.readers import text_files as reading_module
from simstudy.running.folders import verify
from tests.cli.command import as_json, compare, compare_signed, rows_of, write_wide


def test_two_systems_by_two_metrics_are_two_rows(texts: list[str]) -> None:
    alone = {m: as_json(*texts, "--metric", m)["pairs"][0] for m in ("bleu", "chrf")}
    code, out, err = compare(*texts, "--metric", "bleu", "--metric", "chrf")
    assert (code, err) == (0, "")
    head, *rows = rows_of(out, "metric")
    assert head == ["metric", "base", "new", "better", "gain", "95 %", "p", "p (Holm)", "significant (Holm)"]
    for (_, base, new, better, gain, interval, p, holm, significant), pair in zip(rows, alone.values(), strict=True):
        assert (better, significant) == ("new", "yes" if float(holm) <= 0.05 else "no")
        assert (base, new) == (f"{pair['score_b']:.2f}", f"{pair['score_a']:.2f}")
        assert (gain, interval) == (f"{pair['gain']:.2f}", f"{pair['gain_low']:.2f} to {pair['gain_high']:.2f}")
        assert float(p) == pytest.approx(pair["p_value"], rel=0.05)
    # Holm by hand: the smaller p-value twice, the larger as it is, or as large as that.
    small, large = sorted(pair["p_value"] for pair in alone.values())
    by_hand = sorted([min(1, 2 * small), max(min(1, 2 * small), large)])
    assert sorted(float(row[7]) for row in rows) == pytest.approx(by_hand, rel=0.05)
    assert "p is for one metric" in out
    assert len(out.splitlines()) <= 25


def test_json_is_a_list_of_what_each_metric_gives(texts: list[str]) -> None:
    result = CliRunner().invoke(app, ["compare", *texts, "--metric", "bleu", "--metric", "chrf", "--json"])
    found, corrected = json.loads(result.stdout), []
    for part, metric in zip(found, ("bleu", "chrf"), strict=True):
        # p_holm is for the pairs of one metric, p_holm_parts for the metrics.
        assert (part.pop("n_parts"), part["pairs"][0]["p_holm"]) == (2, part["pairs"][0]["p_value"])
        corrected.append(part.pop("p_holm_parts"))
        assert part == as_json(*texts, "--metric", metric)
    # Holm by hand: the smaller p-value twice, the larger as it is, or as large as that.
    p = [part["pairs"][0]["p_value"] for part in found]
    least = min(1, 2 * min(p))
    assert corrected == pytest.approx([least if one == min(p) else max(least, one) for one in p])


def test_each_metric_has_its_default_test() -> None:
    """Means are compared by sign flips; a median is no function of sums, and is compared by the bootstrap."""
    rng = np.random.default_rng(0)
    path = write_wide("scores.csv", {"old": rng.normal(size=40).tolist(), "new": rng.normal(1, size=40).tolist()})
    tests = {"mean": "sign_flips", "median": "bootstrap"}
    code, out, err = compare(path, *(word for name in tests for word in ("--metric", name)), "--json")
    assert code == 0, err
    assert [part["pairs"][0]["test"] for part in json.loads(out)] == [*tests.values()]
    _, out, _ = compare(path, "--metric", "median", "--metric", "mean")
    test = next(line for line in out.splitlines() if line.startswith("Test: "))
    assert test.startswith("Test: paired bootstrap (bootstrap), two-sided, p-values from 10,000 resamples ")
    bootstrap, flips = test.split("; ")
    assert (bootstrap.endswith(" (median)"), flips.endswith(" (mean)")) == (True, True)


def test_each_file_is_read_once(texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    reads: Counter[str] = Counter()
    unpacked = reading_module.unpacked

    def counted(path: Path, *more: Any) -> bytes:
        reads[str(path)] += 1
        return unpacked(path, *more)

    monkeypatch.setattr(reading_module, "unpacked", counted)
    assert compare(*texts, "--metric", "bleu", "--metric", "chrf", "--metric", "chrf++")[0] == 0
    assert reads == {"runs/base/hyp.txt": 1, "runs/new/hyp.txt": 1, "ref.txt": 1}


@pytest.mark.usefixtures("undrawn")
def test_one_html_file_has_every_metric(texts: list[str]) -> None:
    code, out, err = compare(*texts, "--metric", "bleu", "--metric", "chrf++", "--out", "report.html")
    assert (code, err, out.splitlines()[-1]) == (0, "", "Report: report.html")
    text = Path("report.html").read_text("utf-8")
    assert "The two systems differ significantly in " in text
    assert [text.count(f">{name}</h2>") for name in ("BLEU", "chrF++")] == [1, 1]
    Path("ref.html").write_text("mine", encoding="utf-8")
    code, out, err = compare(*texts, "--metric", "bleu", "--out", "ref.html")
    assert (code, out) == (2, "")
    assert "out must be new or a page that simstudy wrote, but ref.html is another file" in err


@pytest.mark.usefixtures("undrawn")
def test_a_folder_for_each_metric_and_a_page_that_links_them(texts: list[str]) -> None:
    for _ in range(2):
        # A second run into the same folder takes the place of the first.
        code, out, _ = compare(*texts, "--metric", "bleu", "--metric", "chrf++", "--out", "report")
        assert (code, out.splitlines()[-1]) == (0, "Figures and report: report/index.html")
    page = Path("report/README.md").read_text("utf-8")
    for name in ("bleu", "chrfplusplus"):
        assert f"({name}/README.md)" in page
        assert Path("report", name, "pairs.csv").is_file()
    assert verify("report") == []
    table = pd.read_csv("report/comparisons.csv")
    assert table["metric"].tolist() == ["bleu", "chrf++"]
    assert 'href="bleu/index.html"' in Path("report/index.html").read_text("utf-8")
    Path("report/bleu/pairs.csv").write_text("changed")
    assert verify("report") == ["bleu/pairs.csv has been changed"]
    code, _, err = compare(*texts, "--metric", "bleu", "--metric", "chrf++", "--out", "report")
    assert code == 2
    assert "report holds bleu/pairs.csv" in err


def test_clusters_and_signatures_of_several_metrics_are_told(texts: list[str]) -> None:
    Path("docs.csv").write_text("document\n" + "\n".join(f"d{k // 5}" for k in range(20)) + "\n")
    code, out, _ = compare(*texts, "--items", "docs.csv", "--metric", "bleu", "--metric", "chrf")
    assert code == 0
    assert "\nItems: 20 in 4 clusters, which the test resamples\n" in out
    for metric, name in (("bleu", "BLEU"), ("chrf", "chrF")):
        alone = compare_signed(*texts, "--items", "docs.csv", "--metric", metric)[1]
        (signature,) = re.findall(r"^Signature: (.*)$", alone, flags=re.MULTILINE)
        assert f"\nSignature ({name}): {signature}\n" in out
    assert "To claim that the systems differ by at least one metric, use p (Holm)" in out
    assert "To claim that they differ by every metric, each p must be at most 0.05." in out


def test_items_may_be_a_table_of_any_kind_or_a_plain_list(texts: list[str]) -> None:
    """As the help of --items says."""
    documents = [f"d{k // 5}" for k in range(20)]
    table = pd.DataFrame({"document": documents})
    table.to_csv("items.csv", index=False)
    table.to_csv("items.tsv", index=False, sep="\t")
    table.to_json("items.json", orient="records")
    Path("items.txt").write_text("\n".join(documents) + "\n")
    paths = ["runs/base/hyp.txt", "runs/new/hyp.txt"]
    for kind in ("csv", "tsv", "json", "txt"):
        loaded = ss.load(paths, "bleu", references="ref.txt", items=f"items.{kind}")
        assert loaded.outputs.items["cluster"].tolist() == documents
    (pair,) = as_json(*texts, "--metric", "bleu", "--items", "items.txt")["pairs"]
    assert (pair["unit"], pair["n_units"]) == ("cluster", 4)
    told = " ".join(CliRunner().invoke(app, ["compare", "--help"], env={"COLUMNS": "400"}).stdout.split())
    assert "CSV, TSV or JSON with a row for each item" in told
    assert "Or a plain list: the document of each item, one on a line." in told


def test_what_is_significant_by_itself_alone_is_not_counted() -> None:
    """Six wins of one domain have p = 2^-5, three times as much after Holm's correction for three domains."""
    table = pd.DataFrame({"item": range(60), "domain": [name for name in "xyz" for _ in range(20)], "old": 1, "new": 1})
    table.loc[:5, "old"] = 0
    table.to_csv("t.csv", index=False)
    _, out, _ = compare("t.csv", "--metric", "accuracy", "--by-domain")
    assert "differ significantly in 0 of 3 comparisons (at 0.05, Holm for the 3 tests)" in out
    head, *rows = rows_of(out, "domain")
    assert head[-3:] == ["p", "p (Holm)", "significant (Holm)"]
    assert rows[0][-3:] == ["0.0312", "0.0938", "no"]
    # A paper says so before it tells each domain by itself.
    _, paper, _ = compare("t.csv", "--metric", "accuracy", "--by-domain", "--markdown")
    results = next(line for line in paper.splitlines() if line.startswith("Results: "))
    assert results.startswith("Results: The two systems differ significantly in 0 of 3 comparisons (at 0.05, Holm for")
    before, after = results.split(" Each domain by itself, not corrected: ")
    assert ("significant at 0.05" in before, "x: new is better than old" in after) == (False, True)
    methods = next(line for line in paper.splitlines() if line.startswith("Methods: "))
    assert "The units are 20 items in each domain. p (Holm) is corrected for the 3 domains by Holm's method" in methods
    assert "; p is not corrected." in methods
    assert "The p-values are corrected" not in methods


@pytest.mark.parametrize(
    ("wins", "more"),
    [(6, " For claims about single domains, 0 of 2 are significant (at 0.05, Holm for the 2 tests)."), (7, "")],
)
def test_a_system_that_is_better_in_every_part_needs_no_correction(wins: int, more: str) -> None:
    """Six wins of six have p = 2^-5 in either domain, twice as much by Holm; seven have 2^-6, and twice is 2^-5."""
    table = pd.DataFrame({"item": range(40), "domain": ["x"] * 20 + ["y"] * 20, "old": 1, "new": 1})
    table.loc[[*range(wins), *range(20, 20 + wins)], "old"] = 0
    table.to_csv("t.csv", index=False)
    said = "new is better than old on every domain: each p is at most 0.05, and a claim about all of them needs no "
    _, out, _ = compare("t.csv", "--metric", "accuracy", "--by-domain")
    assert out.startswith(f"{said}correction.{more}\n")
    table.loc[20:, ["old", "new"]] = table.loc[20:, ["new", "old"]].to_numpy()
    table.to_csv("t.csv", index=False)
    assert compare("t.csv", "--metric", "accuracy", "--by-domain")[1].startswith("The two systems differ"), "not one"


def test_a_test_that_prefers_the_worse_system_is_not_counted() -> None:
    """On x new wins three items by a lot and loses twenty by a little: it leads, and the sign test prefers old."""
    table = pd.DataFrame(
        {
            "item": range(43), "domain": ["x"] * 23 + ["y"] * 20,
            "new": [0.9] * 3 + [0.1] * 20 + [0.9] * 20, "old": [0.1] * 3 + [0.15] * 20 + [0.1] * 20,
        }
    )  # fmt: skip
    table.to_csv("t.csv", index=False)
    code, out, _ = compare("t.csv", "--metric", "mean", "--by-domain", "--test", "sign")
    assert code == 0
    assert out.startswith(
        "The two systems differ significantly in 1 of 2 comparisons (at 0.05, Holm for the 2 tests). The sign test "
        "asks whether either system is as likely to win a unit, not whether the scores are equal.\n"
    )


def test_the_gate_is_for_all_metrics_and_domains() -> None:
    """New is better on x alone: on both together it would be, too."""
    domains = ["x"] * 40 + ["y"] * 10
    new, old = [1] * 50, [0] * 40 + [1] * 10
    pd.DataFrame({"item": range(50), "old": old, "new": new, "domain": domains}).to_csv("t.csv", index=False)
    gate = ["--fail-unless-better", "new", "old"]
    assert compare("t.csv", "--metric", "accuracy", *gate)[0] == 0
    assert compare("t.csv", "--metric", "accuracy", "--metric", "mean", *gate)[0] == 0
    code, _, err = compare("t.csv", "--metric", "accuracy", "--by-domain", *gate)
    assert code == 1
    # Tango's statistic of no wins and no losses of n is the root of n gain / (1 - gain).
    square = stats.norm.ppf(0.975) ** 2
    end = f"{100 * square / (10 + square):.2f}"
    assert err == (
        "simstudy: gate: new is not significantly better than old at 0.05 by accuracy on y, p = 1.000 (two-sided); "
        f"the gain is 0.00 points (95 % interval: -{end} to {end}) (fails: 1 of 2 comparisons; each must pass)\n"
    )
    assert compare("t.csv", "--metric", "accuracy", "--metric", "mean", *gate)[2].endswith(
        "; p is the largest of 2 comparisons, which all pass\n"
    )
    content = json.loads(compare("t.csv", "--metric", "accuracy", "--by-domain", *gate, "--json")[1])
    assert [(part["gates"][0]["of"], part["gates"][0]["passed"]) for part in content] == [
        ("accuracy on x", True), ("accuracy on y", False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--metric", "accuracy", "--metric", "accuracy"], "--metric: 'accuracy' is given twice"),
        (["--metric", "accuracy", "--domain", "x", "--domain", "x"], "--domain: 'x' is given twice"),
        (["--metric", "accuracy", "--domain", "x", "--by-domain"], "--by-domain compares on all domains: leave out"),
        (["--metric", "accuracy", "--by-domain"], "domain"),
        (["--metric", "accuracy", "--metric", "bleu"], "bleu"),
    ],
)
def test_what_is_refused(two: str, arguments: list[str], message: str) -> None:
    code, out, err = compare(two, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1


def test_systems_have_the_names_of_folders_or_those_given(texts: list[str]) -> None:
    named = as_json(*texts, "--metric", "bleu")
    by_folder = as_json("runs/base/hyp.txt", "runs/new/hyp.txt", *texts[2:], "--metric", "bleu")
    assert [system["system"] for system in by_folder["systems"]] == ["new", "base"]
    assert by_folder["pairs"] == named["pairs"]
    assert "2 files are called 'hyp': the systems have the names of their folders, base, new" in by_folder["notes"]
    code, _, err = compare("base=runs/base/hyp.txt", "base=runs/new/hyp.txt", *texts[2:], "--metric", "bleu")
    assert (code, err) == (
        2,
        "simstudy: runs/base/hyp.txt and runs/new/hyp.txt would both be system 'base'; a system is one file\n",
    )
    write_wide("a=b.csv", {"old": [1, 0, 1], "new": [1, 1, 1]})
    assert compare("a=b.csv", "--metric", "accuracy")[0] == 0


@pytest.mark.slow
def test_holm_over_metrics_keeps_the_rate_of_any_false_claim() -> None:
    """Two equal systems by two correlated metrics: any p (Holm) at most 0.05 in 5 % of the test sets or fewer."""
    rng, n_sets, rejected = np.random.default_rng(2), 400, 0
    for _ in range(n_sets):
        scores = rng.normal(size=(80, 2))
        other = 0.5 * scores + rng.normal(size=(80, 2))
        parts = [
            ss.examine(ss.Outputs.from_scores(pd.DataFrame(values, columns=["a", "b"])), n_jobs=1)
            for values in (scores, other)
        ]
        rejected += bool((Several(tuple(parts)).table["p_holm_parts"] <= 0.05).any())
    # Three standard errors above 5 %.
    assert rejected / n_sets <= 0.05 + 3 * (0.05 * 0.95 / n_sets) ** 0.5
    # And it does reject: less than half of the level would be a fault too.
    assert rejected / n_sets >= 0.02
