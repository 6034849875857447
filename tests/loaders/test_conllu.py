from __future__ import annotations

import random
import re
from functools import partial
from pathlib import Path

import conllu
import pytest

from simstudy.loaders.corpora.conllu import read_conllu
from tests.loaders import files

read = partial(files.read, format="conllu")

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


@pytest.mark.parametrize("name", ["other/en-ud-tweet-dev.fixed", "other/en_pud-ud-test"])
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
    treebank = (shared_data / "ud_english_ewt" / "en_ewt-ud-test.conllu").read_text(encoding="utf-8")
    gold = tmp_path / "gold.conllu"
    gold.write_text("\n\n".join(treebank.split("\n\n")[:400]) + "\n\n", encoding="utf-8")
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
        outputs = read(*paths, gold, gold=gold, metric=metric).outputs
        assert outputs.n_items == 400
        assert outputs.items["cluster"].nunique() == len(re.findall("# newdoc id", gold.read_text(encoding="utf-8")))
        assert outputs.scores() == pytest.approx([*(scores[metric] for scores in expected), 100], abs=1e-9)


def test_answers_are_what_the_metric_looks_at(gold: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(TEXT.replace("punct\t", "dep\t"))
    for metric, alike, score in (
        ("uas", [True, True], 100),
        ("las", [True, False], 75),
        ("accuracy", [True, True], 100),
    ):
        outputs = read(path, gold, gold=gold, metric=metric).outputs
        assert outputs.answers is not None
        assert (outputs.answers[0] == outputs.answers[1]).tolist() == alike
        assert outputs.scores().tolist() == [score, 100]


def test_tags_alone_have_an_accuracy(gold: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.conllu"
    path.write_text(TEXT.replace("1\tpunct", "_\t_").replace("VERB", "NOUN"))
    assert read_conllu(path)[1].heads == (0, -1)
    assert read(path, gold=gold, metric="accuracy").outputs.scores().tolist() == [75]


def test_a_sentence_that_a_system_lacks_has_no_tag_right_and_no_head_guessed(gold: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.conllu"
    path.write_text(TEXT.partition("# sent_id = d1-2")[0])
    for metric, counts in (("accuracy", [0, 2]), ("uas", [0, 0, 2]), ("las", [0, 0, 2])):
        outputs = read(path, gold, gold=gold, metric=metric, missing="zero").outputs
        assert outputs.statistics[0, 1].tolist() == counts
