from __future__ import annotations

import random
import re
from functools import partial
from pathlib import Path

import pytest

from tests.loaders import files

read = partial(files.read, format="alignments", metric="aer")

# AER in percent of English-French, README of lilt/alignment-scripts ("EnFr", "FrEn", "Grow-Diag", "Grow-Diag-Final").
PUBLISHED = {
    "fastalign.src2tgt": 16.4,
    "fastalign.tgt2src": 15.9,
    "fastalign.grow-diagonal": 10.5,
    "fastalign.grow-diagonal-final": 12.1,
    "giza.src2tgt": 8.0,
    "giza.tgt2src": 9.8,
    "giza.grow-diagonal": 5.9,
    "giza.grow-diagonal-final": 6.2,
}

GOLD = "0-0 1p1 2-1\n0-0\n\n1-0 0?1\n"
TEXTS = {"gold.wa": GOLD, "text.en": "a b c\na\nc\na b\n", "text.fr": "x y\nx\nz\nx y\n"}


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    return tmp_path / "gold.wa"


def aer(guessed: Path, gold: Path) -> float:
    """By the definition, one link after the other over the whole file."""
    a = s = in_s = in_p = 0
    for own, wanted in zip(guessed.read_text().split("\n"), gold.read_text().split("\n"), strict=True):
        a += len(own.split())
        s += wanted.count("-")
        for link in own.split():
            in_s += link in wanted.split()
            in_p += link in wanted.split() or link.replace("-", "p") in wanted.split()
    return 100 * (1 - (in_s + in_p) / (a + s))


def test_thirteen_aligners_score_as_published(shared_data: Path) -> None:
    folder = shared_data / "align_enfr"
    paths = sorted((folder / "sys").glob("*.wa"))
    outputs = read(*paths, gold=folder / "gold.wa").outputs
    scores = dict(zip(outputs.names, outputs.scores(), strict=True))
    assert (len(paths), outputs.n_items) == (13, 447)
    for path in paths:
        assert scores[path.stem] == pytest.approx(aer(path, folder / "gold.wa"), abs=1e-9)
    for name, published in PUBLISHED.items():
        assert scores[name] == pytest.approx(published, abs=0.1), name


def test_both_forms_of_the_same_links_score_the_same(shared_data: Path, tmp_path: Path) -> None:
    """In NAACL form sentences need not be in order, and those without links do not appear."""
    folder = shared_data / "align_enfr"
    chance = random.Random(1)
    paths = {"gold": folder / "gold.wa"}
    paths |= {name: folder / "sys" / f"{name}.wa" for name in ("giza.union", "giza.intersection")}
    naacl = {}
    for name, path in paths.items():
        lines = []
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            for link in line.split():
                i, kind, j = re.split("([-p])", link)
                lines.append(
                    f"{number:04d} {int(i) + 1} {int(j) + 1}"
                    + chance.choice([" P 0.5", " P"] * (kind == "p") or [" S", ""])
                )
        chance.shuffle(lines)
        naacl[name] = tmp_path / f"{name}.wa"
        naacl[name].write_text("\n".join(lines))
    texts = (folder / "src.en", folder / "tgt.fr")
    expected, *others = (
        read(*(files[name] for name in list(paths)[1:]), gold=(golden, *more))
        for files, golden, more in (
            (paths, paths["gold"], ()),
            (paths, paths["gold"], texts),
            (naacl, naacl["gold"], ()),
            (naacl, naacl["gold"], texts),
            (naacl, paths["gold"], ()),
            (paths, naacl["gold"], texts),
        )
    )
    for loaded in others:
        assert loaded.outputs.names == expected.outputs.names
        assert loaded.outputs.items["id"].tolist() == [str(i) for i in range(1, 448)]
        assert (loaded.outputs.statistics == expected.outputs.statistics).all()
        assert (loaded.outputs.answers == expected.outputs.answers).all()


def test_links_by_hand(gold: Path, tmp_path: Path) -> None:
    """All links of a system are guesses, possible ones too, and a link that is there twice is one."""
    (tmp_path / "a.wa").write_text("0-0 1-1 1p1 2-0\n\n0p0\n1-0 0-1\n")
    loaded = read(tmp_path / "a.wa", gold=gold)
    assert loaded.outputs.statistics.tolist() == [[[1, 2, 3, 2], [0, 0, 0, 1], [0, 0, 1, 0], [1, 2, 2, 1]]]
    assert loaded.outputs.scores()[0] == pytest.approx(100 * (1 - 6 / 10))


def test_a_naacl_file_without_a_sentence_has_no_links_there(gold: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.wa"
    path.write_text("4 2 1 P 0.3\n1 1 1 S\n1 0 2\n1 3 0\n")
    loaded = read(path, gold=gold)
    assert loaded.outputs.statistics.tolist() == [[[1, 1, 1, 2], [0, 0, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1]]]
    assert loaded.notes == (f"{path}: 2 links to the empty word (position 0) left out",)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("0-0 3-1\n\n\n\n", "{path}, line 1: link 3-1 is outside the sentence (3 x 2 words)"),
        ("0-0\n\n\n1-2\n", "{path}, line 4: link 1-2 is outside the sentence (2 x 2 words)"),
        ("1 1 1\n\n4 2 3 P\n", "{path}, line 3: link 2 3 is outside the sentence (2 x 2 words)"),
        ("0-0\n\n\n", "{path} has 3 lines, {text} 4"),
        ("5 1 1\n", "{path} has sentence 5, which {text} lacks"),
    ],
)
def test_links_are_checked_against_the_texts(gold: Path, tmp_path: Path, content: str, told: str) -> None:
    path, text, other = (tmp_path / name for name in ("bad.wa", "text.en", "text.fr"))
    path.write_text(content)
    with pytest.raises(ValueError, match=f"^{re.escape(told.format(path=path, text=text))}$"):
        read(path, gold=(gold, text, other))
    other.write_text("x\n")
    with pytest.raises(ValueError, match=f"^{re.escape(f'{text} has 4 lines, {other} 1')}$"):
        read(path, gold=(gold, text, other))
