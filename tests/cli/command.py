"""The command as tests call it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from typer.testing import CliRunner

from simstudy.cli import app


def compare(*arguments: str) -> tuple[int, str, str]:
    """Its exit code, and what it says, without the signature of a comparison of two systems."""
    code, out, err = compare_signed(*arguments)
    return code, re.sub(r"^Signature: .*\n", "", out, flags=re.MULTILINE), err


def compare_signed(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["compare", *arguments])
    assert "Traceback" not in result.stdout + result.stderr
    return result.exit_code, result.stdout, result.stderr


def as_json(*arguments: str, command: str = "compare") -> dict[str, Any]:
    result = CliRunner().invoke(app, [command, *arguments, "--json"])
    assert (result.exit_code, result.stderr) == (0, "")
    content: dict[str, Any] = json.loads(result.stdout)
    return content


def write_wide(path: str, rights: Mapping[str, Sequence[int]]) -> str:
    pd.DataFrame(rights).rename_axis("item").to_csv(path)
    return path
