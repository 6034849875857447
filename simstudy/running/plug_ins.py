"""What other packages add: objects that entry points name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol, TypeVar

from simstudy.validation import InputError


class _Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=_Named)


class Registry(Mapping[str, T]):
    """Name -> object: those of simstudy, then those of other packages, which are loaded when they are asked for.

    Other packages' are of one kind, and have no name that is `taken`.
    """

    def __init__(self, shipped: Mapping[str, T], group: str, kind: type[T], taken: Iterable[str]) -> None:
        self._shipped, self._group, self._kind, self._taken = dict(shipped), group, kind, tuple(taken)

    def __getitem__(self, name: str) -> T:
        return self._shipped[name] if name in self._shipped else self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, T]:
        return self._shipped | plug_ins(self._group, self._kind, self._taken)


@cache
def plug_ins(group: str, kind: type[T], taken: tuple[str, ...] = ()) -> dict[str, T]:
    """The objects of a group of entry points by their names, each of one kind; no name may be taken.

    An InputError says which package's entry point is wrong.
    """
    return loaded_objects(entry_points(group=group), kind, taken)


def loaded_objects(entries: Iterable[EntryPoint], kind: type[T], taken: Iterable[str] = ()) -> dict[str, T]:
    """The objects that entry points name, by their names."""
    loaded: dict[str, T] = {}
    for entry in entries:
        origin = f"of package {entry.dist.name} " if entry.dist else ""
        try:
            plug_in = entry.load()
        except Exception as error:
            # A package of somebody else may fail in any way.
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise InputError(f"entry point '{entry.name}' {origin}cannot be loaded: {reason}") from error
        if not isinstance(plug_in, kind) or plug_in.name != entry.name or entry.name in {*loaded, *taken}:
            rule = f"must be a {kind.__name__} of this name, which no other has"
            raise InputError(f"entry point '{entry.name}' {origin}{rule}")
        loaded[entry.name] = plug_in
    return loaded
