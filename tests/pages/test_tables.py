"""What a file of a table does not say of its columns is written down, so that the same table is read back."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from simstudy.pages.tables import kinds_of, read_table, write_tables


def test_a_table_is_read_back_with_the_types_that_it_had(tmp_path: Path) -> None:
    """Names that look like numbers or missing values, whole floats, whole numbers with gaps, flags, and formulas."""
    table = pd.DataFrame(
        {
            "name": ["1", "02", None],
            "share": [1.0, 2.0, 3.0],
            "count": pd.array([1, None, 3], dtype="Int64"),
            "whole": [1, 2, 3],
            "flag": [True, False, True],
            "none": [None] * 3,
            "class": pd.Categorical(["x", "y", "x"]),
            "odd": ["NA", "nan", "=x"],
            "mixed": pd.Series([1.5, None, 2], dtype=float),
        }
    )
    write_tables({"t": table, "empty": pd.DataFrame(), "rows": table.head(0)}, tmp_path)
    kinds = kinds_of(table)
    assert kinds == "tfii-tttf"
    found = read_table(tmp_path / "t.csv", kinds)
    assert found["name"].tolist()[:2] == ["1", "02"]
    assert found["odd"].tolist() == ["NA", "nan", "=x"]
    assert found["class"].tolist() == ["x", "y", "x"]
    assert found["name"].isna().tolist() == [False, False, True]
    assert found["none"].isna().all()
    assert found.dtypes.astype(str).to_dict() | {"name": "", "none": "", "class": "", "odd": ""} == {
        "name": "", "share": "float64", "count": "Int64", "whole": "int64", "flag": "bool", "none": "", "class": "",
        "odd": "", "mixed": "float64",
    }  # fmt: skip
    assert read_table(tmp_path / "empty.csv", "").shape == (0, 0)
    assert list(read_table(tmp_path / "rows.csv", kinds_of(table.head(0)))) == list(table)
    # Of other results it is guessed.
    assert read_table(tmp_path / "t.csv", "")["whole"].tolist() == [1, 2, 3]
