"""The file that keeps the looks of gates that are asked again and again.

Two rules. *Sequential*: a test set grows, and the same two systems are compared after every batch of items. Their test
may be asked at any time; the file sees to it that earlier items stay what they were. *Spending*: every look asks a new
question, such as another system on the same test set. The looks share the level: look k may use alpha / (k (k + 1)), or
alpha / N of N planned looks, so that the levels add up to alpha at most. A look that shows its claim hands its level on
to the next one (online fallback; Tian and Ramdas 2021). The probability of any false claim in all looks is then at most
alpha, however the looks depend on each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from simstudy.comparisons.arrivals import Arrivals
from simstudy.files.whole import atomic_path
from simstudy.gates.asked import Gate
from simstudy.gates.sequential import fingerprint
from simstudy.gates.verdicts import Look, Verdict
from simstudy.text.plain_text import json_text, shown
from simstudy.validation import InputError

#: The kind of the file, and the version of its fields.
SCHEMA: Final = "simstudy-looks"
VERSION: Final = 1

#: The two rules.
SEQUENTIAL: Final = "sequential"
SPENDING: Final = "spending"

# Seconds to wait for another process that writes to the file.
_PATIENCE = 60

Fraction = Annotated[float, Field(ge=0, le=1)]


class _Fields(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Schema(_Fields):
    """Which kind of file this is."""

    name: Literal["simstudy-looks"] = SCHEMA
    version: Literal[1] = VERSION


class Plan(_Fields):
    """The settings that all looks of a file share; they must not change once somebody has looked."""

    rule: Literal["sequential", "spending"]
    alpha: Annotated[float, Field(gt=0, lt=1)]
    planned_looks: Annotated[int, Field(gt=0)] | None
    #: Options that decide what is tested and how.
    settings: dict[str, Any]


class Part(_Fields):
    """One comparison of a look."""

    of: str
    n_units: Annotated[int, Field(ge=0)]
    p_value: Fraction | None
    e_value: Annotated[float, Field(ge=0)] | None
    #: A hash of the units in their order; "" where they do not count.
    units: str


class Kept(_Fields):
    """One look."""

    number: Annotated[int, Field(gt=0)]
    date: str
    gate: str
    system: str
    other: str
    margin: float | None
    inputs: str
    level: Fraction
    claimed: bool
    passed: bool
    parts: list[Part]


class _File(_Fields):
    schema_: Schema = Field(alias="schema")
    plan: Plan
    looks: list[Kept]


@dataclass
class Looks:
    """The looks of a file, which this process alone may add to."""

    path: Path
    plan: Plan
    kept: list[Kept]
    changed: bool = False

    def __post_init__(self) -> None:
        #: The systems of the looks that earlier calls kept.
        self.pairs = [{one.system, one.other} for one in self.kept]

    def ask(self, inputs: str) -> Look:
        """The look at these inputs: the one that the file has, or the next one with its level.

        A ValueError says that all planned looks are used.
        """
        name, alpha = self.path.name, self.plan.alpha
        for one in self.kept:
            if one.inputs == inputs:
                return Look(name, one.number, one.level, alpha, again=True)
        number = len(self.kept) + 1
        level = alpha if self.plan.rule == SEQUENTIAL else self._share(number)
        if level == 0:
            raise InputError(
                f"all {self.plan.planned_looks} planned looks are used, and with them the level; more looks need a "
                "new file and new items",
                at=self.path,
            )
        return Look(name, number, level, alpha, again=False)

    def _share(self, number: int) -> float:
        planned, alpha = self.plan.planned_looks, self.plan.alpha
        own = alpha / (number * (number + 1)) if planned is None else alpha / planned if number <= planned else 0.0
        last = self.kept[-1] if self.kept else None
        return own + (last.level if last is not None and last.claimed else 0.0)

    def check_units(self, gate: Gate, of: str, arrived: Arrivals) -> None:
        """Raise a ValueError for other systems than those of earlier calls, and where their first units changed.

        Each further pair of systems would have the whole level.
        """
        if self.pairs and {gate.a, gate.b} not in self.pairs:
            begun = " and ".join(f"'{shown(name)}'" for name in sorted(self.pairs[0]))
            raise InputError(
                f"begun with the systems {begun}, not '{shown(gate.a)}' and '{shown(gate.b)}': --sequential is for "
                "more items of the same systems; other systems need a file of their own",
                at=self.path,
            )
        for one in self.kept:
            for part in one.parts:
                if (one.system, one.other) not in ((gate.a, gate.b), (gate.b, gate.a)) or part.of != of:
                    continue
                n = part.n_units
                turned = arrived if one.system == gate.a else arrived.turned()
                if n > len(arrived.ids):
                    raise InputError(
                        f"look {one.number} saw {n:,} units, and now there are {len(arrived.ids):,}: a sequential "
                        "test must keep all items",
                        at=self.path,
                    )
                if fingerprint(turned, n) != part.units:
                    raise InputError(
                        f"the first {n:,} units are not those of look {one.number}: new items must come last, and "
                        "other systems or changed scores need a file of their own",
                        at=self.path,
                    )

    def keep(self, verdict: Verdict, inputs: str) -> None:
        """Add a look; one that is there already is not counted again."""
        gate, look = verdict.gate, verdict.look
        assert look is not None
        if look.again:
            return
        self.changed = True
        self.kept.append(
            Kept(
                number=look.number, date=datetime.now(UTC).isoformat("T", "seconds"), gate=gate.kind.name,
                system=gate.a, other=gate.b, margin=gate.margin, inputs=inputs, level=look.level,
                claimed=verdict.claimed, passed=verdict.passed,
                parts=[
                    Part(
                        of=one.of, n_units=one.n_units, p_value=None if one.p_value != one.p_value else one.p_value,
                        e_value=one.e_value, units=one.units,
                    )
                    for one in verdict.findings
                ],
            )
        )  # fmt: skip


@contextmanager
def looks_file(path: Path, plan: Plan) -> Iterator[Looks]:
    """The looks of a file, locked; what was added is written when the block ends well.

    A ValueError says that the file is none of looks, that it was begun with another plan, or that another process
    holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path.with_name(f".{path.name}.lock"))
    try:
        lock.acquire(timeout=_PATIENCE)
    except Timeout:
        raise InputError(f"another process has held it for {_PATIENCE} seconds", at=path) from None
    except OSError as error:
        raise InputError(f"can not write there ({error.strerror})", at=path) from None
    try:
        looks = Looks(path, plan, read_looks(path, plan))
        yield looks
        if looks.changed:
            _write(looks)
    finally:
        # The file of the lock stays: a process that waits for it would otherwise hold a file that nobody else sees.
        lock.release()


def read_looks(path: Path, plan: Plan) -> list[Kept]:
    """The looks of a file, none where there is no file; ValueErrors as those of `looks_file`."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except UnicodeDecodeError:
        raise InputError("not a file of looks (it is not UTF-8)", at=path) from None
    try:
        content = _File.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"not a file of looks ({where and where + ': '}{first['msg']})", at=path) from None
    if [one.number for one in content.looks] != list(range(1, len(content.looks) + 1)):
        raise InputError("looks", "must be numbered 1, 2, 3, …", at=path)
    _check_plan(path, content.plan, plan)
    return content.looks


def _check_plan(path: Path, begun: Plan, asked: Plan) -> None:
    both = [{**plan.model_dump(exclude={"settings"}), **plan.settings} for plan in (begun, asked)]
    for name in dict.fromkeys([*both[0], *both[1]]):
        old, new = (one.get(name) for one in both)
        if old != new:
            raise InputError(
                f"begun {_given(name, old)}, not {_given(name, new)}: a plan must not change once somebody has "
                "looked; another plan needs a new file and new items",
                at=path,
            )


def _write(looks: Looks) -> None:
    content = _File(schema=Schema(), plan=looks.plan, looks=looks.kept).model_dump(by_alias=True)
    with atomic_path(looks.path) as temporary:
        text = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False)
        temporary.write_text(json_text(text) + "\n", encoding="utf-8")


def _given(name: str, value: object) -> str:
    """A setting as its option was given."""
    if name == "rule":
        return f"{'with' if value == SEQUENTIAL else 'without'} --sequential"
    option = f"--{name.replace('_', '-')}"
    if value is None:
        return f"without {option}"
    return f"with {option} {shown(', '.join(map(str, value)) if isinstance(value, list) else value)}"
