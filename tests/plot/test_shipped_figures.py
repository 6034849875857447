"""Shipped figures: today's code draws the same of the shipped tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simstudy import plot
from simstudy.running.manifest import MANIFEST, other_versions
from simstudy.running.program_files import shipped_studies
from simstudy.studies import ShippedTables, load_study
from simstudy.studies.written import page_of

RESULTS = Path(__file__).parents[2] / "results"

PROGRAMS = [name for name in shipped_studies() if load_study(name).kind == "program"]


def assert_drawn_as_it_was(name: str, folder: Path, least: bool) -> None:
    """Every curve, mark and word, by the libraries that drew the shipped ones; others may draw a little otherwise."""
    manifest = json.loads((RESULTS / name / MANIFEST).read_text(encoding="utf-8"))
    if told := other_versions(manifest):
        pytest.skip(told)
    page, _ = page_of(load_study(name), ShippedTables.of(RESULTS / name), manifest)
    shipped = {path.stem: path.read_text(encoding="utf-8") for path in (RESULTS / name / "figures").glob("*.svg")}
    drawn = {figure.name: figure for figure in page.drawn}
    assert drawn.keys() == shipped.keys()
    for own in [min(shipped, key=lambda one: len(shipped[one]))] if least else sorted(shipped):
        plot.save(drawn[own].draw().figure, folder / own, formats=["svg"])
        same = (folder / f"{own}.svg").read_text(encoding="utf-8") == shipped[own]
        assert same, f"{own}: simstudy page {name} draws it again"


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_figure_of_each_study_is_drawn_as_it_was(name: str, tmp_path: Path) -> None:
    """The smallest one."""
    assert_drawn_as_it_was(name, tmp_path, least=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", shipped_studies())
def test_figures_of_shipped_studies_are_drawn_as_they_were(name: str, tmp_path: Path) -> None:
    assert_drawn_as_it_was(name, tmp_path, least=False)
