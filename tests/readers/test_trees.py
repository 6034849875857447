"""Bracketed trees: as they are in a text, and against gold."""

from __future__ import annotations

from pathlib import Path

import pytest

from simstudy.readers.trees import parse_trees
from tests.readers.line_files import loaded, refused, scores

CAT = "(S (NP (D a) (N cat)) (VP (V sat)))"
DOG = "(S (NP (D a) (N dog)) (VP (V ran)))"


def test_brackets_are_compared_tree_by_tree(tmp_path: Path) -> None:
    files = {
        "new.mrg": f"{CAT}\n({DOG[:10]}\n   {DOG[10:]})\n",
        "old.mrg": f"(S (D a) (N cat) (V sat))\n{DOG}\n",
        "gold.mrg": f"{CAT}\n{DOG.replace('(V ran)', '(V ran) (X (-NONE- *))')}\n",
    }
    read = loaded(tmp_path, files, "parseval")
    # Four right brackets of four guessed, and six in gold: F1 = 80.
    assert scores(read) == {"new": 100, "old": 80}
    assert read.outputs.statistics[1].tolist() == [[1, 1, 3], [3, 3, 3]]
    assert read.texts is not None
    assert (read.texts.inputs_of(["2"]), read.texts.references_of(["1"])) == (["a dog ran"], [CAT])


def test_a_tree_without_words_is_a_sentence_that_was_not_parsed(tmp_path: Path) -> None:
    files = {"a.mrg": f"{CAT}\n(())\n", "gold.mrg": f"{CAT}\n{DOG}\n"}
    assert "lacks 1 of 2" in str(refused(tmp_path, files, "parseval"))
    assert loaded(tmp_path, files, "parseval", missing="zero").outputs.statistics[0, 1].tolist() == [0, 0, 3]
    assert refused(tmp_path, {**files, "a.mrg": "(())\n(())\n"}, "parseval").at == str(tmp_path / "a.mrg")
    assert refused(tmp_path, {**files, "gold.mrg": f"(())\n{DOG}\n"}, "parseval").at.endswith("gold.mrg, line 1")


def test_trees_begin_where_they_begin_and_a_no_break_space_is_text() -> None:
    first, second = parse_trees("\n(S\n (NN 1\u00a0000)\n)(X\n y)", "")
    assert (first.words, first.brackets, first.line) == (("1\u00a0000",), (("S", 0, 1),), 2)
    assert (second.words, second.tags, second.line) == (("y",), ("X",), 4)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"{CAT}\n(S (NP", 2),
        (f"{CAT}\n{DOG})", 2),
        (f"{CAT}\n(S (D a)\nword)", 3),
        (f"{CAT}\n(S (NP ) (V ran))", 2),
        (f"{CAT}\n{DOG.replace('dog', 'cow')}", 2),
    ],
)
def test_malformed_trees_are_refused_where_they_are(tmp_path: Path, text: str, line: int) -> None:
    error = refused(tmp_path, {"a.mrg": text, "gold.mrg": f"{CAT}\n{DOG}\n"}, "parseval")
    assert error.at == f"{tmp_path / 'a.mrg'}, line {line}"
    assert refused(tmp_path, {"a.mrg": CAT, "gold.mrg": f"{CAT}\n{DOG}\n"}, "parseval").at == str(tmp_path / "a.mrg")
