"""Metrics that a user's module has: the command imports it when it is named."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import as_json, compare

MODULE = """
import numpy as np
print("imported")

def share(hits, tries):
    return 100 * hits / tries

def middle(hits, tries):
    return np.median(hits)

def f2(hits, tries):
    return hits / tries

def leaves(hits, tries):
    raise SystemExit(0)

number = 3
"""

#: Modules that cannot be imported, or must not.
MODULES = {
    "broken": "import no_such_module_anywhere",
    "failing": "print(no_such_name)",
    "exiting": "raise SystemExit(0)",
    "closing": "import sys\nsys.stdout.close()\ndef share(hits, tries):\n    return hits / tries\n",
}


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    for name, text in {"my_measures": MODULE, **MODULES}.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.delitem(sys.modules, "my_measures", raising=False)
    rows = [f"{system},{i},{hits},2" for system, hits in (("old", 1), ("new", 2)) for i in range(10)]
    (tmp_path / "counts.csv").write_text("\n".join(["system,item,hits,tries", *rows]))
    return "counts.csv"


def test_the_command_takes_a_function_of_a_module(table: str) -> None:
    """The output of the module is no part of the command's."""
    code, out, err = compare(table, "--metric", "my_measures:share", "--json")
    systems = [(row["system"], row["score"]) for row in json.loads(out)["systems"]]
    assert (code, systems, err.split("\n")[0]) == (0, [("new", 100.0), ("old", 50.0)], "imported")
    content = as_json(table, "--metric", "my_measures:share", "--lower-is-better")
    assert [row["system"] for row in content["systems"]] == ["old", "new"]


def test_a_module_that_closes_standard_output_is_named_in_one_line(table: str) -> None:
    line = [sys.executable, "-m", "simstudy", "compare", table, "--metric", "closing:share"]
    done = subprocess.run(line, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert "metric 'closing:share': module 'closing' closes standard output" in done.stderr


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("nowhere:share", "metric 'nowhere:share': there is no module 'nowhere'"),
        ("my_measures:shared", "my_measures.py) has no 'shared'"),
        ("my_measures:middle", "if it is no function of sums: simstudy.metric(name, function, resample=True) makes a"),
        ("my_measures:f2", "rename the function or metric, as 'f2' is a metric of simstudy"),
        ("my_measures:number", "score must be a function of summed statistics, not 3"),
        ("my_measures:leaves", "score(hits, tries) of metric 'leaves' fails: SystemExit: 0"),
        ("failing:share", "cannot be imported: NameError: name 'no_such_name' is not"),
        ("exiting:share", "module 'exiting' cannot be imported: SystemExit: 0"),
        ("broken:share", "module 'broken' needs 'no_such_module_anywhere', which is not there"),
        ("my_measures", "must name a function of my_measures.py: --metric my_measures:function"),
        *((f"{module}:share", "must be module:function") for module in ("", "my_measures.py", "my measures")),
    ],
)
def test_a_function_that_cannot_be_taken_is_named_in_one_line(table: str, named: str, message: str) -> None:
    code, out, err = compare(table, "--metric", named)
    assert (code, out, err.removeprefix("imported\n").count("\n")) == (2, "", 1)
    assert message in err
