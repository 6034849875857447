"""Golden tables: approved tables of every study, which show when the numbers of a study change.

Thirteen studies run as a whole. Of each other study a small part runs, which `parts.toml` describes.

``python -m tests.golden.tables [NAMES]`` makes the tables with today's code and lists the cells that differ from the
approved tables. ``python -m tests.golden.tables --approve NAME --why TEXT`` stores today's tables and adds a row to
`WHY.md`.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import re
import shutil
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from simstudy import run_study
from simstudy.studies.catalogue import load_study, make_study
from simstudy.studies.definition import Study
from simstudy.studies.resampling.definition import with_own_task
from simstudy.training.named import OWN

HERE = Path(__file__).parent
WHY = HERE / "WHY.md"
RESULTS = HERE.parents[1] / "results"

#: The data files; the tests need them.
DATA = HERE.parents[2] / "shared" / "data"

#: Relative tolerance of floating-point numbers. Tables have six significant digits.
TOLERANCE = 1e-6

#: Differences that are listed of each table.
MOST_LISTED = 20

_WHOLE = re.compile(r"[+-]?\d+")

# The task.py of a study that trains fewer base systems than the shipped task.
_REDUCED_TASK = """\
from dataclasses import replace

from simstudy.training.named import load_task


def reduced(data_dir):
    task = load_task({task!r}, data_dir)
    return replace(task, systems={{name: task.systems[name] for name in {systems!r}}})
"""


@dataclass(frozen=True)
class Part:
    """The part of a study that runs: an entry of `parts.toml`."""

    study: str
    part: str
    """One line that describes the part."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings instead of those of study.toml, with nested keys. The keys of a list are the positions in it."""
    only: dict[str, list[Any]] = field(default_factory=dict)
    """Dotted key -> the entries that remain, of a section or (by position) of a list."""
    systems: list[str] = field(default_factory=list)
    """Base systems that are trained; all of the task if empty."""
    task: str = ""
    """Function of `tests/golden/task.py` that makes a smaller task than the shipped one."""
    reads: list[str] = field(default_factory=list)
    """Studies whose results the study reads."""
    packages: list[str] = field(default_factory=list)
    """Optional packages that the study needs."""
    left_out: dict[str, list[str]] = field(default_factory=dict)
    """Table -> columns that are not compared; the whole table if there are none."""
    tolerance: dict[str, float] = field(default_factory=dict)
    """Table -> relative tolerance, where it is not `TOLERANCE`."""

    @property
    def approved(self) -> Path:
        """The folder of the approved tables."""
        return HERE / self.study

    def missing_packages(self) -> list[str]:
        """Optional packages that the study needs and that are not installed."""
        return [name for name in self.packages if find_spec(name) is None]

    def reduced_study(self, folder: Path) -> Study:
        """The study with the settings of the part; `folder` receives the task.py of a reduced task."""
        study = load_study(self.study)
        content = merge_settings(study.model_dump(), self.settings)
        for key, entries in self.only.items():
            *sections, last = key.split(".")
            section = content
            for name in sections:
                section = section[name]
            kept = section[last]
            section[last] = {k: kept[k] for k in entries} if isinstance(kept, dict) else [kept[k] for k in entries]
        model = type(study)
        if self.task:
            content["task"], model = f"{OWN}{self.task}", with_own_task(model, HERE)
        elif self.systems:
            task = content["task"].removeprefix(OWN)
            folder.mkdir(parents=True, exist_ok=True)
            source = _REDUCED_TASK.format(task=task, systems=self.systems)
            (folder / "task.py").write_text(source, encoding="utf-8")
            content["task"], model = f"{OWN}reduced", with_own_task(model, folder)
        return make_study(content, f"parts.toml: {self.study}", model)

    def make_tables(self, work: Path, n_jobs: int | None, data_dir: Path | None) -> Path:
        """The folder of today's tables, below `work`; a stopped run in the same folder goes on."""
        results = work / self.study / "results"
        for name in self.reads:
            shutil.copytree(RESULTS / name, results / name, dirs_exist_ok=True)
        out = results / self.study
        out.mkdir(parents=True, exist_ok=True)
        run_study(self.reduced_study(work / self.study / "task"), out=out, n_jobs=n_jobs, data_dir=data_dir)
        return out


def load_parts() -> dict[str, Part]:
    """The parts by study, in the order of `parts.toml`."""
    content = tomllib.loads((HERE / "parts.toml").read_text(encoding="utf-8"))
    return {study: Part(study, **keys) for study, keys in content.items()}


def merge_settings(content: Any, changes: Mapping[str, Any]) -> Any:
    """A copy of nested settings with changes; a dict changes single keys of a dict, or single positions of a list."""
    merged = dict(enumerate(content)) if isinstance(content, list) else dict(content)
    for name, value in changes.items():
        key = int(name) if isinstance(content, list) else name
        old = merged.get(key)
        nested = isinstance(value, dict) and isinstance(old, dict | list)
        merged[key] = merge_settings(old, value) if nested else value
    return list(merged.values()) if isinstance(content, list) else merged


@dataclass(frozen=True)
class Difference:
    """One cell, or one property of a table, that differs from the approved one."""

    table: str
    place: str
    approved: str
    today: str
    is_cell: bool = True

    @property
    def size(self) -> float:
        """Relative difference of two numbers; NaN if one of the values is not a finite number."""
        a, b = _number(self.approved), _number(self.today)
        return abs(a - b) / max(abs(a), abs(b)) if self.is_cell and a != b and math.isfinite(a - b) else math.nan

    def __str__(self) -> str:
        return f"{self.table}: {self.place}: approved {self.approved or 'missing'}, today {self.today or 'missing'}"


def compare_folders(
    approved: Path,
    today: Path,
    *,
    left_out: Mapping[str, Sequence[str]] | None = None,
    tolerance: Mapping[str, float] | None = None,
) -> Iterator[Difference]:
    """Every difference between the tables of two folders."""
    left_out, tolerance = left_out or {}, tolerance or {}
    folders = [{path.stem: path for path in sorted(folder.glob("*.csv"))} for folder in (approved, today)]
    for name in {**folders[0], **folders[1]}:
        if name in left_out and not left_out[name]:
            continue
        if all(name in tables for tables in folders):
            rows = [read_rows(tables[name], left_out.get(name, ())) for tables in folders]
            yield from compare_rows(name, rows[0], rows[1], tolerance.get(name, TOLERANCE))
        else:
            states = ["present" if name in tables else "" for tables in folders]
            yield Difference(name, "table", states[0], states[1], is_cell=False)


def read_rows(path: Path, left_out: Sequence[str] = ()) -> list[list[str]]:
    """The rows of a CSV file as text, the header first, without the columns that are left out."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    if not rows:
        return [[]]
    kept = [k for k, column in enumerate(rows[0]) if column not in left_out]
    return [[row[k] for k in kept] for row in rows]


def compare_rows(
    table: str, approved: Sequence[Sequence[str]], today: Sequence[Sequence[str]], tolerance: float = TOLERANCE
) -> Iterator[Difference]:
    """Every difference between two tables (header first); cells are compared in the columns and rows that both have."""
    headers = approved[0], today[0]
    if list(headers[0]) != list(headers[1]):
        missing, extra = ([name for name in one if name not in other] for one, other in (headers, headers[::-1]))
        if missing or extra:
            yield Difference(table, "columns that only one has", ", ".join(missing), ", ".join(extra), is_cell=False)
        else:
            yield Difference(table, "order of columns", ", ".join(headers[0]), ", ".join(headers[1]), is_cell=False)
    if len(approved) != len(today):
        yield Difference(table, "number of rows", str(len(approved) - 1), str(len(today) - 1), is_cell=False)
    places = [(name, headers[0].index(name), headers[1].index(name)) for name in headers[0] if name in headers[1]]
    for number, (a, b) in enumerate(zip(approved[1:], today[1:], strict=False), start=1):
        for name, in_a, in_b in places:
            if not equal_cells(a[in_a], b[in_b], tolerance):
                yield Difference(table, f"row {number}{_row_name(a)}, column {name}", a[in_a], b[in_b])


def equal_cells(a: str, b: str, tolerance: float = TOLERANCE) -> bool:
    """Whether two cells are equal: floating-point numbers within the tolerance, everything else exactly."""
    if a == b:
        return True
    if _WHOLE.fullmatch(a) and _WHOLE.fullmatch(b):
        return False
    return math.isclose(_number(a), _number(b), rel_tol=tolerance)


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return math.nan


def _row_name(row: Sequence[str]) -> str:
    """The first text columns of a row, at most three."""
    texts: list[str] = []
    for cell in row[:3]:
        if not cell or not math.isnan(_number(cell)):
            break
        texts.append(cell)
    return f" ({', '.join(texts)})" if texts else ""


def compare(part: Part, today: Path) -> list[Difference]:
    """The differences between today's tables of a study and the approved tables."""
    return list(compare_folders(part.approved, today, left_out=part.left_out, tolerance=part.tolerance))


def listed(differences: Sequence[Difference]) -> list[str]:
    """A line for each difference, at most `MOST_LISTED` of each table, and how many more there are."""
    by_table: dict[str, list[Difference]] = {}
    for difference in differences:
        by_table.setdefault(difference.table, []).append(difference)
    lines = []
    for table, all_of_table in by_table.items():
        lines += [f"  {difference}" for difference in all_of_table[:MOST_LISTED]]
        if len(all_of_table) > MOST_LISTED:
            lines.append(f"  {table}: {len(all_of_table) - MOST_LISTED:,} more, {len(all_of_table):,} in total")
    return lines


def approve(part: Part, today: Path, why: str) -> str:
    """Store today's tables of a study and add a row to `WHY.md`; what changed, in a few words."""
    first = not part.approved.is_dir()
    differences = [] if first else compare(part, today)
    if not first and not differences:
        return "as approved"
    shutil.rmtree(part.approved, ignore_errors=True)
    part.approved.mkdir()
    for path in sorted(today.glob("*.csv")):
        columns = part.left_out.get(path.stem)
        if columns:
            with (part.approved / path.name).open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(read_rows(path, columns))
        elif columns is None:
            shutil.copyfile(path, part.approved / path.name)
    sizes = [difference.size for difference in differences if not math.isnan(difference.size)]
    n_cells = sum(difference.is_cell for difference in differences)
    n_tables = len({difference.table for difference in differences})
    what = "first tables" if first else f"{n_cells:,} cells, {n_tables:,} tables"
    largest = f"{max(sizes):.2g}" if sizes else ""
    row = f"| {part.study} | {datetime.now(UTC):%Y-%m-%d} | {what} | {largest} | {why} |\n"
    WHY.write_text(WHY.read_text("utf-8") + row, encoding="utf-8")
    return what


def main() -> None:
    """Compare the tables, or approve today's."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden.tables", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="studies; default: all are compared")
    parser.add_argument("--approve", nargs="+", metavar="NAME", help="store today's tables of these studies")
    parser.add_argument("--why", help="the reason for new tables, one line")
    parser.add_argument("--jobs", type=int, help="processes and threads; default: all cores")
    parser.add_argument("--data-dir", type=Path, default=DATA if DATA.is_dir() else None, help="folder of data files")
    parser.add_argument("--work", type=Path, help="folder that keeps the results, so that a stopped run goes on")
    options = parser.parse_args()
    parts = load_parts()
    names = options.approve or options.names or list(parts)
    if unknown := [name for name in names if name not in parts]:
        parser.error(f"no study is called {unknown[0]}: {', '.join(parts)}")
    if bool(options.approve) != bool(options.why) or re.search(r"[|\n]", options.why or ""):
        parser.error("--approve needs --why, a reason of one line without '|'")
    changed = False
    for name in names:
        part = parts[name]
        if missing := part.missing_packages():
            print(f"{name}: left out, it needs {', '.join(missing)}", flush=True)
            continue
        with tempfile.TemporaryDirectory(prefix="golden-") as temporary:
            started, processor = time.perf_counter(), sum(os.times()[:4])
            today = part.make_tables(options.work or Path(temporary), options.jobs, options.data_dir)
            seconds = f"{time.perf_counter() - started:.0f} s, processor {sum(os.times()[:4]) - processor:.0f} s"
            if options.approve:
                print(f"{name}: {approve(part, today, options.why)} ({seconds})", flush=True)
                continue
            differences = compare(part, today)
            print(f"{name}: {len(differences):,} differences ({seconds})", *listed(differences), sep="\n", flush=True)
            changed |= bool(differences)
    sys.exit(changed)


if __name__ == "__main__":
    main()
