"""The README of every study has one shape and is short. tests/test_numbers.py looks at its numbers."""

from __future__ import annotations

from simstudy.running.program_files import shipped_studies
from tests.documentation import ROOT, sections

HEADINGS = ["Question", "Method", "Run it", "Results", "Limits"]
MOST_WORDS = 700


def test_a_readme_has_its_sections_and_is_short() -> None:
    for name in shipped_studies():
        text = (ROOT / "experiments" / name / "README.md").read_text("utf-8")
        found = sections(text)
        assert [*found] == [heading for heading in HEADINGS if heading in found], f"{name}: in this order"
        assert set(HEADINGS) - set(found) <= {"Limits"}, name
        assert len(text.split()) <= MOST_WORDS, name
        assert f"results/{name}/README.md" in found["Run it"], f"{name}: it says where the results are"
