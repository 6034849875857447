from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

from simstudy.loaders.conll_columns import read_columns
from tests.loaders import files

read = partial(files.read, format="conll", metric="span_f1")

# Span F1 of the seven submissions to WNUT 2017: all, reddit, stackexchange, twitter.gurez, twitter.ile; as computed
# when the files were gathered. That of all is seqeval's, too.
WNUT = {
    "uh_ritual": (41.86, 57.34, 38.48, 35.39, 34.89),
    "spinningbytes": (40.78, 49.79, 32.23, 44.18, 38.33),
    "sjtu_adapt": (40.42, 58.19, 34.62, 33.97, 34.18),
    "arcada": (39.98, 53.47, 35.21, 34.01, 36.16),
    "flytxt": (38.35, 54.08, 38.46, 30.38, 28.23),
    "mic-cis": (37.06, 52.10, 33.04, 32.66, 29.93),
    "drexel_cci": (26.30, 36.90, 20.95, 23.53, 23.76),
}

GOLD = """\
# a comment: words
#\tNN\tO
EU\tNNP\tB-group
rejects\tVBZ\tO

Peter\tNNP\tB-person
Blackburn\tNNP\tI-person

"""


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.conll"
    path.write_text(GOLD)
    return path


def conlleval(guessed: Path, gold: Path) -> float:
    """F1 over whole files by conlleval's bookkeeping: one pass, a span is right where both begin and end together."""
    previous = (("O", ""), ("O", ""))
    found = wanted = right = 0
    both_in = False
    for lines in zip(*(path.read_text().rstrip().split("\n") for path in (guessed, gold)), strict=True):
        now = tuple(
            tuple(line.split()[-1].split("-", 1)) if line.split() and "-" in line.split()[-1] else ("O", "")
            for line in lines
        )
        ends = [p != ("O", "") and (n[0] in "BO" or n[1] != p[1]) for p, n in zip(previous, now, strict=True)]
        starts = [
            n[0] != "O" and (n[0] == "B" or p[0] == "O" or n[1] != p[1]) for p, n in zip(previous, now, strict=True)
        ]
        if both_in and any(ends):
            right += all(ends)
            both_in = False
        found, wanted = found + starts[0], wanted + starts[1]
        if all(starts) and now[0][1] == now[1][1]:
            both_in = True
        previous = now
    return 100 * 2 * right / (found + wanted)


def test_seven_submissions_to_wnut_2017(shared_data: Path) -> None:
    """Files with blanks and with tabs, Windows line ends, tokens that are #, and some that are spelt otherwise."""
    folder = shared_data / "ner_wnut17"
    paths = sorted((folder / "submissions").iterdir())
    gold = folder / "emerging.test.annotated"
    more = {"items": folder / "emerging.test.sources.tsv", "columns": {"domain": "source"}}
    loaded = read(*paths, gold=gold, **more)
    outputs = loaded.outputs
    assert outputs.n_items == 1287
    assert outputs.statistics[0, :, 2].sum() == 1079  # entities: the B- tags of the gold file
    assert sorted(outputs.names) == sorted(WNUT)
    parts = [outputs, *(outputs.domain(name) for name in ("reddit", "stackexchange", "twitter.gurez", "twitter.ile"))]
    for part, scores in enumerate(zip(*WNUT.values(), strict=True)):
        found = parts[part].select(list(WNUT)).scores()
        assert found.round(2).tolist() == list(scores)
    for path, score in zip(paths, outputs.scores(), strict=True):
        assert score == pytest.approx(conlleval(path, gold), abs=1e-9)
    assert any(re.search("mic-cis.txt: 1,283 of 23,394 tokens are not spelt as in gold", note) for note in loaded.notes)
    right = read(*paths, gold=gold, metric="accuracy").outputs
    assert right.statistics[:, :, 1].sum(axis=1).tolist() == [23394] * 7


def test_columns_comments_and_documents(gold: Path) -> None:
    first, second = read_columns(gold)
    assert (first.line, first.tokens, first.tags) == (2, ("#", "EU", "rejects"), ("O", "B-group", "O"))
    assert (second.line, second.tokens, second.tags) == (6, ("Peter", "Blackburn"), ("B-person", "I-person"))
    assert read_columns(gold, column=2)[0].tags == ("NN", "NNP", "VBZ")
    gold.write_text("-DOCSTART- -X- O\n\n" + GOLD.replace("\t", "  ").replace("rejects", "re\u00a0jects"))
    assert [sentence.tags for sentence in read_columns(gold)] == [first.tags, second.tags]
    assert read_columns(gold)[0].tokens[2] == "re\u00a0jects"


def test_counts_by_hand(gold: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one.conll", tmp_path / "two.conll"
    one.write_text("# I-group\nEU O\nrejects O\n\npeter I-person\nBlackburn I-person\n")
    two.write_text("# B-group\nEU B-group\nrejects O\n\nPeter B-person\nBlackburn B-person")
    loaded = read(one, two, gold=gold)
    assert loaded.outputs.statistics.tolist() == [[[0, 1, 1], [1, 1, 1]], [[1, 2, 1], [0, 2, 1]]]
    assert loaded.notes == (f"{one}: 1 of 5 tokens is not spelt as in gold",)
    by_tag = read(one, two, gold=gold, metric="accuracy")
    assert by_tag.outputs.statistics.tolist() == [[[1, 3], [1, 2]], [[2, 3], [1, 2]]]
    assert by_tag.outputs.items["id"].tolist() == ["1", "2"]
    tags = read(gold, gold=gold, metric="accuracy", columns={"tag": "2"})
    assert tags.outputs.scores().tolist() == [100]


def test_a_column_that_is_there(gold: Path) -> None:
    with pytest.raises(ValueError, match=r"gold.conll has 3 columns, where a token and its tag need 4$"):
        read(gold, gold=gold, columns={"tag": "4"})
    for wrong in ("0", "pos"):
        with pytest.raises(
            ValueError, match=f"^columns must give the number of the tag's column, from 1 on, not tag={wrong}$"
        ):
            read(gold, gold=gold, columns={"tag": wrong})
