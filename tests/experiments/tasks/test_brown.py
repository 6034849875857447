"""Tagging of the Brown corpus: the split, the tags, and the task on its real data, where it is at hand."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simstudy.training import Task, load_task
from simstudy.training.resampling import Variant
from simstudy_learners.tagged import TaggedDocument
from tests.conftest import SHARED
from tests.experiments.programs import task_of
from tests.training.trained import trained

brown = task_of("brown_tagging")


def test_simplified_tags() -> None:
    given = ["np$-tl", "nn-tl-hl", "fw-in+nn-tl", "wps+hvz", "---hl", ".-hl", "(-hl", "*-hl", "fw-*-tl", "bez*", "nil"]
    simple = [brown.simplified(tag) for tag in given]
    assert simple == ["NP$", "NN", "IN", "WPS", "--", ".", "(", "*", "*", "BEZ*", "NIL"]


def _documents(n: int) -> list[TaggedDocument]:
    sentences = [[("The", "at"), ("dog", "nn"), ("barks", "vbz")], [("Rex", "np-tl"), ("barks", "vbz")]]
    return [TaggedDocument(f"d{k}", "news" if k % 3 else "humor", sentences * (2 + k % 4)) for k in range(n)]


def test_training_documents_are_in_the_genres_proportions() -> None:
    documents = _documents(60)
    chosen = brown.training_documents(documents, 100)
    sizes = np.array([len(document.sentences) for document in documents])
    humor = np.array([document.genre == "humor" for document in documents])
    for genre in (humor, ~humor):
        # To the nearest document, the largest of which has 10 sentences.
        assert abs(sizes[genre & chosen].sum() - 100 * sizes[genre].sum() / sizes.sum()) <= 5
    assert (brown.training_documents(documents, 100) == chosen).all()


def test_a_genre_of_long_documents_has_its_share_of_sentences() -> None:
    """Half of the sentences, not half as many of the short documents as of all."""
    sentence = [("Rex", "np")]
    sizes = {"humor": [10] * 4, "news": [2] * 4}
    documents = [
        TaggedDocument(f"{genre}{k}", genre, [sentence] * n) for genre, own in sizes.items() for k, n in enumerate(own)
    ]
    assert brown.training_documents(documents, 24).reshape(2, 4).sum(axis=1).tolist() == [2, 2]


def test_each_word_keeps_its_tag_and_features_in_the_mixed_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Views that are the words themselves; a sentence is named after its document and its place in it."""
    words = [[[f"w{k}{i}{j}" for j in range(1 + i)] for i in range(3)] for k in range(8)]
    documents = [
        TaggedDocument(f"d{k}", "ab"[k % 2], [[(word, f"T{word}-tl") for word in sentence] for sentence in own])
        for k, own in enumerate(words)
    ]
    counted: list[int] = []

    def spelt(tokens: Any, *n_train: int) -> Any:
        counted.extend(n_train)
        return np.array(tokens.types)[tokens.current]

    monkeypatch.setattr(brown, "fetch", lambda name, data_dir: data_dir / name)
    monkeypatch.setattr(brown, "read_tagged", {Path("at/nltk/brown.zip"): documents}.__getitem__)
    monkeypatch.setattr(brown, "registry", lambda: {"nltk/brown.zip": SimpleNamespace(sha256="hash")})
    monkeypatch.setattr(brown, "N_TRAIN", 6)
    for view in ("bayes_view", "numbered_view"):
        monkeypatch.setattr(brown, view, spelt)
    monkeypatch.setattr(brown, "spelling_view", lambda types, current: np.array(types)[current])
    task = brown.brown_tagging(Path("at"))
    assert task.files == {"nltk/brown.zip": "hash"}
    assert counted == [len(task.train.gold)]
    chosen = brown.training_documents(documents, 6)
    for examples, own in ((task.train, chosen), (task.test_sets["population"], ~chosen)):
        assert sorted(examples.items["id"]) == [f"d{k}-{i}" for k in np.flatnonzero(own) for i in (1, 2, 3)]
        for number, row in examples.items.iterrows():
            k, i = int(row["id"][1]), int(row["id"][3]) - 1
            assert (row["domain"], row["cluster"]) == ("ab"[k % 2], f"d{k}")
            mine = examples.inputs.item_of_row == number
            assert examples.gold[mine].tolist() == [f"T{word}".upper() for word in words[k][i]]
            for view in ("bayes", "numbered", "spelling"):
                assert examples.inputs.features[view][mine].tolist() == words[k][i]


def test_every_base_system_answers() -> None:
    task = brown._task(_documents(9)[:4], _documents(9)[4:])
    for family in task.systems:
        counts = trained(task, Variant(family, 10, 1), seed=0)["population"]["accuracy"]
        assert counts.sum(axis=0)[1] == len(task.test_sets["population"].gold)


@pytest.fixture(scope="module")
def task() -> Task:
    if not SHARED.is_dir():
        pytest.skip(f"needs the real data in {SHARED}")
    return load_task("brown_tagging", SHARED)


@pytest.mark.slow
def test_sizes_are_those_of_the_corpus(task: Task) -> None:
    """57,340 sentences and 1,161,192 tokens in 500 documents of 15 genres, as NLTK counts them."""
    population = task.test_sets["population"]
    assert task.train.n_items + population.n_items == 57340
    assert len(task.train.gold) + len(population.gold) == 1161192
    assert task.train.items["cluster"].nunique() + population.items["cluster"].nunique() == 500
    assert abs(task.train.n_items - 10_000) < 200
    assert population.items["domain"].nunique() == 15
    assert len(np.unique([*task.train.gold, *population.gold])) == 104


@pytest.mark.slow
def test_quarter_size_variants(task: Task) -> None:
    for family, low, high in (("trigram HMM", 92, 93), ("perceptron", 93, 94), ("naive Bayes", 91, 92)):
        variant = Variant(family, task.train.n_items // 4, 1)
        counts = trained(task, variant, seed=0)["population"]["accuracy"]
        assert low < task.metric.score(counts.sum(axis=0)) < high
