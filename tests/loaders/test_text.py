from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sacrebleu.metrics.bleu import BLEU

from simstudy.loaders.base import Loaded, Source, Texts
from simstudy.loaders.scripts import note_script
from simstudy.loaders.text import read_text
from simstudy.metrics import get_metric
from simstudy.metrics.mean import Mean
from simstudy.metrics.rouge import Rouge


def written(folder: Path, files: Mapping[str, str | bytes]) -> dict[str, Path]:
    for name, content in files.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return {name: folder / name for name in files}


def loaded(paths: Sequence[Path], metric: str, references: Sequence[Path] = (), **options: Any) -> Loaded:
    texts = Texts(**{name: options.pop(name) for name in ("tokenize", "lowercase") if name in options})
    return read_text(Source(tuple(paths), get_metric(metric), tuple(references), texts=texts, **options))


def refused(*arguments: Any, **options: Any) -> str:
    """The message of the ValueError, in one line and without folders."""
    with pytest.raises(ValueError) as error:  # noqa: PT011 - callers compare the whole message
        loaded(*arguments, **options)
    message = str(error.value)
    assert "\n" not in message
    return " ".join(word.rpartition("/")[2] if word.startswith("/") else word for word in message.split(" "))


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


# What lines mean


def test_labels_are_right_where_they_equal_the_reference(tmp_path: Path) -> None:
    files = written(tmp_path, {"a.txt": "x\n\nZ\n", "b.txt": "x \ny\nz\n", "gold.txt": "x\ny\nz\n"})
    found = loaded([files["a.txt"], files["b.txt"]], "accuracy", [files["gold.txt"]])
    assert found.outputs.names == ["a", "b"]
    assert found.outputs.statistics.tolist() == [[[1, 1], [0, 1], [0, 1]], [[1, 1], [1, 1], [1, 1]]]
    assert found.outputs.items["id"].tolist() == ["1", "2", "3"]
    assert found.outputs.answers is not None
    assert (found.outputs.answers[0] == found.outputs.answers[1]).tolist() == [True, False, False]


def test_numbers_are_scores(tmp_path: Path) -> None:
    files = written(tmp_path, {"a.txt": "0.5\n-1e2\n", "b.txt": " 2 \n3\n"})
    found = loaded(list(files.values()), "mean")
    assert found.outputs.scores().tolist() == [-49.75, 2.5]
    assert found.outputs.answers is None


def test_texts_are_counted_against_their_own_references(tmp_path: Path) -> None:
    files = written(
        tmp_path,
        {"a.txt": "the cat sat on it\n\n", "r1.txt": "a cat sat on it\nyes\n", "r2.txt": "the cat sat\n\n"},
    )
    found = loaded([files["a.txt"]], "bleu", [files["r1.txt"], files["r2.txt"]])
    assert found.outputs.statistics[0].tolist() == [[5, 4, 3, 1, 5, 4, 3, 2, 5, 5], [0] * 9 + [1]]
    assert loaded([files["a.txt"]], "bleu", [files["r1.txt"]]).outputs.statistics[0, 0, 0] == 4
    rouge = loaded([files["a.txt"]], "rouge1", [files["r1.txt"]])
    assert rouge.outputs.scores().tolist() == [pytest.approx(100 * (2 * 4 / (5 + 5) + 0) / 2)]


def test_case_and_tokenizer(tmp_path: Path) -> None:
    files = written(tmp_path, {"a.txt": "THE Cat\n", "ref.txt": "the cat\n"})
    for metric in ("bleu", "chrf", "chrf++"):
        assert loaded([files["a.txt"]], metric, [files["ref.txt"]], lowercase=True).outputs.statistics[0, 0, 0] > 0
    by_character = loaded([files["a.txt"]], "bleu", [files["ref.txt"]], tokenize="char").outputs
    assert by_character.statistics[0, 0, 8] == 6


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("refs.tsv", 'item\treference\n7\t"yes\n5\ta b\n7\tyes, "sir"\n5\t\n'),
        ("refs.csv", 'item,source,reference\n7,s,"""yes"\n5,t,a b\n7,s,"yes, ""sir"""\n'),
        ("refs.csv", 'mr,ref\n7,"""yes"\n5,a b\n7,"yes, ""sir"""\n'),
        ("refs.csv", 'ref,mr,more\n"""yes",7,x\na b,5,y\n"yes, ""sir""",7,z\n'),
    ],
)
def test_a_table_has_any_number_of_references_for_an_item(tmp_path: Path, name: str, content: str) -> None:
    files = written(tmp_path, {"a.txt": "yes\na b c\n", name: content})
    columns = {"item": "mr", "reference": "ref"} if content.startswith("ref") else {}
    found = loaded([files["a.txt"]], "rouge1", [files[name]], columns=columns).outputs
    expected = Rouge("rouge1").text_counter([["yes"], ["a b"]]).statistics(["yes", "a b c"])
    assert found.statistics[0].tolist() == expected.tolist()
    lengths = loaded([files["a.txt"]], "bleu", [files[name]], columns=columns, tokenize="none").outputs
    assert lengths.statistics[0, :, 9].tolist() == [1, 2]


def test_items_take_names_documents_and_all_else_from_a_table(tmp_path: Path) -> None:
    items = "doc\tgenre\tid\nd1\tNA\t01\nd1\tnews\t1\n"
    files = written(tmp_path, {"a.txt": "1\n2\n", "items.tsv": items})
    columns = {"cluster": "doc", "domain": "genre"}
    found = loaded([files["a.txt"]], "mean", items=files["items.tsv"], columns=columns).outputs
    assert found.items.to_dict("list") == {"id": ["01", "1"], "cluster": ["d1", "d1"], "domain": ["NA", "news"]}


def test_what_is_odd_about_files_is_noted(tmp_path: Path) -> None:
    files = written(tmp_path, {"a.txt": "x\r\ny\r\n", "gold.txt": b"\xef\xbb\xbfx\ny\n"})
    found = loaded([files["a.txt"]], "accuracy", [files["gold.txt"]])
    assert found.outputs.scores().tolist() == [100]
    assert found.notes == (
        f"{files['gold.txt']}: byte order mark taken off",
        f"{files['a.txt']}: Windows line ends converted",
    )


# What is refused

GOOD = {"a.txt": "x\ny\nz\n", "b.txt": "x\ny\nz\n", "gold.txt": "x\ny\nz\n"}


@pytest.mark.parametrize("missing", ["error", "drop", "zero"])
def test_files_of_other_lengths_are_named_with_their_counts(tmp_path: Path, missing: str) -> None:
    files = written(tmp_path, {**GOOD, "b.txt": "x\ny\n", "c.txt": "x\n" * 1234, "refs.csv": "i,r\n1,x\n2,y\n"})
    systems, ids = [files["a.txt"], files["b.txt"], files["c.txt"]], "lines have no ids, so that none can be"
    told = f"b.txt has 2 lines, c.txt 1,234, gold.txt 3; {ids} dropped or scored as missing"
    assert refused(systems, "accuracy", [files["gold.txt"]], missing=missing) == told
    told = f"b.txt has 2 lines, gold.txt 3; {ids} dropped or scored as missing"
    assert refused(systems[:1], "bleu", [files["gold.txt"], files["b.txt"]], missing=missing) == told
    told = f"a.txt has 3 lines, refs.csv 2 items; {ids} dropped or scored as missing"
    assert refused(systems[:2], "bleu", [files["refs.csv"]], missing=missing) == told


def test_without_references_most_files_say_how_many_items_there_are(tmp_path: Path) -> None:
    files = written(tmp_path, {"a.txt": "1\n", "b.txt": "1\n2\n", "c.txt": "1\n2\n"})
    assert refused(list(files.values()), "mean").startswith("a.txt has 1 line, b.txt 2; lines have no ids")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("high", "must be a number, not 'high'"),
        ("0,5", "must be a number, not '0,5'"),
        ("", "must be a number, not ''"),
        ("1_0", "must be a number, not '1_0'"),
        ("٣", "must be a number, not '٣'"),
        ("nan", "must be a number, not 'nan'"),
        ("inf", "must be a number, not 'inf'"),
        ("-0.1", "must be at least 0, not '-0.1'"),
        ("1.5", "must be at most 1, not '1.5'"),
    ],
)
def test_scores_that_are_no_numbers_or_out_of_range(tmp_path: Path, line: str, told: str) -> None:
    files = written(tmp_path, {"a.txt": f"0\n1\n{line}\n0.5\n"})
    with pytest.raises(ValueError, match="a.txt, line 3: judged ") as error:
        read_text(Source((files["a.txt"],), Mean("judged", low=0, high=1)))
    assert str(error.value).endswith(f"line 3: judged {told}")


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"r.en": "a\n \nc\n"}, "r.en, line 2: the reference is empty"),
        (
            {"r.en": "a\n\nc\n", "s.en": "a\n\n\n"},
            "r.en, line 2: the reference is empty, and so in the other files of references",
        ),
        ({"r.csv": "i,r\n1,x\n2,\n3,z\n2, \n"}, "r.csv, line 3: item '2' has no reference that is not empty"),
        ({"r.csv": "i\n1\n2\n3\n"}, "r.csv: items and references must be two columns, not both 'i'"),
        ({"r.csv": "i,r\n1,x\n2,y,z\n"}, "r.csv, line 3: 3 cells, but the header has 2"),
        (
            {"r.en": "a\nb\nc\n", "s.csv": "i,r\n1,x\n"},
            "a table of references must be the only file of references, unlike s.csv",
        ),
        ({}, "metric 'bleu' needs references: at least one file"),
    ],
)
def test_references_that_cannot_be_used(tmp_path: Path, files: Mapping[str, str | bytes], told: str) -> None:
    system = written(tmp_path, GOOD)["a.txt"]
    assert refused([system], "bleu", list(written(tmp_path, files).values())) == told


def test_columns_that_are_not_there(tmp_path: Path) -> None:
    files = written(tmp_path, {**GOOD, "r.csv": "mr,ref\n1,x\n2,y\n3,z\n", "items.csv": "doc,genre\n1,a\n2,b\n3,c\n"})
    told = refused([files["a.txt"]], "bleu", [files["r.csv"]], columns={"reference": "refs"})
    assert told == "r.csv: no column 'refs' among mr, ref (did you mean 'ref'?)"
    gold = [files["gold.txt"]]
    told = refused([files["a.txt"]], "accuracy", gold, items=files["items.csv"], columns={"cluster": "docs"})
    assert told == "items.csv: no column 'docs' among doc, genre (did you mean 'doc'?)"
    told = refused([files["a.txt"]], "accuracy", gold, columns={"cluster": "doc"})
    assert told == "plain text has no columns, so none 'doc' for cluster: give a table of the items"


def test_what_plain_text_has_not(tmp_path: Path) -> None:
    files = written(tmp_path, GOOD)
    a, gold = files["a.txt"], files["gold.txt"]
    assert refused([a], "f1", [gold]) == (
        "metric must be one of mean, accuracy, bleu, chrf, chrf++, rouge1, rouge2, rougeL for plain text, not 'f1'"
    )
    assert refused([a], "mean", [gold]) == "metric 'mean' takes no references: lines of plain text are the scores"
    assert refused([a], "accuracy") == "metric 'accuracy' needs references: at least one file"
    assert refused([a], "accuracy", [gold, files["b.txt"]]) == (
        "metric 'accuracy' takes one label an item: item number 1 has 2 references"
    )
    assert refused([a], "accuracy", [gold], lowercase=True) == "lowercase is for metrics of texts, not for 'accuracy'"
    assert refused([a], "chrf", [gold], tokenize="intl") == "tokenize is for metric 'bleu', not for 'chrf'"
    assert refused([a], "bleu", [gold], tokenize="klingon").startswith("tokenize must be one of none, zh, 13a, ")
    assert refused([], "accuracy", [gold]) == "paths must name at least one file of system outputs"
    assert refused([a, a], "accuracy", [gold]) == "a.txt is given twice"


@pytest.mark.parametrize("n", [100_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_a_million_lines(tmp_path: Path, rng: np.random.Generator, n: int) -> None:
    right = rng.random(n) < 0.8
    files = written(tmp_path, {"a.txt": "\n".join(np.where(right, "NOUN", "VERB").tolist()), "gold.txt": "NOUN\n" * n})
    outputs = loaded([files["a.txt"]], "accuracy", [files["gold.txt"]]).outputs
    assert outputs.scores()[0] == 100 * right.mean()


# Translations, generated texts and summaries that others have scored


def official(folder: Path, metric: str) -> dict[str, float]:
    table = pd.read_csv(folder / "official_scores.tsv", sep="\t")
    return dict(table.loc[table["metric"] == metric, ["system", "score"]].itertuples(index=False))


@pytest.mark.parametrize(
    ("name", "metric", "references"),
    [
        ("wmt21_de-en", "bleu-B", ["ref.B.en"]),
        ("wmt21_de-en", "bleu-all", ["ref.A.en", "ref.B.en"]),
        ("wmt22_ja-en", "bleu-A", ["ref.A.en"]),
    ],
)
def test_bleu_of_every_system_is_the_organisers(
    name: str, metric: str, references: list[str], shared_data: Path
) -> None:
    folder = shared_data / name
    scores = official(folder, metric)
    paths = sorted((folder / "sys").iterdir())
    outputs = loaded(paths, "bleu", [folder / reference for reference in references]).outputs
    expected = [scores[name] for name in outputs.names]
    np.testing.assert_allclose(outputs.scores(), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("references", "every"), [("A", 14), ("AB", 14)])
def test_bleu_of_every_system_is_sacrebleus(references: str, every: int, shared_data: Path) -> None:
    folder = shared_data / "wmt24_en-de"
    paths, gold = sorted((folder / "sys").iterdir()), [folder / f"ref.{r}.de" for r in references]
    outputs = loaded(paths, "bleu", gold).outputs
    theirs = BLEU(references=[lines(path) for path in gold], force=True)
    expected = [theirs.corpus_score(lines(path), None).score for path in paths[::every]]
    np.testing.assert_allclose(outputs.scores()[::every], expected, rtol=0, atol=1e-9)
    # Two digits for all systems, computed elsewhere.
    check = pd.read_csv(folder / "bleu_check.tsv", sep="\t", index_col="system")
    column = check["BLEU_refA" if references == "A" else "BLEU_allrefs"]
    np.testing.assert_allclose(outputs.scores(), column[outputs.names], atol=0.005001)


def test_chrf_is_the_organisers(shared_data: Path) -> None:
    folder = shared_data / "wmt21_de-en"
    paths = [folder / "sys" / f"{name}.en" for name in ("UF", "ICL")]
    for metric, references in [("chrf-B", "B"), ("chrf-all", "AB")]:
        scores = official(folder, metric)
        outputs = loaded(paths, "chrf", [folder / f"ref.{r}.en" for r in references]).outputs
        assert outputs.scores().tolist() == [pytest.approx(scores[name], abs=1e-9) for name in outputs.names]


def test_scores_are_what_the_command_of_sacrebleu_prints(shared_data: Path) -> None:
    folder = shared_data / "wmt21_de-en"
    references = [folder / "ref.A.en", folder / "ref.B.en"]
    options = ["-m", "bleu", "chrf", "--chrf-word-order", "2", "-lc", "--chrf-lowercase", "-w", "2", "-f", "json"]
    path = folder / "sys" / "P3AI.en"
    command = [sys.executable, "-m", "sacrebleu", *references, "-i", path, *options]
    printed = json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)
    for metric, theirs in zip(("bleu", "chrf++"), printed, strict=True):
        (ours,) = loaded([path], metric, references, lowercase=True).outputs.scores()
        assert f"{ours:.2f}" == f"{theirs['score']:.2f}"


@pytest.mark.parametrize("table", ["refs.tsv", "testset_w_refs.csv"])
def test_generated_texts_with_any_number_of_references(table: str, shared_data: Path) -> None:
    """The figures are of sacrebleu with all references, lower-cased."""
    folder = shared_data / "e2e_nlg"
    paths = [folder / "sys" / f"{name}.txt" for name in ("tgen", "slug", "tr2")]
    outputs = loaded(paths, "bleu", [folder / table], lowercase=True).outputs
    assert outputs.scores().round(2).tolist() == [65.93, 66.19, 42.02]


def test_summaries_score_as_their_authors_found(shared_data: Path, tmp_path: Path) -> None:
    """The authors used another ROUGE, on texts without the marks between sentences: some thousandths a summary."""
    folder = shared_data / "realsumm"
    scores = pd.read_csv(folder / "scores.tsv", sep="\t").pivot(index="doc", columns="system", values="rouge_2_f")
    texts = {name: folder / "sys" / name for name in ("abs.bart.txt", "ext.refresh.txt")} | {"ref": folder / "ref.txt"}
    files = written(tmp_path, {n: path.read_text(encoding="utf-8").replace("<q>", "") for n, path in texts.items()})
    *systems, reference = files.values()
    outputs = loaded(systems, "rouge2", [reference]).outputs
    assert np.abs(outputs.statistics[..., 0].T - scores[outputs.names].to_numpy()).mean() < 0.004


def test_paragraphs_know_their_documents(shared_data: Path) -> None:
    folder = shared_data / "wmt24_en-de"
    outputs = loaded(
        [folder / "sys" / "CycleL.de", folder / "sys" / "CycleL2.de"],
        "bleu",
        [folder / "ref.A.de"],
        items=folder / "meta.tsv",
        columns={"cluster": "doc"},
    )
    assert outputs.outputs.answers is not None
    assert (outputs.outputs.answers[0] == outputs.outputs.answers[1]).all()
    items = outputs.outputs.items
    assert items.groupby("domain")["cluster"].agg(["size", "nunique"]).T.to_dict("list") == {
        "literary": [206, 8],
        "news": [149, 17],
        "social": [531, 34],
        "speech": [111, 111],
    }


SCRIPTS = {
    "Chinese": ("今天天气很好，我们去公园。", "zh"),
    "Japanese": ("今日は天気がいいので公園に行きます。", "ja-mecab"),
    "Korean": ("오늘은 날씨가 좋아서 공원에 갑니다.", "ko-mecab"),
    "Thai": ("วันนี้อากาศดีมากเราไปสวนสาธารณะ", "flores200"),
}


@pytest.mark.parametrize("language", SCRIPTS)
def test_scripts_without_words_between_spaces_are_told(tmp_path: Path, language: str) -> None:
    text, tokenizer = SCRIPTS[language]
    for name in ("ref", "sys"):
        (tmp_path / name).write_text(f"{text}\n{text} A B\n", encoding="utf-8")

    def notes(metric: str, tokenize: str | None = None) -> tuple[str, ...]:
        source = Source((tmp_path / "sys",), get_metric(metric), references=(tmp_path / "ref",), texts=Texts(tokenize))
        return read_text(source).notes

    (told,) = notes("bleu")
    assert told.startswith(f"the references look {language}, and BLEU with its default tokenizer (13a)")
    assert f"tokenize='{tokenizer}' is" in told
    assert notes("bleu", "char") == notes("chrf") == ()
    assert notes("chrf++")[0].startswith(f"the references look {language}: chrf++ takes words between spaces")


@pytest.mark.parametrize("text", ["Today 今天 is fine and we go", "Сегодня хорошая погода", "1 2 3", "naïve déjà vu"])
def test_texts_with_spaces_are_not_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "ref").write_text(text, encoding="utf-8")
    (tmp_path / "sys").write_text(text, encoding="utf-8")
    assert read_text(Source((tmp_path / "sys",), get_metric("bleu"), references=(tmp_path / "ref",))).notes == ()


def test_rouge_does_not_see_other_letters() -> None:
    for text in ("Сегодня хорошая погода", "今天天气很好"):
        with pytest.warns(UserWarning, match="looks at runs of a-z and 0-9 only"):
            note_script([[text]], Source((), get_metric("rouge1")))
    note_script([["the weather is fine, déjà vu"]], Source((), get_metric("rougeL")))


def test_items_meet_the_references_by_their_ids(tmp_path: Path) -> None:
    (tmp_path / "ref.tsv").write_text("item\treference\nx\ta cat\ny\ta dog\n")
    (tmp_path / "sys").write_text("a cat\na cow\n")
    (tmp_path / "items.csv").write_text("id,domain\ny,of y\nx,of x\n")
    source = Source(
        (tmp_path / "sys",), get_metric("chrf"), references=(tmp_path / "ref.tsv",), items=tmp_path / "items.csv"
    )
    assert read_text(source).outputs.items.to_dict("list") == {"id": ["x", "y"], "domain": ["of x", "of y"]}
    (tmp_path / "items.csv").write_text("id,domain\n1,p\n2,q\n")
    with pytest.raises(ValueError, match=r"items.csv must have the ids of the items; '1' is in one of them only$"):
        read_text(source)
    # Lines have numbers: a table that has these in another order goes by them.
    (tmp_path / "items.csv").write_text("id,domain\n2,of 2\n1,of 1\n")
    (tmp_path / "ref").write_text("a cat\na dog\n")
    by_line = replace(source, references=(tmp_path / "ref",))
    assert read_text(by_line).outputs.items.to_dict("list") == {"id": ["1", "2"], "domain": ["of 1", "of 2"]}
