"""Advice where rows of one item come again: judges, metrics, seeds, columns of one value."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from simstudy.loaders.door import load
from tests.loaders.files import written_csv as table

SUBJECTS = "system,subject,id,score\n" + "".join(
    f"{s},{c},{i},{score}\n" for s, score in (("a", 1), ("b", 0)) for c in ("law", "art") for i in (1, 2)
)


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ("judge", "if the rows are judgments of one item, columns={'item': 'judge+id', 'cluster': 'id'}. If the row"),
        ("metric", "column 'metric' names metrics: keep the rows of one of them. If the row"),
        (
            "seed",
            "again, first in {s}, line 2; if the rows are samples of one question, columns={'sample': 'seed'}. If",
        ),
    ],
)
def test_rows_of_judges_metrics_and_seeds_have_their_own_advice(tmp_path: Path, column: str, told: str) -> None:
    """Followed, the advice keeps judgments and samples of one item together."""
    text = SUBJECTS.replace("subject", column)
    with pytest.raises(ValueError, match=re.escape(told.replace("{s}", str(tmp_path / "s.csv")))):
        load(table(tmp_path, text), "accuracy")
    if column == "judge":
        items = load(table(tmp_path, text), "accuracy", columns={"item": "judge+id", "cluster": "id"}).outputs.items
        assert items["cluster"].tolist() == ["1", "2", "1", "2"]
    if column == "seed":
        items = load(table(tmp_path, text), "accuracy", columns={"sample": "seed"}).outputs.items
        assert items["cluster"].nunique() == 2


@pytest.mark.parametrize(("constant", "told_by"), [("judge", "seed"), ("metric", "seed"), ("seed", "language")])
def test_a_column_of_one_value_does_not_tell_rows_apart(tmp_path: Path, constant: str, told_by: str) -> None:
    """Followed, the advice reads all rows."""
    header, *rows = SUBJECTS.replace("subject", told_by).splitlines()
    path = table(tmp_path, "\n".join([f"{header},{constant}", *(f"{row},x" for row in rows)]))
    with pytest.raises(ValueError, match="again, first in") as error:
        load(path, "accuracy")
    assert f"columns={{'sample': '{told_by}'}}" in str(error.value) or f"'{told_by}+id'" in str(error.value)
    assert f"'{constant}" not in str(error.value)
    columns = {"sample": told_by} if told_by == "seed" else {"item": f"{told_by}+id"}
    assert load(path, "accuracy", columns=columns).outputs.n_items == 4


def test_a_column_called_like_a_metric_of_counts_has_scores_of_items(tmp_path: Path) -> None:
    """Followed, the advice compares their means."""
    path = table(
        tmp_path, "item,model,f1\n" + "".join(f"{i},{s},0.{i}{k}\n" for k, s in enumerate("ab") for i in (1, 2))
    )
    with pytest.raises(ValueError, match=r"For scores of each item, say metric='mean' and columns=\{'score': 'f1'\}"):
        load(path, "f1")
    np.testing.assert_allclose(load(path, "mean", columns={"score": "f1"}).outputs.scores(), [0.15, 0.16])
