"""Ids that come again: what is advised, and what it gives."""

from __future__ import annotations

import re
from math import comb
from pathlib import Path

import numpy as np
import pytest

from simstudy.comparisons import compare
from simstudy.loaders.door import load

RIGHT = {
    # Rows are questions, columns their samples.
    "old": np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 1]]),
    "new": np.array([[1, 0, 1], [1, 1, 0], [1, 0, 1], [1, 1, 0], [0, 1, 1]]),
}


def samples(folder: Path, first: int = 0, more: str = "", without: str = "") -> Path:
    """A table with a row for each sample, which a column without a telling name numbers."""
    rows = [
        f"{name},q{i},{first + k},{right[i, k]}{more}"
        for name, right in RIGHT.items()
        for i in range(5)
        for k in range(3)
    ]
    path = folder / "s.csv"
    path.write_text("\n".join([f"system,id,completion_id,score{',judge,metric,seed' if more else ''}", *rows]))
    path.write_text(path.read_text().replace(without, "") if without else path.read_text())
    return path


@pytest.mark.parametrize("first", [0, 1])
def test_a_column_that_numbers_samples_is_no_part_of_an_id(tmp_path: Path, first: int) -> None:
    """Followed, the advice gives the p-value of sign flips of whole questions, counted here by hand."""
    path = samples(tmp_path, first)
    told = (
        f"{path}, line 3: item 'q0' of system 'old' again, first in {path}, line 2; if the rows are samples of one "
        "question, columns={'sample': 'completion_id'}. If the row is there twice by mistake, take one out"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(told)}$"):
        load(path, "accuracy")
    outputs = load(path, "accuracy", columns={"sample": "completion_id"}).outputs
    # New has 1, 2, 1, 1 and -1 right samples more: 4 in all. Of the 32 flips, those of +-2 with s of the four others
    # positive sum to 2 s - 4 +- 2: at least 4 for +2 and s of 3 or 4; as many sum to -4 or less.
    assert compare(outputs).frame["p_value"].item() == pytest.approx(2 * (comb(4, 3) + comb(4, 4)) / 32)


def test_a_sample_that_is_missing_does_not_make_another_number(tmp_path: Path) -> None:
    path = samples(tmp_path, without="\nold,q1,1,0")
    with pytest.raises(ValueError, match=re.escape("columns={'sample': 'completion_id'}. If")) as error:
        load(path, "accuracy")
    assert "'item'" not in str(error.value)


def test_columns_of_one_value_are_not_advised(tmp_path: Path) -> None:
    """Exported logs have one judge, one metric and one seed."""
    with pytest.raises(ValueError, match=re.escape("columns={'sample': 'completion_id'}. If the row")):
        load(samples(tmp_path, more=",gpt-4,exact_match,0"), "accuracy")


def test_numbered_documents_are_no_samples(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    rows = [f"{s},{d},{i},{score}" for s, score in (("a", 1), ("b", 0)) for d in (0, 1) for i in (1, 2)]
    path.write_text("\n".join(["system,doc_id,id,score", *rows]))
    with pytest.raises(ValueError, match=re.escape("columns={'item': 'doc_id+id'} joins them")):
        load(path, "accuracy", columns={"item": "id"})
    assert load(path, "accuracy", columns={"item": "doc_id+id"}).outputs.n_items == 4
