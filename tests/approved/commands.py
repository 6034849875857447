"""Examples of the documentation: what their commands answer as JSON, and the tables that their Python makes."""

from __future__ import annotations

import json
import re
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
from tests.documentation import DOCS, ROOT, blocks, examples_in, shown

#: Parts of the JSON that repeat what was asked.
ASKED = ("schema", "simstudy", "settings")


#: The first file, place in it, or option that an error names.
_ABOUT = re.compile(r"^simstudy: (\S+?(?:, (?:line|row|record|entry|sample|topic|instance) [^:]*)?)(?::| )")


def answer(arguments: Sequence[object]) -> Values:
    """The exit code of a command, and the numbers of its JSON, or what an error is about."""
    result = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    if result.exit_code == 2:
        about = _ABOUT.match(result.stderr)
        return {"exit_code": 2, "about": about[1] if about else ""}
    printed = json.loads(result.stdout or "{}")
    values = numbers(printed) if isinstance(printed, dict) else {"reports": [numbers(one) for one in printed]}
    return {"exit_code": result.exit_code, **values}


def numbers(document: Mapping[str, Any]) -> Values:
    """The JSON of a report without its sentences and what was asked."""
    kept: Values = without_sentences({key: value for key, value in document.items() if key not in ASKED})
    return kept


def _commands(page: Path) -> list[str]:
    """The commands of a page, with those of its console blocks first."""
    consoles = [command for block in blocks(page, "console") for command, _ in shown(block)]
    return consoles + re.findall(r"^\$ (simstudy .*)$", "".join(blocks(page, "text")), flags=re.MULTILINE)


@recording(DOORS, quick=False)
def documented_commands() -> Values:
    """Each command of README and docs."""
    values: Values = {}
    with TemporaryDirectory() as folder, chdir(examples_in(Path(folder))):
        for command in dict.fromkeys(command.strip() for page in DOCS for command in _commands(page)):
            name, *arguments = shlex.split(command, comments=True)
            if name == "simstudy":
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
                values[f"{page.relative_to(ROOT)}/{name}"] = kept
    return values


#: As many rows of a table are kept.
_ROWS = 12


def _numbers(value: Any) -> Any:
    match value:
        case Comparisons():
            return first_rows(value.frame)
        case pd.DataFrame():
            return first_rows(value)
        case Plan():
            return first_rows(value.answers)
        case Examination():
            return numbers(json.loads(value.to_json()))
        case Outputs():
            return {"shape": value.statistics.shape, "scores": value.scores()[:_ROWS]}
        case np.ndarray() if value.dtype.kind in "biuf":
            return {"shape": value.shape, "first": value.ravel()[:_ROWS]}
        case bool() | int() | float() | np.generic():
            return value
    return None


def first_rows(frame: pd.DataFrame) -> Values:
    """The number of rows of a table, and the first of them."""
    return {"n_rows": len(frame), "first": frame.reset_index(drop=True).dropna(axis=1, how="all").head(_ROWS)}
