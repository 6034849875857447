"""The tasks of word alignment: what they are made of, a small folder of data, and the real data where it is at hand."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from simstudy.files.datasets import DataError
from simstudy.metrics.annotations import alignment_counts
from simstudy.readers.alignments import read_links
from simstudy.readers.text_files import read_lines
from simstudy.training import Task, load_task
from simstudy.training.resampling import Variant
from simstudy_learners.alignment import hansards
from simstudy_learners.alignment.aligners import LinkClassifier
from tests.conftest import SHARED
from tests.experiments.programs import task_of
from tests.training.trained import counted, trained

word_alignment = task_of("word_alignment")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Data with 3 sentence pairs to learn from and 5 aligned ones, of which the last 2 are the test set."""
    names = [name for pair in hansards.TEXT[:1] for name in pair]
    monkeypatch.setattr(hansards, "TEXT", [tuple(names)])
    monkeypatch.setattr(hansards, "fetch_each", lambda names, data_dir: {name: data_dir / name for name in names})
    monkeypatch.setattr(hansards, "N_TEST", 2)
    monkeypatch.setattr(word_alignment, "N_TEST", 2)
    for name, lines in {
        names[0]: ["the house", "the budget", "a new budget"],
        names[1]: ["la maison", "le budget", "un nouveau budget"],
        hansards.GOLD[0]: ["the house", "a house", "a budget", "house", "a new house"],
        hansards.GOLD[1]: ["la maison", "une maison", "un budget", "maison", "une maison nouvelle"],
        hansards.GOLD[2]: ["0-0 1-1", "0-0 1-1", "0p0 1-1", "0-0", "0-0 1-2 2-1 0p1"],
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def test_what_the_tasks_are_made_of(folder: Path) -> None:
    supervised, unsupervised = (load_task(name, folder) for name in ("alignment", "alignment_unsupervised"))
    assert (supervised.train.n_items, unsupervised.train.n_items) == (6, 3)
    assert sorted(supervised.test_sets["test"].items["id"]) == ["4", "5"]
    assert sorted(unsupervised.test_sets["test"].items["id"]) == ["1", "2", "3", "4", "5"]
    # Gold links of the first 3 aligned pairs; none of the 3 others, which have 4 + 4 + 9 cells.
    assert supervised.train.gold.tolist() == [-1] * 17 + [2, 0, 0, 2] * 2 + [1, 0, 0, 2]
    links = {"1": [2, 0, 0, 2], "2": [2, 0, 0, 2], "3": [1, 0, 0, 2], "4": [2], "5": [2, 1, 0, 0, 0, 2, 0, 2, 0]}
    for task in (supervised, unsupervised):
        test = task.test_sets["test"]
        for id, cells in zip(test.items["id"], np.split(test.gold, test.inputs.first_cell[1:-1]), strict=True):
            assert cells.tolist() == links[id]
    aligners = {"joint HMM": hansards.JOINT_HMM, "HMM": hansards.HMM, "fast_align": hansards.FAST_ALIGN}
    assert unsupervised.systems == aligners
    assert supervised.systems == {"link classifier": LinkClassifier(hansards.JOINT_HMM), **aligners}
    # English is the source: words of the unaligned pairs and of the aligned ones, numbered as they come.
    assert supervised.train.inputs.source.tolist() == [0, 1, 0, 2, 3, 4, 2] + [0, 1, 3, 1, 3, 2]
    assert supervised.train.inputs.target.tolist() == [0, 1, 2, 3, 4, 5, 3] + [0, 1, 6, 1, 4, 3]
    sums = {name: sha256((folder / name).read_bytes()).hexdigest() for name in (*hansards.TEXT[0], *hansards.GOLD)}
    assert supervised.files == unsupervised.files == sums


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (0, "the house\n", "src.en has 1 lines, align_enfr/tgt.fr 5"),
        (0, "the house\n\na budget\nhouse\na new house\n", r"src.en: 1 sentence is empty \(line 2\)"),
        (2, "0-0 1-1\n0-2\n0-0\n0-0\n0-0\n", r"gold.wa: link 1 3 is outside sentence pair 2 \(2 x 2 words\)"),
        (2, "0-0 1-1\n0-0\n", r"gold.wa must have a line for each sentence pair of align_enfr/src.en, .* 2 and 5"),
    ],
)
def test_files_that_do_not_fit(folder: Path, name: int, content: str, message: str) -> None:
    (folder / hansards.GOLD[name]).write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        load_task("alignment", folder)


def test_a_file_without_an_address_is_asked_for(folder: Path) -> None:
    (folder / hansards.GOLD[2]).unlink()
    with pytest.raises(DataError, match=r"align_enfr/gold.wa: .*no public address; data_dir"):
        load_task("alignment", folder)


@pytest.fixture(scope="module")
def tasks() -> dict[str, Task]:
    if not SHARED.is_dir():
        pytest.skip(f"needs the real data in {SHARED}")
    return {name: load_task(name, SHARED) for name in ("alignment", "alignment_unsupervised")}


def test_sizes_are_those_of_the_data(tasks: dict[str, Task]) -> None:
    """2,383 pairs with 44,675 and 52,453 words; 447 aligned ones with 4,038 sure links and 13,400 possible ones."""
    train, test = tasks["alignment_unsupervised"].train, tasks["alignment_unsupervised"].test_sets["test"]
    assert (train.n_items, len(train.inputs.source), len(train.inputs.target)) == (2383, 44675, 52453)
    assert (test.n_items, (test.gold == 2).sum(), (test.gold == 1).sum()) == (447, 4038, 13400)
    own = tasks["alignment"]
    assert (own.train.n_items, own.test_sets["test"].n_items) == (2730, 100)
    assert (own.train.gold[: own.train.inputs.first_cell[2383]] == -1).all()
    assert set(np.unique(own.train.gold[own.train.inputs.first_cell[2383] :])) == {0, 1, 2}


def test_a_shipped_alignment_has_the_score_it_has_by_file(tasks: dict[str, Task]) -> None:
    """GIZA's links put into cells by hand, in the order of the task's test set, count as they do read from files."""
    test = tasks["alignment_unsupervised"].test_sets["test"]
    gold, own = (read_links(SHARED / f"align_enfr/{name}")[0] for name in ("gold.wa", "sys/giza.grow-diagonal.wa"))
    english = read_lines(SHARED / "align_enfr/src.en")
    expected, answers = [], np.zeros(len(test.gold), bool)
    for k, number in enumerate(test.items["id"].astype(int)):
        links, right = own[number].all, gold[number]
        expected.append(alignment_counts(links, right.sure, right.possible))
        n_target = test.inputs.first_target[k + 1] - test.inputs.first_target[k]
        assert test.inputs.first_source[k + 1] - test.inputs.first_source[k] == len(english[number - 1].split())
        for i, j in links:
            answers[test.inputs.first_cell[k] + i * n_target + j] = True
    counts = counted(tasks["alignment_unsupervised"], tasks["alignment_unsupervised"].metric, "test", answers)
    assert counts.tolist() == [list(row) for row in expected]


@pytest.mark.parametrize(
    ("family", "size", "low", "high"),
    [("link classifier", 683, 11, 17), ("fast_align", 200, 20, 32), ("HMM", 200, 15, 28)],
)
def test_variants_of_a_small_training_set(
    tasks: dict[str, Task], family: str, size: int, low: float, high: float
) -> None:
    task = tasks["alignment"]
    counts = trained(task, Variant(family, size, 1), seed=0)["test"]["aer"]
    assert low < task.metric.score(counts.sum(axis=0)) < high


@pytest.mark.slow
@pytest.mark.parametrize(("family", "low", "high"), [("joint HMM", 11, 14), ("HMM", 15, 19), ("fast_align", 18, 22)])
def test_all_training_text_is_as_good_as_it_can_be(
    tasks: dict[str, Task], family: str, low: float, high: float
) -> None:
    """The shipped GIZA and fast_align, trained on 500 times as much text, have an AER of 6 to 10 and of 10 to 20."""
    task = tasks["alignment_unsupervised"]
    answers = task.systems[family].train(task.train, np.ones(2383, np.int64), 0)(task.test_sets["test"])
    assert low < task.metric.score(counted(task, task.metric, "test", answers).sum(axis=0)) < high
