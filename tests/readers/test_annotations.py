"""Annotated sentences against a gold file: CoNLL columns, CoNLL-U, bracketed trees and word alignments."""

from __future__ import annotations

from pathlib import Path

import conllu
import pytest

from simstudy.readers.alignments import read_links
from simstudy.readers.conllu import read_conllu
from simstudy.readers.load import load
from simstudy.readers.trees import parse_trees
from tests.readers.line_files import loaded, note_kinds, refused, scores

# CoNLL columns

TAGGED = "Rome B-loc\nis O\n\nParis B-loc\n"


def test_spans_and_tags_are_counted_by_sentence(tmp_path: Path) -> None:
    gold = "-DOCSTART- O\n\nRome B-loc\nis O\n\n#id a b\nParis B-loc\n\n"
    files = {"new.conll": TAGGED, "old.conll": "Rome O\nis O\n\nparis B-loc\n", "gold.conll": gold}
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


# CoNLL-U


def word(number: int | str, form: str, head: object, relation: str, tag: str = "X") -> str:
    return f"{number}\t{form}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_\n"


FIRST = "# newdoc id = d\n# sent_id = s1\n" + word(1, "Go", 0, "root") + word(2, "home", 1, "advmod:lmod", "ADV")
SECOND = "# sent_id = s2\n" + word("1-2", "du", "_", "_") + word(1, "de", 2, "case") + word(2, "x", 0, "root")
PARSED = f"{FIRST}\n{SECOND}{word('2.1', 'gap', '_', '_')}\n"


@pytest.mark.parametrize(("metric", "score"), [("las", 75), ("uas", 100), ("accuracy", 75)])
def test_sentences_are_matched_by_their_ids(tmp_path: Path, metric: str, score: float) -> None:
    # A subtype of a relation does not count, another relation does.
    other = FIRST.replace("advmod:lmod", "advmod").replace("\tADV", "\tNOUN")
    files = {"new.conllu": PARSED, "old.conllu": f"{SECOND.replace('case', 'obj')}\n{other}\n", "gold.conllu": PARSED}
    read = loaded(tmp_path, files, metric)
    assert scores(read) == {"new": 100, "old": score}
    assert read.outputs.items.to_dict("list") == {"id": ["s1", "s2"], "cluster": ["d", "d"]}
    assert read.texts is not None
    assert read.texts.inputs_of(["s2"]) == ["de x"]


def test_a_treebank_is_read_as_the_package_conllu_reads_it(shared_data: Path) -> None:
    path = shared_data / "ud_english_other" / "en_atis-ud-dev.conllu"
    sentences = read_conllu(path)
    expected = conllu.parse(path.read_text(encoding="utf-8"))
    assert [sentence.id for sentence in sentences] == [tokens.metadata["sent_id"] for tokens in expected]
    words = [[token for token in tokens if isinstance(token["id"], int)] for tokens in expected]
    for column, name in (("form", "words"), ("upos", "tags"), ("head", "heads"), ("deprel", "relations")):
        columns = [[token[column] for token in tokens] for tokens in words]
        assert [list(getattr(sentence, name)) for sentence in sentences] == columns


# Trees

CAT = "(S (NP (D a) (N cat)) (VP (V sat)))"
DOG = "(S (NP (D a) (N dog)) (VP (V ran)))"
TREES = f"{CAT}\n{DOG}\n"


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


def test_trees_begin_where_they_begin_and_a_no_break_space_is_text() -> None:
    first, second = parse_trees("\n(S\n (NN 1\u00a0000)\n)(X\n y)", "")
    assert (first.words, first.brackets, first.line) == (("1\u00a0000",), (("S", 0, 1),), 2)
    assert (second.words, second.tags, second.line) == (("y",), ("X",), 4)


# Alignments

LINKS = "0-0 1-1 1p0\n\n0-0 0?1\n"


def test_links_are_compared_sentence_by_sentence(tmp_path: Path) -> None:
    files = {"new.wa": "0-0 1-1\n\n0-0\n", "old.wa": "0-0 1-0\n0-0\n0-0\n", "gold.wa": LINKS}
    read = loaded(tmp_path, files, "aer")
    # By hand, 1 - (2 + 3) / (4 + 3): two of four guessed links are sure, one more is possible, three are sure in gold.
    assert scores(read) == {"new": 0, "old": 28.57}
    assert read.outputs.statistics[1].tolist() == [[1, 2, 2, 2], [0, 0, 1, 0], [1, 1, 1, 1]]
    assert read.texts is not None
    assert read.texts.references_of(["1", "3"]) == ["0-0 1-1 1p0", "0-0 0p1"]


def test_both_forms_of_links_say_the_same(tmp_path: Path) -> None:
    """A sentence without links is in one of them only; links to the empty word are left out."""
    naacl = "1 1 1 S 0.9\n1 2 2\n1 2 1 P\n3 1 1\n3 1 2 P 1e-3\n"
    (tmp_path / "a").write_text(LINKS)
    (tmp_path / "b").write_text(naacl)
    lines, rows = read_links(tmp_path / "a"), read_links(tmp_path / "b")
    assert (lines[1], rows[1]) == (True, False)
    assert {number: links for number, links in lines[0].items() if links.all} == rows[0]
    files = {"new.wa": "1 0 1\n1 1 1\n1 2 2\n3 1 1\n", "old.wa": "1 1 1\n1 2 2\n"}
    for gold, items in ((naacl, ["1", "3"]), (LINKS, ["1", "2", "3"])):
        read = loaded(tmp_path, {**files, "gold.wa": gold}, "aer")
        # By hand, 1 - (2 + 2) / (2 + 3).
        assert scores(read) == {"new": 0, "old": 20}
        assert read.outputs.items["id"].tolist() == items


def test_published_error_rates(shared_data: Path) -> None:
    """The union of both directions of GIZA++ has all links of each, so that it lacks no sure link that one has."""
    folder = shared_data / "align_enfr"
    paths = [folder / "sys" / f"giza.{name}.wa" for name in ("src2tgt", "tgt2src", "union", "intersection")]
    outputs = load(paths, "aer", references=folder / "gold.wa").outputs
    in_sure = outputs.statistics[..., 0].sum(axis=1)
    assert in_sure[2] + in_sure[3] == in_sure[0] + in_sure[1]
    assert outputs.n_items == 447


# All of them


@pytest.mark.parametrize(
    ("metric", "files", "silent"),
    [
        ("las", {"a.conllu": f"{FIRST}\n", "gold.conllu": PARSED}, [[2, 2, 2], [0, 0, 2]]),
        ("accuracy", {"a.conllu": f"{FIRST}\n", "gold.conllu": PARSED}, [[2, 2], [0, 2]]),
        ("parseval", {"a.mrg": f"{CAT}\n(())\n", "gold.mrg": TREES}, [[3, 3, 3], [0, 0, 3]]),
    ],
)
def test_a_sentence_that_a_system_lacks_has_the_counts_of_gold_only(
    tmp_path: Path, metric: str, files: dict[str, str], silent: list[list[int]]
) -> None:
    assert "lacks 1 of 2" in str(refused(tmp_path, files, metric))
    assert loaded(tmp_path, files, metric, missing="zero").outputs.statistics[0].tolist() == silent


@pytest.mark.parametrize(
    ("metric", "gold", "text", "at"),
    [
        ("span_f1", TAGGED, "Rome B-loc\nis\n\nParis B-loc\n", ", line 2"),
        ("span_f1", TAGGED, "Rome B-loc\nis X\n\nParis B-loc\n", ", line 2"),
        ("span_f1", TAGGED, "Rome B-loc\n\nParis B-loc\n", ", line 1"),
        ("span_f1", TAGGED, "Rome B-loc\nis O\n", ""),
        ("span_f1", TAGGED, f"{TAGGED}\nRome B-loc\n", ", line 6"),
        ("span_f1", TAGGED, "Rome\nis\n", ""),
        ("span_f1", TAGGED, "-DOCSTART- O\n", ""),
        ("las", PARSED, FIRST.replace("# sent_id = s1\n", ""), ", line 1"),
        ("las", PARSED, "# sent_id = s1\n", ", line 1"),
        ("las", PARSED, FIRST.replace("\tX", ""), ", line 3"),
        ("las", PARSED, FIRST.replace("2\thome", "3\thome"), ", line 4"),
        ("las", PARSED, FIRST.replace("2\thome", "b\thome"), ", line 4"),
        ("las", PARSED, FIRST.replace("\t1\tadv", "\t3\tadv"), ", line 1"),
        ("las", PARSED, FIRST.replace("\t1\tadv", "\t-1\tadv"), ", line 1"),
        ("las", PARSED, FIRST.replace("\t1\tadv", "\t_\tadv"), ", line 1"),
        ("las", PARSED, f"{FIRST}\n{FIRST}", ", line 6"),
        ("las", PARSED, FIRST.replace("home", "away"), ", line 1"),
        ("parseval", TREES, f"{CAT}\n(S (NP", ", line 2"),
        ("parseval", TREES, f"{TREES})", ", line 3"),
        ("parseval", TREES, f"{CAT}\n(S (D a)\nword)", ", line 3"),
        ("parseval", TREES, f"{CAT}\n(S (NP ) (V ran))", ", line 2"),
        ("parseval", TREES, TREES.replace("dog", "cow"), ", line 2"),
        ("parseval", TREES, f"{TREES}{DOG}\n", ", line 3"),
        ("parseval", TREES, CAT, ""),
        ("parseval", TREES, "(())\n(())\n", ""),
        ("aer", LINKS, "0-0\n0_0\n\n", ", line 2"),
        ("aer", LINKS, "1 1 1\n1 1\n", ", line 2"),
        ("aer", LINKS, "1 1 1\n0 1 1\n", ", line 2"),
        ("aer", LINKS, "1 1 1\n\n7 1 1\n", ", line 3"),
        ("aer", LINKS, "0-0\n0-0\n", ""),
        ("aer", LINKS, "0-0\n0-0\n0-0\n0-0\n", ", line 4"),
        ("aer", LINKS, "0-99999999999999999999\n\n\n", ", line 1"),
    ],
)
def test_malformed_files_are_refused_where_they_are(tmp_path: Path, metric: str, gold: str, text: str, at: str) -> None:
    formats = {"span_f1": "conll", "las": "conllu", "parseval": "trees", "aer": "alignments"}
    error = refused(tmp_path, {"a": text, "gold": gold}, metric, format=formats[metric])
    assert error.at == f"{tmp_path / 'a'}{at}"


def test_a_gold_tree_without_words_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, {"a.mrg": TREES, "gold.mrg": f"(())\n{DOG}\n"}, "parseval").at.endswith("gold.mrg, line 1")
