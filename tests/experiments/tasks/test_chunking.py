"""Chunking: span counts as conlleval's, the reader, and the task on its real data, where it is at hand."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

from simstudy.metrics.annotations import span_counts
from simstudy.training import Examples, Rows, Task, load_task
from simstudy.training.resampling import Variant
from simstudy_learners.sequences.spans import count_spans
from tests.conftest import SHARED
from tests.experiments.programs import task_of
from tests.training.trained import trained

module = task_of("chunking")
read_chunks = module.read_chunks


@pytest.mark.parametrize("seed", range(5))
def test_spans_are_counted_as_one_sentence_at_a_time(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tags = np.array(["O", "B-NP", "I-NP", "B-VP", "I-VP", "I-PP"])
    lengths = rng.integers(1, 9, 200)
    gold = rng.choice(tags, lengths.sum())
    guess = np.where(rng.random(lengths.sum()) < 0.3, rng.choice(tags, lengths.sum()), gold)
    examples = Examples(Rows({}, np.repeat(np.arange(200), lengths)), gold)
    ends = np.cumsum(lengths)
    expected = [
        span_counts(guess[end - length : end].tolist(), gold[end - length : end].tolist())
        for end, length in zip(ends, lengths, strict=True)
    ]
    assert count_spans(examples, guess).tolist() == [list(counts) for counts in expected]


def test_a_malformed_line_is_named() -> None:
    with pytest.raises(ValueError, match=r"chunks.zip: test.txt, line 3: 'ran VBD' is not a word, a part of speech"):
        read_chunks(b"He PRP B-NP\n\nran VBD\n", "chunks.zip: test.txt")
    with pytest.raises(ValueError, match="line 2: 'ran VBD E-VP' is not a word"):
        read_chunks(b"He PRP B-NP\nran VBD E-VP\n", "chunks.zip: test.txt")


def test_what_systems_see_of_a_token_is_a_window_of_its_own_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, rng: np.random.Generator
) -> None:
    """Words and parts of speech of five tokens, pairs and triples: equal numbers where these are equal, 0 if unseen."""

    def made(n: int) -> list[list[tuple[str, str, str]]]:
        lengths = rng.integers(1, 5, n)
        tags = np.array(["O", "B-NP", "B-VP"])
        return [[(f"w{rng.integers(5)}", f"p{rng.integers(3)}", rng.choice(tags)) for _ in range(k)] for k in lengths]

    files, name = {"train.txt": made(30), "test.txt": made(9)}, "nltk/conll2000.zip"
    with ZipFile(tmp_path / "corpus.zip", "w") as archive:
        for file, own in files.items():
            archive.writestr(file, "\n\n".join("\n".join(map(" ".join, sentence)) for sentence in own))
    monkeypatch.setattr(module, "fetch", lambda name, data_dir: data_dir / "corpus.zip")
    monkeypatch.setattr(module, "registry", lambda: {name: SimpleNamespace(sha256="hash")})
    task = module.chunking(tmp_path)
    assert task.files == {name: "hash"}
    assert {name: system.view for name, system in task.systems.items()} == {
        "CRF": "numbered", "linear SVM": "local", "HMM": "symbols",
    }  # fmt: skip
    numbers, windows, n_train = [], [], len(task.train.gold)
    for examples, own in zip((task.train, task.test_sets["test"]), files.values(), strict=True):
        for k, number in enumerate(examples.items["id"].astype(int)):
            rows, sentence = examples.inputs.item_of_row == k, own[number - 1]
            assert examples.gold[rows].tolist() == [tag for _, _, tag in sentence]
            views = [examples.inputs.features[view][rows] for view in ("numbered", "symbols")]
            numbers += np.hstack(views).tolist()
            outside = [("", "", "")] * 2
            for t in range(len(sentence)):
                w, p, _ = zip(*[*outside, *sentence, *outside][t : t + 5], strict=True)
                pairs: list[Any] = [w[1:3], w[2:4], *zip(p, p[1:], strict=False)]
                windows.append([*w, *p, *pairs, *zip(p, p[1:], p[2:], strict=False), w[2], p[2]])
    for seen, window in zip(zip(*numbers, strict=True), zip(*windows, strict=True), strict=True):
        known = set(window[:n_train])
        assert [number == 0 for number in seen] == [one not in known for one in window]
        assert len({*zip(seen, window, strict=True)} - {(0, one) for one in window}) == len(known) == len({*seen} - {0})


@pytest.fixture(scope="module")
def task() -> Task:
    if not SHARED.is_dir():
        pytest.skip(f"needs the real data in {SHARED}")
    return load_task("chunking", SHARED)


def test_ids_are_the_numbers_of_sentences_in_the_file(task: Task) -> None:
    ids = task.test_sets["test"].items["id"].astype(int).tolist()
    assert sorted(ids) == list(range(1, 2013)) != ids
    # "Rockwell International Corp. 's Tulsa unit said …": 28 tokens.
    assert np.diff(task.test_sets["test"].inputs.first_rows())[ids.index(1)] == 28


def test_sizes_are_those_of_the_shared_task(task: Task) -> None:
    """Sentences, tokens and chunks as Tjong Kim Sang and Buchholz (2000, section 3) count them."""
    assert (task.train.n_items, len(task.train.gold)) == (8936, 211727)
    test = task.test_sets["test"]
    assert (test.n_items, len(test.gold)) == (2012, 47377)
    for examples, chunks in ((task.train, 106978), (test, 23852)):
        assert count_spans(examples, examples.gold).sum(axis=0).tolist() == [chunks, chunks, chunks]


@pytest.mark.parametrize(("family", "low", "high"), [("CRF", 84, 89), ("linear SVM", 83, 88), ("HMM", 80, 87)])
def test_variants_of_a_small_training_set(task: Task, family: str, low: float, high: float) -> None:
    counts = trained(task, Variant(family, 300, 1), seed=0)["test"]["span_f1"]
    assert counts[:, 2].sum() == 23852
    assert low < task.metric.score(counts.sum(axis=0)) < high
