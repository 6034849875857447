"""The pages that people read, and the outputs that they show.

A block of kind ``console`` has commands behind "$ ", each with what it prints below it; a line "…" stands for lines
that the page leaves out. ``python -m tests.documentation --write`` writes what the commands print today, tables
of results, and the JSON Schema of comparisons.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

from typer.testing import CliRunner

from simstudy.cli.command import app
from simstudy.examination.json_schema import json_schema
from tests.evidence import filled

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "docs" / "examples"
#: For programs that read the JSON of the command.
JSON_SCHEMA = ROOT / "docs" / "comparison.schema.json"
#: Written by the build of the site.
BUILT = ("_build", "gallery", "reference", "studies")
_PAGES = [
    page for page in sorted((ROOT / "docs").rglob("*.md")) if page.relative_to(ROOT / "docs").parts[0] not in BUILT
]
DOCS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *_PAGES]
LEFT_OUT = "…"

NAMESPACES = ("comparisons", "plot", "rankings", "training", "truth")


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


#: Of each example of docs/formats.md its block of files, the command that reads them, and the scores that are stated.
FORMAT_EXAMPLES: list[tuple[str, str, str]] = re.findall(
    r"^```text\n(==> .*?)^```\n\n`simstudy (.*?)` scores (.*?)\.$",
    (ROOT / "docs" / "formats.md").read_text("utf-8"),
    flags=re.DOTALL | re.MULTILINE,
)


def write_files(block: str) -> dict[Path, str]:
    """Write the files of a block, each below its line ``==> NAME <==``, to the current folder; their texts by path."""
    parts = re.split(r"^==> (.*) <==\n", block, flags=re.MULTILINE)
    files = {Path(name): text for name, text in zip(parts[1::2], parts[2::2], strict=True)}
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return files


def sections(text: str) -> dict[str, str]:
    """The text below each heading of the second level."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def prose(page: Path) -> Iterator[str]:
    """The sentences of a page, without code, tables, headings, pictures, quotations and the addresses of links."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^(\||#|!\[|>).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "CODE", text)
    for paragraph in re.split(r"\n\s*\n|^\s*- ", text, flags=re.MULTILINE):
        yield from filter(None, re.split(r"(?<=[.:?!])[*_]*\s+(?=[*_]*[A-Z\d])", " ".join(paragraph.split())))


def anchors(page: Path) -> set[str]:
    """The places of a page that links can name, as forges call them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def examples_in(folder: Path) -> Path:
    shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
    return folder


def printed(command: str) -> str:
    """What a command prints in the current folder; the folder of examples is the only one that pages go to."""
    name, *arguments = shlex.split(command, comments=True)
    if name == "cd":
        assert arguments == ["docs/examples"], command
        return ""
    assert name == "simstudy", command
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return "".join(f"{line.rstrip()}\n" for line in result.stdout.splitlines())


def shown(block: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a console block with the lines below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output.rstrip("\n").split("\n") if output.strip() else []


def chunks(lines: list[str]) -> list[list[str]]:
    """The lines that are shown together."""
    return [list(group) for left_out, group in groupby(lines, lambda line: line == LEFT_OUT) if not left_out]


def is_shown_rightly(lines: list[str], output: str) -> bool:
    """Whether the lines are those of the output, but for what "…" leaves out."""
    parts = "".join(f"{line}\n" for line in lines).split(f"{LEFT_OUT}\n")
    place = 0
    for k, part in enumerate(parts):
        found = output.find(part, place)
        if found < 0 or (k == 0 and found > 0) or (found > 0 and part and output[found - 1] != "\n"):
            return False
        place = found + len(part)
    return parts[-1] == "" or place == len(output)


def as_printed(lines: list[str], output: str) -> list[str]:
    """The lines as the output has them now: as many of each chunk, which begins where its first word does."""
    if LEFT_OUT not in lines:
        return output.splitlines()
    now = output.splitlines()
    written = [LEFT_OUT] * (lines[0] == LEFT_OUT)
    for k, chunk in enumerate(chunks(lines)):
        first = 0 if k == 0 and not written else next(i for i, line in enumerate(now) if line[:8] == chunk[0][:8])
        written += now[first : first + len(chunk)] + [LEFT_OUT]
    return written if lines[-1] == LEFT_OUT else written[:-1]


def rewritten(page: Path, printed: Callable[[str], str] = printed) -> str:
    """The page with what its commands print."""

    def block(match: re.Match[str]) -> str:
        parts = [
            "".join(f"{line}\n" for line in [f"$ {command}", *as_printed(lines, printed(command))])
            for command, lines in shown(match[1])
        ]
        return f"```console\n{''.join(parts)}```"

    return re.sub(r"^```console\n(.*?)^```$", block, page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


def schema_text() -> str:
    """The JSON Schema of comparisons as a file."""
    return json.dumps(json_schema(), ensure_ascii=False, indent=2) + "\n"


def names_of(page: ModuleType) -> list[str]:
    """The public names of a module in order; sub-namespaces apart."""
    known = {name: getattr(page, name) for name in getattr(page, "__all__", dir(page))}
    return sorted((name for name, value in known.items() if not isinstance(value, ModuleType)), key=str.lower)


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        raise SystemExit("usage: python -m tests.documentation --write")
    JSON_SCHEMA.write_text(schema_text(), encoding="utf-8")
    with TemporaryDirectory() as folder, chdir(examples_in(Path(folder))):
        for page in DOCS:
            page.write_text(filled(rewritten(page)), encoding="utf-8")
