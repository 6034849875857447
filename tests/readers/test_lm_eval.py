from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from simstudy.readers.load import load
from tests.readers.line_files import input_error, texts_of

TIME = "2025-01-31T10-00-00.123456"


def sample(doc_id: int, scores: dict[str, Any], filter: str = "none", **more: Any) -> dict[str, Any]:
    """A sample with the fields that the harness writes."""
    return {
        "doc_id": doc_id,
        "doc": {"question": f"q{doc_id}"},
        "target": str(doc_id),
        "arguments": {"gen_args_0": {"arg_0": "Q:"}},
        "resps": [["so it is 1"]],
        "filtered_resps": ["1"],
        "filter": filter,
        "metrics": list(scores),
        "doc_hash": f"h{doc_id}",
        "prompt_hash": "p",
        "target_hash": "t",
        **scores,
    } | more


def write(folder: Path, model: str, task: str, samples: list[dict[str, Any]], time: str = TIME) -> Path:
    (folder / model).mkdir(parents=True, exist_ok=True)
    path = folder / model / f"samples_{task}_{time}.jsonl"
    path.write_text("".join(json.dumps(s, ensure_ascii=False) + "\n" for s in samples), encoding="utf-8")
    return path


def test_early_logs_list_no_metrics_and_no_filter(tmp_path: Path) -> None:
    early = {"doc_id": 0, "doc": {}, "target": 1, "arguments": [], "resps": [], "filtered_resps": [], "em": 1.0}
    assert load(write(tmp_path, "m", "t", [early]), "accuracy").outputs.scores().tolist() == [100]


def test_the_newest_of_several_runs_is_read_whatever_their_order(tmp_path: Path) -> None:
    runs = enumerate((TIME, "2025-02-01T10-00-00", "2024-12-31T23-59-59.9"))
    paths = [write(tmp_path, "m", "a_b", [sample(0, {"em": k == 1})], time) for k, time in runs]
    for order in (paths, paths[::-1]):
        loaded = load(order, "accuracy")
        assert loaded.outputs.scores().tolist() == [100]
        assert loaded.notes[1].fields["first"] == paths[2]


def test_a_folder_without_sample_logs_is_named(tmp_path: Path) -> None:
    """A run without --log_samples has its results only."""
    new = write(tmp_path, "new", "quiz", [sample(0, {"acc": 1.0})]).parent
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / f"results_{TIME}.json").write_text("{}")
    input_error([new, tmp_path / "old"], "accuracy", match=f"folder {tmp_path}/old has no sample logs")


def test_systems_are_folders_and_the_folders_above_or_models_of_one_folder(tmp_path: Path) -> None:
    paths = [write(tmp_path / name, "m", "t", [sample(0, {"em": 1})]) for name in ("5shot", "0shot")]
    assert load(paths, "accuracy").outputs.names == ["5shot/m", "0shot/m"]
    other = write(tmp_path / "0shot", "m", "u", [sample(0, {"em": 1})])
    assert load([paths[0], other], "accuracy").outputs.names == ["m"]
    times = {"a/one": TIME, "a/two": "2025-02-01T10-00-00"}
    paths = [write(tmp_path, "out", "t", [sample(0, {"em": 1})], time) for time in times.values()]
    for model, time in times.items():
        (tmp_path / "out" / f"run_{time}.json").write_text(json.dumps({"model_name": model}))
    loaded = load(paths, "accuracy")
    assert (loaded.outputs.names, len(loaded.notes)) == (["a/one", "a/two"], 1)


def test_several_responses_to_a_document_are_samples(tmp_path: Path) -> None:
    """As the harness has their scores since 0.5, or in lines that a field numbers."""
    said = [["one", "two", "two"]]
    per_repeat = [sample(k, {"em": 2 / 3}, resps=said, scores_per_repeat={"em": [k, 1, 1]}) for k in (0, 1)]
    lines = [
        sample(k, {"em": int(r > 1 or k)}, resps=[[said[0][r - 1]]], repetition=r) for k in (0, 1) for r in (1, 2, 3)
    ]
    for samples in (per_repeat, lines):
        outputs = load(write(tmp_path, "m", "t", samples), "accuracy").outputs
        assert outputs.items["id"].tolist() == ["0#1", "0#2", "0#3", "1#1", "1#2", "1#3"]
        assert outputs.items["sample_of"].tolist() == ["0"] * 3 + ["1"] * 3
        assert outputs.statistics[0, :, 0].tolist() == [0, 1, 1, 1, 1, 1]
        assert outputs.answers is not None
        assert outputs.answers[0, 0] != outputs.answers[0, 1] == outputs.answers[0, 2]
    one_score = write(tmp_path, "m", "t", [sample(0, {"em": 1}, resps=said)])
    assert load(one_score, "accuracy").outputs.items["id"].tolist() == ["0"]


def test_texts_for_people(tmp_path: Path) -> None:
    """The log-likelihoods of choices are in the order of the choices."""
    doc, likelihoods = {"query": "Sea?", "choices": ["wet", "dry"]}, [[["-2.5", "False"]], [["-1.25", "True"]]]
    choices = sample(1, {"acc": 1.0}, doc=doc, target=0, resps=likelihoods)
    texts = texts_of(load(write(tmp_path, "m", "t", [sample(0, {"acc": 1.0}), choices]), "accuracy"))
    assert texts.inputs_of(["0", "1"]) == ["q0", 'Sea?\n["wet", "dry"]']
    assert texts.references_of(["0", "1"]) == ["0", "0"]
    assert texts.answers_of("m", ["0", "1"]) == ["so it is 1", '["-2.5", "False"]\n\n["-1.25", "True"]']


def test_an_item_without_this_score_is_missing(tmp_path: Path) -> None:
    """Also if no log has a score of the item, and if the item has another score."""
    scores = [{"em": 1}, {"em": None}, {"em": float("nan")}, {"f1": 1}]
    path = write(tmp_path, "m", "t", [sample(k, own) for k, own in enumerate(scores)])
    input_error(
        path,
        "accuracy",
        columns={"score": "em"},
        match="line 2: item '1' has no score 'em'; missing='drop' leaves such items out",
    )
    assert load(path, "em", missing="drop").outputs.items["id"].tolist() == ["0"]
    assert load(path, "em", missing="zero").outputs.scores().tolist() == [25]


def test_a_sample_without_this_score_is_missing(tmp_path: Path) -> None:
    """But not a sample of another metric, which is of all samples together."""
    repeated = [{"em": [1, 0], "f1": [1, 1]}, {"em": [1, None], "f1": [1, 1]}]
    samples = [sample(k, {"em": 1, "f1": 1, "majority": 1}, scores_per_repeat=own) for k, own in enumerate(repeated)]
    path = write(tmp_path, "m", "t", samples)
    input_error(path, "em", match="line 2: item '1' has no score 'em'")
    assert load(path, "em", missing="drop").outputs.items["id"].tolist() == ["0#1", "0#2", "1#1"]
    assert load(path, "mean", columns={"score": "f1"}).outputs.n_items == 4
    assert load(path, "majority").outputs.items["id"].tolist() == ["0", "1"]


# e ** (1.5 / 6) of two texts of 6 words and 30 bytes, which has the harness as exp(-sum / length).
RATIOS = {"word_perplexity": math.exp(0.25), "byte_perplexity": math.exp(0.05), "bits_per_byte": 0.05 / math.log(2)}


@pytest.mark.parametrize(("metric", "score"), RATIOS.items())
def test_perplexities_are_ratios_of_sums(metric: str, score: float, tmp_path: Path) -> None:
    texts = [(-1.0, 2, 10), (-0.5, 4, 20), (None, 3, 12)]
    samples = [
        sample(k, dict.fromkeys(RATIOS, [likelihood, n]) | {"word_perplexity": [likelihood, words]})
        for k, (likelihood, words, n) in enumerate(texts)
    ]
    path = write(tmp_path, "m", "wiki", samples)
    input_error(path, metric, match="item '2' has no score")
    for metric_or_column in ({"metric": metric}, {"columns": {"score": metric}}):
        outputs = load(path, missing="drop", **metric_or_column).outputs  # type: ignore[arg-type]
        assert (outputs.metric.name, outputs.scores().tolist()) == (metric, [pytest.approx(score)])
    for options in ({"missing": "zero"}, {"metric": "mean"}):
        input_error(path, columns={"score": metric}, **options)
    other = write(tmp_path, "m", "quiz", [sample(0, {"acc": 1})])
    input_error([other, path], metric, missing="drop", match="domain='NAME' reads the logs of one task: '.*wiki")


def test_metrics_of_a_whole_test_set_are_no_scores(tmp_path: Path) -> None:
    path = write(tmp_path, "m", "t", [sample(0, {"bleu": [["a"], "b"], "em": 1, "perplexity": -2.5})])
    input_error(path, match="the score may be em, log_likelihood;")
    assert load(path, "log_likelihood").outputs.scores().tolist() == [-2.5]
    for options in ({"metric": "bleu"}, {"columns": {"score": "bleu"}}):
        input_error(path, **options, match="'bleu' is a metric of the whole test set")
    input_error(path, "macro_f1", match="'macro_f1' needs the predicted and the gold label")


SAMPLE = '{"doc_id": 0, "metrics": ["em"], "em": 1}'


@pytest.mark.parametrize(
    ("text", "at"),
    [
        (SAMPLE + "\n[1]\n", "line 2"),
        (SAMPLE + "\n" + SAMPLE, "line 2"),
        (SAMPLE.replace("1}", "[0, 1]}"), ""),
        ('{"doc_id": 0, "byte_perplexity": [-1]}', "line 1"),
        (SAMPLE.replace("1}", f"{10**400}}}"), "line 1"),
        (SAMPLE.replace('["em"]', '"em"'), "line 1"),
        (SAMPLE.replace("1}", '1, "filter": 3}'), "line 1"),
        ('{"doc_id": 1, "metrics": []}', ""),
        (SAMPLE.replace("1}", "null}"), ""),
    ],
)
def test_what_is_no_log(text: str, at: str, tmp_path: Path) -> None:
    path = tmp_path / f"samples_t_{TIME}.jsonl"
    path.write_text(text)
    assert input_error(path, "accuracy").at == (f"{path}, {at}" if at else str(path))
