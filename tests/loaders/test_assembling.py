"""Systems meet over items by id: what is missing, twice, or more than there should be."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pytest

from simstudy.loaders.assembling import SystemOutputs, assemble
from simstudy.loaders.base import Source
from simstudy.metrics import get_metric
from simstudy.metrics.base import Array
from simstudy.notes import notes_kept
from simstudy.outputs import Outputs


def system(name: str, right: dict[str, int], answers: Sequence[str] | None = None) -> SystemOutputs:
    statistics = np.array([[hit, 1] for hit in right.values()]).reshape(-1, 2)
    return SystemOutputs(name, f"{name}.csv", list(right), statistics, answers)


WHOLE = system("whole", {"x": 1, "y": 0, "z": 1}, ["p", "q", "p"])
TURNED = system("turned", {"z": 0, "y": 1, "x": 1}, ["q", "r", "p"])
SHORT = system("short", {"z": 1, "x": 0}, ["p", "s"])
EXTRA = system("extra", {"x": 1, "w": 1, "y": 1, "z": 1})
ITEMS = pd.DataFrame({"domain": list("abc"), "id": list("xyz")})


def assembled(
    *systems: SystemOutputs, missing: str = "error", nothing: Callable[[str], Array] | None = None
) -> tuple[Outputs, list[str]]:
    """The Outputs, and the notes that are said on them."""
    with notes_kept() as notes:
        outputs = assemble(systems, Source((), get_metric("accuracy"), missing=missing), ITEMS, nothing).outputs
    return outputs, notes


def test_items_meet_by_id_whatever_their_order() -> None:
    outputs, notes = assembled(WHOLE, TURNED, TURNED_AGAIN := system("again", {"z": 0, "y": 1, "x": 1}))
    assert outputs.names == ["whole", "turned", TURNED_AGAIN.name]
    assert outputs.items.to_dict("list") == {"id": ["x", "y", "z"], "domain": ["a", "b", "c"]}
    assert outputs.statistics[..., 0].tolist() == [[1, 0, 1], [1, 1, 0], [1, 1, 0]]
    assert notes == []


def test_equal_answers_have_equal_numbers() -> None:
    answers = assembled(WHOLE, TURNED)[0].answers
    assert answers is not None
    assert (answers[0] == answers[1]).tolist() == [True, False, False]
    assert answers[0, 0] == answers[0, 2] == answers[1, 0] != answers[0, 1]
    assert assembled(WHOLE, system("scores", {"x": 1, "y": 1, "z": 1}))[0].answers is None


def test_a_missing_item_is_an_error_is_dropped_for_all_or_counts_as_nothing_said() -> None:
    with pytest.raises(
        ValueError, match=r"^items differ: short.csv lacks 1 of 3 items, first 'y' \(system 'short'\); "
    ):
        assembled(WHOLE, SHORT)
    outputs, notes = assembled(WHOLE, SHORT, missing="drop")
    assert outputs.items.to_dict("list") == {"id": ["x", "z"], "domain": ["a", "c"]}
    assert outputs.statistics[..., 0].tolist() == [[1, 1], [0, 1]]
    assert notes == ["1 of 3 items dropped that not every system has: 'y'"]
    outputs, (note,) = assembled(WHOLE, SHORT, missing="zero", nothing=lambda item: np.array([{"y": 0}[item], 1]))
    assert outputs.statistics.tolist() == [[[1, 1], [0, 1], [1, 1]], [[0, 1], [0, 1], [1, 1]]]
    assert note == "scored as no answer: short.csv lacks 1 of 3 items, first 'y' (system 'short')"
    assert outputs.answers is not None
    assert outputs.answers[1, 1] not in outputs.answers[0]
    with pytest.raises(ValueError, match=r"missing='zero' is not defined for this format; short.csv lacks items"):
        assembled(WHOLE, SHORT, missing="zero")
    with pytest.raises(ValueError, match="^no item is left that every system has"):
        assembled(WHOLE, system("other", {}), missing="drop")


def test_items_that_the_references_lack_are_an_error_or_left_out() -> None:
    with pytest.raises(ValueError, match="^items differ: extra.csv has 1 that the references lack, first 'w'"):
        assembled(WHOLE, EXTRA)
    for missing in ("drop", "zero"):
        outputs, notes = assembled(WHOLE, EXTRA, missing=missing, nothing=lambda _: np.array([0, 1]))
        assert outputs.items["id"].tolist() == ["x", "y", "z"]
        assert outputs.statistics[1, :, 0].tolist() == [1, 1, 1]
        assert notes == ["left out: extra.csv has 1 that the references lack, first 'w'"]


def test_many_files_that_differ_are_counted() -> None:
    for n, told in ((5, "and 2 more files differ"), (4, "and 1 more file differs")):
        with pytest.raises(ValueError, match=f"s2.csv lacks .*; {told}; missing='drop'"):
            assembled(WHOLE, *(system(f"s{k}", {"x": 1}) for k in range(n)))


def test_twice_is_an_error() -> None:
    with pytest.raises(ValueError, match="^twice.csv: item 'x' occurs twice$"):
        assembled(WHOLE, SystemOutputs("twice", "twice.csv", ["x", "y", "x"], np.ones((3, 2), dtype=int)))
    with pytest.raises(ValueError, match=r"^system 'whole' is in whole.csv and again in whole.csv$"):
        assembled(WHOLE, TURNED, WHOLE)
    with pytest.raises(ValueError, match="^no system: at least one file of outputs is needed$"):
        assembled()


def test_whole_numbers_stay_whole() -> None:
    decimal = SystemOutputs("decimal", "decimal.csv", ["x", "y", "z"], np.array([[0.5, 1]] * 3))
    assert assembled(WHOLE)[0].statistics.dtype.kind == "i"
    assert assembled(WHOLE, decimal)[0].statistics[..., 0].tolist() == [[1, 0, 1], [0.5, 0.5, 0.5]]
