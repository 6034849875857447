"""The verdicts of gates for servers: annotations and a summary on GitHub, and JUnit XML, which others show as tests.

The runner of GitHub Actions takes a line that begins with two colons for a command. Names come from files: nothing of a
name must become one.
"""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from simstudy.files.whole import atomic_path
from simstudy.gates.verdicts import Verdict
from simstudy.text.plain_text import line, markdown, printable
from simstudy.validation import InputError

_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}

_SUITE = "simstudy.gates"

# Characters that `printable` leaves and that XML 1.0 cannot have.
_NO_XML = re.compile("[\ufffe\uffff]")


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


def write_junit(verdicts: Sequence[Verdict], path: Path) -> None:
    """Write a test suite with a test case for each gate; a gate that is not met is a failure."""
    counts = {
        "tests": str(len(verdicts)),
        "failures": str(sum(not verdict.passed for verdict in verdicts)),
        "errors": "0",
        "skipped": "0",
    }
    suites = ET.Element("testsuites", {"name": _SUITE, **counts, "time": "0"})
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    suite = ET.SubElement(suites, "testsuite", {"name": _SUITE, **counts, "time": "0", "timestamp": now})
    for verdict in verdicts:
        said = _text(verdict.sentence())
        case = ET.SubElement(suite, "testcase", {"classname": _SUITE, "name": _text(verdict.gate.asked), "time": "0"})
        if verdict.passed:
            ET.SubElement(case, "system-out").text = said
        else:
            ET.SubElement(case, "failure", {"type": verdict.gate.kind.option, "message": said}).text = said
    ET.indent(suites)
    with atomic_path(path) as temporary:
        ET.ElementTree(suites).write(temporary, encoding="utf-8", xml_declaration=True)


def clear_junit(path: Path) -> None:
    """Remove what an earlier run wrote, so that nobody takes it for this one's; a ValueError for a file of others."""
    if path.is_dir():
        raise InputError("junit", f"must be a file, but {path} is a folder")
    if not path.exists():
        return
    with path.open("rb") as file:
        ours = f'<testsuites name="{_SUITE}"'.encode() in file.read(200)
    if not ours:
        raise InputError("junit", f"must be a new file or one that simstudy wrote, but {path} is another file")
    path.unlink()


def _text(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", printable(text))
