"""Ids that number the rows: files whose questions stand in another order are not matched by them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from simstudy.loaders.door import load


def questions(folder: Path, orders: dict[str, list[int]], first: int = 0, text: str = "What is {}?") -> list[Path]:
    """A file for each system with its questions in an order; ids number the rows."""
    paths = []
    for name, order in orders.items():
        rows = [f"{row},{text.format(q, system=name)},{q % 2}" for row, q in enumerate(order, start=first)]
        paths.append(folder / f"{name}.csv")
        paths[-1].write_text("\n".join(["id,question,correct", *rows, ""]))
    return paths


@pytest.mark.parametrize("first", [0, 1])
def test_numbers_of_rows_do_not_match_questions_in_another_order(tmp_path: Path, first: int) -> None:
    """Both systems have the same answers to the same questions: matched by question, no score differs."""
    paths = questions(tmp_path, {"a": [*range(20)], "b": [*range(19, -1, -1)]}, first)
    said = (
        "b.csv: systems have different questions under one id of column 'id', but the same questions: "
        f"'{first}' is 'What is 0?' and 'What is 19?'; columns={{'item': 'question'}} matches by 'question'"
    )
    with pytest.raises(ValueError, match=f"{re.escape(said)}$"):
        load(paths, "accuracy")
    matched = load(paths, "accuracy", columns={"item": "question"}).outputs.statistics[..., 0]
    assert (matched[0] == matched[1]).all()
    # Ids that are no numbers do not match them either.
    for path in paths:
        path.write_text(re.sub("(?m)^([0-9])", r"q\1", path.read_text()))
    with pytest.raises(ValueError, match=re.escape(said.replace(f"'{first}' is", f"'q{first}' is"))):
        load(paths, "accuracy")
    unnamed = [path.with_stem(f"{path.stem}_") for path in paths]
    for path, other in zip(paths, unnamed, strict=True):
        other.write_text(path.read_text().removeprefix("id"))
    with pytest.raises(ValueError, match="of column 'Unnamed: 0', but the same questions"):
        load(unnamed, "accuracy")


def test_few_other_texts_of_numbered_questions_are_left_out(tmp_path: Path) -> None:
    """Two of 40 texts differ, or all do and none is the other system's: ids are as they should be."""
    paths = questions(tmp_path, {"a": [*range(40)], "b": [1, 0, *range(2, 40)]})
    assert "column 'question' left out: item '0' has 'What is 0?' and 'What is 1?'" in load(paths, "accuracy").notes
    paths = questions(tmp_path, {"a": [*range(40)], "b": [*range(40)]}, text="{system}: what is {}?")
    assert (
        "column 'question' left out: item '0' has 'a: what is 0?' and 'b: what is 0?'" in load(paths, "accuracy").notes
    )
    # Two of three have other characters.
    paths = questions(tmp_path, {"a": [*range(40)], "b": [*range(40)]}, text="{} & more?")
    changed = "".join(
        line.replace("&", "&amp;" if i % 3 else "&") for i, line in enumerate(paths[0].read_text().splitlines(True))
    )
    paths[1].write_text(changed)
    told = "column 'question' left out: item '0' has '0 & more?' and '0 &amp; more?'"
    assert told in load(paths, "accuracy").notes
    # These say which way of asking was used, not which question it was.
    paths = questions(tmp_path, {"a": [0, 1] * 20, "b": [1, 0] * 20})
    assert load(paths, "accuracy").outputs.n_items == 40
