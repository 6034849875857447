"""CoNLL-U: sentences as they are in the file, and parses against gold."""

from __future__ import annotations

from pathlib import Path

import conllu
import pytest

from simstudy.readers.conllu import read_conllu
from tests.readers.line_files import loaded, refused, scores


def word(number: int | str, form: str, head: object, relation: str, tag: str = "X") -> str:
    return f"{number}\t{form}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_\n"


FIRST = "# newdoc id = d\n# sent_id = s1\n" + word(1, "Go", 0, "root") + word(2, "home", 1, "advmod:lmod", "ADV")
SECOND = "# sent_id = s2\n" + word("1-2", "du", "_", "_") + word(1, "de", 2, "case") + word(2, "x", 0, "root")
GOLD = f"{FIRST}\n{SECOND}{word('2.1', 'gap', '_', '_')}\n"


@pytest.mark.parametrize(("metric", "score"), [("las", 75), ("uas", 100), ("accuracy", 75)])
def test_sentences_are_matched_by_their_ids(tmp_path: Path, metric: str, score: float) -> None:
    # A subtype of a relation does not count, another relation does.
    other = FIRST.replace("advmod:lmod", "advmod").replace("\tADV", "\tNOUN")
    files = {"new.conllu": GOLD, "old.conllu": f"{SECOND.replace('case', 'obj')}\n{other}\n", "gold.conllu": GOLD}
    read = loaded(tmp_path, files, metric)
    assert scores(read) == {"new": 100, "old": score}
    assert read.outputs.items.to_dict("list") == {"id": ["s1", "s2"], "cluster": ["d", "d"]}
    assert read.texts is not None
    assert read.texts.inputs_of(["s2"]) == ["de x"]


def test_a_sentence_that_a_system_lacks_has_no_right_word(tmp_path: Path) -> None:
    files = {"a.conllu": f"{FIRST}\n", "gold.conllu": GOLD}
    refused(tmp_path, files, "las")
    assert loaded(tmp_path, files, "las", missing="zero").outputs.statistics[0].tolist() == [[2, 2, 2], [0, 0, 2]]
    assert scores(loaded(tmp_path, files, "accuracy", missing="zero")) == {"a": 50}


def test_a_treebank_is_read_as_the_package_conllu_reads_it(shared_data: Path) -> None:
    path = shared_data / "ud_english_other" / "en_atis-ud-dev.conllu"
    sentences = read_conllu(path)
    theirs = conllu.parse(path.read_text(encoding="utf-8"))
    assert [s.id for s in sentences] == [tokens.metadata["sent_id"] for tokens in theirs]
    words = [[token for token in tokens if isinstance(token["id"], int)] for tokens in theirs]
    for column, name in (("form", "words"), ("upos", "tags"), ("head", "heads"), ("deprel", "relations")):
        assert [list(getattr(s, name)) for s in sentences] == [[token[column] for token in own] for own in words]


@pytest.mark.parametrize(
    ("text", "at"),
    [
        (FIRST.replace("# sent_id = s1\n", ""), "line 1"),
        ("# sent_id = s1\n", "line 1"),
        (FIRST.replace("\tX", ""), "line 3"),
        (FIRST.replace("2\thome", "3\thome"), "line 4"),
        (FIRST.replace("2\thome", "b\thome"), "line 4"),
        (FIRST.replace("\t1\tadv", "\t3\tadv"), "line 1"),
        (FIRST.replace("\t1\tadv", "\t-1\tadv"), "line 1"),
        (FIRST.replace("\t1\tadv", "\t_\tadv"), "line 1"),
        (f"{FIRST}\n{FIRST}", "line 6"),
        (FIRST.replace("home", "away"), "line 1"),
    ],
)
def test_malformed_files_are_refused_where_they_are(tmp_path: Path, text: str, at: str) -> None:
    assert refused(tmp_path, {"a.conllu": text, "gold.conllu": GOLD}, "las").at == f"{tmp_path / 'a.conllu'}, {at}"
