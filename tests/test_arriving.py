"""Every function of simstudy that takes a level, a seed or a margin is given the one that was asked for.

A function that is called without it takes its own default, which is another: so a call that forgets to hand it on is
seen, wherever it is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import numpy as np
import pandas as pd
import pytest

import simstudy
from tests.cli.command import compare

ASKED = {"alpha": 0.013, "seed": 7, "margin": 15.5}
OURS = str(Path(simstudy.__file__).parent)


@contextmanager
def given() -> Iterator[set[tuple[str, str, object]]]:
    """The arguments of these names that functions of simstudy are called with: (name, function, value)."""
    found: set[tuple[str, str, object]] = set()

    # It is called when a function begins. It returns None, so that it is not called for each line.
    def called(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(OURS):
            return
        for name in {*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]} & {*ASKED}:
            found.add((name, f"{frame.f_globals['__name__']}.{code.co_qualname}", frame.f_locals[name]))

    sys.settrace(called)
    try:
        yield found
    finally:
        sys.settrace(None)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five systems on 60 items of two domains, in 20 clusters."""
    rng, n = np.random.default_rng(3), 60
    right = rng.random((n, 5)) < [0.9, 0.8, 0.7, 0.6, 0.3]
    frame = pd.DataFrame(right.astype(int), columns=list("abcde")).assign(item=range(n), domain=["x", "y"] * 30)
    path = tmp_path_factory.mktemp("asked") / "scores.csv"
    frame.assign(cluster=[f"c{k // 3}" for k in range(n)]).to_csv(path, index=False)
    frame[["item", "a", "b"]].to_csv(path.with_name("two.csv"), index=False)
    return path


@pytest.mark.usefixtures("empty_figures")
@pytest.mark.parametrize(
    ("file", "options"),
    [
        ("scores.csv", ["--out", "OUT"]),
        ("scores.csv", ["--unit", "item", "--latex", "--baseline", "b", "--verbose"]),
        ("scores.csv", ["--against", "b"]),
        ("scores.csv", ["--by-domain", "--out", "OUT"]),
        ("scores.csv", ["--metric", "mean", "--markdown"]),
        ("two.csv", ["--out", "OUT"]),
        ("two.csv", ["--test", "bootstrap", "--convention", "koehn2004", "--resamples", "500", "--markdown"]),
    ],
    ids=lambda case: case if isinstance(case, str) else " ".join(case),
)
def test_a_level_a_seed_and_a_margin_arrive_everywhere(
    table: Path, tmp_path: Path, file: str, options: list[str]
) -> None:
    wanted = {name: value for name, value in ASKED.items() if name != "margin" or "--against" not in options}
    asked = [f"--{name}={value}" for name, value in wanted.items()]
    options = [str(tmp_path / "out.html") if option == "OUT" else option for option in options]
    with given() as found:
        code, _, err = compare(str(table.with_name(file)), "--metric", "accuracy", *asked, *options)
    assert (code, err) == (0, "")
    check(found, wanted)


def check(found: set[tuple[str, str, object]], wanted: dict[str, float]) -> None:
    assert {name for name, _, _ in found} >= {*wanted}
    # The command's test set has the seed already.
    found.discard(("seed", "simstudy.examination.asking.examine", None))
    assert {call for call in found if call[0] in wanted and call[2] != wanted[call[0]]} == set()


@pytest.mark.usefixtures("empty_figures")
def test_the_level_of_a_study_arrives_everywhere(table: Path, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        f"""
        kind = "natural"
        title = "T"
        question = "Q?"
        alpha = {ASKED["alpha"]}
        [[test_sets]]
        name = "own"
        metric = "accuracy"
        paths = ["{table}"]
        """
    )
    with given() as found:
        simstudy.run_study(tmp_path, out=tmp_path / "out", n_jobs=1, allow_outside=True)
    check(found, {"alpha": ASKED["alpha"]})
