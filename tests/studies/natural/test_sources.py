from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from simstudy.files.datasets import DataError
from simstudy.outputs import Outputs
from simstudy.readers import text_files as reading
from simstudy.studies import StudyError
from simstudy.studies.natural.definition import NaturalStudy
from simstudy.studies.natural.sources import n_test_sets, read_all
from tests.studies.natural.small import ANSWERS, EXAMS, MEASURES, Make


def read(
    make: Make, data_dir: Path, *test_sets: dict[str, Any]
) -> tuple[dict[tuple[str, str], Outputs], dict[str, str]]:
    """Outputs by name and metric, and the files' hashes."""
    study = make(*test_sets)
    assert isinstance(study, NaturalStudy)
    steps: list[int] = []
    found, hashes = read_all(study.name, study.test_sets, data_dir, steps.append)
    assert sum(steps) == len(found) == n_test_sets(study.test_sets)
    return {(one.name, one.metric): one.outputs for one in found}, hashes


def problem(make: Make, data_dir: Path, test_set: dict[str, Any]) -> str:
    with pytest.raises(StudyError) as error:
        read(make, data_dir, test_set)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_each_and_metric_are_filled_in_everywhere(make: Make, data_dir: Path) -> None:
    found, hashes = read(make, data_dir, EXAMS, MEASURES)
    assert list(found) == [("exam a", "accuracy"), ("exam b", "accuracy"), ("runs", "ap"), ("runs", "rr")]
    assert [outputs.test_set for outputs in found.values()] == ["exam a", "exam b", "runs", "runs"]
    assert set(hashes) == {f"made/{name}.csv" for name in ("exam_a", "exam_b", "systems", "measures")}
    table = pd.read_csv(data_dir / "made" / "systems.csv", dtype=str)
    for value in "ab":
        teams = table[table["exam"] == value].set_index("system")["team"]
        described = found[f"exam {value}", "accuracy"].systems.set_index("name")["group"].dropna()
        assert described.to_dict() == teams.to_dict()
    columns = {**MEASURES["columns"], "score": "{metric}"}
    tables = pd.read_csv(data_dir / "made" / "measures.csv")
    wide = tables.pivot(index=["run", "topic"], columns="measure", values="score").reset_index()
    folder = data_dir.parent / "wide"
    (folder / "made").mkdir(parents=True, exist_ok=True)
    wide.to_csv(folder / "made" / "measures.csv", index=False)
    del columns["domain"]
    again, _ = read(make, folder, {**MEASURES, "columns": columns, "where": {}})
    for metric in ("ap", "rr"):
        one, other = found["runs", metric], again["runs", metric]
        assert dict(zip(one.names, one.scores(), strict=True)) == pytest.approx(
            dict(zip(other.names, other.scores(), strict=True))
        )


def test_a_file_is_read_once_whatever_needs_it(make: Make, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two metrics of one table, a table of systems for two test sets, gold answers for one of them again."""
    opened: list[str] = []
    unpacked = reading.unpacked
    monkeypatch.setattr(reading, "unpacked", lambda path: opened.append(path.name) or unpacked(path))
    found, _ = read(make, data_dir, EXAMS, MEASURES, ANSWERS, {**ANSWERS, "name": "answers again"})
    assert sorted(opened) == sorted(set(opened))
    assert {"exam_a.csv", "exam_b.csv", "systems.csv", "measures.csv", "gold.txt"} < set(opened)
    first, second = (found[name, "accuracy"] for name in ("answers", "answers again"))
    assert first.statistics.tolist() == second.statistics.tolist()


def test_a_mixed_order_is_that_of_the_hashes_of_ids(make: Make, data_dir: Path) -> None:
    found, _ = read(make, data_dir, {**EXAMS, "mixed": True}, {**EXAMS, "name": "plain {}", "mixed": False})
    mixed, plain = found["exam a", "accuracy"], found["plain a", "accuracy"]
    assert plain.items["id"].tolist() == [f"a{i:03}" for i in range(120)]
    wanted = sorted(plain.items["id"], key=lambda item: sha256(item.encode()).hexdigest())
    assert mixed.items["id"].tolist() == wanted
    back = [wanted.index(item) for item in plain.items["id"]]
    assert (mixed.statistics[:, back] == plain.statistics).all()
    assert mixed.items["domain"].iloc[back].tolist() == plain.items["domain"].tolist()
    assert mixed.head(40).items["domain"].nunique() == 3


def test_systems_that_are_left_out_are_gone_before_items_are_matched(make: Make, data_dir: Path) -> None:
    found, _ = read(make, data_dir, {**ANSWERS, "leave_out": ["one", "four"]})
    assert sorted(found["answers", "accuracy"].names) == ["three", "two"]
    found, _ = read(make, data_dir, EXAMS)
    assert "broken" not in found["exam a", "accuracy"].names


def test_systems_of_no_group_are_groups_of_their_own(make: Make, data_dir: Path) -> None:
    found, _ = read(make, data_dir, ANSWERS, {**ANSWERS, "name": "bare", "groups": {}})
    groups = found["answers", "accuracy"].systems.set_index("name")["group"]
    assert groups.to_dict() == {"one": "numbers", "two": "numbers", "three": "three", "four": "four"}
    bare = found["bare", "accuracy"].systems
    assert bare["group"].tolist() == bare["name"].tolist()


def test_files_of_one_name_in_two_folders_are_both_read_and_told(make: Make, tmp_path: Path) -> None:
    """As evaluation harnesses leave them: a folder for each model, with files of the same names in it."""
    logs = tmp_path / "made" / "logs"
    for folder, right in (("first", 1), ("second", 0)):
        (logs / folder).mkdir(parents=True)
        (logs / folder / "scores.csv").write_text(f"system,item,score\n{folder},q,{right}\n{folder},r,1\n")
        rows = [f'{{"doc_id": {i}, "exact_match": {right}.0, "doc": {{}}, "target": "x"}}\n' for i in range(3)]
        (logs / folder / "samples_task_2024-01-01T00-00-00.jsonl").write_text("".join(rows))
    tables = {"name": "t", "metric": "accuracy", "paths": ["made/logs/first", "made/logs/second"], "by": []}
    found, hashes = read(
        make, tmp_path, {**tables, "paths": ["made/logs/first/scores.csv", "made/logs/second/scores.csv"]}
    )
    assert found["t", "accuracy"].scores().tolist() == [100, 50]
    assert set(hashes) == {"made/logs/first/scores.csv", "made/logs/second/scores.csv"}
    for folder in ("first", "second"):
        (logs / folder / "scores.csv").unlink()
    found, hashes = read(make, tmp_path, {**tables, "paths": ["made/logs"]})
    assert found["t", "accuracy"].n_systems == 2
    assert set(hashes) == {f"made/logs/{f}/samples_task_2024-01-01T00-00-00.jsonl" for f in ("first", "second")}


@pytest.mark.parametrize(
    ("test_set", "changed", "message"),
    [
        (EXAMS, {"leave_out": ["brokn"]}, "leave_out must be one of"),
        (ANSWERS, {"leave_out": ["on"]}, "not 'on' (did you mean 'one'?)"),
        (ANSWERS, {"groups": {"x": ["oen"]}}, "groups must be one of"),
        (ANSWERS, {"groups": {}, "by": ["group", "kind"]}, "by must be one of"),
        (EXAMS, {"by": ["base_modl"]}, "not 'base_modl' (did you mean 'base_model'?)"),
        (MEASURES, {"where": {"measur": "ap"}}, "measures.csv: no column 'measur' (columns: measure, run, topic"),
        (MEASURES, {"where": {"measure": "map"}}, "measures.csv: no row has measure = map"),
        (EXAMS, {"systems": {"file": "made/systems.csv", "where": {"exams": "a"}}}, "systems.csv: no column 'exams'"),
        (EXAMS, {"systems": {"file": "made/systems.csv", "where": {"exam": "c"}}}, "must have rows for the systems"),
        (EXAMS, {"systems": {"file": "made/systems.csv"}}, "occurs twice"),
        (EXAMS, {"systems": {"file": "made/exam_a.csv", "columns": {"system": "item"}}}, "'a000' occurs twice"),
        (EXAMS, {"systems": {"file": "made/systems.csv", "columns": {"group": "teem"}}}, "no column 'teem' (columns: "),
        (EXAMS, {"format": "text"}, "format is not for tables of scores"),
        (EXAMS, {"references": ["made/gold.txt"]}, "references is not for tables of scores"),
        (EXAMS, {"lowercase": True}, "lowercase is not for tables of scores"),
        (EXAMS, {"columns": {"score": "points"}}, "no column 'points'"),
        (ANSWERS, {"references": []}, "references"),
        (ANSWERS, {"paths": ["made/gold.txt", "made/exam_a.csv"]}, "test set 'answers': "),
    ],
)  # fmt: skip
def test_what_the_files_have_not_is_named_with_the_test_set(
    make: Make, data_dir: Path, test_set: dict[str, Any], changed: dict[str, Any], message: str
) -> None:
    said = problem(make, data_dir, {**test_set, **changed})
    assert said.startswith(f"study 'small': test set '{test_set['name'].replace('{}', 'a')}'")
    assert message in said


def test_a_missing_file_is_named(make: Make, data_dir: Path) -> None:
    for changed in ({"paths": ["made/exam_c.csv"]}, {"systems": {"file": "made/sys.csv"}}, {"items": "made/items.tsv"}):
        name = changed.get("items") or dict(changed.get("systems", {})).get("file") or changed["paths"][0]  # type: ignore[index]
        with pytest.raises(DataError, match=f"{name}: no such file"):
            read(make, data_dir, {**EXAMS, **changed})
