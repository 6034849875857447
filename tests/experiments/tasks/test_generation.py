"""Data-to-text generation end to end: what the task is made of, how texts are counted, and the real data."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sacrebleu import corpus_bleu, corpus_chrf

from simstudy.metrics import METRICS
from simstudy.readers.load import load
from simstudy.readers.request import Texts
from simstudy.training import Examples, Task, load_task
from simstudy.training.resampling import Variant, resample_training
from simstudy_learners.generation.counted_texts import CountTexts
from tests.conftest import SHARED
from tests.experiments.programs import task_of
from tests.training.trained import counted, trained

generation = task_of("generation")

TRAIN = """mr,ref
"name[The Mill], food[Thai]","The Mill serves Thai food."
"name[The Mill], food[Thai]","There is Thai food at The Mill."
"name[Cotto], food[Greek]","Cotto serves Greek food."
"""
TEST = """"mr","ref"\r
"name[Zizzi], food[Thai]","Zizzi serves Thai food."\r
"name[Zizzi], food[Thai]","Thai food is served by Zizzi."\r
"name[Aromi], food[French]","Aromi serves French food."\r
"""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Task:
    """The task, on files of three references each."""
    at = {"e2e_nlg/devset.csv": tmp_path / "dev.csv", "e2e_nlg/testset_w_refs.csv": tmp_path / "test.csv"}
    for path, content in zip(at.values(), (TRAIN, TEST), strict=True):
        path.write_bytes(content.encode())
    monkeypatch.setattr(generation, "fetch_each", lambda names, data_dir: {name: at[name] for name in names})
    monkeypatch.setattr(generation, "registry", lambda: {name: SimpleNamespace(sha256=name) for name in at})
    return load_task("generation", tmp_path)


def test_a_training_item_is_a_reference_and_a_test_item_a_meaning(small: Task) -> None:
    mill, cotto = (("name", "The Mill"), ("food", "Thai")), (("name", "Cotto"), ("food", "Greek"))
    assert small.train.inputs == [mill, mill, cotto]
    assert small.train.gold[1] == ["There is Thai food at The Mill."]
    test = small.test_sets["test"]
    found = dict(zip(test.items["id"], zip(test.inputs, test.gold, strict=True), strict=True))
    assert found == {
        "1": ((("name", "Zizzi"), ("food", "Thai")), ["Zizzi serves Thai food.", "Thai food is served by Zizzi."]),
        "2": ((("name", "Aromi"), ("food", "French")), ["Aromi serves French food."]),
    }
    assert list(small.metrics) == ["bleu", "chrf"]
    assert dict(small.files) == {name: name for name in ("e2e_nlg/devset.csv", "e2e_nlg/testset_w_refs.csv")}


def test_every_base_system_answers(small: Task) -> None:
    outputs = resample_training(small, fractions=[1.0], replicates=[2])["test"]
    assert outputs.names == [f"{name}-3-{k}" for name in ("retrieval", "templates", "n-grams") for k in (1, 2)]
    for name in reversed(small.systems):
        alone = trained(small, Variant(name, 3, 2), seed=0)["test"]["bleu"]
        np.testing.assert_array_equal(outputs.select([f"{name}-3-2"]).statistics[0], alone)


@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_texts_are_counted_as_sacrebleu_does_without_regard_to_case(small: Task, metric: str) -> None:
    test = small.test_sets["test"]
    answers = ["ZIZZI has Thai food", "It serves French food, Aromi."]
    counted = CountTexts(metric)(test, answers)
    streams = list(zip_longest(*test.gold))
    expected = (
        corpus_bleu(answers, streams, lowercase=True)
        if metric == "bleu"
        else corpus_chrf([one.lower() for one in answers], [[r and r.lower() for r in own] for own in streams])
    )
    assert METRICS[metric].score(counted.sum(axis=0)) == pytest.approx(expected.score)
    np.testing.assert_array_equal(counted, CountTexts(metric)(test, [one.lower() for one in answers]))
    np.testing.assert_array_equal(counted, CountTexts(metric)(test, [[one, "not this one"] for one in answers]))


def test_gold_answers_are_right(small: Task) -> None:
    for metric in small.metrics.values():
        assert metric.score(counted(small, metric, "test", small.test_sets["test"].gold).sum(axis=0)) == pytest.approx(
            100
        )


# The real data.


@pytest.fixture(scope="module")
def task() -> Task:
    if not (SHARED / "e2e_nlg").is_dir():
        pytest.skip(f"needs the real data in {SHARED}")
    return load_task("generation", SHARED)


def test_sizes_are_those_of_the_challenge(task: Task) -> None:
    """References and meaning representations as Novikova et al. (2017) count them."""
    assert (task.train.n_items, len(set(task.train.inputs))) == (4672, 547)
    test = task.test_sets["test"]
    assert (test.n_items, sum(len(own) for own in test.gold)) == (630, 4693)
    assert not set(test.inputs) & set(task.train.inputs)
    assert sorted(test.items["id"].astype(int)) == list(range(1, 631)) != test.items["id"].astype(int).tolist()


def test_systems_of_the_challenge_are_counted_as_a_study_of_them_counts(task: Task) -> None:
    """Both ways: the task's own counts, and those of the loader that a study lays over the curve."""
    paths = [SHARED / f"e2e_nlg/sys/{name}.txt" for name in ("tgen", "tr2")]
    if not all(path.is_file() for path in paths):
        pytest.skip(f"needs the systems' outputs in {SHARED}")
    outputs = load(
        paths, metric="bleu", references=[SHARED / "e2e_nlg/testset_w_refs.csv"],
        columns={"item": "mr", "reference": "ref"}, texts=Texts(lowercase=True),
    ).outputs  # fmt: skip
    numbers = task.test_sets["test"].items["id"].astype(int).to_numpy() - 1
    scores = []
    for path in paths:
        lines = path.read_text(encoding="utf-8").splitlines()
        counts = counted(task, task.metrics["bleu"], "test", [lines[number] for number in numbers])
        np.testing.assert_array_equal(outputs.select([path.stem]).statistics[0][numbers], counts)
        scores.append(float(METRICS["bleu"].score(counts.sum(axis=0))))
    # The published score of TGen, the baseline: Dušek et al. 2018, "Findings of the E2E NLG challenge".
    assert scores == pytest.approx([65.93, 42.02], abs=0.01)


def test_a_small_sample_of_real_texts(task: Task) -> None:
    """Trained on 700 references, tested on 60 inputs: far above one text for all."""
    test = task.test_sets["test"]
    some = Examples(test.inputs[:60], test.gold[:60])
    weights = np.bincount(np.random.default_rng(0).integers(4672, size=700), minlength=4672)

    def bleu(answers: list[str]) -> float:
        return float(METRICS["bleu"].score(CountTexts("bleu")(some, answers).sum(axis=0)))

    for system in task.systems.values():
        assert 40 < bleu(system.train(task.train, weights, 0)(some)) < 70
    assert bleu([f"{dict(one)['name']} is a coffee shop." for one in some.inputs]) < 15


@pytest.mark.slow
@pytest.mark.parametrize("family", ["retrieval", "templates", "n-grams"])
def test_variants_of_half_the_training_set(task: Task, family: str) -> None:
    statistics = trained(task, Variant(family, 2336, 1), seed=0)["test"]
    assert 52 < task.metrics["bleu"].score(statistics["bleu"].sum(axis=0)) < 64
    assert 60 < task.metrics["chrf"].score(statistics["chrf"].sum(axis=0)) < 72
