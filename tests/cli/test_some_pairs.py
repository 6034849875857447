"""Pairs with a baseline, neighbours, and all pairs as a Parquet file."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from tests.cli.command import compare, compare_signed


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("board")
    right = np.random.default_rng(3).random((300, 6)) < np.linspace(0.5, 0.75, 6)
    frame = pd.DataFrame(right.astype(int), columns=list("abcdef"))
    frame.insert(0, "item", [f"q{i}" for i in range(300)])
    frame[["item", "a", "b", "c", "d", "e"]].to_parquet(folder / "board.parquet")
    frame[["item", "f"]].to_csv(folder / "new.csv", index=False)
    return folder


def outputs(board: Path) -> ss.Outputs:
    return ss.load([board / "board.parquet", board / "new.csv"], "accuracy").outputs


def test_one_system_against_all_others(board: Path) -> None:
    """A new system's rows are those of the whole table; Holm's correction is for them alone."""
    files = (str(board / "board.parquet"), str(board / "new.csv"))
    code, out, err = compare(*files, "--metric", "accuracy", "--against", "f")
    assert (code, err) == (0, "")
    found = outputs(board)
    pairs = ss.compare(found.select(["f"]), against=found.select(list("abcde"))).corrected()
    better, worse = (int((pairs.significant(corrected="holm")[side] == "f").sum()) for side in ("system_b", "system_a"))
    assert out.startswith(
        f"Of the 5 other systems, {better} {'is' if better == 1 else 'are'} significantly better than f and {worse} "
        "significantly worse, at 0.05 (two-sided, Holm's correction for the 5 pairs with f).\n"
    )
    assert "Correction: Holm, for these 5 pairs\n" in out
    for row in pairs:
        assert f" {row.row['system_a']}       {row.row['system_b']}      {row.gain:5.2f}" in out


def test_neighbours_are_said_to_be_seen_in_the_data(board: Path) -> None:
    code, out, _ = compare(str(board / "board.parquet"), "--metric", "accuracy", "--against", "neighbours")
    assert code == 0
    assert "of 4 pairs differ significantly" in out
    assert "The scores of these data decide which systems are neighbours." in out


DRAWN = ("--test", "bootstrap", "--convention", "bk2012", "--resamples", "500")


@pytest.mark.parametrize(
    ("against", "which", "drawn"),
    [
        (["f"], "5 pairs with f", ()), (["f", "a"], "9 pairs with f, a", DRAWN),
        (["neighbours"], "5 pairs of neighbours", ()), (["neighbours"], "5 pairs of neighbours", DRAWN),
    ],
)  # fmt: skip
def test_what_is_said_of_a_parquet_file_is_what_is_said_of_the_printed_pairs(
    board: Path, tmp_path: Path, against: list[str], which: str, drawn: tuple[str, ...]
) -> None:
    files = (str(board / "board.parquet"), str(board / "new.csv"), "--metric", "accuracy", *drawn)
    options = [word for name in against for word in ("--against", name)]
    outs = [
        " ".join(compare_signed(*files, *options, *more)[1].split())
        for more in (["--verbose"], ["--out", str(tmp_path / "pairs.parquet")])
    ]
    printed, written = (re.findall(r"Items: 300 .* Signature: .*simstudy:[0-9.]+", out) for out in outs)
    assert len(printed) == 1
    assert printed == written
    seen = "The scores of these data decide which systems are neighbours."
    assert [seen in out for out in outs] == [against == ["neighbours"]] * 2
    assert f" of {which} differ significantly at 0.05 (" in outs[1]


def test_all_pairs_as_parquet(board: Path, tmp_path: Path) -> None:
    """A table of pairs is written over; nothing else is."""
    path, files = tmp_path / "pairs.parquet", (str(board / "board.parquet"), "--metric", "accuracy")
    for _ in range(2):
        code, out, err = compare(*files, "--out", str(path), "--jobs", "1")
        assert (code, err) == (0, "")
        assert out.endswith(f"Pairs: {path}\n")
    found = ss.Comparisons(pd.read_parquet(path))
    expected = ss.compare(outputs(board).select(list("abcde"))).corrected()
    pd.testing.assert_frame_equal(found.frame, expected.frame, check_exact=True)
    usual = len(expected.significant(corrected="holm"))
    assert f"{usual} of 10 pairs of 5 systems differ significantly at 0.05 " in out
    loose = len(expected.significant(0.8, corrected="holm"))
    assert loose > usual
    _, out, _ = compare(*files, "--out", str(path), "--alpha", "0.8", "--jobs", "1")
    assert f"{loose} of 10 pairs of 5 systems differ significantly at 0.8 " in out
    board_scores = pd.read_parquet(board / "board.parquet")
    board_scores["a"] += 0.5
    board_scores.to_csv(tmp_path / "scores.csv", index=False)
    sign = ("--test", "sign", "--alternative", "greater", "--jobs", "1")
    _, out, _ = compare(str(tmp_path / "scores.csv"), "--metric", "mean", *sign, "--out", str(path))
    said = "0.05 (one-sided, Holm; valid only where the better system was predicted). The sign test asks whether "
    assert f"of 10 pairs of 5 systems differ significantly at {said}" in " ".join(out.split())
    pd.DataFrame({"a": [1]}).to_parquet(path)
    assert compare(*files, "--out", str(path))[0] == 2
    assert pd.read_parquet(path)["a"].tolist() == [1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--against", "z"), "--against must be a system, not 'z'"),
        (("--against", "a", "--json"), "--against must not be given with --json, for which all pairs are compared"),
        (("--against", "a", "--margin", "0"), "--against must not be given with --margin"),
        (("--against", "a", "--fail-unless-better", "a", "b"), "--against must not be given with a gate"),
        (("--against", "a", "--out", "report"), "--against with --out needs a file that ends in .parquet"),
        (("--against", "a", "--out", "report.html"), "--against with --out needs a file that ends in .parquet"),
        (("--out", "BOARD"), "is an input"),
        (("--out", "/proc/pairs.parquet"), "simstudy: /proc/pairs.parquet: "),
    ],
)
def test_what_does_not_fit_is_said(board: Path, options: tuple[str, ...], message: str) -> None:
    path = str(board / "board.parquet")
    code, _, err = compare(path, "--metric", "accuracy", *(path if one == "BOARD" else one for one in options))
    assert code == 2
    assert message in err
    assert not Path("pairs.parquet").exists()
