"""The HTML page of a comparison: its charts hold the numbers of the examination, its sentences hold for it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy.examination import Examination, charts, examine
from simstudy.examination.limits import limits
from simstudy.examination.page import page_of
from simstudy.examination.several import Several
from simstudy.outputs import Outputs
from simstudy.pages.html import html
from simstudy.readers.long_table import Loaded
from simstudy.running.folders import verify
from simstudy.truth import correlated_accuracies


@pytest.fixture(scope="module")
def found(loaded: Loaded) -> Examination:
    return examine(loaded)


def test_lines_of_groups_have_the_members_of_the_groups_and_do_not_meet(found: Examination) -> None:
    chart = charts.groups(found)
    names = chart.tables["systems"]["system"].tolist()
    lines = chart.tables["groups"]
    members = {frozenset(rows["system"]) for _, rows in found.groups.groupby("group") if len(rows) > 1}
    assert {frozenset(names[int(k)] for k in line.split()) for line in lines["members"]} == members
    for _, own in lines.groupby("lane"):
        ends = own.sort_values("first")
        assert (ends["first"].to_numpy()[1:] > ends["last"].to_numpy()[:-1]).all()


def clustered(outputs: Outputs, size: int) -> Outputs:
    items = outputs.items.assign(cluster=[f"d{k // size}" for k in range(outputs.n_items)])
    return replace(outputs, items=items)


def test_what_a_page_does_not_show_holds_for_it() -> None:
    """Each sentence is there exactly where what it says is so."""
    three = correlated_accuracies([0.5, 0.52, 0.9], 120)
    two = three.select([three.names[0], three.names[2]])

    def said(outputs: Outputs, **how: object) -> str:
        return " ".join(limits(examine(outputs, **how)))  # type: ignore[arg-type]

    alone, many = said(two), said(three)
    assert "corrected for all 3 pairs" in many
    assert "corrected for all" not in alone
    assert "not shown to be zero" in many
    assert "not shown to be zero" not in alone, "the only gain is significant"
    assert "No clusters of items are known" in many
    documents = clustered(two, 4)
    assert "clusters like these" in said(documents)
    assert "No clusters" not in said(documents)
    one_by_one = said(documents, unit="item")
    assert ("resampled one by one" in one_by_one, "No clusters" in one_by_one) == (True, False)
    assert "One-sided" in said(two, alternative="greater")
    assert "One-sided" not in alone
    counts = Outputs.from_statistics(np.ones((2, 9, 3), dtype=int), "f1", ["a", "b"])
    assert "The tests are about F1. They do not say" in said(counts)


@pytest.mark.usefixtures("undrawn")
def test_a_page_of_several_says_first_what_none_of_them_shows_and_the_rest_in_each(tmp_path: Path) -> None:
    """A significant gain on single items, and one on documents that is not significant."""
    items, documents = (correlated_accuracies(shares, 120) for shares in ([0.5, 0.9], [0.5, 0.52]))
    found = examine(items), examine(replace(clustered(documents, 4), test_set="documents"))
    Several(found).to_html(tmp_path / "several.html")
    first, second = (set(limits(one)) for one in found)
    texts = re.split(r'<section id="p\d" class="part"', (tmp_path / "several.html").read_text("utf-8"))
    for text, own in zip(texts, (first & second, first - second, second - first), strict=True):
        assert {one for one in first | second if f"<li>{one}</li>" in text} == own != set()


def test_a_page_of_very_many_pairs_has_some_of_them_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The 36 pairs across two distant halves of six systems are the most significant; one of them is neighbours."""
    from simstudy.examination import sections as of_page

    monkeypatch.setattr(charts, "MOST_POINTS", 20)
    monkeypatch.setattr(of_page, "_ALSO_SIGNIFICANT", 36)
    found = examine(correlated_accuracies([*np.linspace(0.1, 0.3, 6), *np.linspace(0.7, 0.9, 6)], 100, seed=1))
    sections = {section.heading: section for section in page_of(found, "c").sections}
    assert sections["Gain against confidence"].figure is not None
    assert sections["Gain against confidence"].figure.chart is None, "the picture has them all"
    assert sections["Pairs"].on_screen is not None
    text, table = sections["Pairs"].on_screen()
    assert "Neighbours by score (11) and the 36 most significant of all 66 pairs; the page would be too large" in text
    assert table is not None
    kept = set(zip(table.rows["system_a"], table.rows["system_b"], strict=True))
    pairs = found.pairs.frame
    strongest = pairs.sort_values(["p_value", "gain"], ascending=[True, False]).head(36)
    expected = pd.concat([strongest, found.neighbours])
    assert kept == set(zip(expected["system_a"], expected["system_b"], strict=True))
    assert len(table.rows) == len(kept) == 11 + 36 - 1


def test_the_page_of_a_folder_is_no_part_of_what_its_manifest_seals(found: Examination, tmp_path: Path) -> None:
    two = examine(Loaded(found.outputs.select(["best", "worst"])))
    two.write(tmp_path / "out")
    index = tmp_path / "out" / "index.html"
    text = index.read_text("utf-8")
    assert 'href="pairs.csv"' in text
    assert verify(tmp_path / "out") == []
    index.unlink()
    assert verify(tmp_path / "out") == [], "a folder is whole without it"
    two.write(tmp_path / "out")
    assert index.read_text("utf-8") == text, "the same bytes again"
    index.write_text("<title>mine</title>", encoding="utf-8")
    assert verify(tmp_path / "out") == ["index.html is not of this run"]
    with pytest.raises(ValueError, match=r"holds index\.html, which is not of an earlier run"):
        two.write(tmp_path / "out")
    assert "mine" in index.read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(("n_systems", "most"), [(60, 2e6), (150, 6e6)])
def test_a_page_of_many_systems_is_not_too_large(n_systems: int, most: float) -> None:
    found = examine(correlated_accuracies(np.linspace(0.5, 0.9, n_systems).tolist(), 2000))
    assert len(html(page_of(found, "c")).encode()) < most


def test_groups_that_meet_at_a_place_lie_in_lanes_of_their_own() -> None:
    """The system at place 3 is in both; a third group lies behind the first one's end, in its lane."""
    groups = pd.DataFrame({"group": [1, 1, 1, 2, 2, 2, 3, 3], "rank": [1, 2, 3, 3, 4, 5, 6, 7]})
    lanes = charts._lanes(groups)
    assert lanes[["first", "last", "lane"]].to_numpy().tolist() == [[0, 2, 0], [2, 4, 1], [5, 6, 0]]
