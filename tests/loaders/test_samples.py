from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.loaders.base import Loaded
from simstudy.loaders.formats import load
from tests.oracles import compared

# Right answers of two systems, four samples of each of seven questions.
RIGHT = {
    "old": ["0000", "0010", "1111", "0000", "1010", "0000", "0110"],
    "new": ["1111", "1110", "1111", "0011", "1110", "0000", "1111"],
}
HINT = "samples of an item need a column 'sample' that numbers them (columns={'sample': ...} names it)"


def flipped(gains: list[int]) -> float:
    """The two-sided p-value of sign flips, by trying all signs."""
    signs = np.array(list(product([-1, 1], repeat=len(gains))))
    return float(np.mean(np.abs(signs @ np.array(gains)) >= abs(sum(gains))))


BY_QUESTION = flipped([new.count("1") - old.count("1") for old, new in zip(*RIGHT.values(), strict=True)])


def rows() -> list[tuple[str, str, int, str]]:
    return [(s, f"q{q}", k, score) for s in RIGHT for q, own in enumerate(RIGHT[s]) for k, score in enumerate(own)]


def tidy(folder: Path, header: str = "system,item,sample,score", name: str = "s.csv") -> Path:
    (folder / name).write_text("\n".join([header, *(",".join(map(str, row)) for row in rows())]))
    return folder / name


def wide(folder: Path) -> Path:
    lines = [f"q{q},{k},{RIGHT['old'][q][k]},{RIGHT['new'][q][k]}" for q, k in product(range(7), range(4))]
    (folder / "s.csv").write_text("\n".join(["item,epoch,old,new", *lines]))
    return folder / "s.csv"


def inspect(folder: Path) -> Path:
    (folder / "logs").mkdir()
    for system, right in RIGHT.items():
        samples = [
            {"id": f"q{q}", "epoch": k + 1, "scores": {"match": {"value": int(right[q][k])}}}
            for q, k in product(range(7), range(4))
        ]
        about = {"status": "success", "eval": {"task": "quiz", "model": system}, "samples": samples}
        (folder / "logs" / f"{system}.json").write_text(json.dumps(about))
    return folder / "logs"


def check(loaded: Loaded, first: str) -> None:
    pairs = compared(loaded.outputs)
    assert pairs["p_value"].iloc[0] == pytest.approx(BY_QUESTION)
    assert (pairs["unit"].iloc[0], pairs["n_units"].iloc[0], pairs["n_items"].iloc[0]) == ("cluster", 7, 28)
    assert dict(zip(loaded.outputs.names, loaded.outputs.scores(), strict=True)) == pytest.approx(
        {system: 100 * "".join(own).count("1") / 28 for system, own in RIGHT.items()}
    )
    assert loaded.outputs.items["id"].iloc[0] == first
    assert loaded.notes == ("28 samples of 7 items: the samples of an item are resampled together",)


@pytest.mark.parametrize("make", [tidy, wide, inspect])
def test_the_samples_of_a_question_are_resampled_together(tmp_path: Path, make: object) -> None:
    """As all patterns of signs of seven questions give it: .0625 where 28 answers taken one by one have .0005."""
    loaded = load(make(tmp_path), "accuracy")  # type: ignore[operator]
    check(loaded, "q0#1" if make is inspect else "q0#0")
    assert BY_QUESTION > 0.05 > 10 * compared(loaded.outputs, unit="item")["p_value"].iloc[0]


def test_samples_meet_by_what_numbers_them(tmp_path: Path) -> None:
    """Under any name, and in any order of the rows; a column of clusters goes before the question."""
    named = tidy(tmp_path, "system,item,draw,score", "named.csv")
    check(load(named, "accuracy", columns={"sample": "draw"}), "q0#0")
    shuffled = named.read_text().splitlines()
    named.write_text("\n".join([shuffled[0], *reversed(shuffled[1:])]))
    check(load(named, "accuracy", columns={"sample": "draw"}), "q6#3")
    (tmp_path / "items.csv").write_text("\n".join(["id,doc", *(f"q{q},d{q // 2}" for q in range(7))]))
    loaded = load(tidy(tmp_path), "accuracy", items=tmp_path / "items.csv")
    assert loaded.outputs.items["cluster"].nunique() == 4
    assert loaded.notes[0].startswith("items of one 'doc' are a cluster, 4 in all")


def test_rows_that_nothing_numbers_are_refused(tmp_path: Path) -> None:
    """They may be scores by several metrics, or one file twice."""
    text = "system,item,measure,score\na,q,ap,0.5\na,q,ndcg,0.7\nb,q,ap,0.5\nb,q,ndcg,0.7\n"
    (tmp_path / "s.csv").write_text(text)
    path = tmp_path / "s.csv"
    message = f"{path}, line 3: item 'q' of system 'a' again, first in {path}, line 2; {HINT}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        load(path, "mean")
    path.write_text(text.replace("measure", "sample").replace("ndcg", "ap"))
    message = f"{path}, line 3: sample 'q#ap' of system 'a' again, first in {path}, line 2"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        load(path, "mean")
    path.write_text(text.replace("measure", "sample").replace("ndcg", ""))
    with pytest.raises(ValueError, match=f"^{re.escape(f'{path}, line 3: no sample')}$"):
        load(path, "mean")


def test_a_frame_of_samples_says_which_items_they_are_of() -> None:
    """Rows of one name are refused with what to do, and then have the p-value of all patterns of signs."""
    frame = pd.DataFrame({system: [int(score) for own in RIGHT[system] for score in own] for system in RIGHT})
    questions = [f"q{q}" for q in range(7) for _ in range(4)]
    with pytest.raises(ValueError, match="^items must be named once each; 'q0' occurs twice; samples of an item need"):
        ss.Outputs.from_scores(frame.set_axis(questions), "accuracy")
    items = pd.DataFrame({"id": range(28), "cluster": questions})
    assert compared(ss.Outputs.from_scores(frame, "accuracy", items=items))["p_value"].iloc[0] == BY_QUESTION


def test_a_sample_that_a_system_lacks_is_missing(tmp_path: Path) -> None:
    path = tidy(tmp_path)
    path.write_text("\n".join(path.read_text().splitlines()[:-1]))
    with pytest.raises(ValueError, match=r"lacks 1 of 28 items, first 'q6#3' \(system 'new'\)"):
        load(path, "accuracy")
    assert load(path, "accuracy", missing="drop").outputs.n_items == 27
    zero = load(path, "accuracy", missing="zero").outputs
    assert zero.scores().tolist() == pytest.approx([100 * 9 / 28, 100 * (20 - 1) / 28])
    assert zero.items["cluster"].tolist() == [f"q{q}" for q in range(7) for _ in range(4)]


def test_a_column_of_samples_without_repeated_items_describes_the_items(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("system,item,sample,score\na,q,1,0.5\na,r,2,0.5\nb,q,1,0.5\nb,r,2,0.5\n")
    loaded = load(tmp_path / "s.csv", "mean")
    assert loaded.outputs.items.to_dict("list") == {"id": ["q", "r"], "sample": ["1", "2"]}
    assert loaded.notes == ()
