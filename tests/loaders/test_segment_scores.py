from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU

import simstudy as ss
from simstudy.loaders.door import load

HASH = "roberta-large_L17_no-idf_version=0.3.12(hug_trans=4.36.2) P: 0.9 R: 0.8 F1: 0.7"
COMET = {"runs/old.txt": [0.5, 0.75, 0.125], "runs/new.txt": [0.875, 0.75, 0.25]}


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_json_file_of_comet_score(tmp_path: Path) -> None:
    segments = {name: [{"src": "s", "mt": "m", "COMET": x} for x in scores] for name, scores in COMET.items()}
    loaded = load(written(tmp_path / "scores.json", json.dumps(segments, indent=4)), "mean")
    assert loaded.outputs.names == ["old", "new"]
    assert loaded.outputs.items["id"].tolist() == ["1", "2", "3"]
    np.testing.assert_array_equal(loaded.outputs.statistics[:, :, 0], list(COMET.values()))
    assert loaded.scored_by == ("COMET",)


def test_the_lines_that_comet_score_prints(tmp_path: Path) -> None:
    """It prints segment by segment, all systems of each, then the systems' scores."""
    lines = [f"{name}\tSegment {i}\tscore: {scores[i]:.4f}" for i in range(3) for name, scores in COMET.items()]
    lines += [f"{name}\tscore: {np.mean(scores):.4f}" for name, scores in COMET.items()]
    path = written(tmp_path / "comet.log", "\n".join([*lines, "Predictions saved in: scores.json."]) + "\n")
    np.testing.assert_array_equal(load(path, "mean").outputs.statistics[:, :, 0], list(COMET.values()))


def test_what_bert_score_prints_has_three_scores_of_which_f1_is_taken(tmp_path: Path) -> None:
    paths = [
        written(tmp_path / f"{name}.txt", "\n".join([HASH, *(f"0.1\t0.2\t{x}" for x in scores)]))
        for name, scores in (("old", [0.5, 0.25]), ("new", [0.75, 0.5]))
    ]
    assert load(paths, "mean").outputs.scores().tolist() == [0.375, 0.625]
    assert load(paths, "mean", columns={"score": "R"}).outputs.scores().tolist() == [0.2, 0.2]
    with pytest.raises(ValueError, match=r"old.txt: no score 'F2' among P, R, F1"):
        load(paths, "mean", columns={"score": "F2"})


def test_what_sacrebleu_prints_of_sentences(tmp_path: Path) -> None:
    """The lines are made by sacrebleu itself, as its command does."""
    bleu = BLEU(effective_order=True)
    said = {"old": ["the cat sat", "a dog ran"], "new": ["the cat sat down", "a dog ran home"]}
    scores = {name: [bleu.sentence_score(s, ["the cat sat down now"]) for s in texts] for name, texts in said.items()}
    paths = [
        written(
            tmp_path / f"{name}.txt", "".join(f"{one.format(signature=str(bleu.get_signature()))}\n" for one in own)
        )
        for name, own in scores.items()
    ]
    loaded = load(paths, "mean")
    expected = [np.mean([one.score for one in own]) for own in scores.values()]
    assert loaded.outputs.scores().tolist() == pytest.approx(expected, abs=0.05)  # sacrebleu rounds to one digit.
    assert loaded.notes == ("the scores are means over sentences; BLEU of a whole test set is another number",)


def test_scores_of_mt_metrics_eval_with_segments_that_nobody_rated(tmp_path: Path) -> None:
    path = written(tmp_path / "en-de.mqm.seg.score", "a\t-1\na\tNone\na\t-2.5\nb\t0\nb\tNone\nb\t-2\n")
    loaded = load(path, "mean")
    assert loaded.outputs.names == ["a", "b"]
    assert loaded.outputs.items["id"].tolist() == ["1", "3"]
    assert loaded.outputs.scores().tolist() == [-1.75, -1.0]
    assert loaded.notes == ("1 of 3 segments left out that have no score of any system",)
    # Documents come from a table of the segments, in their order.
    table = written(tmp_path / "docs.csv", "cluster\nd1\nd1\nd2\n")
    assert load(path, "mean", items=table).outputs.items["cluster"].tolist() == ["d1", "d2"]


def test_the_ending_of_a_file_counts_in_any_case(tmp_path: Path) -> None:
    path = written(tmp_path / "en-de.mqm.SEG.Score", "a\t-1\na\t-2\nb\t0\nb\t-2\n")
    assert load(path, "mean").scored_by == ("en-de.mqm",)
    packed = tmp_path / "wer.seg.score.GZ"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert load(packed, "mean").scored_by == ("wer",)


def test_a_segment_that_one_system_lacks_is_missing(tmp_path: Path) -> None:
    path = written(tmp_path / "x.seg.score", "a\t1\na\tNone\nb\t0\nb\t3\n")
    with pytest.raises(ValueError, match=r"lacks 1 of 2 items, first '2' \(system 'a'\)"):
        load(path, "mean")
    assert load(path, "mean", missing="drop").outputs.scores().tolist() == [1, 0]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a.seg.score": "a\t1\nb\n"}, r"a.seg.score, line 2: not a system and a score with a tab between them"),
        ({"a.seg.score": "a\tx\nb\t1\n"}, r"a.seg.score, line 1: a score must be a number, not 'x'"),
        ({"a.seg.score": "a\t1\na\t1\nb\t1\n"}, r"system 'b' has 1 segments, others have 2"),
        ({"a.txt": f"{HASH}\n"}, r"a.txt: no scores of segments; bert-score prints them with -s"),
        ({"a.txt": f"{HASH}\n1\t2\n"}, r"a.txt, line 2: not three numbers P, R and F1"),
        ({"a.out": "a\tSegment 0\tscore: 1\na\tSegment 2\tscore: 1\n"}, r"line 2: segment 2 of 'a', but segment 1 is"),
        ({"a.out": "a\tSegment 0\tscore: 1\nnoise\n"}, r"a.out, line 2: not a line of comet-score"),
        ({"a.txt": "BLEU|version:2 = 1.0\nnoise\n"}, r"a.txt, line 2: not a line of sacrebleu -sl"),
        (
            {"a.txt": "BLEU|version:2 = 1.0\nTER|version:2 = 1.0\n"},
            r"a.txt, line 2: a score of TER, but the first line has BLEU",
        ),
        ({"a.json": '{"a": {"COMET": 1}}'}, r"a.json: 'a' must be a list of segments"),
        ({"a.json": '{"a": [{"COMET": 1}, {"COMET": "x"}]}'}, r"a.json, system 'a', segment 2: no number 'COMET'"),
        ({"a.json": '{"a": [{"COMET": 1}'}, r"a.json, line 1: not JSON \(is the file cut\?\)"),
        ({"a.seg.score": "a\t1\n", "b.json": '{"b": [{"COMET": 1}]}'}, r"has scores of a, but .*b.json of COMET"),
    ],
)
def test_what_is_refused(files: dict[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=said):
        load([written(tmp_path / name, text) for name, text in files.items()], "mean")


def test_texts_that_mention_comet_are_texts(tmp_path: Path) -> None:
    """A line of text with a score in it is no table of scores."""
    lines = "COMET gives Segment 0 score: 0.8\nP: 1 R: 1 F1: 1\n"
    paths = [written(tmp_path / f"{name}.txt", lines) for name in ("old", "new", "gold")]
    assert ss.load(paths[:2], "bleu", references=paths[2]).outputs.scores().tolist() == pytest.approx([100, 100])
