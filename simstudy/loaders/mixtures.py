"""What must not be mixed: logs of one task that differ in more than the system."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from simstudy.notes import note
from simstudy.text.plain_text import shown
from simstudy.validation import InputError, check_choice, check_list

#: What logs of one task must have in common, and what it is.
DIFFERENCES = {
    "metric": "the number that is used as the score",
    "filter": "how the answer is read from the response",
    "scorer": "the scorer of Inspect, with its options",
    "version": "the version of the task",
    "shots": "the number of examples in the prompt",
    "input": "the question",
    "target": "the right answer",
    "prompt": "the text that the model was given",
}

# Values that a message shows; others are too long, or hashes.
_SHORT = ("metric", "filter", "scorer", "version", "shots", "target")


class OfSome(TypedDict, total=False):
    """Arguments of `simstudy.load` that are for some files only: logs of evaluation harnesses, and tables."""

    allow_different: str | Sequence[str]
    narrow: bool
    item_columns: Sequence[str]


def check_allowed(allowed: str | Sequence[str]) -> tuple[str, ...]:
    """The names in `DIFFERENCES` that are allowed; a ValueError for others."""
    if isinstance(allowed, str):
        allowed = [allowed]
    check_list("allow_different", allowed, "names, or one name")
    allowed = list(allowed)
    for name in allowed:
        check_choice("allow_different", name, tuple(DIFFERENCES))
    return tuple(dict.fromkeys(allowed))


@dataclass(frozen=True)
class _Seen:
    """A value, the file that had it first, and what else may explain another value."""

    value: str
    place: str
    setting: object


class Mixtures:
    """The differences between logs, found as they are read.

    Scores of logs that differ in `DIFFERENCES` are not comparable: the first difference is a ValueError. If it is of an
    item, `close` raises it, and says how many items differ. Differences that are allowed are counted, and `close` says
    so in one note for each kind.
    """

    def __init__(self, allowed: Sequence[str] = ()) -> None:
        self._allowed = frozenset(allowed)
        self._seen: dict[tuple[str, str, str, str], _Seen] = {}
        # Kind of difference, and whether a setting explains it -> what differs (task or item), and the first place.
        self._found: dict[tuple[str, bool], tuple[set[tuple[str, str]], str]] = {}
        # Kind and task -> how many logs have each value.
        self._logs: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        # The first difference between items: its kind and task, what to say, and the items that differ so.
        self._refused: tuple[str, str, str, set[str]] | None = None

    def check(
        self, what: str, task: str, value: Any, place: str, *, item: str = "", part: str = "", setting: object = None
    ) -> None:
        """Raise a ValueError if a log of this task (or this item of it) had another value.

        None and "" are not known, and differ from nothing. A value may have several parts, each with its own name. A
        difference between files of different settings, both known, is explained by these: it is counted like one that
        is allowed.
        """
        if value is None or value == "":
            return
        value = value if isinstance(value, str) else repr(value)
        if not item and not part:
            self._logs[what, task][value] += 1
        first = self._seen.setdefault((what, task, item, part), _Seen(value, place, setting))
        if first.value == value:
            return
        explained = setting is not None and first.setting is not None and setting != first.setting
        of = " ".join(filter(None, (f"item '{item}'" if item else "", f"of task '{task}'" if task else ""))).strip()
        of = of if item or not of else of.removeprefix("of ")
        if explained or what in self._allowed:
            places, _ = self._found.setdefault(
                (what, explained), (set(), f"{of or 'all'} in {place} and {first.place}")
            )
            places.add((task, item))
            return
        has = f"{of} has " if of else ""
        if what in _SHORT:
            differ = f"{has}{what} {shown(value)!r} here, but {shown(first.value)!r} in {first.place}"
        else:
            differ = f"{has}another {what} here than in {first.place}"
        if not item:
            raise InputError(f"{place}: {differ}{_insist(what)}")
        if self._refused is None:
            self._refused = what, task, f"{place}: {differ}", set()
        if self._refused[:2] == (what, task):
            self._refused[3].add(item)

    def close(self) -> None:
        """Say which differences were found and are no error; a ValueError has the first that is one."""
        if self._refused is not None:
            what, task, said, unlike = self._refused
            n = sum(seen[:2] == (what, task) for seen in self._seen)
            raise InputError(f"{said} ({len(unlike):,} of {n:,} items differ){_insist(what)}")
        for (what, explained), (places, first) in self._found.items():
            why = "as chat templates differ" if explained else "as you allowed"
            items = any(item for _, item in places)
            noun = ("item" if items else "task") + "s" * (len(places) != 1)
            values = ""
            counts = sum((self._logs[what, task] for task, _ in places), Counter[str]())
            if not items and what in _SHORT and len(counts) > 1:
                # First: a screen shortens notes.
                values = ", ".join(f"{shown(one)} ({n:,} log{'s' * (n != 1)})" for one, n in counts.items()) + "; "
            note(
                "text",
                text=f"logs have different values of {what}, {why}: {values}{len(places):,} {noun}, first {first}",
            )


def _insist(what: str) -> str:
    return f"; allow_different='{what}' compares such logs all the same"
