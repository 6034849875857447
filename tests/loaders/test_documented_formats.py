"""Every format has small files on the page of formats, and the command below them has the scores that stand there."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from simstudy.cli import app
from simstudy.loaders.formats import FORMATS
from tests.documentation import ROOT

PAGE = (ROOT / "docs" / "formats.md").read_text("utf-8")

# A block of files, and the sentence below it.
_BLOCK = re.compile(r"^```text\n(==> .*?)^```\n\n`simstudy (.*?)` scores (.*?)\.$", re.DOTALL | re.MULTILINE)
EXAMPLES = _BLOCK.findall(PAGE)


def test_every_format_has_a_section_with_an_example() -> None:
    """Each block of files is one: none is without a sentence that the test below reads."""
    assert len(EXAMPLES) == len(re.findall(r"^```text$", PAGE, re.MULTILINE))
    rows = dict(re.findall(r"^\| \[`([\w-]+)`\]\(#([\w-]+)\)", PAGE, re.MULTILINE))
    assert rows.keys() == FORMATS.keys()
    sections = re.split(r"^## (.*)$", PAGE, flags=re.MULTILINE)
    texts = {name.lower().replace(" ", "-"): text for name, text in zip(sections[1::2], sections[2::2], strict=True)}
    for name, section in rows.items():
        assert _BLOCK.search(texts[section]), name


@pytest.mark.parametrize(("files", "command", "told"), EXAMPLES, ids=[command for _, command, _ in EXAMPLES])
def test_an_example_has_the_scores_that_are_stated(
    files: str, command: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    parts = re.split(r"^==> (.*) <==\n", files, flags=re.MULTILINE)
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        assert len(text.splitlines()) <= 10, name
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    result = CliRunner().invoke(app, [*shlex.split(command), "--json"])
    assert result.exit_code == 0, result.stderr
    found = {row["system"]: row["score"] for row in json.loads(result.stdout)["systems"]}
    stated = {name: float(score) for name, score in re.findall(r"([\w-]+) ([\d.]+)(?: and |$)", told)}
    assert len(stated) == 2
    assert found == pytest.approx(stated, abs=0.005)
