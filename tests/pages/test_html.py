"""HTML pages as files: what is text stays text, what runs is what the policy names, and nothing is loaded."""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy import plot
from simstudy.files.whole import is_ours
from simstudy.pages import html
from simstudy.pages.html_data import table_data
from simstudy.pages.report import Page
from simstudy.pages.sections import Chart, Column, Figure, Section, Table, Widget
from tests.browser.made import ATTACKS

ASSETS = Path(html.__file__).parent / "assets"

NUMBERS = np.array([1.0, np.nan, 1234.5678, 1e-9, -0.5, 2.0, 3.0, 4.0, 5.0, 6.0])


def drawn() -> Any:
    return plot.panels(["one"])[0].axes[0]


class Parts(HTMLParser):
    """Tags with their attributes, scripts and styles with their texts, and the text that people see."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[tuple[str, dict[str, str | None], str]] = []
        self.shown = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        tag, attributes = self.tags[-1] if self.tags else ("", {})
        if tag in ("script", "style") and self.cdata_elem:
            self.inside.append((tag, attributes, data))
        else:
            self.shown += data


def page_of(**changed: Any) -> Page:
    table = Table(
        pd.DataFrame({"system": ATTACKS, "score": NUMBERS, "p": ["< 0.1"] * 10, "p_value": NUMBERS / 1e6}),
        {
            "system": "{system:name}",
            "score": Column("{score:.2f}", missing="none"),
            "p": Column("{p}", source="p_value"),
        },
    )
    chart = Chart("intervals", {"rows": pd.DataFrame({"name": ATTACKS, "gain": NUMBERS})}, {"x": ATTACKS[0]})
    figure = Figure("one", drawn, chart=lambda: chart, alt=ATTACKS[2])
    parts: dict[str, Any] = {
        "title": ATTACKS[0], "question": ATTACKS[1], "command": ATTACKS[2], "facts": {ATTACKS[4]: ATTACKS[3]},
        "sections": [Section(ATTACKS[1], ATTACKS[0], figure=figure, table=table)], "tables": {}, "closing": ATTACKS[6],
        "headline": ATTACKS[0], "answer": ATTACKS[:3], "limits": ATTACKS[:3], "notes": ATTACKS[:3],
    }  # fmt: skip
    return Page(**{**parts, **changed})


@pytest.fixture(scope="module")
def made() -> Parts:
    return Parts(html.html(page_of()))


def test_names_are_text_and_never_markup(made: Parts) -> None:
    tags = [tag for tag, _ in made.tags]
    assert tags.count("script") == 1 + len(html.LIBRARIES) + len(html.SCRIPTS), (
        "the data, libraries and scripts of ours"
    )
    assert tags.count("img") == 1
    assert not {"iframe", "object", "embed", "form", "base", "link"} & set(tags)
    assert not [name for _, attributes in made.tags for name in attributes if name.startswith("on") or name == "style"]
    for name in ATTACKS:
        assert name[:60].split("\n")[0].split("\u202e")[-1].split("\u2066")[0] in made.shown
    assert "\u202e" not in made.shown
    assert "⟨U+202E⟩gnp.exe" in made.shown
    assert "49" not in re.findall(r"\b49\b", made.shown), "no template is filled in"
    assert next(attributes["alt"] for tag, attributes in made.tags if tag == "img") == ATTACKS[2]


def test_nothing_is_loaded(made: Parts) -> None:
    addresses = [value for _, attributes in made.tags for name in ("src", "href") if (value := attributes.get(name))]
    assert addresses
    assert all(address.startswith(("data:", "#")) for address in addresses)
    assert "@import" not in "".join(text for _, _, text in made.inside)
    assert "url(" not in "".join(text for tag, _, text in made.inside if tag == "style")


def test_the_policy_names_the_scripts_and_styles_of_the_file_and_no_other(made: Parts) -> None:
    (policy,) = [
        attributes["content"] for _, attributes in made.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]  # fmt: skip
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert {name: rules[name] for name in ("default-src", "img-src", "base-uri", "form-action")} == {
        "default-src": "'none'", "img-src": "data:", "base-uri": "'none'", "form-action": "'none'",
    }  # fmt: skip

    def hashes(texts: list[str]) -> set[str]:
        return {f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in texts}

    scripts = [text for tag, attributes, text in made.inside if tag == "script" and "type" not in attributes]
    styles = [text for tag, _, text in made.inside if tag == "style"]
    assert len(scripts) == len(html.LIBRARIES) + len(html.SCRIPTS)
    assert set(rules["script-src"].split()) == hashes(scripts)
    # Observable Plot adds one style, of which the name of the class is ours.
    assert set(rules["style-src"].split()) == hashes([*styles, html.PLOT_STYLE])
    library = (ASSETS / "plot.umd.min.js").read_text("utf-8")
    assert re.sub(r"\.plot\b", ".${c}", html.PLOT_STYLE).replace("\n", r"\n") in library


def test_the_data_are_the_names_and_numbers_of_the_tables(made: Parts) -> None:
    (text,) = [text for tag, attributes, text in made.inside if attributes.get("id") == "simstudy-data"]
    assert not set("<>&\u2028\u202e") & set(text)
    data = json.loads(text)
    assert data["charts"]["s0"]["tables"]["rows"]["name"] == ATTACKS
    assert data["charts"]["s0"]["settings"] == {"x": ATTACKS[0]}
    table = data["tables"]["s0"]
    assert (table["head"], table["names"]) == (["system", "score", "p"], ["system", "score", "p_value"])
    assert table["values"][0] == ATTACKS
    assert table["values"][1] == [1, None, 1234.57, 1e-9, -0.5, 2, 3, 4, 5, 6]
    assert table["values"][2][2] == 0.00123457
    assert table["text"][1][:3] == ["1.00", "none", "1234.57"]
    assert table["text"][2] == {"of": ["< 0.1"], "at": [0] * 10}
    assert (table["by"], table["numeric"], table["system"]) == ([None, 1, 2], [False, False, True], 0)


def test_a_table_of_pairs_is_told_to_scripts_column_by_column() -> None:
    rows = pd.DataFrame({"system_b": [*"xyxy"], "system_a": [*"pqrs"], "gain": [0.12345678, 2.0, np.nan, -1e-9],
                         "low": [9.0] * 4, "n": pd.array([1, None, 3, 4], dtype="Int64"),
                         "exact": [True, False, True, True]})  # fmt: skip
    columns: dict[str, str | Column] = {"worse": "{system_b}", "better": "{system_a}", "n": "{n}"}
    more = {"gain": Column("{gain:.2f}[ ({low:.1f})]"), "exact": Column("{exact:yes}"), "none": Column("")}
    data = table_data(Table(rows, columns | more))
    assert data == {
        "head": ["worse", "better", "n", "gain", "exact", "none"], "numeric": [False, False, True, True, False, False],
        "text": [{"of": ["x", "y"], "at": [0, 1, 0, 1]}, [*"pqrs"], ["1", "", "3", "4"],
                 ["0.12 (9.0)", "2.00 (9.0)", "", "-0.00 (9.0)"], {"of": ["yes", ""], "at": [0, 1, 0, 0]},
                 {"of": [""], "at": [0] * 4}],
        "names": ["system_b", "system_a", "n", "gain", "low", "exact"], "by": [None, None, 2, 3, None, None],
        "values": [{"of": ["x", "y"], "at": [0, 1, 0, 1]}, [*"pqrs"], [1, None, 3, 4], [0.123457, 2, None, -1e-9],
                   [9] * 4, [True, False, True, True]], "pair": [1, 0], "system": None,
    }  # fmt: skip
    wide = table_data(Table(rows, {"n": "{n}"}, across="system_b", cell="{gain}"))
    assert [wide[name] for name in ("names", "values", "by", "pair")] == [["n", "x", "y"], None, [None] * 3, None]


def test_a_page_in_a_folder_links_its_files_and_has_its_figures_from_there(tmp_path: Path) -> None:
    """A picture is one of pixels if the drawing is large and these are smaller."""
    (tmp_path / "figures").mkdir()
    kinds = {"small": (5, 2, "svg"), "large": (200_000, 9, "png"), "both": (200_000, 200_001, "svg")}
    for name, (drawing, pixels, _) in kinds.items():
        for kind, size in (("svg", drawing), ("png", pixels)):
            (tmp_path / "figures" / f"{name}.{kind}").write_bytes(f"{name} {kind}".encode().ljust(size))
    sections = [Section(name, "First. Then.", figure=Figure(name, lambda: None)) for name in kinds]
    page = page_of(
        sections=sections, tables={"t": pd.DataFrame({"x": [1]})}, links={"A": "a/README.md", "B": "b.csv"},
        of_files="Of files.", facts={"Note": "noted", "Items": "3"}, notes=["noted"], closing="The end.",
    )  # fmt: skip
    made = Parts(html.html(page, tmp_path))
    images = [attributes for tag, attributes in made.tags if tag == "img"]
    assert [one["alt"] for one in images] == [f"{name}. First." for name in kinds]
    for image, (name, (*_, kind)) in zip(images, kinds.items(), strict=True):
        start, content = str(image["src"]).split(";base64,")
        assert start == f"data:image/{'svg+xml' if kind == 'svg' else kind}"
        assert b64decode(content).startswith(f"{name} {kind}".encode())
    links = [attributes["href"] for tag, attributes in made.tags if tag == "a"]
    assert links == ["#content", "a/index.html", "b.csv", "t.csv"]
    assert all(text in made.shown for text in ("t.csv: 1 row", "Of files.", "The end."))
    assert (made.shown.count("noted"), made.shown.count("Items")) == (1, 1)
    assert "Observable Plot" not in made.shown
    widget = Section("S", "T", widget=lambda: Widget("items", {"x": [1]}))
    scripts = [text for tag, _, text in Parts(html.html(page_of(sections=[widget]))).inside if tag == "script"]
    assert [(ASSETS / name).read_text("utf-8") in scripts for name in ("items.js", "sizes.js")] == [True, False]


@pytest.mark.parametrize(
    ("texts", "numeric"),
    [
        (["1", "-2.5", "< 0.001", "3.1 %"], True), (["1–2", "3/4", "1.0 to 2.0", "1.0 (0.5–2)"], True),
        (["1,234", ""], True), (["", " "], False), (["GPT-4", "5"], False), (["4o-mini", "2"], False),
        (["3 systems", "1"], True), (["2024-01-01", "1"], False),
    ],
)  # fmt: skip
def test_columns_of_numbers_are_told_from_names(texts: list[str], numeric: bool) -> None:
    assert table_data(Table.of_text(pd.DataFrame({"x": texts})))["numeric"] == [numeric]


def test_a_page_without_scripts_has_the_first_rows_and_says_how_many_there_are() -> None:
    table = Table(pd.DataFrame({"x": range(1200)}), {"x": "{x}"})
    text = html.html(page_of(sections=[Section("S", "T", table=table)]))
    assert text.count('<th scope="row"') == 50
    assert "50 of 1,200 rows" in text
    made = Parts(text)
    n_scripts = [tag for tag, _ in made.tags].count("script")
    assert n_scripts == 1 + len(html.SCRIPTS), "no libraries where nothing is drawn"


def test_an_html_page_has_a_text_and_a_table_of_its_own() -> None:
    section = Section("S", "of Markdown", on_screen=lambda: ("of a screen", Table.of_text(pd.DataFrame({"x": ["y"]}))))
    shown = Parts(html.html(page_of(sections=[section], title="T", headline="", answer=[], closing="", facts={},
                                    limits=[], notes=[], command="c", question="Q?"))).shown  # fmt: skip
    assert "of a screen" in shown
    assert "of Markdown" not in shown
    assert "Q?" in shown, "without a headline the question is at the top"


def test_parts_are_left_out_and_named_where_the_file_would_be_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {name: page_of(title=name, limits=["shared", name]) for name in ("first", "second", "third")}
    whole = html.html(page_of(parts=parts, sections=[], limits=["shared"]))
    assert "Left out" not in whole
    made = Parts(whole)
    assert made.shown.count("shared") == 1
    (data,) = [json.loads(text) for _, attributes, text in made.inside if attributes.get("id") == "simstudy-data"]
    assert [*data["tables"]] == [*data["charts"]] == ["p0s0", "p1s0", "p2s0"], "each part has its own"
    of_one = (len(whole) - len(html.html(page_of(sections=[], limits=["shared"])))) / 3
    # Two of the three, with the libraries that a page without charts does not have.
    libraries = sum((ASSETS / name).stat().st_size for name in html.LIBRARIES) / 3
    monkeypatch.setattr(html, "_MOST_OF_PARTS", 2.2 * (of_one - libraries))
    assert "too large: third. A folder" in html.html(page_of(parts=parts, sections=[]))


def test_only_pages_of_simstudy_are_written_over(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    for title in ("first", "second"):
        html.write_html(page_of(title=title), path)
        assert f"<title>{title}</title>" in path.read_text("utf-8")
    assert is_ours(path)
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"], "no temporary file is left"
    path.write_text("<!DOCTYPE html><title>mine</title>", encoding="utf-8")
    with pytest.raises(ValueError, match="page that simstudy wrote, but .*page.html is another file"):
        html.write_html(page_of(), path)
    assert "mine" in path.read_text("utf-8")
    with pytest.raises(ValueError, match=r"end in \.html or \.htm, not '.*page.txt'"):
        html.write_html(page_of(), tmp_path / "page.txt")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(ValueError, match="must be a file, but .*folder.html is a folder"):
        html.write_html(page_of(), tmp_path / "folder.html")


def test_what_is_shipped_is_named_with_version_and_licence() -> None:
    told = (ASSETS / "README.md").read_text("utf-8")
    for name, licence in (("d3.min.js", "LICENSE.d3.txt"), ("plot.umd.min.js", "LICENSE.plot.txt")):
        banner = (ASSETS / name).read_text("utf-8")[:100]
        version = re.search(r"v(\d+\.\d+\.\d+)", banner)
        assert version is not None
        (row,) = [line for line in told.splitlines() if f"`{name}`" in line and "ISC" in line]
        assert f"| {version[1]} |" in row
        assert f"`{licence}`" in row
        assert "PROVIDED" in (ASSETS / licence).read_text("utf-8")
    listed = set(re.findall(r"`([\w.]+)`", told))
    assert {*html.SCRIPTS, *html.LIBRARIES, *html.STYLES} <= listed
