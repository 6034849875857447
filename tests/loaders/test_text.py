from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from simstudy.loaders.base import Loaded, Source, Texts
from simstudy.loaders.formats import read_source
from simstudy.metrics import get_metric
from simstudy.metrics.mean import Mean
from simstudy.metrics.rouge import Rouge


def written(folder: Path, files: Mapping[str, str | bytes]) -> dict[str, Path]:
    for name, content in files.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return {name: folder / name for name in files}


def loaded(paths: Sequence[Path], metric: str, references: Sequence[Path] = (), **options: Any) -> Loaded:
    texts = Texts(**{name: options.pop(name) for name in ("tokenize", "lowercase") if name in options})
    return read_source(Source(tuple(paths), get_metric(metric), tuple(references), texts=texts, **options), "text")


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
    assert found.outputs.statistics.tolist() == [[[1, 1], [0, 1], [0, 1]], [[1, 1], [1, 1], [1, 1]]]
    assert found.outputs.answers is not None
    assert (found.outputs.answers[0] == found.outputs.answers[1]).tolist() == [True, False, False]


def test_numbers_are_scores(tmp_path: Path) -> None:
    files = written(tmp_path, {"a.txt": "0.5\n-1e2\n", "b.txt": " 2 \n3\n"})
    found = loaded(list(files.values()), "mean")
    assert found.outputs.scores().tolist() == [-49.75, 2.5]
    assert found.outputs.answers is None


def test_texts_are_counted_against_their_own_references(tmp_path: Path) -> None:
    """Of several files, an empty line is no reference; the source's mark is no part of a text."""
    files = written(
        tmp_path,
        {"a.txt": "the cat<q>sat on it\n\n", "r1.txt": "a cat sat on it\nyes\n", "r2.txt": "the cat<q>sat\n\n"},
    )
    found = loaded([files["a.txt"]], "bleu", [files["r1.txt"], files["r2.txt"]], mark="<q>")
    assert found.outputs.statistics[0].tolist() == [[5, 4, 3, 1, 5, 4, 3, 2, 5, 5], [0] * 9 + [1]]
    assert loaded([files["a.txt"]], "bleu", [files["r1.txt"]], mark="<q>").outputs.statistics[0, 0, 0] == 4
    rouge = loaded([files["a.txt"]], "rouge1", [files["r1.txt"]])
    assert rouge.outputs.scores().tolist() == [pytest.approx(100 * (2 * 4 / (6 + 5) + 0) / 2)]


def test_case_and_tokenizer(tmp_path: Path) -> None:
    files = written(tmp_path, {"a.txt": "THE Cat\n", "ref.txt": "the cat\n"})
    a, reference = files["a.txt"], [files["ref.txt"]]
    for metric in ("bleu", "chrf", "chrf++"):
        assert loaded([a], metric, reference, lowercase=True).outputs.statistics[0, 0, 0] > 0
    by_character, by_word = (loaded([a], "bleu", reference, tokenize=how).outputs for how in ("char", None))
    assert [outputs.statistics[0, 0, 8] for outputs in (by_character, by_word)] == [6, 2]
    assert by_character.metric.signature != by_word.metric.signature


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
    assert found.items["id"].tolist() == ["7", "5"]
    expected = Rouge("rouge1").text_counter([["yes"], ["a b"]]).statistics(["yes", "a b c"])
    assert found.statistics[0].tolist() == expected.tolist()
    lengths = loaded([files["a.txt"]], "bleu", [files[name]], columns=columns, tokenize="none").outputs
    assert lengths.statistics[0, :, 9].tolist() == [1, 2]


def test_items_meet_the_references_by_their_ids(tmp_path: Path) -> None:
    table = "item\treference\nx\ta cat\ny\ta dog\n"
    files = written(
        tmp_path, {"sys": "a cat\na cow\n", "ref.tsv": table, "ref": "a cat\na dog\n", "items.csv": "id,domain\n"}
    )
    source = Source((files["sys"],), get_metric("chrf"), references=(files["ref.tsv"],), items=files["items.csv"])
    files["items.csv"].write_text("id,domain\ny,of y\nx,of x\n")
    assert read_source(source).outputs.items.to_dict("list") == {"id": ["x", "y"], "domain": ["of x", "of y"]}
    files["items.csv"].write_text("id,domain\n1,p\n2,q\n")
    with pytest.raises(ValueError, match=r"items.csv must have the ids of the items; '1' is in one of them only$"):
        read_source(source)
    by_line = replace(source, references=(files["ref"],))
    assert read_source(by_line).outputs.items.to_dict("list") == {"id": ["1", "2"], "domain": ["p", "q"]}


# What is refused

GOOD = {"a.txt": "x\ny\nz\n", "b.txt": "x\ny\nz\n", "gold.txt": "x\ny\nz\n"}


@pytest.mark.parametrize("missing", ["error", "drop", "zero"])
def test_files_of_other_lengths_are_named_with_their_counts(tmp_path: Path, missing: str) -> None:
    files = written(tmp_path, {**GOOD, "b.txt": "x\ny\n", "c.txt": "x\n" * 1234, "refs.csv": "i,r\n1,x\n2,y\n"})
    systems = [files["a.txt"], files["b.txt"], files["c.txt"]]
    told = "; lines have no ids, so that none can be dropped or scored as missing"
    for paths, metric, references, lengths in (
        (systems, "accuracy", ["gold.txt"], "b.txt has 2 lines, c.txt 1,234, gold.txt 3"),
        (systems[:1], "bleu", ["gold.txt", "b.txt"], "b.txt has 2 lines, gold.txt 3"),
        (systems[:2], "bleu", ["refs.csv"], "a.txt has 3 lines, refs.csv 2 items"),
    ):
        assert refused(paths, metric, [files[name] for name in references], missing=missing) == lengths + told
    # Without references most files say how many items there are.
    for name, text in {"a.txt": "1\n", "b.txt": "1\n2\n", "c.txt": "1\n2\n"}.items():
        files[name].write_text(text)
    assert refused(systems, "mean", missing=missing) == f"a.txt has 1 line, b.txt 2{told}"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        *[(line, f"must be a number, not '{line}'") for line in ("high", "0,5", "1_0", "٣", "nan", "inf")],
        ("", "must be a number, but the line is empty"),
        ("-0.1", "must be at least 0, not '-0.1'"),
        ("1.5", "must be at most 1, not '1.5'"),
    ],
)
def test_scores_that_are_no_numbers_or_out_of_range(tmp_path: Path, line: str, told: str) -> None:
    files = written(tmp_path, {"a.txt": f"0\n1\n{line}\n0.5\n"})
    with pytest.raises(ValueError, match="a.txt, line 3: judged ") as error:
        read_source(Source((files["a.txt"],), Mean("judged", low=0, high=1)))
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
        (
            {"r.en": "a\nb\nc\n", "s.csv": "i,r\n1,x\n"},
            "a table of references must be the only file of references, unlike s.csv",
        ),
        (
            {},
            "metric 'bleu' needs references: at least one file. (Files are read as plain text, because their names do "
            "not end in .csv, .tsv, .json, .jsonl or .parquet)",
        ),
    ],
)
def test_references_that_cannot_be_used(tmp_path: Path, files: Mapping[str, str | bytes], told: str) -> None:
    system = written(tmp_path, GOOD)["a.txt"]
    assert refused([system], "bleu", list(written(tmp_path, files).values())) == told


def test_what_plain_text_has_not(tmp_path: Path) -> None:
    files = written(tmp_path, {**GOOD, "r.csv": "mr,ref\n1,x\n2,y\n3,z\n"})
    a, gold = files["a.txt"], files["gold.txt"]
    said = refused([a], "f1", [gold])
    known = re.fullmatch(
        r"metric must be one of mean, accuracy, (.*), macro_f1, .*, mcc for plain text, not 'f1'", said
    )
    assert known
    assert {"bleu", "chrf++", "rougeL", "ter"} <= {*known[1].split(", ")}
    assert refused([a], "mean", [gold]) == "metric 'mean' needs no references: lines of plain text are the scores"
    assert refused([a], "accuracy", [gold, files["b.txt"]]) == (
        "metric 'accuracy' needs one label for each item: item number 1 has 2 references"
    )
    assert refused([a], "accuracy", [gold], lowercase=True) == "lowercase is for metrics of texts, not for 'accuracy'"
    assert refused([a], "chrf", [gold], tokenize="intl") == "tokenize is for metric 'bleu', not for 'chrf'"
    assert refused([a], "bleu", [gold], tokenize="klingon").startswith("tokenize must be one of none, zh, 13a, ")
    assert refused([], "accuracy", [gold]) == "paths must name at least one file of system outputs"
    told = "plain text has no columns, so none 'doc' for cluster: give a table of the items"
    assert refused([a], "accuracy", [gold], columns={"cluster": "doc"}) == told
    told = refused([a], "bleu", [files["r.csv"]], columns={"reference": "refs"})
    assert told == "r.csv: no column 'refs' (columns: mr, ref). Did you mean 'ref'?"


@pytest.mark.slow
def test_a_million_lines(tmp_path: Path, rng: np.random.Generator) -> None:
    right = rng.random(1_000_000) < 0.8
    text = "\n".join(np.where(right, "NOUN", "VERB").tolist())
    files = written(tmp_path, {"a.txt": text, "gold.txt": "NOUN\n" * len(right)})
    outputs = loaded([files["a.txt"]], "accuracy", [files["gold.txt"]]).outputs
    assert outputs.scores()[0] == 100 * right.mean()


# Translations, generated texts and summaries that others have scored


@pytest.mark.parametrize(
    ("name", "metric", "references"),
    [
        ("wmt21_de-en", "bleu-all", ["ref.A.en", "ref.B.en"]),
        ("wmt21_de-en", "chrf-B", ["ref.B.en"]),
        ("wmt22_ja-en", "bleu-A", ["ref.A.en"]),
    ],
)
def test_scores_are_the_organisers(name: str, metric: str, references: list[str], shared_data: Path) -> None:
    folder = shared_data / name
    table = pd.read_csv(folder / "official_scores.tsv", sep="\t").query("metric == @metric").set_index("system")
    path = sorted((folder / "sys").iterdir())[3]
    outputs = loaded([path], metric.partition("-")[0], [folder / reference for reference in references]).outputs
    np.testing.assert_allclose(outputs.scores(), table["score"][outputs.names], rtol=0, atol=1e-9)


def test_scores_are_sacrebleus(shared_data: Path, tmp_path: Path) -> None:
    """Each sixth paragraph has two references, in any case of letters; two systems give the same answers."""
    folder = shared_data / "wmt24_en-de"
    meta, *rows = lines(folder / "meta.tsv")
    (tmp_path / "meta.tsv").write_text("\n".join([meta, *rows[::6], ""]), encoding="utf-8")
    paths = [tmp_path / f"{name}.de" for name in ("CycleL", "CycleL2")]
    gold = [tmp_path / f"ref.{reference}.de" for reference in "AB"]
    for path in (*paths, *gold):
        source = folder / ("" if path in gold else "sys") / path.name
        path.write_text("\n".join([*lines(source)[::6], ""]), encoding="utf-8")
    for metric, theirs in (
        ("bleu", BLEU(references=[lines(path) for path in gold], lowercase=True)),
        ("chrf++", CHRF(references=[lines(gold[0])], word_order=2, lowercase=True)),
    ):
        own, references = (paths, gold) if metric == "bleu" else (paths[:1], gold[:1])
        found = loaded(own, metric, references, lowercase=True, items=tmp_path / "meta.tsv", columns={"cluster": "doc"})
        expected = theirs.corpus_score(lines(paths[0]), None).score
        np.testing.assert_allclose(found.outputs.scores(), expected, rtol=0, atol=1e-9)
        if metric == "bleu":
            assert found.outputs.answers is not None
            assert (found.outputs.answers[0] == found.outputs.answers[1]).all()
    assert found.outputs.items.groupby("domain")["cluster"].agg(["size", "nunique"]).T.to_dict("list") == {
        "literary": [35, 8],
        "news": [25, 16],
        "social": [89, 33],
        "speech": [18, 18],
    }


@pytest.mark.parametrize(
    ("table", "system", "score"), [("refs.tsv", "tgen", 65.93), ("testset_w_refs.csv", "tr2", 42.02)]
)
def test_generated_texts_with_any_number_of_references(
    table: str, system: str, score: float, shared_data: Path
) -> None:
    """The figures are of sacrebleu with all references, lower-cased."""
    folder = shared_data / "e2e_nlg"
    outputs = loaded([folder / "sys" / f"{system}.txt"], "bleu", [folder / table], lowercase=True).outputs
    assert outputs.scores().round(2).tolist() == [score]
