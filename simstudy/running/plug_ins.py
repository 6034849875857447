"""What other packages add: objects that entry points name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol, TypeVar

from simstudy.validation import InputError


class _Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=_Named)


class Registry(Mapping[str, T]):
    """Name -> object: those of simstudy, then those of other packages, each loaded when it is asked for by name.

    Parameters
    ----------
    shipped
        The objects of simstudy.
    group
        The group of entry points of other packages.
    kind
        What their objects are.
    taken
        Whether a name is, or means, something of simstudy.
    """

    def __init__(self, shipped: Mapping[str, T], group: str, kind: type[T], taken: Callable[[str], bool]) -> None:
        self._shipped, self._group, self._kind, self._taken = dict(shipped), group, kind, taken

    def __getitem__(self, name: str) -> T:
        return self._shipped[name] if name in self._shipped else load_plug_in(self._entries(name)[name], self._kind)

    def __contains__(self, name: object) -> bool:
        return name in self._shipped or (isinstance(name, str) and name in self._entries(name))

    def __iter__(self) -> Iterator[str]:
        return iter([*self._shipped, *self._entries()])

    def __len__(self) -> int:
        return len(self._shipped) + len(self._entries())

    def _entries(self, name: str | None = None) -> dict[str, EntryPoint]:
        """Entry points by name, all or those of one name; an InputError says which may not have its name."""
        entries = installed_entries(self._group)
        return usable_entries([entry for entry in entries if name in (None, entry.name)], self._taken)


@cache
def installed_entries(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of a group, of all packages that are installed."""
    return tuple(entry_points(group=group))


def usable_entries(entries: Iterable[EntryPoint], taken: Callable[[str], bool]) -> dict[str, EntryPoint]:
    """Entry points by their names, which simstudy does not use and which differ."""
    named: dict[str, EntryPoint] = {}
    for entry in entries:
        if taken(entry.name):
            raise InputError(f"{_told(entry)} must have another name: simstudy has '{entry.name}'")
        if entry.name in named:
            raise InputError(f"{_told(entry)} must have another name: {_told(named[entry.name])} has it too")
        named[entry.name] = entry
    return named


def load_plug_in(entry: EntryPoint, kind: type[T]) -> T:
    """The object that an entry point names; an InputError says what is wrong with it."""
    try:
        plug_in = entry.load()
    except Exception as error:
        # A package of somebody else may fail in any way.
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"{_told(entry)} cannot be loaded: {reason}") from error
    if not isinstance(plug_in, kind):
        raise InputError(f"{_told(entry)} must be a {kind.__name__}, not {type(plug_in).__name__}")
    if plug_in.name != entry.name:
        raise InputError(f"{_told(entry)} must name a {kind.__name__} of this name, not '{plug_in.name}'")
    return plug_in


def _told(entry: EntryPoint) -> str:
    return f"entry point '{entry.name}'" + (f" of package {entry.dist.name}" if entry.dist else "")
