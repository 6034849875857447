"""Records values of the whole package, so that whoever rebuilds a room sees which of them change.

A recording is a function that returns values: numbers, names and tables of them, never sentences. Its values are kept
in ``studies/`` (what a study's table may hold) or in ``doors/`` (what files, commands and pages give). ``make test``
compares the quick recordings with today's code, ``make slow`` all.

``python -m tests.approved.record`` lists the recordings that today's code changes. With names of recordings and
``--why TEXT`` it stores their new values and adds a line to `WHY.md`; without that line the tests fail.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from simstudy.running.keys import RESULTS_VERSION

HERE = Path(__file__).parent
WHY = HERE / "WHY.md"
SHARED = HERE.parents[2] / "shared"

STUDIES, DOORS = "studies", "doors"

#: Modules of recordings.
MODULES = (
    *("pairs", "plans", "truth", "training", "metrics", "outputs"),
    *("commands", "first_jobs", "cases", "formats", "reports"),
)

#: Floating-point numbers are kept with seven digits, and are equal within this relative difference.
DIGITS = 7
RELATIVE = 2e-6

#: Keys of JSON and columns of tables whose values are sentences.
SENTENCES = {"verdict", "note", "sentences", "assumptions"}

# The versions of libraries that a signature names.
_VERSION = re.compile(r"\|version:[^|]*")

# How a row of `WHY.md` begins to say what changed.
FIRST, ADDED, GONE = "first recording", "new: ", "gone: "

# Stands for a value that is not there.
_ABSENT = object()

Values = dict[str, Any]


@dataclass(frozen=True)
class Recording:
    """A function that returns values, and where they are kept.

    Attributes
    ----------
    part
        ``"studies"`` or ``"doors"``.
    quick
        Whether ``make test`` compares it.
    shared
        Whether it reads the folder of real data or of cases, beside the checkout.
    """

    name: str
    part: str
    quick: bool
    shared: bool
    run: Callable[[], Mapping[str, Any]]

    @property
    def path(self) -> Path:
        return HERE / self.part / f"{self.name}.json"

    def today(self) -> Values:
        """The values of today's code, as they are kept."""
        return {name: _kept(value) for name, value in self.run().items()}

    def approved(self) -> Values:
        """The values that are kept; none before the first time."""
        values: Values = json.loads(self.path.read_text("utf-8")) if self.path.exists() else {}
        return values

    def digest(self) -> str:
        """A fingerprint of the approved values, which the last row of the recording in `WHY.md` has."""
        return hashlib.sha256(json.dumps(self.approved(), sort_keys=True).encode()).hexdigest()[:12]

    def is_possible(self) -> bool:
        """Whether the files that it reads are at hand."""
        return not self.shared or ((SHARED / "data").is_dir() and (SHARED / "cases" / "README.md").is_file())


RECORDINGS: dict[str, Recording] = {}


def recording(
    part: str, *, quick: bool = True, shared: bool = False
) -> Callable[[Callable[[], Mapping[str, Any]]], Recording]:
    """Declare a function as a recording of its name."""

    def declare(run: Callable[[], Mapping[str, Any]]) -> Recording:
        made = RECORDINGS[run.__name__] = Recording(run.__name__, part, quick, shared, run)
        return made

    return declare


def load_recordings() -> dict[str, Recording]:
    """All recordings by name."""
    for module in MODULES:
        import_module(f"tests.approved.{module}")
    return RECORDINGS


def _kept(value: Any) -> Any:
    """A value as JSON has it: numbers, names, and tables by columns."""
    if isinstance(value, pd.DataFrame):
        columns = {str(name): _kept(column) for name, column in value.items() if name not in SENTENCES}
        return _short(columns, len(value))
    if isinstance(value, pd.Series | np.ndarray | np.generic):
        return _kept(value.tolist())
    if isinstance(value, Mapping):
        return {str(name): _kept(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_kept(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return _VERSION.sub("", value)
    if value is None or isinstance(value, bool | int):
        return value
    if value is pd.NA:
        return None
    raise TypeError(f"a recording holds numbers, names and tables of them, not {type(value).__name__}")


def without_sentences(value: Any) -> Any:
    """JSON without its sentences; of notes their number is left, and records are a table by columns."""
    if isinstance(value, Mapping):
        kept = {name: without_sentences(one) for name, one in value.items() if name not in SENTENCES}
        for name in ("notes", "answer"):
            if isinstance(kept.get(name), list):
                kept[name] = len(kept[name])
        return kept
    if isinstance(value, list):
        rows = [without_sentences(one) for one in value]
        return _columns(rows) if len(rows) > 1 and all(isinstance(row, dict) for row in rows) else rows
    return value


def _columns(rows: list[Values]) -> Values:
    """A list of records as a table by columns, so that names are not written again in each row."""
    names = dict.fromkeys(name for row in rows for name in row)
    return _short({name: [_kept(row.get(name, "(absent)")) for row in rows] for name in names}, len(rows))


def _short(columns: Mapping[str, list[Any]], n_rows: int) -> Values:
    """A table by columns; a column that has the same value in all rows is that value."""
    alike = {name for name, values in columns.items() if len({repr(value) for value in values}) == 1}
    return {"rows": n_rows, **{name: values[0] if name in alike else values for name, values in columns.items()}}


@dataclass(frozen=True)
class Difference:
    """A value that is not the approved one."""

    place: str
    approved: Any
    today: Any

    @property
    def size(self) -> float:
        """The relative difference of two numbers; NaN if one of the values is no number."""
        a, b = self.approved, self.today
        if not (_is_number(a) and _is_number(b)):
            return math.nan
        return abs(a - b) / max(abs(a), abs(b)) if a != b else 0.0

    @property
    def n_values(self) -> int:
        """How many values it is about: more than one if a whole table is absent."""
        return max(_n_values(self.approved), _n_values(self.today))

    def __str__(self) -> str:
        values = ("absent" if value is _ABSENT else shorten(repr(value), 80) for value in (self.approved, self.today))
        return f"{self.place}: approved {next(values)}, today {next(values)}"


def _n_values(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(_n_values, value.values()))
    return sum(map(_n_values, value)) if isinstance(value, list) else 1


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def differences(approved: Any, today: Any, place: str = "") -> Iterator[Difference]:
    """Every place at which two recordings differ."""
    if isinstance(approved, dict) and isinstance(today, dict):
        for key in [*approved, *(key for key in today if key not in approved)]:
            below = f"{place}/{key}" if place else key
            yield from differences(approved.get(key, _ABSENT), today.get(key, _ABSENT), below)
    elif isinstance(approved, list) and isinstance(today, list):
        for k in range(max(len(approved), len(today))):
            a, b = (values[k] if k < len(values) else _ABSENT for values in (approved, today))
            yield from differences(a, b, f"{place}[{k}]")
    elif not _equal(approved, today):
        yield Difference(place, approved, today)


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=RELATIVE)
    return type(a) is type(b) and bool(a == b)


class Row(NamedTuple):
    """A row of `WHY.md`: values that were approved, and the RESULTS_VERSION that made them."""

    name: str
    digest: str
    results_version: int
    what: str


def why_rows() -> list[Row]:
    """The rows of `WHY.md`, in order."""
    row = r"^\| ([a-z_0-9]+) \| ([0-9a-f]{12}) \| [-0-9]+ \| (\d+) \| ([^|]*) \|"
    found = re.findall(row, WHY.read_text("utf-8"), flags=re.MULTILINE)
    return [Row(name, digest, int(version), what) for name, digest, version, what in found]


def moved_under_one_version(rows: Iterable[Row]) -> list[str]:
    """Recordings of what studies hold whose values changed while RESULTS_VERSION did not."""
    known: dict[str, Row] = {}
    moved = []
    for row in rows:
        before, known[row.name] = known.get(row.name), row
        added = row.what.startswith((FIRST, ADDED, GONE))
        if (
            RECORDINGS[row.name].part == STUDIES
            and not added
            and before
            and before.results_version == row.results_version
        ):
            moved.append(row.name)
    return moved


def approve(one: Recording, why: str) -> None:
    """Store today's values, and say in `WHY.md` how they differ and why."""
    old, new = one.approved(), one.today()
    changes = list(differences(old, new))
    last = {row.name: row for row in why_rows()}.get(one.name)
    if not changes and last and last.digest == one.digest():
        print(f"{one.name}: as approved")
        return
    first = not one.path.exists()
    added = all(change.approved is _ABSENT for change in changes)
    gone = all(change.today is _ABSENT for change in changes)
    if one.part == STUDIES and not added and not gone and last and last.results_version == RESULTS_VERSION:
        sys.exit(f"{one.name}: values that tables of studies can hold have changed: raise RESULTS_VERSION first")
    one.path.parent.mkdir(exist_ok=True)
    lines = (f"{_json(name)}: {_json(value)}" for name, value in new.items())
    one.path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    numbers = [change.size for change in changes if not math.isnan(change.size)]
    others = sum(change.n_values for change in changes if math.isnan(change.size))
    what = (
        FIRST
        if first
        else f"{ADDED * added}{GONE * (gone and not added)}{len(numbers)} numbers and {others} other values"
    )
    what += f", such as {changes[0].place}" if changes and not first else ""
    largest = f"{max(numbers):.2g}" if numbers else ""
    made = f"{datetime.now(UTC):%Y-%m-%d} | {RESULTS_VERSION}"
    row = f"| {one.name} | {one.digest()} | {made} | {what} | {largest} | {why} |\n"
    WHY.write_text(WHY.read_text("utf-8") + row, encoding="utf-8")
    print(f"{one.name}: {what}")


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def main() -> None:
    """Compare the recordings, or store them anew."""
    parser = argparse.ArgumentParser(prog="python -m tests.approved.record", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="recordings; default: all are compared")
    parser.add_argument("--why", help="store today's values of the named recordings, for this reason")
    parser.add_argument("--most", type=int, default=20, help="differences shown of each recording")
    options = parser.parse_args()
    recordings = load_recordings()
    if unknown := [name for name in options.names if name not in recordings]:
        parser.error(f"no recording is called {unknown[0]}: {', '.join(recordings)}")
    if options.why is not None and not (options.names and options.why.strip() and not re.search(r"[|\n]", options.why)):
        parser.error("--why needs names of recordings, and a reason of one line without '|'")
    changed = False
    for name in options.names or recordings:
        if not recordings[name].is_possible():
            print(f"{name}: left out, it needs {SHARED}")
        elif options.why:
            approve(recordings[name], options.why)
        else:
            started = time.perf_counter()
            changes = list(differences(recordings[name].approved(), recordings[name].today()))
            print(f"{name}: {len(changes)} differences ({time.perf_counter() - started:.1f} s)", flush=True)
            print("".join(f"  {change}\n" for change in changes[: options.most]), end="")
            changed |= bool(changes)
    sys.exit(changed)


if __name__ == "__main__":
    # Recordings register themselves with the module of this name, not with the one that runs as a script.
    import_module("tests.approved.record").main()
