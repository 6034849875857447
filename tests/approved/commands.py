"""Examples of the documentation: what their commands answer as JSON, and the tables that their Python makes."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from typer.testing import CliRunner

from simstudy import Comparisons
from simstudy.cli.command import app
from simstudy.examination.examination import Examination
from simstudy.outputs import Outputs
from simstudy.planning import Plan
from tests.approved.record import DOORS, Values, recording, without_sentences
from tests.documentation import DOCS, blocks, examples_in, shown

#: Parts of the JSON that repeat what was asked.
ASKED = ("schema", "simstudy", "settings")


def answer(arguments: Sequence[object]) -> Values:
    """The exit code of a command, and the numbers of its JSON if it prints any."""
    result = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    said: Values = {"exit_code": result.exit_code}
    printed = json.loads(result.stdout or "{}")
    return said | (numbers(printed) if isinstance(printed, dict) else {"reports": [numbers(one) for one in printed]})


def numbers(document: Mapping[str, Any]) -> Values:
    """The JSON of a report without its sentences and what was asked."""
    kept: Values = without_sentences({key: value for key, value in document.items() if key not in ASKED})
    return kept


@recording(DOORS, quick=False)
def documented_commands() -> Values:
    """Each command of README and docs."""
    values: Values = {}
    with TemporaryDirectory() as folder, chdir(examples_in(Path(folder))):
        for page in DOCS:
            for block in blocks(page, "console"):
                for command, _ in shown(block):
                    name, *arguments = shlex.split(command, comments=True)
                    if name == "simstudy" and command not in values:
                        values[command] = answer([one for one in arguments if one not in ("--latex", "--markdown")])
    return values


@recording(DOORS, quick=False)
def documented_python() -> Values:
    """Tables, comparisons, plans and numbers that the Python of each page leaves in variables."""
    mpl.use("Agg")
    values: Values = {}
    for page in DOCS:
        names: dict[str, Any] = {}
        with TemporaryDirectory() as folder, chdir(examples_in(Path(folder))), redirect_stdout(StringIO()):
            for block in blocks(page, "python"):
                exec(block, names)
        plt.close("all")
        for name, value in names.items():
            if (kept := _numbers(value)) is not None:
                values[f"{page.stem}/{name}"] = kept
    return values


#: As many rows of a table are kept.
_ROWS = 12


def _numbers(value: Any) -> Any:
    match value:
        case Comparisons():
            return _table(value.frame)
        case pd.DataFrame():
            return _table(value)
        case Plan():
            return _table(value.answers)
        case Examination():
            return numbers(json.loads(value.to_json()))
        case Outputs():
            return {"shape": value.statistics.shape, "scores": value.scores()[:_ROWS]}
        case bool() | int() | float() | np.generic():
            return value
    return None


def _table(frame: pd.DataFrame) -> Values:
    plain = frame.reset_index(drop=True)
    plain.columns = plain.columns.map(str)
    kept = plain.select_dtypes(["number", "bool"]).dropna(axis=1, how="all")
    return {"rows": len(frame), **{str(name): column.head(_ROWS) for name, column in kept.items()}}
