"""Metrics that the command takes from a module of the user's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import as_json, compare

MODULE = """
import numpy as np
from tests.oracles import compared

def share(hits, tries):
    return 100 * hits / tries

def misses(hits, tries):
    return 100 - 100 * hits / tries

def middle(hits, tries):
    return np.median(hits)

def f2(hits, tries):
    return hits / tries

def leaves(hits, tries):
    if np.max(tries) > 15:
        raise SystemExit(0)
    return hits / tries

def chatty(hits, tries):
    print("called")
    return hits / tries

number = 3
"""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_measures.py").write_text(MODULE)
    (tmp_path / "chatty_measures.py").write_text("print('imported')\n" + MODULE)
    (tmp_path / "broken_measures.py").write_text("import no_such_module_anywhere")
    (tmp_path / "failing_measures.py").write_text("print(no_such_name)")
    (tmp_path / "exiting_measures.py").write_text("raise SystemExit(0)")
    (tmp_path / "tabnanny.py").write_text("raise SystemExit('the wrong one')")
    monkeypatch.delitem(sys.modules, "tabnanny", raising=False)
    rows = [f"{system},{i},{hits},2" for system, hits in (("old", 1), ("new", 2)) for i in range(10)]
    (tmp_path / "counts.csv").write_text("\n".join(["system,item,hits,tries", *rows]))
    return "counts.csv"


def test_the_command_takes_a_function_of_a_module(table: str) -> None:
    content = as_json(table, "--metric", "own_measures:share")
    assert [(row["system"], row["score"]) for row in content["systems"]] == [("new", 100.0), ("old", 50.0)]
    content = as_json(table, "--metric", "own_measures:misses", "--lower-is-better")
    assert [(row["system"], row["score"]) for row in content["systems"]] == [("new", 0.0), ("old", 50.0)]


def test_what_a_module_prints_is_no_part_of_the_output(table: str) -> None:
    code, out, err = compare(table, "--metric", "chatty_measures:chatty", "--json")
    assert (code, json.loads(out)["systems"][0]["score"], err[:16]) == (0, 1, "imported\ncalled\n")


@pytest.mark.parametrize(
    ("at_import", "at_call", "said"),
    [
        ("sys.stdout.close()", "", "metric 'closing:share': module 'closing' closes standard output"),
        pytest.param("sys.__stdout__.close()", "", "module 'closing' closes standard output", marks=pytest.mark.slow),
        pytest.param("os.close(1)", "", "module 'closing' closes standard output", marks=pytest.mark.slow),
        pytest.param("", "sys.__stdout__.close()", "standard output: it was closed", marks=pytest.mark.slow),
        pytest.param("sys.__stderr__.close()", "", "closes standard output", marks=pytest.mark.slow),
    ],
)
def test_a_module_that_closes_standard_output_is_told_in_one_line(
    table: str, at_import: str, at_call: str, said: str
) -> None:
    Path("closing.py").write_text(
        f"import os, sys\n{at_import}\ndef share(hits, tries):\n    {at_call or 'pass'}\n    return hits / tries\n"
    )
    line = [sys.executable, "-m", "simstudy", "compare", table, "--metric", "closing:share"]
    done = subprocess.run(line, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert done.stderr.startswith("simstudy: ")
    assert said in done.stderr


@pytest.mark.slow  # The line of "tabnanny" below asks the same of the import.
def test_a_file_called_as_a_module_of_python_does_not_stand_in_for_it(table: str) -> None:
    Path("statistics.py").write_text("raise SystemExit('the wrong one')")
    Path("numbers.py").write_text("raise SystemExit('the wrong one')")
    done = subprocess.run(
        [sys.executable, "-m", "simstudy", "compare", table, "--metric", "own_measures:share"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONSAFEPATH": "1"},
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("nowhere:share", "metric 'nowhere:share': there is no module 'nowhere'"),
        ("own_measures:shared", "own_measures.py) has no 'shared'"),
        ("own_measures:middle", "if it is no function of sums: simstudy.metric(name, function, resample=True) makes a"),
        ("own_measures:f2", "rename the function or the metric, as 'f2' is a metric of simstudy"),
        ("own_measures:number", "score must be a function of summed statistics, not 3"),
        (
            "failing_measures:share",
            "module 'failing_measures' cannot be imported: NameError: name 'no_such_name' is not",
        ),
        ("exiting_measures:share", "module 'exiting_measures' cannot be imported: SystemExit: 0"),
        ("own_measures:leaves", "score(hits, tries) of metric 'leaves' fails: SystemExit: 0"),
        *(
            (f"{module}:share", f"metric '{module}:share' must be module:function")
            for module in ("", ".own_measures", "own_measures.py", "own measures")
        ),
        ("tabnanny:share", "has no 'share'"),  # Python's own goes before the file here.
        (
            "own_measures",
            "metric 'own_measures' must name a function of own_measures.py: --metric own_measures:function",
        ),
        ("own_measures:", "metric 'own_measures:' must be module:function"),
        ("broken_measures:share", "module 'broken_measures' needs 'no_such_module_anywhere', which is not there"),
    ],
)
def test_what_cannot_be_had_is_said_in_one_line(table: str, named: str, message: str) -> None:
    code, out, err = compare(table, "--metric", named)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
