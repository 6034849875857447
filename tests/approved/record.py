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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
WHY = HERE / "WHY.md"
SHARED = HERE.parents[2] / "shared"

STUDIES, DOORS = "studies", "doors"

#: Modules of recordings.
MODULES = (
    *(
        "pairs",
        "plans",
        "truth",
        "training",
        "metrics",
        "outputs",
        "commands",
        "first_jobs",
        "cases",
        "formats",
        "reports",
    ),
)

#: Floating-point numbers are kept with seven digits. Two are equal within this relative difference, or if both are 0
#: but for rounding.
DIGITS = 7
RELATIVE, ABSOLUTE = 2e-6, 1e-12

#: Stands for a value that is not there.
_ABSENT = "(absent)"

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
        """The values that are kept."""
        values: Values = json.loads(self.path.read_text("utf-8"))
        return values

    def digest(self) -> str:
        """A fingerprint of the file of values, which its last line in `WHY.md` has."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()[:12]


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
    """A value as JSON has it. Columns that hold something else than numbers and names are left out of tables."""
    if isinstance(value, pd.DataFrame):
        return {str(name): _kept(column) for name, column in value.items() if _is_plain(column)}
    if isinstance(value, pd.Series):
        return [_kept(one) for one in value.tolist()]
    if isinstance(value, Mapping):
        return {str(name): _kept(one) for name, one in value.items()}
    if isinstance(value, np.ndarray):
        return _kept(value.tolist())
    if isinstance(value, list | tuple):
        return [_kept(one) for one in value]
    if isinstance(value, np.generic):
        return _kept(value.item())
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if value is pd.NA:
        return None
    raise TypeError(f"a recording holds numbers, names and tables of them, not {type(value).__name__}")


def _is_plain(column: pd.Series[Any]) -> bool:
    return all(
        value is None or value is pd.NA or isinstance(value, bool | int | float | str) for value in column.tolist()
    )


def without_sentences(value: Any) -> Any:
    """JSON without its sentences: strings that have blanks, but for names of systems, tests and the like."""
    if isinstance(value, Mapping):
        kept = {key: without_sentences(one) for key, one in value.items() if not _is_sentence(key, one)}
        return {key: one for key, one in kept.items() if one not in ({}, [])}
    if isinstance(value, list):
        rows = [without_sentences(one) for one in value if not _is_sentence("", one)]
        return _columns(rows) if len(rows) > 1 and all(isinstance(row, dict) for row in rows) else rows
    return value


def _columns(rows: list[Values]) -> Values:
    """A list of records as a table by columns, so that names are not written again in each row."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name, _ABSENT) for row in rows] for name in names}


_NAMES = re.compile(r"system|better|name|metric|test|family|group|task|domain|unit|relation|column|average")


def _is_sentence(key: str, value: Any) -> bool:
    if not isinstance(value, str):
        return False
    return " " in value and not (_NAMES.search(key) and len(value.split()) <= 4)


@dataclass(frozen=True)
class Difference:
    """A value that is not the approved one."""

    place: str
    approved: Any
    today: Any

    @property
    def size(self) -> float:
        """The relative difference of two numbers; infinite for all else."""
        a, b = self.approved, self.today
        if not (_is_number(a) and _is_number(b)):
            return math.inf
        return abs(a - b) / max(abs(a), abs(b)) if a != b else 0.0

    def __str__(self) -> str:
        approved, today = (shorten(repr(value), 80) for value in (self.approved, self.today))
        return f"{self.place}: approved {approved}, today {today}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def differences(approved: Any, today: Any, place: str = "") -> Iterator[Difference]:
    """Every place at which two recordings differ."""
    if isinstance(approved, dict) and isinstance(today, dict):
        for key in [*approved, *(key for key in today if key not in approved)]:
            yield from differences(
                approved.get(key, _ABSENT), today.get(key, _ABSENT), f"{place}/{key}" if place else key
            )
    elif isinstance(approved, list) and isinstance(today, list):
        for k in range(max(len(approved), len(today))):
            a, b = (values[k] if k < len(values) else _ABSENT for values in (approved, today))
            yield from differences(a, b, f"{place}[{k}]")
    elif not _equal(approved, today):
        yield Difference(place, approved, today)


def _equal(a: Any, b: Any) -> bool:
    if _is_number(a) and _is_number(b) and not (isinstance(a, int) and isinstance(b, int)):
        return math.isclose(a, b, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(a) is type(b) and bool(a == b)


def why_rows() -> list[tuple[str, str]]:
    """The recording and the digest of each row of `WHY.md`, in order."""
    return re.findall(r"^\| ([a-z_0-9]+) \| ([0-9a-f]{12}) \|", WHY.read_text("utf-8"), flags=re.MULTILINE)


def approve(one: Recording, why: str) -> None:
    """Store today's values, and say in `WHY.md` how they differ and why."""
    new = one.today()
    old = one.approved() if one.path.exists() else None
    changes = [] if old is None else list(differences(old, new))
    if old is not None and not changes:
        print(f"{one.name}: as approved")
        return
    one.path.parent.mkdir(exist_ok=True)
    lines = [
        f"{json.dumps(name)}: {json.dumps(value, separators=(',', ':'), ensure_ascii=False)}"
        for name, value in new.items()
    ]
    one.path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    sizes = [change.size for change in changes if math.isfinite(change.size)]
    largest = f"{max(sizes):.2g}" if sizes else ""
    what = "first recording" if old is None else f"{len(changes)} values, such as {changes[0].place}"
    row = f"| {one.name} | {one.digest()} | {datetime.now(UTC):%Y-%m-%d} | {what} | {largest} | {why} |\n"
    WHY.write_text(WHY.read_text("utf-8") + row, encoding="utf-8")
    print(f"{one.name}: {what}")


def main() -> None:
    """Compare the recordings, or store them anew."""
    parser = argparse.ArgumentParser(prog="python -m tests.approved.record", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="recordings; default: all")
    parser.add_argument("--why", help="store today's values, for this reason")
    parser.add_argument("--most", type=int, default=20, help="differences shown of each recording")
    options = parser.parse_args()
    known = load_recordings()
    if unknown := [name for name in options.names if name not in known]:
        parser.error(f"no recording is called {unknown[0]}: {', '.join(known)}")
    changed = False
    for name in options.names or known:
        started = time.perf_counter()
        if options.why:
            approve(known[name], options.why)
            continue
        changes = list(differences(known[name].approved(), known[name].today()))
        print(f"{name}: {len(changes)} differences ({time.perf_counter() - started:.1f} s)", flush=True)
        print("".join(f"  {change}\n" for change in changes[: options.most]), end="")
        changed |= bool(changes)
    sys.exit(changed)


if __name__ == "__main__":
    # Recordings register themselves with the module of this name, not with the one that runs as a script.
    import_module("tests.approved.record").main()
