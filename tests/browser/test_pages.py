"""HTML pages in Chromium: what they load, say, sort, filter, copy, light up and print, and for whom."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simstudy.examination import Examination
from simstudy.pages.html import LIBRARIES, OWN_SCRIPTS, SCRIPTS
from simstudy.text.plain_text import csv_cell, shown

pytestmark = pytest.mark.browser

Opened = Callable[..., Any]
KINDS = ["many", "two", "tasks", "two_tasks", "several", "plan", "folder"]
PAIRS = "[data-table]:has(option)"


def cells(page: Any, table: str, column: int) -> list[str]:
    """The visible texts of a column."""
    found: list[str] = page.locator(f"{table} tbody tr").evaluate_all(
        f"(rows) => rows.map((row) => row.children[{column}].innerText)"
    )
    return found


def copied(page: Any, table: str, name: str) -> str:
    page.locator(f"{table} .copying button", has_text=name).click()
    page.locator(f"{table} [role=status]", has_text="Copied").wait_for()
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "how",
    [{}, {"color_scheme": "dark"}, {"viewport": {"width": 390, "height": 844}}, {"java_script_enabled": False}],
    ids=["desktop", "dark", "phone", "no scripts"],
)
def test_a_page_needs_nothing_and_violates_no_rule_of_accessibility(
    opened: Opened, pages: dict[str, Path], kind: str, how: dict[str, Any]
) -> None:
    """The fixture fails where the page asks for a file or the console has a word, such as of a policy violated."""
    page = opened(pages[kind], **how)
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth") if "java_script_enabled" not in how else 0
    assert wide <= 0, "the page is wider than the screen"
    assert page.locator("h1").count() == 1
    if "java_script_enabled" in how:
        assert page.locator("button:visible, select:visible, input:visible").count() == 0
        pictures = page.locator("figure .picture")
        assert pictures.count() == page.locator("figure").count()
        assert all(picture.is_visible() for picture in pictures.all())
        assert page.locator("tbody tr:visible").count() > 0
        return
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe (the extra dev-browser)")
    found = axe.Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found] == []


def test_names_stay_text(opened: Opened, pages: dict[str, Path], many: Examination) -> None:
    page = opened(pages["many"])
    page.locator("#s0 button", has_text="Show").click()
    assert cells(page, "#s0", 0) == [shown(name) for name in many.leaderboard["system"]]
    assert page.evaluate("window.hacked") is None
    assert page.locator("script:not([type])").count() == len(LIBRARIES) + len(SCRIPTS) + len(OWN_SCRIPTS)
    assert page.locator("main img:not(.picture), main iframe, [onload], [onerror]").count() == 0


def test_the_policy_lets_nothing_else_run_or_load(browser: Any, pages: dict[str, Path]) -> None:
    """Nor what something puts into the page: a script, a handler, a style, a picture of some address."""
    page = browser.new_page()
    page.goto(pages["two"].as_uri())
    violated = page.evaluate("""async () => {
        const found = [];
        document.addEventListener("securitypolicyviolation", (event) => found.push(event.effectiveDirective));
        for (const [name, properties] of [["script", { textContent: "window.hacked = 1" }],
            ["style", { textContent: "body { display: none }" }], ["img", { src: "https://example.org/x.png" }]]) {
            document.body.append(Object.assign(document.createElement(name), properties));
        }
        document.body.insertAdjacentHTML("beforeend", "<b onclick='window.hacked = 1'>x</b>");
        document.body.lastChild.click();
        await new Promise((done) => setTimeout(done, 300));
        return found.sort();
    }""")
    assert violated == ["img-src", "script-src-attr", "script-src-elem", "style-src-elem"]
    assert page.evaluate("window.hacked") is None
    page.close()


def test_a_table_sorts_filters_and_grows(opened: Opened, pages: dict[str, Path], many: Examination) -> None:
    page = opened(pages["many"])
    pairs = many.pairs.frame
    assert len(cells(page, PAIRS, 0)) == 15
    heading = page.locator(f"{PAIRS} thead th", has_text="gain")
    gains = sorted(pairs["gain"])
    for direction, expected in (("ascending", gains), ("descending", gains[::-1])):
        heading.locator("button").click()
        assert heading.get_attribute("aria-sort") == direction
        assert cells(page, PAIRS, 3) == [f"{gain:.2f}" for gain in expected[:15]]
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "none"
    assert page.locator(f"{PAIRS} .count").inner_text() == f"15 of {len(pairs)} rows"
    page.locator(f"{PAIRS} input").fill("SYSTEM-3 same")
    own = pairs[(pairs[["system_a", "system_b"]] == "system-3").any(axis=1) & (pairs["relation"] == "same group")]
    page.locator(f"{PAIRS} .count", has_text="match").wait_for()
    assert page.locator(f"{PAIRS} .count").inner_text() == f"{len(own)} rows that match, of {len(pairs)}"
    assert len(cells(page, PAIRS, 0)) == len(own)
    page.locator(f"{PAIRS} input").fill("")
    for _ in range(2):
        page.locator(f"{PAIRS} .below button", has_text="Show").first.click()
    assert len(cells(page, PAIRS, 0)) == len(pairs)


def test_tables_are_copied_and_downloaded_as_they_are_filtered(
    opened: Opened, pages: dict[str, Path], many: Examination
) -> None:
    page = opened(pages["many"])
    board = many.leaderboard
    lines = [line.split("\t") for line in copied(page, "#s0", "TSV").rstrip("\n").split("\n")]
    assert lines[0][:2] == ["system", "score"]
    assert [line[0] for line in lines[1:]] == [csv_cell(shown(name)) for name in board["system"]]
    assert [line[1] for line in lines[1:]] == [f"{score:.2f}" for score in board["score"]]
    in_markdown = copied(page, "#s0", "Markdown").splitlines()
    assert in_markdown[1].startswith("| --- | ---: |")
    assert len(in_markdown) == len(board) + 2
    (awkward,) = (line for line in in_markdown if "a & b" in line.replace("\\", ""))
    assert awkward.startswith("| a \\& b \\| c\\_d \\$x\\$ 50 % |")
    assert len(re.findall(r"(?<!\\)\|", awkward)) == len(re.findall(r"\|", in_markdown[1])), "a cell ends no column"
    in_latex = copied(page, "#s0", "LaTeX")
    assert in_latex.startswith("\\begin{tabular}{lr")
    assert in_latex.endswith("\\bottomrule\n\\end{tabular}\n")
    assert "a \\& b \\textbar{} c\\_d \\$x\\$ 50\\,\\% & " in in_latex
    assert "\\{\\{ 7 * 7 \\}\\} & " in in_latex
    signs = re.findall(r"(\$-\$|-)\d+\.\d\d to ", copied(page, PAIRS, "LaTeX"))
    assert len(signs) == (many.pairs["gain_low"] <= -0.005).sum() > 0
    assert {*signs} == {"$-$"}, "a hyphen is no minus sign"
    page.locator("#s0 input").fill("hyperlink")
    page.locator("#s0 .count", has_text="1 row that").wait_for()
    with page.expect_download() as download:
        page.locator("#s0 button", has_text="Download").click()
    assert download.value.suggested_filename == "systems.csv"
    header, row = csv.reader(io.StringIO(Path(download.value.path()).read_text("utf-8")))
    own = dict(zip(header, row, strict=True))
    expected = board[board["system"] == "=HYPERLINK(1)"].iloc[0]
    assert own["system"] == "'=HYPERLINK(1)"
    for name in ("score", "score_low", "score_high"):
        assert float(own[name]) == pytest.approx(expected[name], rel=1e-5)


def test_a_pair_is_named_and_its_systems_pairs_light_up(
    opened: Opened, pages: dict[str, Path], many: Examination
) -> None:
    page = opened(pages["many"])
    chart = page.locator(".chart.gain_confidence")
    dots = chart.locator("[data-mark=dot] circle")
    n_dots = dots.count()
    pairs = many.pairs.frame
    assert n_dots <= len(pairs)
    dots.nth(n_dots // 2).scroll_into_view_if_needed()
    box = dots.nth(n_dots // 2).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tip = chart.locator(".tip")
    tip.wait_for()
    said = chart.locator(".told").inner_text()
    (row,) = (
        row for row in pairs.itertuples() if said.startswith(f"{shown(row.system_a)} over {shown(row.system_b)};")
    )
    assert f"gain {row.gain:.2f}" in said
    assert tip.inner_text().splitlines()[0] == f"{shown(row.system_a)} over {shown(row.system_b)}"
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    own = shown(row.system_a)
    assert page.locator(f"{PAIRS} select").input_value() == own
    others = sum(own in (shown(a), shown(b)) for a, b in zip(pairs["system_a"], pairs["system_b"], strict=True))
    assert page.locator(f"{PAIRS} .count").inner_text() == f"15 of {others} rows that match, of {len(pairs)}"
    assert all(own in names for names in zip(cells(page, PAIRS, 0), cells(page, PAIRS, 1), strict=True))
    lit = chart.locator("[data-mark=dot]").nth(1).locator("circle").count()
    assert 0 < lit <= others
    # The name in the leaderboard does the same, and a second time it takes the light away.
    page.locator("#s0 tbody button", has_text=own).click()
    assert page.locator(f"{PAIRS} select").input_value() == ""


def test_the_keyboard_alone_sorts_and_reads_a_chart(opened: Opened, pages: dict[str, Path], many: Examination) -> None:
    page = opened(pages["many"])
    for _ in range(400):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('thead') !== null"):
            break
    page.keyboard.press("Enter")
    assert page.locator("th[aria-sort=ascending]").count() == 1
    assert cells(page, "#s0", 0)[0] != shown(many.leaderboard["system"].iloc[0])
    for _ in range(400):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName === 'svg'"):
            break
    told = page.locator(".chart.gain_confidence .told")
    page.keyboard.press("ArrowRight")
    closest = many.pairs.frame["gain"].min()
    assert f"gain {closest:.2f}" in told.inner_text()
    page.keyboard.press("Escape")
    assert told.inner_text().startswith("Point at a pair")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"


def test_a_page_prints_its_tables_and_no_controls(opened: Opened, pages: dict[str, Path]) -> None:
    page = opened(pages["many"])
    page.emulate_media(media="print")
    assert page.locator(".controls:visible, nav:visible, .told:visible, thead button:visible").count() == 0
    page.emulate_media(media="screen")
    printed = page.pdf(format="A4")
    n_pages = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert 6 <= n_pages <= 40, "325 pairs, some with long names, and five figures"
    assert page.locator(f"{PAIRS} tbody tr").count() == 15, "the screen is as it was"


def test_a_light_page_is_light_and_a_dark_one_dark(opened: Opened, pages: dict[str, Path]) -> None:
    for scheme, dark in (("light", False), ("dark", True)):
        page = opened(pages["plan"], color_scheme=scheme)
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        ink = page.locator(".chart svg").first.evaluate("(svg) => getComputedStyle(svg).color")
        paper, letters = (sum(map(int, re.findall(r"\d+", colour)[:3])) / 3 for colour in (background, ink))
        assert (paper < 40, letters > 200) == (dark, dark)
        assert (paper > 240, letters < 60) == (not dark, not dark)


def test_the_data_of_a_page_are_the_tables_of_the_examination(
    opened: Opened, pages: dict[str, Path], many: Examination
) -> None:
    """What scripts read: names with all their letters, and numbers to six digits."""
    page = opened(pages["many"])
    rows = json.loads(
        page.evaluate("""JSON.stringify((() => {
        const { data, column } = window.simstudyPage;
        const found = Object.values(data.tables).find((table) => table.pair);
        return Object.fromEntries(found.names.map((name, k) => [name, column(found.values[k])]));
    })())""")
    )
    pairs = many.pairs.frame.set_index(["system_a", "system_b"])
    assert len(rows["gain"]) == len(pairs)
    for k, names in enumerate(zip(rows["system_a"], rows["system_b"], strict=True)):
        own = pairs.loc[names]
        for name in ("gain", "gain_low", "gain_high", "p_value", "p_holm", "p_bh", "wins", "losses"):
            assert rows[name][k] == pytest.approx(own[name], rel=1e-5), name
