from __future__ import annotations

import random
import re
from functools import partial
from pathlib import Path
from typing import Any

import conllu
import pytest

from simstudy.loaders.base import Source
from simstudy.loaders.conllu import read_conllu
from simstudy.loaders.formats import read_source
from simstudy.metrics import get_metric

read_conllu_outputs = partial(read_source, format="conllu")

TEXT = """\
# newdoc id = d1
# sent_id = d1-1
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tdo\tdo\tAUX\t_\t_\t0\troot\t_\t_
2\tn't\tnot\tPART\t_\t_\t1\tadvmod:neg\t_\t_

# sent_id = d1-2
1\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_
1.1\tthere\tthere\tADV\t_\t_\t_\t_\t_\t_
2\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_

"""


def source(*paths: Path, gold: Path, metric: str, **more: Any) -> Source:
    return Source(paths, get_metric(metric), (gold,), **more)


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.conllu"
    path.write_text(TEXT)
    return path


def test_words_are_the_lines_with_whole_numbers(gold: Path) -> None:
    first, second = read_conllu(gold)
    assert (first.id, first.document, first.words, first.tags) == ("d1-1", "d1", ("do", "n't"), ("AUX", "PART"))
    assert (first.heads, first.relations, first.line) == ((0, 1), ("root", "advmod:neg"), 1)
    assert (second.document, second.words, second.line) == ("d1", ("go", "."), 7)


@pytest.mark.parametrize("name", ["ewt/en_ewt-ud-test", "other/en-ud-tweet-dev.fixed", "other/en_pud-ud-test"])
def test_sentences_are_those_of_the_conllu_library(shared_data: Path, name: str) -> None:
    path = shared_data / f"ud_english_{name}.conllu"
    document = ""
    expected = []
    for tokens in conllu.parse(path.read_text(encoding="utf-8")):
        document = tokens.metadata.get("newdoc id", document)
        words = [token for token in tokens if isinstance(token["id"], int)]
        columns = [tuple(word[key] for word in words) for key in ("form", "upos", "head", "deprel")]
        expected.append((tokens.metadata.get("sent_id") or tokens.metadata["tweet_id"], document, *columns))
    assert [(s.id, s.document, s.words, s.tags, s.heads, s.relations) for s in read_conllu(path)] == expected


def test_changed_parses_of_a_treebank_score_as_counted(shared_data: Path, tmp_path: Path) -> None:
    """Heads, relations and tags of the English Web Treebank changed at random; each change is counted as it is made."""
    gold = shared_data / "ud_english_ewt" / "en_ewt-ud-test.conllu"
    chance = random.Random(20120712)
    paths, expected = [], []
    for rate in (0.05, 0.2):
        right = {"uas": 0, "las": 0, "accuracy": 0}
        n = 0
        blocks = []
        for block in gold.read_text(encoding="utf-8").strip().split("\n\n"):
            lines = block.split("\n")
            length = sum(line.split("\t")[0].isdigit() for line in lines)
            for i, line in enumerate(lines):
                row = line.split("\t")
                if not row[0].isdigit():
                    continue
                n += 1
                tag, head, relation = row[3], row[6], row[7]
                if chance.random() < rate:
                    row[3] = chance.choice(["NOUN", "VERB"])
                if chance.random() < rate:
                    row[6] = str(chance.randint(0, length))
                if chance.random() < rate:
                    row[7] = chance.choice([relation.split(":")[0] + ":x", "obj", "nsubj:pass"])
                right["accuracy"] += row[3] == tag
                right["uas"] += row[6] == head
                right["las"] += row[6] == head and row[7].split(":")[0] == relation.split(":")[0]
                lines[i] = "\t".join(row)
            blocks.append("\n".join(lines))
        chance.shuffle(blocks)  # sentences are matched by their ids
        paths.append(tmp_path / f"changed-{rate}.conllu")
        paths[-1].write_text("\n\n".join(blocks) + "\n\n", encoding="utf-8")
        expected.append({metric: 100 * count / n for metric, count in right.items()})
    for metric in ("uas", "las", "accuracy"):
        outputs = read_conllu_outputs(source(*paths, gold, gold=gold, metric=metric)).outputs
        assert outputs.n_items == 2077
        assert outputs.items["cluster"].nunique() == len(re.findall("# newdoc id", gold.read_text(encoding="utf-8")))
        assert outputs.scores() == pytest.approx([*(scores[metric] for scores in expected), 100], abs=1e-9)


def test_missing_sentences(gold: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(TEXT.split("\n\n")[1] + "\n\n")
    with pytest.raises(ValueError, match=r"a.conllu lacks 1 of 2 items, first 'd1-1' \(system 'a'\)"):
        read_conllu_outputs(source(path, gold=gold, metric="las"))
    for metric, counts in (("las", [[0, 0, 2], [2, 2, 2]]), ("accuracy", [[0, 2], [2, 2]])):
        loaded = read_conllu_outputs(source(path, gold=gold, metric=metric, missing="zero"))
        assert loaded.outputs.statistics.tolist() == [counts]
    dropped = read_conllu_outputs(source(path, gold=gold, metric="uas", missing="drop"))
    assert dropped.outputs.items["id"].tolist() == ["d1-2"]


def test_answers_are_what_the_metric_looks_at(gold: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(TEXT.replace("punct\t", "dep\t"))
    same = {
        m: read_conllu_outputs(source(path, gold, gold=gold, metric=m)).outputs.answers
        for m in ("uas", "las", "accuracy")
    }
    assert {metric: (a[0] == a[1]).tolist() for metric, a in same.items() if a is not None} == {
        "uas": [True, True],
        "las": [True, False],
        "accuracy": [True, True],
    }


def test_a_table_of_items_goes_by_its_ids_or_by_its_order(gold: Path, tmp_path: Path) -> None:
    for name, text in {"a": "id,domain\nd1-2,x\nd1-1,y\n", "b": "domain\ny\nx\n"}.items():
        (tmp_path / f"{name}.csv").write_text(text)
        more = {"items": tmp_path / f"{name}.csv"}
        items = read_conllu_outputs(source(gold, gold=gold, metric="uas", **more)).outputs.items
        assert items[["id", "domain", "cluster"]].to_numpy().tolist() == [["d1-1", "y", "d1"], ["d1-2", "x", "d1"]]
    (tmp_path / "c.csv").write_text("id,domain\nd1-2,x\nd1-3,y\n")
    with pytest.raises(ValueError, match=r"c.csv must have the ids of the items; 'd1-1' is in one of them only$"):
        read_conllu_outputs(source(gold, gold=gold, metric="uas", items=tmp_path / "c.csv"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n# a\n", "{path}, line 2: a sentence has no sent_id"),
        (TEXT.replace("1\tgo\tgo", "1 go go"), "{path}, line 8: 8 columns between tabs, where CoNLL-U has 10"),
        (TEXT.replace("2\t.", "3\t."), "{path}, line 10: '3' is not the id of word 2"),
        (
            TEXT.replace("2\t.", "two\t."),
            "{path}, sentence at line 7: Failed parsing field 'id': 'two' is not a valid ID.",
        ),
        (TEXT.replace("# sent_id = d1-2\n", ""), "{path}, line 7: a sentence has no sent_id"),
        (TEXT + "# sent_id = d1-3\n", "{path}, line 12: a sentence has no words"),
        (TEXT.replace("d1-2", "d1-1"), "{path}, line 7: sentence 'd1-1' is there already, at line 1"),
        (
            TEXT.replace("1\tpunct", "one\tpunct"),
            "{path}, sentence at line 7: Failed parsing field 'head': 'one' is not a valid value for parse_int_value.",
        ),
        (TEXT.replace("1\tpunct", "3\tpunct"), "{path}, line 10: head '3' is outside the sentence of 2 words"),
        (TEXT.replace("1\tpunct", "-1\tpunct"), "{path}, line 10: head '-1' is outside the sentence of 2 words"),
        (TEXT.replace("1\tpunct", "-2\tpunct"), "{path}, line 10: head '-2' is outside the sentence of 2 words"),
        ("# sent_id = a\n1\tgo\tgo\n", "{path}, line 2: 3 columns between tabs, where CoNLL-U has 10"),
        ("# sent_id = a\ngo\n", "{path}, line 2: 1 column between tabs, where CoNLL-U has 10"),
        (
            "# sent_id = a\n1\tgo\tgo\tVERB\t_\t_\t2\troot\t_\t_\n",
            "{path}, line 2: head '2' is outside the sentence of 1 word",
        ),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "t.conllu"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match=f"^{re.escape(message.format(path=path))}$"):
        read_conllu(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            TEXT.replace("\tgo\t", "\tstay\t", 1),
            "{path}, line 7: the words of sentence 'd1-2' are not those of {gold}, line 7",
        ),
        (TEXT.replace("1\tpunct", "_\tpunct"), "{path}, line 7: sentence 'd1-2' has a word without a head"),
    ],
)
def test_outputs_must_be_parses_of_the_same_words(gold: Path, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "t.conllu"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"^{re.escape(message.format(path=path, gold=gold))}$"):
        read_conllu_outputs(source(path, gold=gold, metric="uas"))


def test_tags_alone_have_an_accuracy(gold: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.conllu"
    path.write_text(TEXT.replace("1\tpunct", "_\t_").replace("VERB", "NOUN"))
    assert read_conllu(path)[1].heads == (0, -1)
    assert read_conllu_outputs(source(path, gold=gold, metric="accuracy")).outputs.scores().tolist() == [75]
