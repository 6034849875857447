"""Lines of text: what they mean by each metric, ids, and files that are no lines of text."""

from __future__ import annotations

from pathlib import Path

import pytest
from sacrebleu.metrics.bleu import BLEU

from simstudy.metrics import get_metric
from simstudy.readers import text_lines
from simstudy.readers.load import load
from simstudy.readers.request import Request, Texts
from tests.readers.line_files import loaded, note_kinds, refused, scores

# Ten references of six words; the worse system has two words wrong: 2 of 60, 3.33 %.
WORDS = ["green", "river", "horse", "paper", "window", "stone", "bread", "light", "cloud", "north"]
REFERENCES = [" ".join(WORDS[(k + j) % 10] for j in range(6)) for k in range(10)]
WORSE = [text.replace("paper", "noise", k < 2) for k, text in enumerate(REFERENCES)]
# First words that may be ids.
HYPHENS = [f"{word}-{word} {text}" for word, text in zip(WORDS, REFERENCES, strict=True)]
SHUFFLED = [7, 2, 9, 0, 4, 1, 8, 3, 6, 5]
IDS = {
    "Kaldi": lambda k, text: f"utt{k:02} {text}",
    "sclite": lambda k, text: f"{text} (spk-{k})",
    "tabs": lambda k, text: f"{'abcdefghij'[k]}\t{text}",
    "fairseq": lambda k, text: f"H-{k}\t-0.{k}\t{text}",
}


def lines(texts: list[str]) -> str:
    return "\n".join(texts) + "\n"


def with_ids(form: str) -> dict[str, str]:
    """The perfect system in another order, the worse one in that of the references."""
    write = IDS[form]
    gold = [write(k, text) for k, text in enumerate(REFERENCES)]
    files = {"perfect": [gold[k] for k in SHUFFLED], "worse": [write(k, text) for k, text in enumerate(WORSE)]}
    return {name: lines(texts) for name, texts in {**files, "gold": gold}.items()}


# What lines mean


def test_labels_texts_and_numbers(tmp_path: Path) -> None:
    labels = loaded(tmp_path, {"new": "noun\nverb \n", "old": "verb\n\n", "gold": "noun\nverb\n"}, "accuracy")
    assert labels.outputs.statistics.tolist() == [[[1, 1], [1, 1]], [[0, 1], [0, 1]]]
    strange = loaded(tmp_path, {"new": "Noun\nVerb\n", "gold": "noun\nverb\n"}, "accuracy")
    assert note_kinds(strange) == ["labels unlike gold"]
    numbers = loaded(tmp_path, {"a.txt": "0.5\n-1e2\n", "b.txt": " 2 \n3\n"}, "mean").outputs
    assert numbers.scores().tolist() == [-49.75, 2.5]
    assert numbers.answers is None


def test_scores_are_sacrebleus_with_two_references(tmp_path: Path) -> None:
    files = {"a": "THE cat sat\non it\n", "gold.1": "the cat sat down\nyes\n", "gold.2": "a cat sat\n\n"}
    read = loaded(tmp_path, files, "bleu", texts=Texts(lowercase=True)).outputs
    theirs = BLEU(lowercase=True).corpus_score(
        ["THE cat sat", "on it"], [["the cat sat down", "yes"], ["a cat sat", None]]
    )
    assert read.scores()[0] == pytest.approx(theirs.score, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "table", "columns"),
    [
        ("gold.tsv", 'item\treference\n7\t"yes\n5\ta b\n7\tyes, "sir"\n5\t\n', {}),
        ("gold.csv", 'ref,mr,n\n"""yes",7,1\na b,5,1\n"yes, ""sir""",7,1\n', {"item": "mr", "reference": "ref"}),
    ],
)
def test_a_table_has_any_number_of_references(tmp_path: Path, name: str, table: str, columns: dict[str, str]) -> None:
    read = loaded(tmp_path, {"a": "yes\na b c\n", name: table}, "bleu", columns=columns, texts=Texts("none")).outputs
    assert read.items["id"].tolist() == ["7", "5"]
    assert read.statistics[0, :, 9].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("metric", "insertion", "deletion"),
    [("wer", 40, 20), ("cer", 13.64, 18.18), ("ter", 40, 20), ("chrf", 86.95, 80.84), ("rouge1", 50, 60)],
)
def test_a_reference_of_silence(tmp_path: Path, metric: str, insertion: float, deletion: float) -> None:
    """By jiwer, sacrebleu and rouge-score; in a table too."""
    files = {"a": "the cat sat\nuh\nhello word\n", "b": "the cat\n\nhello world\n"}
    table = "item\treference\n1\tthe cat sat\n2\t\n3\thello world\n"
    expected = ({"a": insertion, "b": deletion}, ["empty outputs", "empty references"])
    for name, gold in (("gold", "the cat sat\n\nhello world\n"), ("gold.tsv", table)):
        read = loaded(tmp_path, {**files, name: gold}, metric)
        assert (scores(read), note_kinds(read)) == expected


@pytest.mark.parametrize("mark", [" <q> ", "<q>", r"\n", "##"])
def test_rouge_knows_the_sentences_of_a_line(tmp_path: Path, mark: str) -> None:
    """By rouge-score: with sentences in another order the longest common subsequence of all is one sentence."""
    (tmp_path / "a").write_text(f"q1\tthe dog ran .{mark}The cat sat .\nq2\tno\n")
    (tmp_path / "gold").write_text(f"q2\tno\nq1\ta cat sat .{mark}the dogs ran .\n")
    # A study's mark is no part of a text by any metric.
    by_any_metric = (("rougeL", 75), ("rouge2", 30)) if mark == "##" else ()
    for metric, score in (("rougeLsum", 91.67), *by_any_metric):
        table = text_lines.read(Request((tmp_path / "a",), get_metric(metric), (tmp_path / "gold",), mark="##"))
        assert 100 * table.rows[[*table.values][0]].mean() == pytest.approx(score, abs=0.01)


# Ids


@pytest.mark.parametrize("form", IDS)
@pytest.mark.parametrize(("metric", "best", "worse"), [("wer", 0, 3.33), ("accuracy", 100, 80)])
def test_lines_are_matched_by_their_ids(tmp_path: Path, form: str, metric: str, best: float, worse: float) -> None:
    read = loaded(tmp_path, with_ids(form), metric)
    assert scores(read) == {"perfect": best, "worse": worse}
    assert scores(loaded(tmp_path, with_ids(form), metric, ids="none"))["perfect"] != best


def test_fairseq_lines_meet_the_lines_of_a_file_in_the_order_of_the_source(tmp_path: Path) -> None:
    files = with_ids("fairseq")
    targets = lines([f"T-{k}\t{text}" for k, text in enumerate(REFERENCES)])
    for gold in (lines(REFERENCES), targets):
        assert scores(loaded(tmp_path, {**files, "gold": gold}, "wer")) == {"perfect": 0, "worse": 3.33}
    # Ids of another kind are none of these.
    assert refused(tmp_path, {**files, "gold": with_ids("Kaldi")["gold"]}, "wer").at == str(tmp_path / "perfect")
    # The whole output has each id several times.
    whole = lines([f"{kind}-{k}\t{text}" for k, text in enumerate(REFERENCES) for kind in "STHD"])
    for gold in (whole, targets, lines(REFERENCES)):
        refused(tmp_path, {"a": whole, "gold": gold}, "wer")
        refused(tmp_path, {**files, "a": whole, "gold": gold}, "wer")


def test_an_utterance_may_be_empty_or_missing(tmp_path: Path) -> None:
    files = with_ids("Kaldi")
    files["worse"] = lines(["utt00", *files["worse"].split("\n")[1:9]])
    assert "lacks 1 of 10 items, first 'utt09'" in str(refused(tmp_path, files, "wer"))
    # Of nine references of six words, six words are missing, and one is wrong.
    assert scores(loaded(tmp_path, files, "wer", missing="drop"))["worse"] == pytest.approx(100 * 7 / 54, abs=0.01)
    # Each file has an empty utterance.
    silent = {name: text.replace(f"utt05 {REFERENCES[5]}", "utt05") for name, text in with_ids("Kaldi").items()}
    assert scores(loaded(tmp_path, silent, "wer")) == {"perfect": 0, "worse": 3.7}
    read = loaded(tmp_path, {**files, "gold.2": files["gold"]}, "bleu", missing="zero")
    assert read.outputs.statistics[1, 9].tolist() == [*[0] * 9, 6]


def test_words_that_are_no_ids(tmp_path: Path) -> None:
    """A first word that comes again, or has no digit, or differs between files; numbers that are all there is."""
    for files in (
        {"a": "1 cat\n1 dog\n", "gold": "1 cat\n1 dog\n"},
        {"a": "one cat\ntwo dogs\n", "gold": "one cat\ntwo dogs\n"},
        {"a": "3 cats\n2 dogs\n", "gold": "1 cat\n4 dogs\n"},
        {"a": "3\n2\n1\n", "gold": "1\n2\n3\n"},
    ):
        read = loaded(tmp_path, files, "wer")
        assert read.outputs.items["id"].tolist() == [str(k + 1) for k in range(files["a"].count("\n"))]


def test_no_real_text_has_ids(shared_data: Path) -> None:
    """Their items are called after the numbers of their lines."""
    for folder, metric, gold in (
        ("wmt21_de-en", "chrf", "ref.A.en"),
        ("wmt24_en-de", "wer", "ref.A.de"),
        ("summeval", "wer", "ref.0.txt"),
    ):
        paths = sorted((shared_data / folder / "sys").iterdir())[:2]
        outputs = load(paths, metric, references=shared_data / folder / gold).outputs
        assert outputs.items["id"].tolist() == [str(k + 1) for k in range(outputs.n_items)]


# Files that cannot be read as they are


@pytest.mark.parametrize(
    ("files", "metric", "at"),
    [
        # Only some files have ids, or others.
        ({"a": with_ids("Kaldi")["worse"], "gold": lines(REFERENCES)}, "wer", "a"),
        ({"a": lines(WORSE), "gold": with_ids("sclite")["gold"]}, "wer", "gold"),
        ({"a": lines(WORSE), "gold": with_ids("tabs")["gold"]}, "accuracy", "gold"),
        # Two references in a line; a label and its confidence.
        ({"a": "a b\nc d\n", "gold": "a b\tA B\nc d\tC D\n"}, "bleu", "gold"),
        ({"a": "yes\t0.9\nno\t0.2\n", "gold": "yes\nno\n"}, "accuracy", "a"),
        # A header.
        ({"a": "Label\nx\n", "gold": "label\nx\n"}, "accuracy", "a, line 1"),
        ({name: "id\tlabel\na\tX\nb\tY\n" for name in ("a", "b", "gold")}, "accuracy", "a, line 1"),
        # Markup of shared tasks.
        ({"a": '<refset setid="x">\n<seg id="1">a b</seg>\n', "gold": "a b\na\n"}, "bleu", "a"),
        # Lines that have no fellows.
        ({"a": "x\ny\n", "gold": "x\ny\nz\n"}, "accuracy", "a"),
        ({"a": "S-0\ta\nH-0\t-1\tb\nD-0\t-1\tb\n", "gold": "b\n"}, "bleu", "a"),
        ({"a": "x\ny\n", "gold": "x\n \n"}, "accuracy", "gold, line 2"),
        ({"a": "x\ny\n", "gold.csv": "item,reference\n1,x\n2,\n"}, "accuracy", "gold.csv, line 3"),
        ({"a": "x\ny\n", "gold.csv": "i,r\n1,x\n2,y\n"}, "bleu", "gold.csv"),
        *(({"a": f"0\n{line}\n"}, "mean", "a, line 2") for line in ("high", "0,5", "inf", "")),
        # The words of others in another order.
        ({"a": lines(HYPHENS), "b": lines([HYPHENS[k] for k in SHUFFLED]), "gold": lines(HYPHENS)}, "wer", "b"),
        ({"a": "a\nb\nc\n", "gold.csv": "item,reference\n2,c\n0,a\n1,b\n"}, "wer", "gold.csv"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, files: dict[str, str], metric: str, at: str) -> None:
    assert refused(tmp_path, files, metric).at == str(tmp_path / at)


@pytest.mark.parametrize(
    ("metric", "argument", "options"),
    [
        ("chrf", "texts", {"texts": Texts("intl")}),
        ("mean", "references", {}),
        ("f1", "metric", {}),
    ],
)
def test_what_text_has_not(tmp_path: Path, metric: str, argument: str, options: dict[str, object]) -> None:
    files = {"a": "1\n0\n", "gold": "1\n0\n"}
    assert refused(tmp_path, files, metric, format="text", **options).argument == argument


# Notes


def test_outputs_that_are_empty_or_tokenized_are_named(tmp_path: Path) -> None:
    gold = ["the cat sat on the mat ."] * 120
    outputs = ["", *gold[1:60], *["the ca@@ t sat"] * 60]
    read = loaded(tmp_path, {"a": lines(outputs), "b": lines(gold), "gold": lines(gold)}, "bleu")
    assert note_kinds(read) == ["empty outputs", "tokenized outputs"]
    assert [note.fields["files"].count(str(tmp_path / "a")) for note in read.notes[1:]] == [1, 1]
    assert note_kinds(loaded(tmp_path, {"b": lines(gold), "gold": lines(gold)}, "chrf")) == []


@pytest.mark.parametrize(
    ("text", "bleu", "rouge"),
    [
        ("今天天气很好，我们去公园散步，然后回家吃饭睡觉。", True, True),
        ("วันนี้อากาศดีมากเราไปสวนสาธารณะ", True, True),
        ("Сегодня хорошая погода", False, True),
        ("Today 今天 is fine and we go, naïve", False, False),
    ],
)
def test_references_without_words_between_blanks(tmp_path: Path, text: str, bleu: bool, rouge: bool) -> None:
    files = {"a": f"{text}\n", "gold": f"{text}\n"}
    for metric, noted in (("bleu", bleu), ("wer", bleu), ("rouge1", rouge), ("chrf", False)):
        assert note_kinds(loaded(tmp_path, files, metric)) == ["words not counted"] * noted
    assert note_kinds(loaded(tmp_path, files, "bleu", texts=Texts("char"))) == []
