"""What is cited: every test and convention has its sources, and every entry is whole and cited by something."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import simstudy
from simstudy.engines.registry import TESTS
from simstudy.papers.references import OF_METHODS, bibtex, entries, entry
from simstudy.statistics.pvalues import CONVENTIONS

BY_SOURCES = {key for one in (*TESTS.values(), *CONVENTIONS.values()) for key in one.cites}
ROOT = Path(simstudy.__file__).parents[1]


def test_every_test_and_convention_cites_entries_and_every_entry_is_cited() -> None:
    assert {*entries()} == (BY_SOURCES | {*OF_METHODS, "lugannani1980"}) - {"simstudy"}
    assert all(one.cites for one in (*TESTS.values(), *CONVENTIONS.values()))


def test_sources_in_words_name_what_is_cited() -> None:
    """The year of each key, and the first author's name, stand in the source of its test."""
    for one in (*TESTS.values(), *CONVENTIONS.values()):
        for key in one.cites:
            name, year = entry(key).short.split(",")[0].split()[0], entry(key).fields["year"]
            said = f"{one.source} sacrebleu (Post 2018)" if one.name == "sacrebleu" else one.source
            if (one.name, key) in {("skew_corrected", "hemerik2020"), ("bk2012", key)}:
                continue
            assert name in said, (one.name, key)
            assert year in said, (one.name, key)


def test_entries_are_whole() -> None:
    needed = {"article": {"journal", "volume", "pages"}, "inproceedings": {"booktitle", "pages"}, "book": {"publisher"}}
    text = (Path(simstudy.__file__).parent / "papers" / "references.bib").read_text(encoding="utf-8")
    assert len(re.findall("^@", text, flags=re.MULTILINE)) == len(entries())
    for key, one in entries().items():
        assert {"author", "title", "year", *needed[one.kind]} <= one.fields.keys(), key
        assert re.fullmatch(r"[a-z]+\d{4}", key)
        assert key.endswith(one.fields["year"])
        assert one.bibtex in text
        assert one.whole.endswith(".")


def test_simstudy_is_cited_as_its_citation_file_says() -> None:
    said = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {simstudy.__version__}\n" in said
    own = entry("simstudy")
    assert own.fields["title"] == "simstudy"
    assert own.fields["author"] == "{The simstudy developers}"
    assert own.fields["note"] == f"Version {simstudy.__version__}"
    assert own.short == "The simstudy developers, n.d."


def test_citations_in_words() -> None:
    shorts = [entry(key).short for key in ("holm1979", "phipson2010", "hemerik2020")]
    assert shorts == ["Holm, 1979", "Phipson and Smyth, 2010", "Hemerik et al., 2020"]
    assert entry("koehn2004").whole == (
        "Koehn, Philipp (2004). Statistical Significance Tests for Machine Translation Evaluation. Proceedings of the "
        "2004 Conference on Empirical Methods in Natural Language Processing, 388–395."
    )


@pytest.mark.skipif(shutil.which("bibtex") is None, reason="needs bibtex")
def test_bibtex_takes_them_without_a_warning(tmp_path: Path) -> None:
    keys = ["simstudy", *entries()]
    (tmp_path / "all.bib").write_text(bibtex(keys), encoding="utf-8")
    cited = "".join(f"\\citation{{{key}}}\n" for key in keys)
    (tmp_path / "p.aux").write_text(f"\\relax\n{cited}\\bibstyle{{plainnat}}\n\\bibdata{{all}}\n", encoding="utf-8")
    run = subprocess.run(["bibtex", "p"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stdout
    assert "Warning" not in run.stdout
