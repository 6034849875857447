"""The verdicts of gates as GitHub shows them: annotations of a run, and a table in its summary.

The runner of GitHub Actions takes a line that begins with two colons for a command. Names come from files: nothing of a
name must become one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from simstudy.gates.verdicts import Verdict
from simstudy.text.plain_text import line, markdown

_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}


def runs_here(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this is a job of GitHub Actions."""
    return environment.get("GITHUB_ACTIONS") == "true"


def annotation(verdict: Verdict) -> str:
    """One line: the workflow command that shows a verdict, an error where the gate is not met."""
    command = "notice" if verdict.passed else "error"
    title = _escaped(f"simstudy {verdict.gate.kind.option}", _PROPERTY)
    return f"::{command} title={title}::{_escaped(line(verdict.sentence()), _DATA)}"


def without_commands() -> tuple[str, str]:
    """Two lines between which the runner takes nothing for a command; only who knows the second can end it."""
    token = uuid4().hex
    return f"::stop-commands::{token}", f"::{token}::"


def add_summary(verdicts: Sequence[Verdict], environment: Mapping[str, str] = os.environ) -> None:
    """Add a table of the verdicts to the summary of the job, if there is one."""
    path = environment.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    rows = [
        f"| {'passed' if verdict.passed else '**failed**'} | {markdown(verdict.sentence())} |" for verdict in verdicts
    ]
    # A summary that can not be written must not decide about the gate.
    with suppress(OSError), Path(path).open("a", encoding="utf-8", errors="backslashreplace") as file:
        file.write("\n".join(["| gate | simstudy |", "|---|---|", *rows, ""]) + "\n")


def _escaped(text: str, table: Mapping[str, str]) -> str:
    return "".join(table.get(character, character) for character in text)
