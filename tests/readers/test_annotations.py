"""Annotated sentences against a gold file: CoNLL columns, CoNLL-U, bracketed trees and word alignments."""

from __future__ import annotations

from pathlib import Path

import conllu
import pytest

from simstudy.readers.alignments import read_links
from simstudy.readers.conllu import read_conllu
from simstudy.readers.trees import parse_trees
from tests.readers.line_files import loaded, note_kinds, refused, scores, texts_of

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
    assert texts_of(read).references_of(["1"]) == ["Rome/B-loc is"]


def tagged(tags: str) -> str:
    """A file of words with these tags; a bar ends a sentence."""
    return "".join(f"w{i} {tag}\n" if tag != "|" else "\n" for i, tag in enumerate(tags.split()))


@pytest.mark.parametrize(
    ("metric", "gold", "guess", "score"),
    [
        ("span_f1", "B-M E-M B-M E-M | O S-L", "B-M I-M I-M E-M | O S-L", 40),
        ("span_f1", "B-M L-M B-M L-M | O U-L", "B-M I-M I-M L-M | O U-L", 40),
        ("span_f1", "B-date-of-birth I-date-of-birth | B I", "B-date-of-birth I-date-of-birth | B O", 50),
        # By seqeval in its strict mode, with IOB2 and with IOBES.
        ("span_f1:strict", "B-M I-M O B-L", "B-M I-M O I-L", 66.67),
        ("span_f1:strict", "B-M E-M O S-L", "B-M E-M O B-L", 66.67),
    ],
)
def test_schemes_of_tags(tmp_path: Path, metric: str, gold: str, guess: str, score: float) -> None:
    files = {"a": tagged(guess), "gold": tagged(gold)}
    assert scores(loaded(tmp_path, files, metric)) == {"a": score}


def test_the_strict_metric_needs_the_scheme_of_gold(tmp_path: Path) -> None:
    for gold, guess, file in (("I-M I-M O I-L", "B-M I-M O O", "gold"), ("B-M I-M", "B-M E-M", "a, line 1")):
        error = refused(tmp_path, {"a": tagged(guess), "gold": tagged(gold)}, "span_f1:strict")
        assert error.at == f"{tmp_path / file}"


def test_gold_tags_in_a_column_of_the_systems_files(tmp_path: Path) -> None:
    """As conlleval reads them: word, part of speech, gold tag, guessed tag."""
    text, columns = "Rome N B-loc O\nis V O O\n\nParis N B-loc B-loc\n", {"gold": "3", "tag": "4"}
    files = {"a": text, "b": text.replace("V O O", "V O B-x")}
    assert scores(loaded(tmp_path, files, "span_f1", columns=columns)) == {"a": 66.67, "b": 50}
    for other in (text.replace("is V", "es V"), text.replace("B-loc O", "O O")):
        assert refused(tmp_path, {"a": text, "b": other}, "span_f1", columns=columns).at == f"{tmp_path / 'b'}, line 1"
    for chosen in ({"gold": "3"}, {"gold": "4", "tag": "4"}, {"gold": "x", "tag": "4"}):
        assert refused(tmp_path, files, "span_f1", columns=chosen).argument == "columns"
    assert refused(tmp_path, {**files, "gold": TAGGED}, "span_f1", columns=columns).argument == "references"


def test_sentences_in_another_order_are_matched_by_tokens_that_tell_them_apart(tmp_path: Path) -> None:
    first, second = "Rome B-loc\nis O\n\n", "Paris B-loc\n\n"
    read = loaded(tmp_path, {"a": second + first.replace("B", "I"), "gold": first + second}, "span_f1")
    assert (scores(read), "matched by their tokens" in read.notes[0]) == ({"a": 100}, True)
    refused(tmp_path, {"a": second + first + first, "gold": first + second + first}, "span_f1")
    # Most tokens are others.
    error = refused(tmp_path, {"a": second + "rome O\nis O\n", "gold": first + second}, "span_f1")
    assert error.at == f"{tmp_path / 'a'}, line 1"


def test_columns_are_between_tabs_or_spaces_and_a_no_break_space_is_text(tmp_path: Path) -> None:
    files = {"a": "1\u00a0000 NN\tx\tO\n\nb\tNN\tI-z\n", "gold": "1\u00a0000 NN\tx\tO\n\nb\tMM\tI-z\n"}
    read = loaded(tmp_path, files, "span_f1", format="conll")
    assert read.outputs.statistics[0].tolist() == [[0, 0, 0], [1, 1, 1]]
    assert texts_of(read).inputs_of(["1"]) == ["1\u00a0000 NN"]
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
    assert texts_of(read).inputs_of(["s2"]) == ["de x"]


# A French text, as gold has it: du chat | il dort .
FRENCH = (
    word("1-2", "du", "_", "_") + word(1, "de", 3, "case", "ADP") + word(2, "le", 3, "det", "DET")
    + word(3, "chat", 0, "root", "NOUN") + "\n" + word(1, "il", 2, "nsubj", "PRON") + word(2, "dort", 0, "root", "VERB")
    + word(3, ".", 2, "punct", "PUNCT")
)  # fmt: skip


@pytest.mark.parametrize("ids", ["", "# sent_id = 7\n"])
def test_sentences_without_ids_of_gold_are_matched_by_their_order(tmp_path: Path, ids: str) -> None:
    worse = FRENCH.replace("\t3\tdet", "\t1\tdet").replace("2\tpunct", "1\tpunct")
    files = {"new.conllu": ids + FRENCH, "old.conllu": worse, "gold.conllu": FRENCH}
    read = loaded(tmp_path, files, "uas")
    assert (scores(read), read.outputs.items["id"].tolist()) == ({"new": 100, "old": 66.67}, ["1", "2"])
    assert "by their order" in read.notes[0]


def test_sentences_with_other_words_are_refused(tmp_path: Path) -> None:
    """The message names the first sentence that differs."""
    files = {"new.conllu": FRENCH, "old.conllu": FRENCH.replace("dort", "mange"), "gold.conllu": FRENCH}
    error = refused(tmp_path, files, "las")
    assert error.at == f"{tmp_path / 'old.conllu'}, line 6"
    expected = f"must have the words of gold ({tmp_path / 'gold.conllu'}, line 6): word 2 must be 'dort', not 'mange'"
    assert expected in str(error)
    joined = FRENCH.split("\n\n")[0] + "\n"
    files["old.conllu"] = joined + word(4, "il", 3, "nsubj")
    assert "word 4 must be '', not 'il'" in str(refused(tmp_path, files, "upos"))
    assert "has 1 sentence," in str(refused(tmp_path, {**files, "old.conllu": joined}, "upos"))


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
    assert (texts_of(read).inputs_of(["2"]), texts_of(read).references_of(["1"])) == (["a dog ran"], [CAT])


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
    assert texts_of(read).references_of(["1", "3"]) == ["0-0 1-1 1p0", "0-0 0p1"]


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


# All of them


@pytest.mark.parametrize(
    ("metric", "gold", "text", "at"),
    [
        ("span_f1", TAGGED, "Rome B-loc\nis\n\nParis B-loc\n", "a, line 2"),
        ("span_f1", TAGGED, "Rome B-loc\nis X\n\nParis B-loc\n", "a, line 2"),
        ("span_f1", TAGGED, "Rome B-loc\n\nParis B-loc\n", "a, line 1"),
        ("span_f1", TAGGED, "Rome B-loc\nis O\n", "a"),
        ("span_f1", TAGGED, f"{TAGGED}\nRome B-loc\n", "a"),
        ("span_f1", TAGGED, "Rome\nis\n", "a"),
        ("span_f1", TAGGED, "-DOCSTART- O\n", "a"),
        ("las", PARSED, "# sent_id = s1\n", "a, line 1"),
        ("las", PARSED, FIRST.replace("\tX", ""), "a, line 3"),
        ("las", PARSED, FIRST.replace("2\thome", "3\thome"), "a, line 4"),
        ("las", PARSED, FIRST.replace("2\thome", "b\thome"), "a, line 4"),
        ("las", PARSED, FIRST.replace("\t1\tadv", "\t3\tadv"), "a, line 1"),
        ("las", PARSED, FIRST.replace("\t1\tadv", "\t-1\tadv"), "a, line 1"),
        ("las", PARSED, FIRST.replace("\t1\tadv", "\t_\tadv"), "a, line 1"),
        ("las", PARSED, f"{FIRST}\n{FIRST}", "a, line 6"),
        ("las", PARSED, FIRST.replace("home", "away"), "a, line 1"),
        ("parseval", TREES, f"{CAT}\n(S (NP", "a, line 2"),
        ("parseval", TREES, f"{TREES})", "a, line 3"),
        ("parseval", TREES, f"{CAT}\n(S (D a)\nword)", "a, line 3"),
        ("parseval", TREES, f"{CAT}\n(S (NP ) (V ran))", "a, line 2"),
        ("parseval", TREES, TREES.replace("dog", "cow"), "a, line 2"),
        ("parseval", TREES, f"{TREES}{DOG}\n", "a, line 3"),
        ("parseval", TREES, CAT, "a"),
        ("parseval", TREES, "(())\n(())\n", "a"),
        ("parseval", f"(())\n{DOG}\n", TREES, "gold, line 1"),
        ("aer", LINKS, "0-0\n0_0\n\n", "a, line 2"),
        ("aer", LINKS, "1 1 1\n1 1\n", "a, line 2"),
        ("aer", LINKS, "1 1 1\n0 1 1\n", "a, line 2"),
        ("aer", LINKS, "1 1 1\n\n7 1 1\n", "a, line 3"),
        ("aer", LINKS, "0-0\n0-0\n", "a"),
        ("aer", LINKS, "0-0\n0-0\n0-0\n0-0\n", "a, line 4"),
        ("aer", LINKS, "0-99999999999999999999\n\n\n", "a, line 1"),
    ],
)
def test_malformed_files_are_refused_where_they_are(tmp_path: Path, metric: str, gold: str, text: str, at: str) -> None:
    assert refused(tmp_path, {"a": text, "gold": gold}, metric).at == str(tmp_path / at)
