"""The order of the treebanks' test sets, on made-up files: an initial segment is a sample of all files and genres."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from simstudy.readers.conllu import Sentence
from simstudy_learners import treebanks
from simstudy_learners.treebanks import TEST_SETS, TRAIN, Treebanks, item_table, read_ud_english
from tests.learners.trees import sentence

FILES = [TRAIN, *(file for parts in TEST_SETS.values() for file in parts)]

# Genres of unlike sizes, one after the other, as EWT's and PUD's files have them.
GENRES = {"answers": 31, "email": 200, "newsgroup": 7, "reviews": 90, "weblog": 1, "w": 60, "n": 150}


def content(file: str) -> list[Sentence]:
    """The sentences of a file, whose form is the file's name."""
    if len(next(parts for parts in [[TRAIN], *TEST_SETS.values()] if file in parts)) == 1:
        names = [f"{genre}{'' if len(genre) == 1 else '-'}{k}" for genre, n in GENRES.items() for k in range(n)]
    else:
        names = [f"{file}:{k}" for k in range(150 + 200 * (FILES.index(file) % 5))]
    return [sentence(file, "X", [0], "root", name) for name in names]


def read(monkeypatch: pytest.MonkeyPatch, files: list[str]) -> Treebanks:
    """The treebanks, where files are found in this order."""
    monkeypatch.setattr(treebanks, "fetch_each", lambda *_: {file: Path(file) for file in files})
    monkeypatch.setattr(treebanks, "registry", lambda: {file: SimpleNamespace(sha256=file) for file in files})
    return read_ud_english(None, lambda path: content(path.as_posix()))


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Treebanks:
    return read(monkeypatch, FILES)


SEVERAL = [name for name, parts in TEST_SETS.items() if len(parts) > 1]


@pytest.mark.parametrize("name", SEVERAL)
def test_a_part_of_a_test_set_has_sentences_of_each_of_its_files_in_proportion(found: Treebanks, name: str) -> None:
    """As many as chance draws without replacement, up to four standard deviations; the thirds are drawn likewise."""
    files = np.array([one.words[0] for one in found.tests[name]])
    n, third = len(files), len(files) // 3
    sizes = {file: len(content(file)) for file in TEST_SETS[name]}
    assert Counter(files.tolist()) == sizes
    assert len(set(sizes.values())) == 3
    for part in (files[:third], files[third : 2 * third], files[2 * third : 3 * third]):
        for file, size in sizes.items():
            share = size / n
            deviation = (third * share * (1 - share) * (n - third) / (n - 1)) ** 0.5
            assert abs(np.count_nonzero(part == file) - third * share) < 4 * deviation, file


@pytest.mark.parametrize("name", [name for name in TEST_SETS if name not in SEVERAL])
def test_every_initial_segment_has_the_genres_in_proportion(found: Treebanks, name: str) -> None:
    """Its place among n of a genre is within a half of a sentence where all genres are cut at the same fraction."""
    ids = [one.id for one in found.tests[name]]
    genres = [id.split("-")[0] if "-" in id else id[0] for id in ids]
    assert Counter(genres) == GENRES
    so_far: Counter[str] = Counter()
    for k, genre in enumerate(genres, start=1):
        so_far[genre] += 1
        for other, size in GENRES.items():
            share = size / len(ids)
            assert abs(so_far[other] - k * share) <= 0.5 + share * len(GENRES) / 2
    # Within a genre they do not stand as in the file.
    emails = [id for id in ids if id.startswith("email")]
    assert sorted(emails) == sorted(f"email-{k}" for k in range(GENRES["email"]))
    assert {int(id.split("-")[1]) < GENRES["email"] // 2 for id in emails[:20]} == {True, False}


def test_the_order_does_not_hang_on_the_order_in_which_files_are_found(
    monkeypatch: pytest.MonkeyPatch, found: Treebanks
) -> None:
    for files in (FILES, FILES[::-1], sorted(FILES)):
        again = read(monkeypatch, files)
        assert again.tests == found.tests
        assert again.train == found.train
        assert again.files == {file: file for file in FILES}


def test_items_have_their_genre_and_their_document_where_all_have_one() -> None:
    genres = {"answers-1-0": "answers", "email-x": "email", "newsgroup-y-3": "newsgroup", "reviews-2": "reviews"}
    genres |= {"weblog-z": "weblog", "n01002": "news", "w05": "wiki", "n1x": "", "x17": "", "mail-3": ""}
    some = [replace(sentence("a", "X", [0], "root", name), document=f"of {name}") for name in genres]
    assert item_table(some).to_dict("list") == {
        "id": [*genres], "domain": [*genres.values()], "cluster": [f"of {name}" for name in genres],
    }  # fmt: skip
    assert list(item_table([some[0], replace(some[1], document="")])) == ["id", "domain"]
    assert list(item_table(some[-2:])) == ["id", "cluster"]


def test_the_training_set_stands_as_in_its_file(found: Treebanks) -> None:
    assert found.train == content(TRAIN)
    assert list(found.tests) == list(TEST_SETS)
    assert not {TRAIN} & {one.words[0] for test in found.tests.values() for one in test}
