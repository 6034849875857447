"""Tagging of the Brown corpus: the split, the tags, and the task on its real data, where it is at hand."""

from __future__ import annotations

import numpy as np
import pytest

from simstudy.loaders.tagged import TaggedDocument
from simstudy.training import Task, load_task
from simstudy.training.resampling import Variant, train_variant
from tests.conftest import SHARED
from tests.experiments.programs import task_of

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


def test_train_and_population_share_no_document() -> None:
    task = brown._task(_documents(9)[:4], _documents(9)[4:])
    train, population = task.train.items, task.test_sets["population"].items
    assert set(train["cluster"]) == {"d0", "d1", "d2", "d3"}
    assert set(population["cluster"]) == {"d4", "d5", "d6", "d7", "d8"}
    assert set(population["domain"]) == {"news", "humor"}
    for family in task.systems:
        counts = train_variant(task, Variant(family, 10, 1), seed=0)["population"]["accuracy"]
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
        counts = train_variant(task, variant, seed=0)["population"]["accuracy"]
        assert low < task.metric.score(counts.sum(axis=0)) < high
