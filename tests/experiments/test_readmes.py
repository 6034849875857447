"""The README of every study has one shape and is short. tests/test_numbers.py looks at its numbers."""

from __future__ import annotations

import pytest

from simstudy.running.program_files import shipped_studies
from tests.documentation import ROOT, sections

HEADINGS = ["Question", "Method", "Run it", "Results", "Limits"]
MOST_WORDS = 700


@pytest.mark.parametrize("name", shipped_studies())
def test_a_readme_has_its_sections_and_is_short(name: str) -> None:
    text = (ROOT / "experiments" / name / "README.md").read_text("utf-8")
    found = sections(text)
    assert [*found] == [heading for heading in HEADINGS if heading in found], "in this order"
    assert set(HEADINGS) - set(found) <= {"Limits"}
    assert len(text.split()) <= MOST_WORDS
    assert f"results/{name}/README.md" in found["Run it"], "it says where the results are"
