"""Gold labels beside predicted ones: systems whose gold labels differ are not compared."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from simstudy.loaders.door import load

PREDICTED = ("x", "y", "x", "y")
LABEL_METRICS = ("accuracy", "macro_f1", "balanced_accuracy", "mcc")


def jsonl(folder: Path, name: str, gold: tuple[object, ...], predicted: tuple[object, ...] = PREDICTED) -> Path:
    """A file of one system: items q0, q1, … with these gold and predicted labels."""
    path = folder / f"{name}.jsonl"
    rows = [{"id": f"q{i}", "gold": g, "prediction": p} for i, (g, p) in enumerate(zip(gold, predicted, strict=True))]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def tidy(folder: Path, gold: Mapping[str, tuple[str, ...]]) -> Path:
    """One table of systems with these gold labels."""
    rows = [f"{s},q{i},{g},{PREDICTED[i]}" for s, own in gold.items() for i, g in enumerate(own)]
    path = folder / "all.csv"
    path.write_text("\n".join(["system,item,gold,predicted", *rows]))
    return path


@pytest.mark.parametrize("metric", LABEL_METRICS)
def test_gold_labels_of_one_item_must_not_differ(tmp_path: Path, metric: str) -> None:
    old, new = (
        jsonl(tmp_path, name, gold) for name, gold in (("old", ("x", "y", "x", "y")), ("new", ("x", "x", "y", "y")))
    )
    told = (
        f"gold labels differ: item 'q1' has 'y' for system 'old' ({old}, line 2), but 'x' for system 'new' ({new}, "
        "line 2); they differ for 2 of 4 items. All systems must be compared with the same gold labels"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(told)}$"):
        load([old, new], metric)
    path = tidy(tmp_path, {"old": ("x", "y", "x", "y"), "new": ("x", "y", "x", "x")})
    told = (
        f"item 'q3' has 'y' for system 'old' ({path}, line 5), but 'x' for system 'new' ({path}, line 9); they differ"
    )
    with pytest.raises(ValueError, match=re.escape(told)):
        load(path, metric)


@pytest.mark.parametrize(
    ("one", "other"),
    [((1, 0, 1, 0), (1.0, 0.0, 1.0, 0.0)), ((1, 0, 1, 0), ("1.0", "0.0", "1.0", "0.0")), ("ABAB", "abab"),
     ("ABAB", (" A", "B ", " A", "B ")), ((True, False, True, False), ("true", "false", "true", "false"))],
)  # fmt: skip
def test_labels_that_are_written_otherwise_are_the_same(
    tmp_path: Path, one: tuple[object, ...], other: tuple[object, ...]
) -> None:
    """Each file is of one spelling; three of four labels are right in both."""
    old, new = (
        jsonl(tmp_path, name, tuple(own), (own[0], own[1], own[2], own[0]))
        for name, own in (("old", one), ("new", other))
    )
    assert load([old, new], "accuracy").outputs.scores().tolist() == [75, 75]
    # F1 is 0.8 of the label of 2 right of 3 predicted, and 2/3 of the other.
    assert load([old, new], "macro_f1").outputs.scores().tolist() == pytest.approx([100 * 11 / 15] * 2)
    assert load([old, new], "macro_f1").outputs.metric.classes == tuple(sorted({str(label).strip() for label in one}))


@pytest.mark.parametrize("metric", LABEL_METRICS)
def test_a_gold_label_in_another_case_leaves_predictions_right(tmp_path: Path, metric: str) -> None:
    """A file's predictions have the case of the other file's gold labels."""
    gold, predicted = ("Yes", "No", "Yes", "No"), ("Yes", "No", "No", "No")
    old, new = jsonl(tmp_path, "old", gold, predicted), jsonl(tmp_path, "new", ("Yes", "no", "yes", "No"), predicted)
    found = load([old, new], metric).outputs.statistics
    assert found[0].tolist() == found[1].tolist()


@pytest.mark.parametrize("metric", LABEL_METRICS)
def test_a_table_of_labels_may_call_systems_models(tmp_path: Path, metric: str) -> None:
    path = tidy(tmp_path, {"old": ("x", "y", "x", "x"), "new": ("x", "y", "x", "x")})
    expected = load(path, metric).outputs.statistics.tolist()
    path.write_text(path.read_text().replace("system,item,gold,predicted", "model,id,gold,prediction"))
    assert load(path, metric).outputs.statistics.tolist() == expected


def test_ids_that_come_again_are_told_of_first(tmp_path: Path) -> None:
    """Ids that begin again for each task have unlike gold labels, but this is what is wrong."""
    path = tmp_path / "s.csv"
    rows = [f"{s},{task},{i},{gold},x" for s in "ab" for task, gold in (("t", "x"), ("u", "y")) for i in (1, 2)]
    path.write_text("\n".join(["system,task,item,gold,predicted", *rows]))
    with pytest.raises(ValueError, match="item '1' of system 'a' again"):
        load(path, "accuracy")
    assert load(path, "accuracy", columns={"item": "task+item"}).outputs.scores().tolist() == [50, 50]


def test_samples_of_a_question_have_one_gold_label(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    rows = [f"{s},{i},{k},x,{'x' if k else 'y'}" for s in "ab" for i in (1, 2) for k in (0, 1)]
    path.write_text("\n".join(["system,item,sample,gold,predicted", *rows]))
    assert load(path, "accuracy").outputs.scores().tolist() == [50, 50]
    path.write_text(path.read_text().replace("b,2,1,x", "b,2,1,y"))
    with pytest.raises(ValueError, match="item '2' has 'x' for system 'a' .*, but 'y' for system 'b' .* 1 of 2 items"):
        load(path, "accuracy")


def confident(folder: Path, score: str = "score", scores: tuple[float, ...] = (0.5, 0.25, 0.75, 0.5)) -> list[Path]:
    """Two systems with a column of scores beside their labels: old is right on two of four items, new on three."""
    gold = ("x", "y", "x", "x")
    paths = [
        jsonl(folder, name, gold, predicted)
        for name, predicted in (("old", ("x", "x", "x", "y")), ("new", ("x", "y", "x", "y")))
    ]
    for path in paths:
        rows = map(json.loads, path.read_text().splitlines())
        path.write_text("".join(json.dumps({**row, score: s}) + "\n" for row, s in zip(rows, scores, strict=True)))
    return paths


@pytest.mark.parametrize("score", ["score", "f1"])
def test_confidences_beside_labels_are_not_taken_for_accuracy(tmp_path: Path, score: str) -> None:
    """Both ways out, followed, do what they say."""
    old, new = confident(tmp_path, score)
    told = (
        f"{old}: column '{score}' has other numbers than 0 and 1, and columns 'prediction' and 'gold' have labels: say "
        f"columns={{'gold': 'gold'}} to compare labels, or columns={{'score': '{score}'}} to compare means of '{score}'"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(told)}$"):
        load([old, new], "accuracy")
    for columns in ({"gold": "gold"}, {"gold": "gold", "predicted": "prediction"}, {"predicted": "prediction"}):
        loaded = load([old, new], "accuracy", columns=columns)
        assert loaded.outputs.scores().tolist() == [50, 75]
        assert loaded.notes == ("simstudy uses id as item. To change this, use columns={'item': 'NAME'}.",)
    assert load([old, new], "accuracy", columns={"score": score}).outputs.scores().tolist() == [50, 50]
    assert load([old, new], "balanced_accuracy").outputs.scores().tolist() == pytest.approx([100 / 3, 250 / 3])
    for path in (old, new):
        path.write_text(re.sub(r'("prediction": )"(.)"', lambda m: f'{m[1]}"{m[2].upper()}"', path.read_text()))
    with pytest.raises(ValueError, match="to compare labels, or"):
        load([old, new], "accuracy")


def test_labels_are_read_where_only_scores_are_missing(tmp_path: Path) -> None:
    old, new = confident(tmp_path)
    new.write_text(new.read_text().replace(', "score": 0.75', ""))
    loaded = load([old, new], "accuracy", columns={"gold": "gold"}, missing="drop")
    assert loaded.outputs.scores().tolist() == [50, 75]


def test_right_and_wrong_answers_beside_labels_are_scores(tmp_path: Path) -> None:
    """Who scored the answers may have been lenient, so that 1 stands beside other labels too."""
    paths = confident(tmp_path, "correct", (1, 1, 1, 0))
    assert load(paths, "accuracy").outputs.scores().tolist() == [75, 75]
    # Of systems' texts no one equals what is right.
    paths = confident(tmp_path)
    for path in paths:
        path.write_text(path.read_text().replace('prediction": "', 'prediction": "It is '))
    assert load(paths, "accuracy").outputs.scores().tolist() == [50, 50]


def test_labels_of_which_none_is_a_gold_one_are_told(tmp_path: Path) -> None:
    """Of files of one system each and of one table, as of text files; one label that is gold's is enough."""
    gold = ("x", "y", "x", "y")
    old = jsonl(tmp_path, "old", gold, ("x.", "x.", "x.", "x"))
    new = jsonl(tmp_path, "new", gold, (" x.", "y.", "x.", "y."))
    cased = jsonl(tmp_path, "cased", gold, ("X", "Y", "X", "Y"))
    told = "none of the labels of {} is a gold label"
    assert told.format("'new'") in load([old, new], "accuracy").notes
    assert told.format("'cased'") + "; they differ in case" in load([old, cased], "macro_f1").notes
    assert not [one for one in load([old], "accuracy").notes if one.startswith("none")]
    path = tidy(tmp_path, {"old": gold, "new": gold})
    path.write_text(path.read_text().replace(",x,x", ",x,z").replace(",y,y", ",y,z"))
    assert load(path, "mcc").notes == (told.format("'old', 'new'"),)


@pytest.mark.parametrize("metric", ["accuracy", "macro_f1"])
def test_gold_labels_in_another_file_are_matched_by_ids(tmp_path: Path, metric: str) -> None:
    """Followed, the advice gives what one file with both gives; gold labels stand in another order."""
    gold = ("x", "y", "x", "x")
    said = {"old": ("x", "x", "x", "y"), "new": ("x", "y", "x", "y")}
    paths = [jsonl(tmp_path, name, gold, own) for name, own in said.items()]
    together = load(paths, metric).outputs
    for path in paths:
        path.write_text(re.sub(r'"gold": ".", ', "", path.read_text()))
    told = (
        "column 'prediction' has predicted labels, but no column has gold ones: add a column 'gold', name the column "
    )
    told += "with columns={'gold': 'NAME'}, or give a table of ids and gold labels with references='FILE'"
    with pytest.raises(ValueError, match=re.escape(told)):
        load(paths, metric)
    other = tmp_path / "gold.csv"
    other.write_text("id,label\n" + "".join(f"q{i},{gold[i]}\n" for i in (3, 0, 2, 1)))
    loaded = load(paths, metric, references=other)
    assert loaded.outputs.items["id"].tolist() == ["q0", "q1", "q2", "q3"]
    assert loaded.outputs.statistics.tolist() == together.statistics.tolist()
    other.write_text(f"{other.read_text()}q9,y\n")
    assert (
        f"{other} has gold labels of 1 item that no system has, first 'q9'"
        in load(paths, metric, references=other).notes
    )
    other.write_text(other.read_text().replace("label", "right"))
    loaded = load(paths, metric, references=other, columns={"gold": "right"})
    assert loaded.outputs.statistics.tolist() == together.statistics.tolist()
    other.write_text("id,label\nq0,x\nq3,x\n")
    with pytest.raises(ValueError, match=f"^{re.escape(f'{other} lacks 2 of 4 items')}, first 'q1'$"):
        load(paths, metric, references=other)
    other.write_text("id,label\nq0,x\nq0,y\n")
    with pytest.raises(ValueError, match="line 3: item 'q0' occurs twice$"):
        load(paths, metric, references=other)
    for column in ("gold", "label", "target"):
        there = jsonl(tmp_path, "old", gold)
        there.write_text(there.read_text().replace("gold", column))
        with pytest.raises(ValueError, match=f"files with gold labels: leave them out, or rename column '{column}' if"):
            load(there, metric, references=other)
    if metric == "accuracy":
        scored = jsonl(tmp_path, "scored", gold)
        scored.write_text(scored.read_text().replace("gold", "note").replace("}", ', "correct": 1}'))
        with pytest.raises(ValueError, match="references must not be given for tables of item scores"):
            load(scored, metric, references=other)
    (tmp_path / "s.csv").write_text("id,a,b\nq0,1,0\n")
    with pytest.raises(ValueError, match="references must not be given for tables of item scores"):
        load(tmp_path / "s.csv", metric, references=other)


def test_gold_labels_may_be_a_mapping_of_ids(tmp_path: Path) -> None:
    """By hand: of x y x x the first system has three right, the second two."""
    paths = [tmp_path / "old.csv", tmp_path / "new.csv"]
    for path, said in zip(paths, ("xyxy", "xyyy"), strict=True):
        path.write_text("id,prediction\n" + "".join(f"q{i},{label}\n" for i, label in enumerate(said)))
    references = tmp_path / "gold.json"
    references.write_text(json.dumps({"q0": "x", "q2": "x", "q1": "y", "q3": "x"}))
    assert load(paths, "accuracy", references=references).outputs.scores().tolist() == [75, 50]
    paths = [tmp_path / "old.json", tmp_path / "new.json"]
    for path, said in zip(paths, ("xyxy", "xyyy"), strict=True):
        path.write_text(json.dumps({f"q{i}": label for i, label in enumerate(said)}))
    outputs = load(paths, "accuracy", references=references, columns={"predicted": "value"}).outputs
    assert outputs.scores().tolist() == [75, 50]


def test_a_blank_gold_label_is_told_by_its_own_file(tmp_path: Path) -> None:
    """A label of an item that no system has may be blank."""
    path, references = tmp_path / "new.csv", tmp_path / "gold.csv"
    path.write_text("id,prediction\nq0,x\nq1,y\n")
    for text, told in (
        ("id,gold\nq1,y\nq0,\n", f"{references}, line 3: no gold label"),
        ("id,gold\nq0,  \nq1,y\n", f"{references}, line 2: no gold label"),
    ):
        references.write_text(text)
        with pytest.raises(ValueError, match=f"^{re.escape(told)}$"):
            load(path, "accuracy", references=references)
    references.write_text("id,gold\nq9,\nq0,x\nq1,x\n")
    assert load(path, "accuracy", references=references).outputs.scores().tolist() == [50]
    references = tmp_path / "gold.json"
    references.write_text(json.dumps({"q0": "x", "q1": None}))
    with pytest.raises(ValueError, match=f"^{re.escape(f'{references}, record 2: no gold label')}$"):
        load(path, "accuracy", references=references)


@pytest.mark.parametrize("metric", LABEL_METRICS)
def test_numbers_that_are_predicted_need_gold_labels(tmp_path: Path, metric: str) -> None:
    """Numbers from 0 to 1 may be scores of accuracy; others are no percentages in a column of predictions."""
    path = tmp_path / "new.csv"
    path.write_text("id,prediction\nq0,7\nq1,12\n")
    with pytest.raises(
        ValueError, match="^.*column 'prediction' has predicted labels, but no column has gold ones: add"
    ):
        load(path, metric)
    path.write_text("id,prediction\nq0,0\nq1,1\n")
    if metric == "accuracy":
        assert load(path, metric).outputs.scores().tolist() == [50]
    else:
        with pytest.raises(ValueError, match="column 'prediction' has predicted labels, but no column has gold ones"):
            load(path, metric)
