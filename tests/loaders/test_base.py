from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.loaders.assembling import assemble
from simstudy.loaders.base import Loaded, Source, SystemOutputs, counted, system_files
from simstudy.metrics import get_metric
from simstudy.notes import notes_kept


def source(missing: str = "error") -> Source:
    return Source((), get_metric("accuracy"), missing=missing)


def system(name: str, right: dict[str, int], answers: Sequence[str] | None = None) -> SystemOutputs:
    statistics = np.array([[hit, 1] for hit in right.values()])
    return SystemOutputs(name, f"{name}.csv", list(right), statistics, answers)


WHOLE = system("whole", {"x": 1, "y": 0, "z": 1}, ["p", "q", "p"])
TURNED = system("turned", {"z": 0, "y": 1, "x": 1}, ["q", "r", "p"])
SHORT = system("short", {"z": 1, "x": 0}, ["p", "s"])
EXTRA = system("extra", {"x": 1, "y": 1, "z": 1, "w": 1})


def nothing(item: str) -> np.ndarray:
    return np.array([0, 1])


def assembled(*systems: Any, **how: Any) -> Loaded:
    """The Outputs, and the notes that are said on them."""
    with notes_kept() as notes:
        outputs = assemble(*systems, **how)
    return Loaded(outputs, notes=tuple(notes))


def test_items_meet_by_id_whatever_their_order() -> None:
    loaded = assembled([WHOLE, TURNED], source())
    assert loaded.outputs.items["id"].tolist() == ["x", "y", "z"]
    assert loaded.outputs.statistics[..., 0].tolist() == [[1, 0, 1], [1, 1, 0]]
    assert loaded.notes == ()


def test_equal_answers_have_equal_numbers() -> None:
    loaded = assembled([WHOLE, TURNED], source())
    assert loaded.outputs.answers is not None
    equal = loaded.outputs.answers[:, None] == loaded.outputs.answers[None]
    assert equal[0, 1].tolist() == [True, False, False]
    assert assemble([WHOLE, system("scores", {"x": 1, "y": 1, "z": 1})], source()).answers is None


def test_a_missing_item_is_an_error_that_names_files_and_counts() -> None:
    with pytest.raises(ValueError, match="^items differ: short.csv lacks 1 of 3 items, first 'y' ") as error:
        assemble([WHOLE, SHORT], source(), nothing=nothing)
    assert "\n" not in str(error.value)


def test_a_missing_item_is_dropped_for_all() -> None:
    loaded = assembled([WHOLE, SHORT], source("drop"))
    assert loaded.outputs.items["id"].tolist() == ["x", "z"]
    assert loaded.outputs.statistics[..., 0].tolist() == [[1, 1], [0, 1]]
    assert loaded.notes == ("1 of 3 items dropped that not every system has: 'y'",)
    with pytest.raises(ValueError, match="^no item is left that every system has"):
        assembled([WHOLE, system("other", {"v": 1})], source("drop"))


def test_a_missing_item_counts_as_nothing_said() -> None:
    loaded = assembled([WHOLE, SHORT], source("zero"), nothing=nothing)
    assert loaded.outputs.statistics.tolist() == [[[1, 1], [0, 1], [1, 1]], [[0, 1], [0, 1], [1, 1]]]
    assert len(loaded.notes) == 1
    assert loaded.notes[0].startswith("scored as no answer: short.csv lacks 1 of 3 items, first 'y'")
    assert loaded.outputs.answers is not None
    assert loaded.outputs.answers[1, 1] not in loaded.outputs.answers[0]
    with pytest.raises(ValueError, match=r"missing='zero' is not defined for this format; short.csv lacks items"):
        assembled([WHOLE, SHORT], source("zero"))


def test_items_that_the_references_lack() -> None:
    expected = ["x", "y", "z"]
    with pytest.raises(ValueError, match="^items differ: extra.csv has 1 that the references lack, first 'w'"):
        assemble([WHOLE, EXTRA], source(), expected=expected)
    loaded = assembled([WHOLE, EXTRA], source("drop"), expected=expected)
    assert loaded.outputs.items["id"].tolist() == expected
    assert loaded.notes == ("left out: extra.csv has 1 that the references lack, first 'w'",)


def test_many_files_that_differ_are_counted() -> None:
    short = [system(f"s{k}", {"x": 1}) for k in range(5)]
    with pytest.raises(ValueError, match="s2.csv lacks .*, and 2 more files; missing='drop'"):
        assemble([WHOLE, *short], source())


def test_twice_is_an_error() -> None:
    twice = SystemOutputs("twice", "twice.csv", ["x", "y", "x"], np.ones((3, 2), dtype=int))
    with pytest.raises(ValueError, match="^twice.csv: item 'x' occurs twice$"):
        assemble([WHOLE, twice], source())
    with pytest.raises(ValueError, match=r"^system 'whole' is in whole.csv and again in whole.csv$"):
        assemble([WHOLE, WHOLE], source())
    with pytest.raises(ValueError, match="^no system: at least one file of outputs is needed$"):
        assemble([], source())


def test_item_tables_are_cut_to_the_items_that_are_used() -> None:
    items = pd.DataFrame({"id": ["w", "z", "y", "x"], "domain": list("dcba")})
    loaded = assembled([WHOLE, SHORT], source("drop"), items=items)
    assert loaded.outputs.items[["id", "domain"]].to_numpy().tolist() == [["x", "a"], ["z", "c"]]


def test_whole_numbers_stay_whole() -> None:
    decimal = SystemOutputs("decimal", "decimal.csv", ["x", "y", "z"], np.array([[0.5, 1]] * 3))
    assert assemble([WHOLE], source()).statistics.dtype.kind == "i"
    assert assemble([WHOLE, decimal], source()).statistics.dtype.kind == "f"


@pytest.mark.parametrize(
    ("files", "names"),
    [
        ("GPT-4.de Claude-3.5.de", "GPT-4 Claude-3.5"),
        ("a/x.en b/y.en", "x y"),
        ("a.de.gz b.de.gz", "a b"),
        ("GPT-4.de v1.5 plain", "GPT-4.de v1.5 plain"),
        ("claude-3.5-sonnet gpt-4.1-mini", "claude-3.5-sonnet gpt-4.1-mini"),
        ("claude-3.5-sonnet", "claude-3.5-sonnet"),
        ("qwen-2.5-7b olmo-2.5-7b", "qwen-2.5-7b olmo-2.5-7b"),
        ("gpt-4.1 o-4.1", "gpt-4.1 o-4.1"),
        ("net.base net.large", "net.base net.large"),
        ("A.txt.gz B.TXT C.gz D.csv.GZ", "A B C D"),
        ("arcada mic-cis.txt", "arcada mic-cis"),
        ("gpt-4.1-mini.txt gpt-4.1-mini.de.txt", "gpt-4.1-mini gpt-4.1-mini.de"),
    ],
)
def test_systems_are_named_by_their_files(files: str, names: str) -> None:
    assert list(system_files([Path(file) for file in files.split()])) == names.split()


def test_files_that_would_give_one_system_or_are_one_file() -> None:
    message = "^a/x.en and b/x.en would both be system 'x': rename one of the files$"
    with pytest.raises(ValueError, match=message):
        system_files([Path("a/x.en"), Path("b/x.en")])
    for again in (Path("a/x.en"), Path("a/../a/x.en"), Path("a/x.en").absolute()):
        with pytest.raises(ValueError, match=f"^{again} is given twice$"):
            Source((Path("a/x.en"), again), get_metric("mean"))


def test_one_thing_is_counted_without_an_s() -> None:
    assert [counted(n, "line") for n in (0, 1, 2, 1000)] == ["0 lines", "1 line", "2 lines", "1,000 lines"]
    with pytest.raises(ValueError, match=r"^items differ: s.csv lacks 1 of 1 item, first 'x' \(system 's'\); "):
        assemble([SystemOutputs("s", "s.csv", [], np.zeros((0, 2)))], source(), expected=["x"])


def test_items_that_the_references_lack_are_left_out_and_not_scored() -> None:
    more = SystemOutputs("more", "more.csv", ["x", "y", "z", "extra"], np.array([[1, 1]] * 4))
    for missing in ("zero", "drop"):
        loaded = assembled([WHOLE, more], source(missing), expected=["x", "y", "z"], nothing=lambda _: np.array([0, 1]))
        assert loaded.outputs.items["id"].tolist() == ["x", "y", "z"]
        assert loaded.notes == ("left out: more.csv has 1 that the references lack, first 'extra'",)


def test_zero_is_no_score_of_a_missing_item_where_lower_is_better() -> None:
    with pytest.raises(
        ValueError, match=r"^missing must be 'error' or 'drop' for metric 'mean \(lower is better\)', not"
    ):
        Source((), get_metric("mean (lower is better)"), missing="zero")


@pytest.mark.parametrize(
    ("slip", "meant"), [("itme", "item"), ("scroe", "score"), ("clutser", "cluster"), ("gld", "gold")]
)
def test_a_slip_in_one_of_our_names_of_columns_is_told_and_a_name_of_ones_own_is_not(
    tmp_path: Path, slip: str, meant: str
) -> None:
    """The file's own name is no slip, nor is a name that is unlike ours."""
    path = tmp_path / "c.csv"
    path.write_text(f"word,gold,t,{slip},x\na,1,9,1,1\nb,0,7,2,1\n")
    told = rf"^columns must map our names \(system, item, .* not '{slip}' \(did you mean '{meant}'\?\)$"
    for load in (lambda columns: ss.load(path, "precision@1", columns=columns), partial(ss.load_candidates, path)):
        with pytest.raises(ValueError, match=told):
            load(columns={slip: "x"})
        found = load(columns={slip: slip, "length": "x"})
        items = found.items if hasattr(found, "items") else found.outputs.items
        assert {slip, "length"} <= set(items)
