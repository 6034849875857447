"""Tables as files: those of a million rows are written some rows at a time, and say the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy import plot
from simstudy.notes import note
from simstudy.pages import report, tables
from simstudy.pages.sections import Figure, Section
from simstudy.running.folders import results_folder
from simstudy.text.formulas import without_formulas


@pytest.mark.parametrize("first", ["plain", "=1+1"])
def test_a_table_in_another_order_is_written_as_if_it_were_sorted(
    first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seven rows, three at a time; at most one of them begins like a formula."""
    monkeypatch.setattr(tables, "_TOGETHER", 3)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"system": [first, *"bcdef", None], "p_value": rng.integers(0, 3, 7) / 7, "n": rng.integers(0, 9, 7)}
    )
    order = np.argsort(table["p_value"].to_numpy(), kind="stable")
    by_hand = table.sort_values("p_value", kind="stable", ignore_index=True)
    if first == "=1+1":
        by_hand["system"] = by_hand["system"].replace("=1+1", "'=1+1")
    tables.write_tables({"parts": tables.InOrder(table, order)}, tmp_path)
    lines = (tmp_path / "parts.csv").read_text().splitlines()
    assert lines == ["system,p_value,n"] + [
        f"{row.system if isinstance(row.system, str) else ''},{row.p_value:.6g},{row.n}" for row in by_hand.itertuples()
    ]
    assert without_formulas(table) is table or first == "=1+1"


def page_of(**changed: Any) -> report.Page:
    parts: dict[str, Any] = {"title": "T", "question": "Q?", "command": "c", "facts": {}, "sections": [], "tables": {}}
    return report.Page(**{**parts, "closing": "End.", **changed})


def test_a_page_says_what_was_asked_and_run_and_counts_the_rows_of_its_tables(tmp_path: Path) -> None:
    tables = {f"of_{n}": pd.DataFrame({"x": range(n)}) for n in (0, 1, 1200)}
    facts = {"Items": "3 *", "One": ["a|b"], "Two": ["a|b", "c"]}
    page = page_of(title="A *title*", command="simstudy `x`", facts=facts, tables=tables, closing="# End")
    assert report.page_text(page) == (
        "# A \\*title\\*\n\nQ?\n\n"
        "Made by `` simstudy `x` ``; `manifest.json` has every setting and version.\n\n"
        "- **Items**: 3 \\*\n- **One**: `a|b`\n- **Two**:\n  - `a|b`\n  - `c`\n\n"
        "## Tables\n\n"
        "- [of_0.csv](of_0.csv): 0 rows\n- [of_1.csv](of_1.csv): 1 row\n- [of_1200.csv](of_1200.csv): 1,200 rows\n\n"
        "\\# End\n"
    )


def test_tables_and_figures_have_names_of_files() -> None:
    with pytest.raises(ValueError, match="a/b"):
        page_of(tables={"a/b": pd.DataFrame()})
    with pytest.raises(ValueError, match="c d"):
        page_of(sections=[Section("H", "T", figure=Figure("c d", lambda: None))])


@pytest.mark.parametrize(("name", "cell"), [("x", "a"), ("=x", "a"), ("x", "=a")])
def test_a_page_says_where_its_files_have_apostrophes(name: str, cell: str, tmp_path: Path) -> None:
    tables = {"t": pd.DataFrame({name: [cell]})}
    report.write_tables(tables, tmp_path)
    marked = "=" in name + cell
    ordered = {"t": report.InOrder(tables["t"], np.array([0]))}
    for given in (tables, ordered):
        assert ("an apostrophe goes before text" in report.page_text(page_of(tables=given))) == marked
    assert ("'=" in (tmp_path / "t.csv").read_text(encoding="utf-8")) == marked


def test_a_folder_says_what_its_figures_are_of_and_which_a_paper_has_no_room_for(tmp_path: Path) -> None:
    """Figures of a paper are as high as a page at most. A table that is there already stays."""

    def drawn(height: float, told: str) -> Callable[[], Any]:
        def draw() -> Any:
            note("text", text=told)
            figure, _ = plot.panels(["one"])
            figure.set_size_inches(12, height)
            return figure

        return draw

    figures = {"wide": (3, True), "tall": (9.1, True), "no_room": (3, False)}
    sections = [
        Section(name, "T", figure=Figure(name, drawn(height, f"note of {name}"), in_papers=fits))
        for name, (height, fits) in figures.items()
    ]
    tables = {name: pd.DataFrame({"x": [0.1234567]}) for name in ("there", "new")}
    page = page_of(sections=sections, tables=tables, paper={"a.tex": "A"}, paper_figures="pdf", data="exam, 9 items",
                   of_files="Of files.", place="here", links={"More": "more/README.md"})  # fmt: skip
    with results_folder(tmp_path / "out", "a test") as results:
        (results.gathered / "there.csv").write_text("y\n")
        report.write_results(results, page, {"asked": {}}, {})
    names = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.*")}
    assert {name for name in names if name.startswith("paper/")} == {"paper/a.tex", "paper/wide.pdf"}
    files = [(tmp_path / "out" / name).read_text() for name in ("there.csv", "new.csv")]
    assert files == ["y\n", "x\n0.123457\n"]
    text = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "Made by `c` here; " in text
    assert "## Pages\n\n- [More](more/README.md)\n\n## Tables" in text
    assert text.endswith(
        "Note: note of wide.\n\nFor a paper: the folder paper has tables and sentences, in LaTeX and Markdown, and "
        "what they cite.\n\nNot among the figures for a paper, which has no room for so many rows: tall, no_room.\n\n"
        "End. Of files.\n"
    )
    for name in figures:
        assert "exam, 9 items" in (tmp_path / "out" / "figures" / f"{name}.svg").read_text("utf-8")
