"""Shipped figures: today's code draws the same of the shipped tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simstudy import plot
from simstudy.running.folders import MANIFEST, other_versions
from simstudy.running.program_files import shipped_studies
from simstudy.studies import ShippedTables, load_study
from simstudy.studies.written import page_of

RESULTS = Path(__file__).parents[2] / "results"

# Studies whose figures alone take seconds, and studies that are no programs: they share what draws them.
SLOW = {"berg_kirkpatrick_2012", "error_rates", "urbano_2019"} | {
    name for name in shipped_studies() if load_study(name).kind != "program"
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else []) for name in shipped_studies()]
)
def test_figures_of_shipped_studies_are_drawn_as_they_were(name: str, tmp_path: Path) -> None:
    """Every curve, mark and word, by the libraries that drew the shipped ones; others may draw a little otherwise."""
    manifest = json.loads((RESULTS / name / MANIFEST).read_text(encoding="utf-8"))
    if told := other_versions(manifest):
        pytest.skip(told)
    page, _ = page_of(load_study(name), ShippedTables.of(RESULTS / name), manifest)
    assert {figure.name for figure in page.drawn} == {path.stem for path in (RESULTS / name / "figures").glob("*.svg")}
    for figure in page.drawn:
        plot.save(figure.draw().figure, tmp_path / figure.name, formats=["svg"])
        ours, theirs = (folder / f"{figure.name}.svg" for folder in (tmp_path, RESULTS / name / "figures"))
        same = ours.read_text(encoding="utf-8") == theirs.read_text(encoding="utf-8")
        assert same, f"{figure.name}: simstudy page {name} draws it again"
