"""CoNLL columns: spans and tags against gold, and lines that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.readers.line_files import loaded, note_kinds, refused, scores

GOLD = "-DOCSTART- O\n\nRome B-loc\nis O\n\n# sent 2\nParis B-loc\n\n"
NEW = "Rome B-loc\nis O\n\nParis B-loc\n"
OLD = "Rome O\nis O\n\nparis B-loc\n"


def test_spans_and_tags_are_counted_by_sentence(tmp_path: Path) -> None:
    files = {"new.conll": NEW, "old.conll": OLD, "gold.conll": GOLD.replace("# sent 2\n", "#id a b\n")}
    read = loaded(tmp_path, files, "span_f1")
    # One span of two right, and none wrong: F1 = 2 / 3.
    assert scores(read) == {"new": 100, "old": 66.67}
    assert read.outputs.statistics[1].tolist() == [[0, 0, 1], [1, 1, 1]]
    assert note_kinds(read) == ["tokens unlike gold"]
    assert scores(loaded(tmp_path, files, "accuracy")) == {"new": 100, "old": 66.67}
    assert read.texts is not None
    assert read.texts.references_of(["1"]) == ["Rome/B-loc is"]


def test_columns_are_between_tabs_or_spaces_and_a_no_break_space_is_text(tmp_path: Path) -> None:
    files = {"a": "1\u00a0000 NN\tx\tO\n\nb\tNN\tI-z\n", "gold": "1\u00a0000 NN\tx\tO\n\nb\tMM\tI-z\n"}
    read = loaded(tmp_path, files, "span_f1", format="conll")
    assert read.outputs.statistics[0].tolist() == [[0, 0, 0], [1, 1, 1]]
    assert read.texts is not None
    assert read.texts.inputs_of(["1"]) == ["1\u00a0000 NN"]
    assert scores(loaded(tmp_path, files, "accuracy", columns={"tag": "2"}, format="conll")) == {"a": 50}
    for tag in ("0", "two", "4"):
        refused(tmp_path, files, "accuracy", columns={"tag": tag}, format="conll")


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("Rome B-loc\nis\n\nParis B-loc\n", "a.conll, line 2"),
        ("Rome B-loc\nis X\n\nParis B-loc\n", "a.conll, line 2"),
        ("Rome B-loc\n\nParis B-loc\n", "a.conll, line 1"),
        ("Rome B-loc\nis O\n", "a.conll"),
        ("Rome\nis\n", "a.conll"),
        ("-DOCSTART- O\n", "a.conll"),
    ],
)
def test_malformed_files_are_refused_where_they_are(tmp_path: Path, text: str, at: str) -> None:
    assert refused(tmp_path, {"a.conll": text, "gold.conll": NEW}, "span_f1").at == str(tmp_path / at)
