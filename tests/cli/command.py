"""The command as tests call it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from typer.testing import CliRunner

from simstudy.cli.command import app


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


def rows_of(out: str, header: str) -> list[list[str]]:
    """The cells of a table that is printed, split at two spaces or more."""
    lines = out.splitlines()
    start = next(k for k, line in enumerate(lines) if line.split()[:1] == [header])
    found = []
    for line in lines[start:]:
        if not line.strip():
            break
        found.append([cell for cell in line.strip().split("  ") if cell.strip()])
    return [[cell.strip() for cell in row] for row in found]
