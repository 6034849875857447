"""Dependency parsing end to end: its base systems, what the task is made of, and the real data."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simstudy.training import Examples, Task, load_task
from simstudy.training.resampling import Variant, resample_training
from simstudy_learners import treebanks
from simstudy_learners.dependencies.parsers import GraphParser, LabelledParser, Reparser, TransitionParser, presentation
from simstudy_learners.dependencies.trees import (
    Parses,
    Words,
    count_las,
    count_uas,
    index_sentences,
    read_dependencies,
)
from tests.conftest import SHARED
from tests.learners.trees import examples, invented, is_tree, sentence, shown
from tests.training.trained import trained

PARSERS = {
    "transition": LabelledParser(TransitionParser(epochs=3, bits=14), label_bits=12),
    "graph": LabelledParser(GraphParser(epochs=3, bits=14), label_bits=12),
    "ensemble": LabelledParser(
        Reparser(
            (
                GraphParser(epochs=2, bits=14),
                TransitionParser(epochs=2, bits=14),
                TransitionParser(2, right_to_left=True, bits=14),
            ),
            votes=(3, 2, 2),
        ),
        label_bits=12,
    ),
}


@pytest.fixture
def some(rng: np.random.Generator) -> Examples:
    return examples(invented(rng, [1, 2, 3, 4, 5, 6] * 6))


@pytest.mark.parametrize("name", PARSERS)
def test_every_answer_is_a_tree_and_depends_on_the_seed_alone(some: Examples, name: str) -> None:
    weights = np.random.default_rng(1).integers(3, size=some.n_items)
    first, again, other = (PARSERS[name].train(some, weights, seed)(some) for seed in (3, 3, 4))
    for heads, _ in shown(first, some.inputs.bounds):
        assert is_tree(tuple(heads))
    np.testing.assert_array_equal(first.heads, again.heads)
    np.testing.assert_array_equal(first.relations, again.relations)
    assert ((first.heads != other.heads) | (first.relations != other.relations)).any()


@pytest.mark.parametrize("name", PARSERS)
def test_a_weight_is_a_number_of_copies(rng: np.random.Generator, name: str) -> None:
    """Bit for bit: an item of weight w stands in the order of presentation as w neighbouring copies do."""
    sentences = invented(rng, [3, 4, 5, 6] * 3)
    weights = np.array([2, 0, 1, 3] * 3)
    copies = [one for one, weight in zip(sentences, weights, strict=True) for _ in range(weight)]
    # Indexed together, so that a word has the same number in both.
    once, copied = (Examples(*one) for one in index_sentences([sentences, copies]))
    plain = PARSERS[name].train(once, weights, 7)(once)
    spelt_out = PARSERS[name].train(copied, np.ones(len(copies), np.int64), 7)(once)
    np.testing.assert_array_equal(plain.heads, spelt_out.heads)
    np.testing.assert_array_equal(plain.relations, spelt_out.relations)


def test_presentation_has_every_item_as_often_as_its_weight_in_each_epoch() -> None:
    weights = np.array([3, 0, 1, 2])
    order = presentation(weights, 4, seed=0).reshape(4, 6)
    for epoch in order:
        np.testing.assert_array_equal(np.bincount(epoch, minlength=4), weights)
    assert len({tuple(epoch) for epoch in order.tolist()}) > 1


@pytest.mark.parametrize("name", PARSERS)
def test_a_resample_without_a_tag_or_relation_trains(name: str) -> None:
    """Also one of a single one-word sentence; its parser gives trees to sentences of words it has never seen."""
    sentences = [
        sentence("Go", "VERB", [0], "root", "a"),
        sentence("the big cat", "DET ADJ NOUN", [3, 3, 0], "det amod root", "b"),
        sentence("hm , no", "INTJ PUNCT INTJ", [3, 3, 0], "discourse punct root", "c"),
    ]
    all_of_it = examples(sentences)
    for weights in ([1, 0, 0], [0, 5, 0], [2, 0, 1]):
        answers = PARSERS[name].train(all_of_it, np.array(weights), 0)(all_of_it)
        for heads, _ in shown(answers, all_of_it.inputs.bounds):
            assert is_tree(tuple(heads))
        assert count_las(all_of_it, answers).shape == (3, 3)


def test_labels_follow_what_decides_them(rng: np.random.Generator) -> None:
    """Where the dependent's tag decides the relation, the labeller of gold trees finds it out."""
    corpora = [invented(rng, [2, 3, 4, 5] * 25), invented(rng, [2, 3, 4, 5] * 5)]
    train, test = (Examples(*one) for one in index_sentences(corpora))

    class Knows:
        """Gives the test sentences their gold heads."""

        def learn(self, *_: object) -> object:
            return lambda words: test.gold.heads

    answers = LabelledParser(Knows(), label_bits=14).train(train, np.ones(100, np.int64), 0)(test)  # type: ignore[arg-type]
    right, words, _ = count_las(test, answers).sum(axis=0)
    assert right / words > 0.97


def test_a_task_is_made_of_such_examples(some: Examples) -> None:
    task = Task("toy", some, {"test": some}, PARSERS, {"uas": count_uas, "las": count_las})
    outputs = resample_training(task, fractions=[1.0, 0.5], replicates=[1, 1], metric="las")["test"]
    assert outputs.statistics.shape == (6, 36, 3)


def test_the_task_is_made_of_the_treebanks_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On files of two sentences each: a test set is its own files, none is trained on, numbers mean the same in all."""
    files = [treebanks.TRAIN, *chain(*treebanks.TEST_SETS.values())]
    at = {}
    for k, name in enumerate(files):
        at[name] = tmp_path / f"{k}.conllu"
        at[name].write_text(
            f"# sent_id = {k}-0\n1\tonly{k}\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
            f"# sent_id = {k}-1\n1\tall\t_\tX\t_\t_\t2\tr{k}:x\t_\t_\n2\tonly{k}\t_\tX\t_\t_\t0\troot\t_\t_\n\n",
            encoding="utf-8",
        )
    monkeypatch.setattr(treebanks, "fetch_each", lambda names, data_dir: {name: at[name] for name in names})
    monkeypatch.setattr(treebanks, "registry", lambda: {name: SimpleNamespace(sha256=name) for name in files})
    task = load_task("dependencies", tmp_path)
    assert list(task.train.items["id"]) == ["0-0", "0-1"]
    assert {name: set(one.items["id"]) for name, one in task.test_sets.items()} == {
        name: {f"{files.index(file)}-{s}" for file in own for s in range(2)}
        for name, own in treebanks.TEST_SETS.items()
    }
    heads: list[Any] = [system.heads for system in task.systems.values()]  # type: ignore[attr-defined]
    assert list(task.systems) == ["transition-based", "graph-based", "ensemble"]
    assert heads[:2] == [TransitionParser(), GraphParser()]
    assert heads[2].members == (*heads[1::-1], TransitionParser(right_to_left=True))
    assert max(votes := heads[2].votes) == votes[0] < sum(votes[1:]), "in doubt the graph-based one decides"
    train = task.train.inputs
    assert train.bounds.tolist() == [0, 3, 7]
    assert train.forms.tolist() == [1, 2, 0, 1, 3, 2, 0]
    assert task.train.gold.heads.tolist() == [-1, 0, -1, -1, 2, 0, -1]
    for one in task.test_sets.values():
        # Of the words of the training set, test sets have "all" only; of its relations, "root" only.
        assert {2, 3} & set(one.inputs.forms.tolist()) == {3}
        assert {0, 1} & set(one.gold.relations.tolist()) == {0}
    assert list(task.metrics) == ["uas", "las"]
    assert dict(task.files) == {name: name for name in files}


# The real data.


@pytest.fixture(scope="module")
def task() -> Task:
    if not SHARED.is_dir():
        pytest.skip(f"needs the real data in {SHARED}")
    return load_task("dependencies", SHARED)


@pytest.mark.slow
def test_sizes_are_those_of_the_treebanks(task: Task) -> None:
    def size(examples: Examples) -> tuple[int, int]:
        return examples.n_items, int((examples.gold.heads >= 0).sum())

    assert size(task.train) == (12544, 204577)
    assert {name: size(examples) for name, examples in task.test_sets.items()} == {
        "EWT test": (2077, 25094), "EWT dev": (2001, 25147), "PUD": (1000, 21180), "ATIS": (5432, 61879),
        "ESLSpok": (2320, 21312), "Tweebank": (3550, 55607),
    }  # fmt: skip
    assert task.test_sets["EWT test"].items["cluster"].nunique() == 316


@pytest.mark.slow
def test_one_quarter_size_variant_of_each_base_system(task: Task) -> None:
    for family in task.systems:
        statistics = trained(task, Variant(family, 3136, 1), seed=0)["EWT test"]
        uas, las = (statistics[metric].sum(axis=0) for metric in ("uas", "las"))
        assert uas[1] == las[1] == 25094
        assert 0.80 < uas[0] / uas[1] < 0.87
        assert 0.75 < las[0] / las[1] < uas[0] / uas[1]


def test_a_small_sample_of_real_sentences() -> None:
    """Trained on 1,000 sentences of the development set, tested on the next 200: far above attaching to a neighbour."""
    path = SHARED / "ud_english_ewt/en_ewt-ud-dev.conllu"
    if not path.is_file():
        pytest.skip(f"needs the real data in {SHARED}")
    sentences = read_dependencies(path)
    train, test = (Examples(*one) for one in index_sentences([sentences[:1000], sentences[1000:1200]]))
    weights = np.ones(1000, np.int64)
    parser = LabelledParser(TransitionParser(epochs=4, bits=16), label_bits=13)
    scores = {"transition": count_uas(test, parser.train(train, weights, 0)(test))}
    scores["graph"] = count_uas(
        test, LabelledParser(GraphParser(4, bits=16), label_bits=13).train(train, weights, 0)(test)
    )
    for counts in scores.values():
        right, words, _ = counts.sum(axis=0)
        assert right / words > 0.70
    to_the_left = Parses(np.where(test.gold.heads >= 0, _places(test.inputs) - 1, -1), test.gold.relations)
    right, words, _ = count_uas(test, to_the_left).sum(axis=0)
    assert right / words < 0.40


def _places(words: Words) -> np.ndarray:
    return np.arange(len(words.forms)) - np.repeat(words.bounds[:-1], np.diff(words.bounds))
