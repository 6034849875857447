from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU

from simstudy.readers.load import load
from tests.oracles import compared
from tests.readers.line_files import input_error, loaded, texts_of, written

HASH = "roberta-large_L17_no-idf_version=0.3.12(hug_trans=4.36.2) P: 0.9 R: 0.8 F1: 0.7"
COMET = {"runs/old.txt": [0.5, 0.75, 0.125], "runs/new.txt": [0.875, 0.75, 0.25]}


def test_the_json_file_of_comet_score(tmp_path: Path) -> None:
    segments = {name: [{"src": "s", "mt": name, "COMET": x} for x in scores] for name, scores in COMET.items()}
    loaded = load(written(tmp_path / "scores.json", json.dumps(segments, indent=4)), "mean")
    assert loaded.outputs.names == ["old", "new"]
    assert loaded.outputs.items["id"].tolist() == ["1", "2", "3"]
    np.testing.assert_array_equal(loaded.outputs.statistics[:, :, 0], list(COMET.values()))
    assert loaded.scored_by == ("COMET",)
    assert texts_of(loaded).inputs_of(["1"]) == ["s"]
    assert texts_of(loaded).answers_of("new", ["2"]) == ["runs/new.txt"]
    input_error({"base": tmp_path / "scores.json"}, "mean", match="must have no names")
    input_error(tmp_path / "scores.json", "mean", columns={"score": "P"}, match="choose no score")


def test_the_lines_that_comet_score_prints(tmp_path: Path) -> None:
    """It prints segment by segment, all systems of each, then the systems' scores."""
    lines = [f"{name}\tSegment {i}\tscore: {scores[i]:.4f}" for i in range(3) for name, scores in COMET.items()]
    lines += [f"{name}\tscore: {np.mean(scores):.4f}" for name, scores in COMET.items()]
    path = written(tmp_path / "comet.log", "\n".join([*lines, "Predictions saved in: scores.json."]) + "\n")
    np.testing.assert_array_equal(load(path, "mean").outputs.statistics[:, :, 0], list(COMET.values()))


def test_what_sacrebleu_prints_of_sentences(tmp_path: Path) -> None:
    """The lines are made by sacrebleu itself, as its command does."""
    bleu = BLEU(effective_order=True)
    scores = [bleu.sentence_score(text, ["the cat sat down now"]) for text in ("the cat sat", "a dog ran home")]
    lines = [score.format(signature=str(bleu.get_signature())) for score in scores]
    loaded = load(written(tmp_path / "new.txt", "\n".join(lines)), "mean")
    # sacrebleu rounds to one digit.
    assert loaded.outputs.statistics[0, :, 0].tolist() == pytest.approx([one.score for one in scores], abs=0.05)
    assert [note.kind for note in loaded.notes] == ["read", "scores of sentences"]


def test_scores_of_mt_metrics_eval_with_segments_that_nobody_rated(tmp_path: Path) -> None:
    """Among the others, and at the end."""
    path = written(
        tmp_path / "en-de.mqm.SEG.Score", "a\t-1\na\tNone\na\t-2.5\na\tNone\nb\t0\nb\tNone\nb\t-2\nb\tNone\n"
    )
    loaded = load(path, "mean")
    assert loaded.outputs.names == ["a", "b"]
    assert loaded.outputs.items["id"].tolist() == ["1", "3"]
    assert loaded.outputs.scores().tolist() == [-1.75, -1.0]
    assert loaded.scored_by == ("en-de.mqm",)
    assert loaded.notes[1].fields["n"] == "2"
    # Documents and ids come from a table of all segments, in their order.
    table = written(tmp_path / "docs.csv", "id,cluster\ns1,d1\ns2,d1\ns3,d2\ns4,d2\n")
    items = load(path, "mean", items=table).outputs.items
    assert items[["id", "cluster"]].to_numpy().tolist() == [["s1", "d1"], ["s3", "d2"]]
    packed = tmp_path / "wer.seg.score.GZ"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert load(packed, "mean").scored_by == ("wer",)


def test_a_segment_that_one_system_lacks_is_missing(tmp_path: Path) -> None:
    path = written(tmp_path / "x.seg.score", "a\t1\na\tNone\nb\t0\nb\t3\n")
    input_error(path, "mean", match="lacks 1 of 2 items, first '2'")
    assert load(path, "mean", missing="drop").outputs.scores().tolist() == [1, 0]


@pytest.mark.parametrize(
    ("files", "at"),
    [
        ({"a.seg.score": "a\t1\nb\n"}, ", line 2"),
        ({"a.seg.score": "a\tx\nb\t1\n"}, ", line 1"),
        ({"a.seg.score": "a\t1\na\t1\nb\t1\n"}, ""),
        ({"a.txt": f"{HASH}\n"}, ""),
        ({"a.txt": f"{HASH}\n1\t2\n"}, ", line 2"),
        ({"a.out": "a\tSegment 0\tscore: 1\na\tSegment 2\tscore: 1\n"}, ", line 2"),
        ({"a.out": "a\tSegment 0\tscore: 1\nnoise\n"}, ", line 2"),
        ({"a.txt": "BLEU|version:2 = 1.0\nnoise\n"}, ", line 2"),
        ({"a.txt": "BLEU|version:2 = 1.0\nTER|version:2 = 1.0\n"}, ", line 2"),
        ({"a.json": '{"a": {"COMET": 1}}'}, ""),
        ({"a.json": '{"a": [{"COMET": 1}, {"COMET": "x"}]}'}, ", system 'a', segment 2"),
        ({"a.json": '{"a": [{"COMET": true}]}'}, ", system 'a', segment 1"),
        ({"a.json": '{"a": [{"COMET": 1}'}, ", line 1"),
        ({"b.json": '{"b": [{"COMET": 1}]}', "a.seg.score": "a\t1\n"}, ", line 1"),
        ({"1/x.seg.score": "a\t1\na\t2\n", "2/x.seg.score": "a\t1\na\t2\n"}, ", line 1"),
    ],
)
def test_what_is_refused(files: dict[str, str], at: str, tmp_path: Path) -> None:
    paths = [written(tmp_path / name, text) for name, text in files.items()]
    assert input_error(paths, "mean").at == f"{paths[-1]}{at}"


def test_texts_that_mention_comet_are_texts(tmp_path: Path) -> None:
    """A line of text with a score in it is no table of scores."""
    lines = "COMET gives Segment 0 score: 0.8\nP: 1 R: 1 F1: 1\n"
    paths = [written(tmp_path / f"{name}.txt", lines) for name in ("old", "new", "gold")]
    assert load(paths[:2], "bleu", references=paths[2]).outputs.scores().tolist() == pytest.approx([100, 100])


def test_ter_is_an_error_rate(tmp_path: Path) -> None:
    files = {f"{name}.txt": f"TER|version:2 = {rate}\n" * 2 for name, rate in (("old", 26.4), ("new", 21.2))}
    pairs = compared(loaded(tmp_path, files, "mean").outputs)
    assert (pairs["system_a"].iloc[0], pairs["gain"].iloc[0]) == ("new", pytest.approx(5.2))
