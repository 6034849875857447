"""Translation end to end: base systems on small texts, what the task is made of, and the real data."""

from __future__ import annotations

import gzip
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import sacrebleu

from simstudy.notes import notes_kept
from simstudy.studies.problems import stand_in
from simstudy.training import Task, load_task
from simstudy.training.examples import Examples
from simstudy.training.resampling import Variant, resample_training
from simstudy_learners.translation.bilingual_ngrams import BilingualNgrams, UnitWeights
from simstudy_learners.translation.hypotheses import Search
from simstudy_learners.translation.phrase_based import PhraseBased, PhraseWeights
from simstudy_learners.translation.stack_decoder import MOST_WORDS
from simstudy_learners.translation.texts import count_bleu, count_chrf, index_texts, tokenised
from tests.conftest import SHARED
from tests.experiments.programs import task_of
from tests.learners.sentences import ENGLISH, GERMAN
from tests.training.trained import trained

module = task_of("machine_translation")
TEST_SETS, TRAIN = module.TEST_SETS, module.TRAIN
base_systems, translation_task = module.base_systems, module.translation_task

SYSTEMS = base_systems()
NEW = ["ein kleiner hund läuft im schnee", "zwei hunde schlafen auf dem sofa", "Otto mit zwei hunden"]


def small_task() -> Task:
    return translation_task("toy", (GERMAN, ENGLISH), {"test": (NEW, ["a", "b", "c"])}, systems=SYSTEMS)


@pytest.mark.parametrize("name", SYSTEMS)
def test_sentences_are_translated(name: str) -> None:
    """Those of the training set are for the most part right; words that no one knows are left as they are."""
    task = small_task()
    translate = SYSTEMS[name].train(task.train, np.ones(8, np.int64), 0)
    right = [a == b for a, b in zip(translate(task.train), ENGLISH, strict=True)]
    assert sum(right) >= 6
    test = task.test_sets["test"]
    answers = dict(zip(test.inputs.lines, translate(test), strict=True))
    assert {"small", "dog", "runs", "snow"} <= set(answers[NEW[0]].split())
    assert {"otto", "hunden"} <= set(answers[NEW[2]].split())


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_weight_is_a_number_of_copies_and_pairs_without_are_not_there(name: str) -> None:
    weights = np.array([2, 0, 1, 3, 1, 0, 2, 1])
    copies = np.repeat(np.arange(8), weights)
    texts = index_texts([GERMAN, ENGLISH, [GERMAN[k] for k in copies], [ENGLISH[k] for k in copies], NEW, NEW])
    once, often, test = (Examples(*texts[k : k + 2]) for k in (0, 2, 4))
    plain = SYSTEMS[name].train(once, weights, 1)(test)
    assert plain == SYSTEMS[name].train(once, weights, 2)(test)
    if name != "memory":
        # A memory that has a sentence three times finds it three times.
        assert plain == SYSTEMS[name].train(often, np.ones(len(copies), np.int64), 1)(test)
    # "katze" and "zwei" are in no pair with a weight of 0 alone; "zwei kleine katzen" is.
    assert "cats" not in " ".join(plain)


@pytest.mark.parametrize("name", SYSTEMS)
def test_hardly_any_training_data_is_enough(name: str) -> None:
    """One pair of one word each; and sentences that are longer than the decoder can see at once."""
    long = " ".join(["hund", "otto"] * MOST_WORDS)
    train_and_test = index_texts([["hund"], ["dog"], [long, "katze"], ["x", "y"]])
    train, test = Examples(*train_and_test[:2]), Examples(*train_and_test[2:])
    translate = SYSTEMS[name].train(train, np.array([3]), 0)
    answers = translate(test)
    assert answers[1] in ("katze", "dog") if name == "memory" else answers[1] == "katze"
    words = answers[0].split()
    assert words.count("otto") == MOST_WORDS
    if name != "memory":
        assert words == ["dog", "otto"] * MOST_WORDS


def test_texts_count_as_sacrebleu_counts_raw_ones() -> None:
    """The score of all sentences is sacrebleu's with lower-casing, of raw references and translations with blanks."""
    references = ["A man's dog (brown), 3.5 years.", 'He said: "No!" Then he left.', "Two-thirds of 1,000 people; why?"]
    answers = ["a man's dog ( brown ) , 3 years .", 'he said : " no ! " then left .', "two-thirds of 1,000 people"]
    task = translation_task("toy", (GERMAN, ENGLISH), {"test": (references, references)}, systems=SYSTEMS)
    test = task.test_sets["test"]
    shown = [dict(zip(references, answers, strict=True))[line] for line in test.gold.lines]
    for name, ours, theirs in (
        ("bleu", count_bleu, sacrebleu.metrics.BLEU(lowercase=True)),
        ("chrf", count_chrf, sacrebleu.metrics.CHRF(lowercase=True)),
    ):
        expected = theirs.corpus_score(shown, [list(test.gold.lines)]).score
        assert task.metrics[name].score(ours(test, shown).sum(axis=0)) == pytest.approx(expected)
        assert task.metrics[name].score(ours(test, test.gold).sum(axis=0)) == pytest.approx(100)
    for line in references:
        assert tokenised(" ".join(tokenised(line))) == tokenised(line)


def test_a_variant_is_the_same_alone_and_among_others() -> None:
    task = small_task()
    together = resample_training(task, fractions=[1.0], replicates=[2])["test"]
    assert together.statistics.shape == (6, 3, 10)
    for name in reversed(SYSTEMS):
        alone = trained(task, Variant(name, 8, 2), seed=0)["test"]["bleu"]
        np.testing.assert_array_equal(together.select([f"{name}-8-2"]).statistics[0], alone)


@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_a_study_can_be_checked_before_anything_is_trained(metric: str) -> None:
    """References stand in for the translations of a system that is always right."""
    task = translation_task("toy", (GERMAN, ENGLISH), {"test": (GERMAN, ENGLISH)}, systems=SYSTEMS)
    outputs = stand_in(task, "test", metric)
    assert outputs.scores()[0] == pytest.approx(100)
    assert outputs.scores()[1] < 100


def test_long_sentences_are_counted() -> None:
    with notes_kept() as notes:
        translation_task("toy", (GERMAN, ENGLISH), {"test": (["a " * 63, "b", "c " * 62], ["x", "y", "z"])})
    assert notes == ["test set 'test': 1 sentences of more than 62 words are translated in pieces"]


def test_bad_parameters_and_texts_are_named() -> None:
    with pytest.raises(ValueError, match="longest must be"):
        PhraseBased(longest=0)
    with pytest.raises(ValueError, match=r"search\.stack must be"):
        BilingualNgrams(search=Search(0, 1.0, 1))
    with pytest.raises(ValueError, match="translation must be four weights, not 1"):
        PhraseWeights(translation=(1.0,))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="word must be"):
        UnitWeights(word=float("inf"))
    with pytest.raises(ValueError, match="unlike sentence 1 of text 0"):
        index_texts([["a", " "]])
    source, target = index_texts([["a", "b"], ["a"]])
    unequal = Examples(source, target)
    with pytest.raises(ValueError, match="gold must have a translation for each of the 2 sentences, not 1"):
        PhraseBased().train(unequal, np.ones(2, np.int64), 0)


def made_of(monkeypatch: pytest.MonkeyPatch, folder: Path, content: dict[str, str]) -> None:
    files = [f"{name}.{language}.gz" for name in (TRAIN, *TEST_SETS.values()) for language in ("de", "en")]
    at = {}
    for name in files:
        at[name] = folder / name.replace("/", "-")
        with gzip.open(at[name], "wt", encoding="utf-8") as stream:
            stream.write(content.get(name, f"{Path(name).name} one\ntwo\n"))
    monkeypatch.setattr(module, "fetch_each", lambda names, data_dir: {name: at[name] for name in names})
    monkeypatch.setattr(module, "registry", lambda: {name: SimpleNamespace(sha256=name) for name in files})


def test_the_task_is_made_of_the_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Ids say which line of its file a sentence is, in whatever order they come."""
    files = [f"{name}.{language}.gz" for name in TEST_SETS.values() for language in ("de", "en")]
    lines = {name: "".join(f"{Path(name).name} {k}\n" for k in range(1, 9)) for name in files}
    made_of(monkeypatch, tmp_path, lines)
    task = load_task("translation", tmp_path)
    assert task.train.inputs.lines == ("train.de.gz one", "two")
    assert task.train.gold.lines == ("train.en.gz one", "two")
    assert list(task.test_sets) == ["test 2016", "test 2017", "test 2018", "MSCOCO 2017"]
    for name, test in task.test_sets.items():
        file = Path(TEST_SETS[name]).name
        assert dict(zip(test.items["id"], test.inputs.lines, strict=True)) == {
            f"{file}-{k}": f"{file}.de.gz {k}" for k in range(1, 9)
        }
        assert [line.replace(".en.", ".de.") for line in test.gold.lines] == list(test.inputs.lines)
    assert [*task.metrics] == ["bleu", "chrf"]
    assert len(task.files) == 10


def test_malformed_files_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made_of(monkeypatch, tmp_path, {f"{TRAIN}.de.gz": "one\ntwo\nthree\n"})
    with pytest.raises(ValueError, match=r"train\.de\.gz and .*train\.en\.gz must have as many lines: 3 and 2"):
        load_task("translation", tmp_path)
    made_of(monkeypatch, tmp_path, {f"{TRAIN}.en.gz": "one\n \n"})
    with pytest.raises(ValueError, match=r"train\.en\.gz, line 2: a sentence must have words"):
        load_task("translation", tmp_path)


# The real data.


@pytest.fixture(scope="module")
def task() -> Task:
    if not SHARED.is_dir():
        pytest.skip(f"needs the real data in {SHARED}")
    return load_task("translation", SHARED)


@pytest.mark.slow
def test_sizes_are_those_of_the_files(task: Task) -> None:
    assert task.train.n_items == 29000
    sizes = {name: examples.n_items for name, examples in task.test_sets.items()}
    assert sizes == {"test 2016": 1000, "test 2017": 1000, "test 2018": 1071, "MSCOCO 2017": 461}
    for line in task.test_sets["test 2016"].gold.lines:
        assert tokenised(" ".join(tokenised(line))) == tokenised(line)
    longest = max(int(examples.inputs.lengths.max()) for examples in task.test_sets.values())
    assert longest <= MOST_WORDS


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("phrase-based", 31), ("bilingual n-grams", 29), ("memory", 25)])
def test_one_quarter_size_variant_of_each_base_system(task: Task, name: str, least: float) -> None:
    statistics = trained(task, Variant(name, 7250, 1), seed=0)["test 2016"]
    scores = {metric: float(task.metrics[metric].score(counts.sum(axis=0))) for metric, counts in statistics.items()}
    assert least < scores["bleu"] < least + 6
    assert scores["bleu"] + 15 < scores["chrf"] < 65
