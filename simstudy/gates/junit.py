"""The verdicts of gates as JUnit XML, which servers of continuous integration show as tests."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from simstudy.files.whole import atomic_path
from simstudy.gates.verdicts import Verdict
from simstudy.text.plain_text import printable

_SUITE = "simstudy.gates"

# Characters that `printable` leaves and that XML 1.0 cannot have.
_NO_XML = re.compile("[\ufffe\uffff]")


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
        raise ValueError(f"junit must be a file, but {path} is a folder")
    if not path.exists():
        return
    with path.open("rb") as file:
        ours = f'<testsuites name="{_SUITE}"'.encode() in file.read(200)
    if not ours:
        raise ValueError(f"junit must be a new file or one that simstudy wrote, but {path} is another file")
    path.unlink()


def _text(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", printable(text))
