"""The tasks of constituency parsing: made-up trees, bad input, and a part of the real data."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from simstudy.files.datasets import registry
from simstudy.metrics.annotations import Tree, bracket_counts
from simstudy.readers.trees import parse_trees
from simstudy.training import Task
from simstudy.training.resampling import Variant
from simstudy_learners.constituency import corpora
from simstudy_learners.constituency.coarse_pass import forward
from simstudy_learners.constituency.constituents import count_brackets
from simstudy_learners.constituency.corpora import Document, constituency_task
from simstudy_learners.constituency.parsers import LatentStates, TreebankGrammar
from tests.conftest import SHARED
from tests.experiments.programs import task_of
from tests.learners.treebank import TREES
from tests.training.trained import counted, trained

SYSTEMS = {
    "Markov": TreebankGrammar(2, 1, True),
    "parent": TreebankGrammar(1, 2, False),
    "latent": LatentStates(1, 4, 0.5),
}


def made_up(*trees: Tree) -> list[Document]:
    return [Document("made up", tuple(tree.without_traces() for tree in trees))]


@pytest.mark.parametrize("family", SYSTEMS)
def test_what_was_learned_by_heart_is_parsed_as_it_was_seen(family: str) -> None:
    task = constituency_task("made up", made_up(*TREES), {"test": made_up(*TREES)})
    predictor = SYSTEMS[family].train(task.train, np.ones(len(TREES), dtype=np.int64), 0)
    answers = predictor(task.test_sets["test"])
    correct, guessed, gold = count_brackets(task.test_sets["test"], answers).sum(axis=0)
    assert answers.unparsed == 0
    assert 2 * correct / (guessed + gold) > 0.85


@pytest.mark.parametrize("family", SYSTEMS)
def test_resamples_that_lack_labels_and_tags_and_unknown_words_work(family: str) -> None:
    """Learned from one tree: what it has no rule for has no parse, and its gold brackets count."""
    (unknown,) = parse_trees("((X (UNSEEN Word-7) (UNSEEN %%) (UNSEEN 3.1)))", "example")
    task = constituency_task("made up", made_up(*TREES), {"test": made_up(*TREES, unknown)})
    for chosen in range(len(TREES)):
        weights = np.zeros(len(TREES), dtype=np.int64)
        weights[chosen] = 3
        answers = SYSTEMS[family].train(task.train, weights, 1)(task.test_sets["test"])
        counts = count_brackets(task.test_sets["test"], answers)
        assert (counts[:, 0] <= counts[:, 1:].min(axis=1)).all()
        assert counts[:, 2].sum() == sum(bracket_counts(tree, tree)[2] for tree in (*TREES, unknown))
        parsed = np.unique(answers.sentence)
        assert answers.unparsed > 0 or len(parsed) == len(counts)
        assert answers.unparsed <= len(counts) - len(parsed)
        same = task.test_sets["test"].items["id"].tolist().index(f"made up-{chosen + 1}")
        assert counts[same, 0] == counts[same, 2]


def test_test_sets_have_no_long_sentences_and_no_empty_ones() -> None:
    words = " ".join("(NN dog)" for _ in range(40))
    trees = parse_trees(f"((NP {words})) ((NP {words} (NN cat))) (()) ((NP {words} (-NONE- *)))", "example")
    task = constituency_task("made up", made_up(*trees), {"test": made_up(*trees)})
    assert sorted(task.test_sets["test"].items["id"]) == ["made up-1", "made up-4"]
    assert task.train.n_items == 3
    with pytest.raises(ValueError, match="'test' of task 'made up' must have at least one tree with words"):
        constituency_task("made up", made_up(*trees), {"test": made_up(trees[1], trees[2])})


def test_gold_answers_are_right() -> None:
    task = constituency_task("made up", made_up(*TREES), {"test": made_up(*TREES)})
    wanted = {f"made up-{k}": bracket_counts(tree, tree) for k, tree in enumerate(TREES, start=1)}
    examples = task.test_sets["test"]
    counts = counted(task, task.metric, "test", examples.gold)
    assert {name: tuple(row) for name, row in zip(examples.items["id"], counts.tolist(), strict=True)} == wanted


def test_forward_probabilities_are_the_sum_over_all_taggings() -> None:
    rng = np.random.default_rng(0)
    tags, transition = rng.uniform(size=(3, 2)), rng.dirichlet(np.ones(3), 3)
    prefix = forward(tags, transition)
    for n in range(4):
        total, ended = 0.0, 0.0
        for path in product((1, 2), repeat=n):
            steps = zip((0, *path), path, strict=False)
            p = np.prod([transition[a, b] for a, b in steps]) * np.prod([tags[i, b - 1] for i, b in enumerate(path)])
            total += p
            ended += p * transition[(0, *path)[-1], 0]
        np.testing.assert_allclose(prefix[n], total)
    np.testing.assert_allclose(prefix[4], ended)


def articles(*names: str) -> list[Document]:
    paths = [SHARED / f"craft_treebank/penn/{name}.tree" for name in names]
    texts = [(path, path.read_text(encoding="utf-8")) for path in paths]
    return [Document(p.stem, tuple(t.without_traces() for t in parse_trees(text, p)[:150])) for p, text in texts]


@pytest.fixture(scope="module")
def real() -> Task:
    if not SHARED.is_dir():
        pytest.skip(f"needs the real data in {SHARED}")
    names = sorted(Path(SHARED, "craft_treebank/penn").glob("*.tree"))[:9]
    documents = articles(*(path.stem for path in names))
    return constituency_task("a part of CRAFT", documents[:8], {"test": documents[8:]})


@pytest.mark.parametrize(("family", "floor"), [("Markov", 0.55), ("parent", 0.6), ("latent", 0.55)])
def test_a_part_of_the_real_data(real: Task, family: str, floor: float) -> None:
    statistics = trained(real, Variant(family, real.train.n_items, 1), seed=0)
    correct, guessed, gold = statistics["test"]["parseval"].sum(axis=0)
    assert 2 * correct / (guessed + gold) > floor
    assert guessed > 0.8 * gold


def test_articles_are_those_of_their_part_and_files_of_the_sample_are_in_order(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tree = "((S (NP-SBJ (NN {0}) (-NONE- *)) (VP (VB b))))"
    content = {"craft-ids-train.txt": "2\n10\n", "craft-ids-test.txt": "3\n"}
    content |= {f"{k}.tree": f"{tree.format(k)}\n{tree.format('x')}\n" for k in ("2", "3", "10")}
    for name, text in content.items():
        (tmp_path / name).write_text(text)
    with ZipFile(tmp_path / "treebank.zip", "w") as file:
        for name in ("combined/wsj_2.mrg", "combined/wsj_1.mrg", "combined/README"):
            file.writestr(name, tree.format(name))
    monkeypatch.setattr(corpora, "fetch_each", lambda names, folder: {name: folder / Path(name).name for name in names})
    monkeypatch.setattr(corpora, "craft_files", lambda: [f"craft_treebank/penn/{k}.tree" for k in ("10", "2", "3")])
    parts = corpora.read_craft(tmp_path)
    assert {part: [one.name for one in some] for part, some in parts.items()} == {"train": ["2", "10"], "test": ["3"]}
    assert [tree.words for tree in parts["train"][1].trees] == [("10", "b"), ("x", "b")], "without traces"
    sample = corpora.read_penn_treebank(tmp_path)
    assert [(one.name, one.trees[0].words[0]) for one in sample] == [
        (f"wsj_{k}", f"combined/wsj_{k}.mrg") for k in "12"
    ]


PTB = [f"p{k}" for k in range(9)]
OWN = {
    "constituency": (["t1", "t2"], {"CRAFT test": ["e1"], "PTB sample": PTB}),
    "constituency_ptb": ([*PTB[:3], *PTB[4:7], "p8"], {"PTB test": ["p3", "p7"], "CRAFT test": ["e1"]}),
}


@pytest.mark.parametrize("name", OWN)
def test_the_tasks_are_made_of_whole_documents(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every fourth file of the Penn Treebank sample is for testing; training articles are of their own task alone."""

    def documents(*names: str) -> list[Document]:
        return [Document(one, tuple(parse_trees(f"((NP (NN {one})))", one))) for one in names]

    module, (train, tests) = task_of("constituency_parsing" + name.removeprefix("constituency")), OWN[name]
    craft = {"train": documents("t1", "t2"), "test": documents("e1")}
    monkeypatch.setattr(module, "read_craft", {"at": craft}.__getitem__)
    monkeypatch.setattr(module, "read_penn_treebank", {"at": documents(*PTB)}.__getitem__)
    task = getattr(module, name)("at")
    assert (task.name, task.train.items["cluster"].tolist()) == (name, train)
    assert {key: sorted(one.items["cluster"]) for key, one in task.test_sets.items()} == tests
    splits = [Path(file).stem for file in task.files if file.startswith("craft_treebank/articles")]
    assert splits == ["craft-ids-train"] * ("t1" in train) + ["craft-ids-test"]
    assert len(task.files) == len(splits) + len(module.craft_files()) + 1
    assert all(sha256 == registry()[file].sha256 for file, sha256 in task.files.items())
    assert (list(task.metrics), list(task.systems)) == (["parseval"], ["Markov", "parent", "latent"])
