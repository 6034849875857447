"""Word alignments: both forms of links, and AER against gold."""

from __future__ import annotations

from pathlib import Path

import pytest

from simstudy.readers.alignments import read_links
from tests.readers.line_files import loaded, refused, scores

GOLD = "0-0 1-1 1p0\n\n0-0 0?1\n"


def test_links_are_compared_sentence_by_sentence(tmp_path: Path) -> None:
    files = {"new.wa": "0-0 1-1\n\n0-0\n", "old.wa": "0-0 1-0\n0-0\n0-0\n", "gold.wa": GOLD}
    read = loaded(tmp_path, files, "aer")
    # By hand, 1 - (2 + 3) / (4 + 3): two of four guessed links are sure, one more is possible, three are sure in gold.
    assert scores(read) == {"new": 0, "old": 28.57}
    assert read.outputs.statistics[1].tolist() == [[1, 2, 2, 2], [0, 0, 1, 0], [1, 1, 1, 1]]
    assert read.texts is not None
    assert read.texts.references_of(["1", "3"]) == ["0-0 1-1 1p0", "0-0 0p1"]


def test_both_forms_say_the_same(tmp_path: Path) -> None:
    naacl = "1 1 1 S 0.9\n1 2 2\n1 2 1 P\n3 1 1\n3 1 2 P 1e-3\n"
    (tmp_path / "a").write_text(GOLD)
    (tmp_path / "b").write_text(naacl)
    one, other = read_links(tmp_path / "a"), read_links(tmp_path / "b")
    assert (one[1], other[1]) == (True, False)
    assert {n: links for n, links in one[0].items() if links.all} == other[0]
    read = loaded(tmp_path, {"new.wa": "1 0 1\n1 1 1\n1 2 2\n3 1 1\n", "gold.wa": naacl}, "aer")
    assert scores(read) == {"new": 0}


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("0-0\n0_0\n\n", "a.wa, line 2"),
        ("1 1 1\n1 1\n", "a.wa, line 2"),
        ("1 1 1\n0 1 1\n", "a.wa, line 2"),
        ("1 1 1\n\n7 1 1\n", "a.wa, line 3"),
        ("0-0\n0-0\n", "a.wa"),
        ("0-0\n0-0\n0-0\n0-0\n", "a.wa, line 4"),
        ("0-99999999999999999999\n\n\n", "a.wa, line 1"),
    ],
)
def test_malformed_files_are_refused_where_they_are(tmp_path: Path, text: str, at: str) -> None:
    assert refused(tmp_path, {"a.wa": text, "gold.wa": GOLD}, "aer").at == str(tmp_path / at)


def test_published_error_rates(shared_data: Path) -> None:
    """The union of both directions of GIZA++ has all links of each, so that it lacks no sure link that one has."""
    from simstudy.readers.load import load

    folder = shared_data / "align_enfr"
    paths = [folder / "sys" / f"giza.{name}.wa" for name in ("src2tgt", "tgt2src", "union", "intersection")]
    outputs = load(paths, "aer", references=folder / "gold.wa").outputs
    in_sure = outputs.statistics[..., 0].sum(axis=1)
    assert in_sure[2] + in_sure[3] == in_sure[0] + in_sure[1]
    assert outputs.n_items == 447
