"""The scripts of benchmarks/ run to the end at tiny sizes, and print what they measured."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.documentation import ROOT
from tests.learners.sentences import ENGLISH, GERMAN

BENCHMARKS = ROOT / "benchmarks"
# Those that measure in processes of their own, each of which takes seconds to start.
IN_PROCESSES = {"all_pairs", "clusters", "large_tables", "plans", "scaling"}
SCRIPTS = [
    pytest.param(name, marks=[pytest.mark.slow] if name in IN_PROCESSES else [])
    for name in sorted(path.stem for path in BENCHMARKS.glob("*.py"))
]

# A number, which must be above 0.
N = r"(\d[\d.,]*(?:e[+-]\d+)?)"

# By script: the tiniest sizes, and what the output has.
TINY: dict[str, tuple[str, str]] = {
    "all_pairs": (
        "--cases accuracy --systems 4 --items 40 --resamples 500 --jobs 1",
        rf"\| 4 systems x 40 items, accuracy \| {N} \| \d+% \| {N} / {N} Gflop/s = \d+% \| {N} \| {N}, {N} \|",
    ),
    "clusters": (
        "--workers 1 --replicates 1 --on processes",
        rf"processes, 1 workers: 4 variants in {N} s, efficiency 100%",
    ),
    "drawn_pairs": (
        "--sets 40 --units 10",
        "".join(
            rf"\| {test} \| {N} \| {N} \| {N} \|\s+"
            for test in ("t_paired", "wilcoxon", "randomization", "sign_flips", "bootstrap")
        ),
    ),
    "large_tables": (
        "--cases many-systems --systems 4 --items 50",
        rf"\| many-systems \| 4 x 50 \| 6 \| \S+ s \| {N} GiB \|",
    ),
    "natural": (
        "",
        r"skipped: --data-dir or SIMSTUDY_DATA_DIR must name a folder that holds swebench/.*, wmt24_en-de/sys",
    ),
    "peers": (
        "--systems 3 --items 16 --resamples 100 --zmigrod .",
        rf"\| (?:sacrebleu|scipy|evalstats|ranx|mlxtend|statsmodels|Zmigrod) .* \| {N} \| {N} \| {N} \|",
    ),
    "plans": ("--systems 3 --items 20 --gain 25", rf"\| [\w ,]+ \| {N} \| {N} \| {N} \|"),
    "randomization": (
        "--systems 3 --items 20 --resamples 100 --jobs 1",
        rf"\| 3 pairs, 20 items, [\w, ]+ \| {N} \| {N} \| 100 \| {N} \| {N} \|",
    ),
    "scaling": (
        "--series 'exact, K' --points 2 --shrink 50 --repeats 1 --out .",
        rf"'n': 20, 'b': 0, 's': 1, 'cores': 1, 'scores': 'accuracy', 'test': 'sign_flips', 'cpu': {N}, 'wall': {N}",
    ),
    "tune_translation": (
        "--texts train.de train.en val.de val.en",
        rf"PhraseBased {N} (?s:.*)BilingualNgrams {N} ",
    ),
}

# Exact randomization of F1 in the place of the published code: the same names, and nothing else of it.
PUBLISHED = """
from collections import Counter
from fractions import Fraction
from typing import NamedTuple

class f1state(NamedTuple):
    tp: int
    i: int

def gain(right, wrong, other_right, other_wrong):
    of, of_other = 2 * right + wrong, 2 * other_right + other_wrong
    return (Fraction(2 * right, of) if of else 0) - (Fraction(2 * other_right, of_other) if of_other else 0)

class pmf:
    def __init__(self, xs, ys):
        self.sums = Counter({(0, 0, 0, 0): 1.0})
        for x, y in zip(xs, ys):
            swapped = Counter()
            for sums, probability in self.sums.items():
                for more in ((*x, *y), (*y, *x)):
                    swapped[tuple(map(sum, zip(sums, more)))] += probability / 2
            self.sums = swapped

    def pmf(self):
        found = Counter()
        for sums, probability in self.sums.items():
            found[gain(*sums)] += probability
        return found

def perm_test(xs, ys):
    seen = abs(gain(*(sum(each) for system in (xs, ys) for each in zip(*system))))
    return sum(probability for one, probability in pmf(xs, ys).pmf().items() if abs(one) >= seen)
"""

Printed = Callable[[str], tuple[str, Path]]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Printed]:
    """What a script says at its tiniest sizes, and the folder that it ran in; each runs once, in this process."""
    known: dict[str, tuple[str, Path]] = {}
    texts = {"train.de": GERMAN, "train.en": ENGLISH, "val.de": GERMAN[2:5], "val.en": ENGLISH[2:5]}

    def say(name: str) -> tuple[str, Path]:
        if name not in known:
            folder = tmp_path_factory.mktemp(name)
            for file, lines in texts.items():
                (folder / file).write_text("\n".join(lines), encoding="utf-8")
            package = folder / "pairedpermtest"
            package.mkdir()
            (package / "f1.py").write_text(PUBLISHED, encoding="utf-8")
            out = io.StringIO()
            with (
                pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder), contextlib.redirect_stdout(out),
                warnings.catch_warnings(),
            ):  # fmt: skip
                warnings.simplefilter("default")
                patch.delenv("SIMSTUDY_DATA_DIR", raising=False)
                patch.setattr(sys, "argv", [f"{name}.py", *shlex.split(TINY[name][0])])
                importlib.import_module(name).main()
            known[name] = out.getvalue(), folder
        return known[name]

    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        yield say


@pytest.mark.parametrize("name", SCRIPTS)
def test_each_script_measures_something(name: str, printed: Printed) -> None:
    out, _ = printed(name)
    found = list(re.finditer(TINY[name][1], out))
    assert found, out
    assert all(float(number.replace(",", "")) > 0 for each in found for number in each.groups()), out
    assert not re.search(r"\b(nan|inf|None)\b", out, re.IGNORECASE), out


def test_a_tool_that_is_not_there_is_said_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)
    peers = importlib.import_module("peers")
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["peers.py", "--tools", "ranx", "evalstats"])
    peers.main()
    _, _, *rows = capsys.readouterr().out.splitlines()
    assert rows == [f"| {tool}: skipped, it is not installed | | | |" for tool in ("ranx", "evalstats")]


def test_exact_tests_of_f1_are_put_beside_each_other_on_the_same_counts(printed: Printed) -> None:
    said = r"theirs p = (\S+), ours (\S+), difference \S+; theirs leaves out (\S+) of the probability"
    (found,) = re.findall(said, printed("peers")[0])
    theirs, ours, left_out = map(float, found)
    assert theirs == pytest.approx(ours, abs=1e-9)
    assert 0 < ours < 1
    assert abs(left_out) < 1e-9


@pytest.mark.slow
def test_points_exponents_and_a_figure_are_written(printed: Printed) -> None:
    _, folder = printed("scaling")
    assert {path.name for path in folder.glob("scaling*")} == {"scaling.csv", "scaling_exponents.csv", "scaling.svg"}
    assert (folder / "scaling.csv").read_text().count("\n") == 3
    assert "exact, K" in (folder / "scaling_exponents.csv").read_text()
