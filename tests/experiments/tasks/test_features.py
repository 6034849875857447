"""What a task's systems see: the right words of a sentence, and no word of a test set in training."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from simstudy.training import Task
from simstudy.training.classification import CountPositives, Rows
from simstudy.training.examples import Examples
from simstudy_learners import treebanks
from simstudy_learners.sequences import token_features
from simstudy_learners.sequences.token_features import Tokens, dense_view
from tests.experiments.programs import task_of

# The package has a function of the same name.
tagging = task_of("pos_tagging")


def test_each_word_has_its_neighbours_and_no_other_sentences() -> None:
    tokens = Tokens.index([["a", "b", "c"], ["c", "a"]])
    words = [tuple(tokens.types[t] for t in view) for view in (tokens.previous, tokens.current, tokens.following)]
    assert list(zip(*words, strict=True)) == [
        ("", "a", "b"), ("a", "b", "c"), ("b", "c", ""), ("", "c", "a"), ("c", "a", ""),
    ]  # fmt: skip


TRAINING = [["the", "cat", "sat", "on", "the", "mat"], ["a", "dog", "sat", "on", "a", "cat"], ["cats", "sat"]]


def test_no_word_of_a_test_set_reaches_the_embeddings_of_training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_features, "_N_CONTEXTS", 5)
    n_train = sum(map(len, TRAINING))

    def embedded(test: list[str]) -> Any:
        return dense_view(Tokens.index([*TRAINING, test]), n_train, width=3, context_width=2)

    one, other = embedded(["dogs", "dogs", "sat", "cat"]), embedded(["the", "cat", "sat", "sat", "mat"] * 9)
    np.testing.assert_array_equal(one[:n_train], other[:n_train])
    # A test set is seen with what was learned from training: the same words have the same vectors.
    again = embedded(TRAINING[0])
    np.testing.assert_array_equal(again[n_train:], again[: len(TRAINING[0])])


FILES = [treebanks.TRAIN, *(file for files in treebanks.TEST_SETS.values() for file in files)]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[Task, list[tuple[list[str], int]]]:
    """The task on files of two sentences each, whose words are found in no other; and what embeddings are made of."""
    at = {}
    for k, name in enumerate(FILES):
        at[name] = tmp_path / f"{k}.conllu"
        sentences = [[f"w{k}x{s}{t}" for t in range(2 + s)] for s in range(2)]
        at[name].write_text(
            "".join(
                f"# sent_id = file{k}-{s}\n"
                + "".join(f"{t + 1}\t{w}\t_\tT{9 - t}{w}\t_\t_\t{t}\tdep\t_\t_\n" for t, w in enumerate(words))
                + "\n"
                for s, words in enumerate(sentences)
            )
        )
    asked: list[tuple[list[str], int]] = []

    def embedded(tokens: Tokens, n_train: int) -> Any:
        asked.append(([tokens.types[t] for t in tokens.current], n_train))
        return np.arange(len(tokens.current), dtype=np.float32)[:, None]

    monkeypatch.setattr(treebanks, "fetch_each", lambda names, data_dir: {name: at[name] for name in names})
    monkeypatch.setattr(treebanks, "registry", lambda: {name: SimpleNamespace(sha256=name) for name in FILES})
    monkeypatch.setattr(tagging, "dense_view", embedded)
    return tagging.tagging(tmp_path), asked


def test_every_test_set_is_its_own_files_and_none_is_trained_on(
    made: tuple[Task, list[tuple[list[str], int]]],
) -> None:
    task, [(words, n_train)] = made
    assert list(task.train.items["id"]) == ["file0-0", "file0-1"]
    assert [word.partition("x")[0] for word in words[:n_train]] == ["w0"] * 5, "the words of the training file"
    assert n_train == len(task.train.gold)
    seen = [set(task.train.inputs.features["dense"][:, 0])]
    for name, files in treebanks.TEST_SETS.items():
        examples = task.test_sets[name]
        numbers = [FILES.index(file) for file in files]
        assert set(examples.items["id"]) == {f"file{k}-{s}" for k in numbers for s in range(2)}
        rows = examples.inputs.features["dense"][:, 0].astype(int)
        assert {words[row].partition("x")[0] for row in rows} == {f"w{k}" for k in numbers}, "its own words' features"
        assert examples.gold.tolist() == [f"T{9 - int(words[row][-1])}{words[row]}" for row in rows]
        lengths = np.bincount(examples.inputs.item_of_row)
        assert lengths.tolist() == [2 + int(item[-1]) for item in examples.items["id"]]
        seen.append(set(examples.inputs.features["dense"][:, 0]))
    assert sum(map(len, seen)) == len(set().union(*seen)) == len(words), "no word is in two of them"
    assert dict(task.files) == {name: name for name in FILES}
    views = {name: system.view for name, system in task.systems.items()}  # type: ignore[attr-defined]
    assert views == {"linear model": "linear", "naive Bayes": "bayes", "random forest": "dense"}


def test_positives_are_counted_as_found_guessed_and_there() -> None:
    """Three are there, two are guessed, and one of these is right."""
    rows = Rows({}, np.array([0, 0, 1, 1, 1]))
    examples = Examples(rows, np.array(["x", "x", "x", "o", "o"]))
    counts = CountPositives("x")(examples, np.array(["x", "o", "o", "x", "o"]))
    assert counts.tolist() == [[1, 1, 2], [0, 1, 1]]


@pytest.mark.parametrize("part", ["features", "gold", "items", "test features", "test gold", "test items"])
def test_every_part_of_the_data_is_in_a_tasks_fingerprint(part: str) -> None:
    def made(changed: str = "") -> str:
        data: dict[str, Any] = {}
        for where in ("", "test "):
            data[f"{where}features"] = np.arange(8.0).reshape(4, 2)
            data[f"{where}gold"] = np.array([0, 1, 1, 0])
            data[f"{where}items"] = np.array([0, 0, 1, 2])
        if changed:
            data[changed] = data[changed][::-1].copy() if "items" not in changed else np.array([0, 1, 1, 2])
            data[changed] = np.array([1, 1, 0, 0]) if "gold" in changed else data[changed]
        test = (data["test features"], data["test gold"], data["test items"])
        return Task.from_arrays(
            "made", data["features"], data["gold"], items=data["items"], test_sets={"test": test},
            systems={"base": GaussianNB()},
        ).fingerprint  # fmt: skip

    assert made() == made()
    assert made(part) != made()
