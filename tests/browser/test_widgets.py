"""What a reader tries in Chromium: two systems item by item, and smaller test sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simstudy as ss
from simstudy.examination import Examination
from simstudy.examination.several import Several
from simstudy.text.plain_text import shown

pytestmark = pytest.mark.browser

Opened = Callable[..., Any]

ATTACK = "<script>window.hacked = 1</script> & <img src=x onerror=window.hacked=1>"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Examination:
    """Four systems with texts; on the first item each says something that is markup, and on the second much."""
    folder = tmp_path_factory.mktemp("told")
    rng = np.random.default_rng(5)
    gold = [" ".join(rng.choice(list("abcdefgh"), 12)) for _ in range(160)]
    for k in range(4):
        lines = []
        for text in gold:
            words = text.split()
            for at in np.flatnonzero(rng.random(12) < 0.1 + 0.12 * k):
                words[at] = f"x{k}"
            lines.append(" ".join(words))
        lines[0] = f"{ATTACK} {k}" if k else gold[0]
        lines[1] = gold[1] if k else "z " * 5000
        (folder / f"system{k}.txt").write_text("\n".join(lines) + "\n")
    (folder / "ref").write_text("\n".join(gold) + "\n")
    return ss.examine([folder / f"system{k}.txt" for k in range(4)], "bleu", references=folder / "ref")


@pytest.fixture(scope="module")
def path(told: Examination, tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("page") / "told.html"
    told.to_html(found)
    return found


def browser_of(page: Any) -> Any:
    return page.locator("section", has=page.get_by_role("heading", name="Where they differ", exact=True))


def choose(box: Any, one: str, other: str) -> None:
    box.locator("select").nth(0).select_option(one)
    box.locator("select").nth(1).select_option(other)


def test_any_two_systems_have_the_items_of_deciding_items(opened: Opened, path: Path, told: Examination) -> None:
    """In either order; wins and losses apart; the numbers are those of all items."""
    box = browser_of(opened(path))
    for one, other in (("system0", "system3"), ("system3", "system1")):
        choose(box, one, other)
        found = told.deciding_items(one, other, 200)
        rows = found.items.set_index("id")
        counts = found.counts.iloc[0]
        buttons = box.locator(".filters button").all_inner_texts()
        assert buttons == [
            f"All {counts['wins'] + counts['losses']} that differ", f"{counts['wins']} wins of {one}",
            f"{counts['losses']} losses",
        ]  # fmt: skip
        for which, sign in (("wins", 1), ("losses", -1)):
            box.locator(".filters button", has_text=which).click()
            expected = rows[np.sign(rows["contribution"]) == sign]
            ids = box.locator(".items strong").all_inner_texts()
            assert ids == [str(name) for name in expected.index[: len(ids)]]
            assert len(ids) == min(5, len(expected))
            first = box.locator(".items > li").first
            assert f"{abs(expected['contribution'].iloc[0]):.2f}" in first.locator(".contribution").inner_text()
            said = first.locator(".both blockquote").all_inner_texts()
            whole = [" ".join(str(expected[f"answer_{end}"].iloc[0]).split()) for end in "ab"]
            assert [" ".join(text.split())[:3000] for text in said] == [text[:3000] for text in whole]
        box.locator(".filters button", has_text="All").click()


def test_texts_stay_text_and_long_ones_are_cut_with_a_mark(opened: Opened, path: Path) -> None:
    page = opened(path)
    box = browser_of(page)
    choose(box, "system0", "system1")
    while box.get_by_role("button", name="Show more").is_visible():
        box.get_by_role("button", name="Show more").click()
    assert f"{ATTACK} 1" in box.inner_text()
    long = box.locator(".said", has_text="Cut here: the whole text has 10,000 characters.")
    assert long.count() == 1
    before = long.locator("blockquote").bounding_box()["height"]
    long.get_by_role("button", name="Show all 4,000 characters").click()
    assert long.locator("blockquote").bounding_box()["height"] > 5 * before
    assert page.evaluate("window.hacked") is None


def test_differing_words_are_marked(opened: Opened, path: Path) -> None:
    box = browser_of(opened(path))
    choose(box, "system1", "system2")
    marks = [text for text in box.locator("mark").all_inner_texts() if text.startswith("x")]
    assert {"x1", "x2"} <= {*marks}
    item = box.locator(".items > li", has=box.page.locator("mark")).first
    for k, name in enumerate(("x1", "x2")):
        side = item.locator(".both .said").nth(k)
        assert all(
            name not in text
            for text in side.locator("blockquote").evaluate(
                "(node) => [...node.childNodes].filter((one) => one.nodeName === '#text').map((one) => one.textContent)"
            )
        )


def test_a_row_of_pairs_leads_to_its_items_and_so_does_an_address(
    opened: Opened, path: Path, told: Examination
) -> None:
    page = opened(path)
    names = told.leaderboard["system"].tolist()
    link = page.get_by_role("link", name=f"Items that decide between {names[1]} and {names[3]}")
    link.click()
    box = browser_of(page)
    box.locator("select:focus").wait_for()
    assert [box.locator("select").nth(k).input_value() for k in (0, 1)] == [names[1], names[3]]
    box.get_by_role("button", name="Swap").click()
    assert page.url.endswith("#items?a=3&b=1")
    page.goto("about:blank")
    page.goto(f"{path.as_uri()}#items?a=2&b=0")
    assert browser_of(page).locator("select").first.input_value() == names[2]
    for nonsense in ("#items?a=9&b=0", "#items?a=1&b=1", "#items?a=<b>&b=0"):
        page.evaluate(f"location.hash = {nonsense!r}")
    assert browser_of(page).locator("select").first.input_value() == names[2]


def test_the_slider_tells_each_size(opened: Opened, path: Path, told: Examination) -> None:
    """With the keyboard from all items down to the fewest."""
    page = opened(path)
    section = page.locator("section", has=page.get_by_role("heading", name="Smaller test sets", exact=True))
    slider = section.get_by_role("slider")
    slider.focus()
    for row in told.sizes.itertuples():
        said = (
            f"On the first {row.n_items} items: {row.significant_holm} of 6 pairs significant (Holm), "
            f"{row.significant} without correction."
        )
        assert section.locator("output").inner_text() == said
        assert slider.get_attribute("aria-valuetext") == said
        slider.press("ArrowLeft")
    assert section.locator("svg").count() == 2
    scores = told.by_size.scores[-1]
    for score in scores:
        assert f"{score:.2f}" in section.locator("svg").nth(1).text_content()


def test_of_two_systems_the_slider_has_the_gain(opened: Opened, told: Examination, tmp_path: Path) -> None:
    found = ss.examine(told.outputs.select(["system0", "system1"]))
    found.to_html(tmp_path / "two.html")
    page = opened(tmp_path / "two.html")
    section = page.locator("section", has=page.get_by_role("heading", name="Smaller test sets", exact=True))
    section.get_by_role("slider").press("Home")
    row = found.sizes.iloc[-1]
    assert (
        section.locator("output")
        .inner_text()
        .startswith(f"On the first {row['n_items']:.0f} items: gain {row['gain']:.2f}")
    )


def test_without_scripts_the_tables_of_the_first_two_stand_there(opened: Opened, path: Path, told: Examination) -> None:
    page = opened(path, java_script_enabled=False)
    box = browser_of(page)
    names = told.leaderboard["system"].tolist()
    rows = told.deciding_items(*names[:2], 10).items
    assert box.locator("tbody tr th").all_inner_texts() == [shown(name) for name in rows["id"]]
    assert box.locator("select").count() == 0


def test_parts_of_a_page_have_items_of_their_own(opened: Opened, told: Examination, tmp_path: Path) -> None:
    found = Several((told, ss.examine(replace(told.outputs.head(80).select(["system2", "system3"]), test_set="half"))))
    found.to_html(tmp_path / "several.html")
    page = opened(tmp_path / "several.html")
    boxes = page.locator(".widget.drawn")
    assert boxes.count() == 2
    page.get_by_role("link", name="Items that decide between").last.click()
    assert page.url.split("#")[1].startswith("items?in=p")
    boxes.nth(1).locator("select:focus").wait_for()


@pytest.mark.parametrize(
    "how", [{}, {"color_scheme": "dark"}, {"viewport": {"width": 390, "height": 844}}], ids=["desktop", "dark", "phone"]
)
def test_the_widgets_violate_no_rule_of_accessibility(opened: Opened, path: Path, how: dict[str, Any]) -> None:
    page = opened(path, **how)
    choose(browser_of(page), "system0", "system2")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, "wider than the screen"
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe (the extra dev-browser)")
    found = axe.Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found] == []
