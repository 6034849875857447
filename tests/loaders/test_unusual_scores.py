"""Notes of scores that may be none: codes, slips and averages, and of a column of models that names the items."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy.loaders.door import load
from tests.loaders.files import read_csv

_RNG, _N = np.random.default_rng(12), 40
_GRADED = pd.DataFrame(
    {"item": range(_N), "old": _RNG.uniform(0.1, 1, _N).round(3), "new": _RNG.uniform(0.1, 1, _N).round(3)}
)
_RATINGS = _GRADED.assign(old=_RNG.permutation([*range(1, 11)] * 4), new=_RNG.permutation([*range(1, 11)] * 4))
_STARS = _GRADED.assign(old=_RNG.permutation([*range(1, 6)] * 8), new=_RNG.permutation([*range(1, 6)] * 8))
_RIGHT = _GRADED.assign(old=_RNG.permutation([0, 1] * 20), new=_RNG.permutation([0, 1] * 20))


def _with(frame: pd.DataFrame, value: float, *rows: int) -> str:
    changed = frame.astype({"new": float})
    changed.loc[[*rows], "new"] = value
    return changed.to_csv(index=False)


def test_codes_and_slips_among_scores_are_named(tmp_path: Path) -> None:
    for frame, value, rows in (
        (_GRADED, 999, (4,)),
        (_GRADED, 250, (4,)),
        (_GRADED, -1, (4,)),
        (_GRADED, -99, (4, 9)),
        (_GRADED, 99, (4, 9, 11)),
        (_RATINGS, -1, (4, 7)),
        (_RATINGS, -1, (*range(4, 24),)),
        (_RATINGS, 0, (4, 7)),
        (_STARS, 0, (4, 7)),
        (_STARS, 9, (4,)),
        (_RIGHT, -1, (4, 7, 9)),
        (_RIGHT, -9, (*range(4, 14),)),
        (_RIGHT, 9, (4, 7)),
    ):
        more = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
        told = f"{tmp_path}/s.csv, line 6, system 'new': {value}{more} is unlike all other scores. If it stands for a "
        told += "missing score, and is no limit, leave the cell empty"
        assert told in read_csv(tmp_path, _with(frame, value, *rows), "mean").notes
        tidy = frame.astype({"new": float}).melt("item", var_name="system", value_name="score")
        tidy.loc[_N + np.array(rows), "score"] = value
        assert told.replace("line 6", f"line {_N + 6}") in read_csv(tmp_path, tidy.to_csv(index=False), "mean").notes


def test_usual_scores_get_no_note(tmp_path: Path) -> None:
    """Votes with many of -1, log-probabilities, BLEU with a few perfect segments, and negative scores of all sizes.

    Ratings from 0 to 5 and counts have more zeros than codes would be, and a rating of 9 follows one of 8.
    """
    rng = np.random.default_rng(13)
    bleu = rng.exponential(8, (2, _N)).clip(0, 100).round(2)
    bleu[:, 3] = 100
    for old, new in (
        rng.choice([-1, 0, 1], (2, _N), p=[0.2, 0.4, 0.4]),
        -rng.exponential(20, (2, _N)),
        bleu,
        rng.normal(0.6, 0.4, (2, _N)),
        rng.choice([0, 0, 0, 1], (2, _N)),
        rng.permuted([[*range(6)] * 6 + [5] * 4] * 2, axis=1),
        rng.permuted([[*range(1, 9)] * 4 + [9, *range(1, 8)]] * 2, axis=1),
        rng.permuted([[1, 2, 4, 5] * 9 + [0, 1, 2, 9]] * 2, axis=1),
    ):
        frame = _GRADED.assign(old=old, new=new)
        assert not any("unlike" in note for note in read_csv(tmp_path, frame.to_csv(index=False), "mean").notes)


def test_accuracy_of_averages_gets_a_note(tmp_path: Path) -> None:
    told = "scores of accuracy are neither 0 nor 1 for 40 of 40 items: if they are averages of items, such as one for "
    told += "each task, compare the scores of the items instead"
    graded = _GRADED.assign(old=_GRADED["old"].clip(upper=0.99), new=_GRADED["new"].clip(upper=0.99))
    assert read_csv(tmp_path, graded.to_csv(index=False)).notes == (told,)
    assert read_csv(tmp_path, graded.to_csv(index=False), "mean").notes == ()
    mostly = graded.assign(old=graded["old"].round(), new=graded["new"].where(graded.index < 10, 1))
    assert not any("averages" in note for note in read_csv(tmp_path, mostly.to_csv(index=False)).notes)


def test_a_column_of_models_that_names_items_gets_a_note(tmp_path: Path) -> None:
    board = "model,quiz,code\na,0.1,0.4\nb,0.3,0.2\nc,0.6,0.9\n"
    notes = read_csv(tmp_path, board, "mean", columns={"item": "model"}).notes
    assert notes == (
        "column 'model' names the items, so the other columns are systems: are rows and columns exchanged?",
    )


@pytest.mark.filterwarnings("error")
def test_large_whole_numbers_of_four_bytes_get_no_note(tmp_path: Path) -> None:
    times = np.random.default_rng(14).integers(3e7, 8e8, (300, 2))
    frame = pd.DataFrame(times, columns=["old", "new"]).rename_axis("item").reset_index()
    frame.to_parquet(tmp_path / "s.parquet", index=False)
    loaded = load(tmp_path / "s.parquet", "mean", narrow=True)
    assert (loaded.outputs.n_items, loaded.notes) == (300, ())
