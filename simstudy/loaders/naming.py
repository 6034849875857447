"""The names of systems: those that users give to files, and folders that tell files of one name apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os.path import abspath
from pathlib import Path
from typing import Any

from simstudy.validation import InputError, check_list, check_path, check_text

#: A path, or the name of a system and the path of its file.
Named = str | Path | tuple[str, str | Path]


def name_and_path(argument: Path) -> tuple[str | None, Path]:
    """What ``name=path`` says on a command line; a path that is there as it stands has no name."""
    name, equals, path = str(argument).partition("=")
    if not equals or not path or not name.strip() or argument.exists():
        return None, argument
    return name.strip(), Path(path)


def named_paths(paths: Mapping[str, str | Path] | Named | Sequence[Named]) -> list[tuple[str | None, Path]]:
    """The paths that users give, each with the name that they give to its system, or None."""
    if isinstance(paths, Mapping):
        given: list[Any] = list(paths.items())
    else:
        given = [paths] if isinstance(paths, str | Path) else paths  # type: ignore[assignment]
        check_list("paths", given, "paths, or one path")
    found: list[tuple[str | None, Path]] = []
    for one in given:
        name: Any
        name, path = one if isinstance(one, tuple) and len(one) == 2 else (None, one)
        check_path("paths", path)
        if isinstance(one, tuple):
            check_text("paths", name, "named by text")
            if not name.strip() or "\n" in name or "\r" in name:
                raise InputError(f"paths must be named by one line of text, not {name!r}")
            if any(name == known for known, _ in found):
                raise InputError(f"paths must name each system once, unlike '{name}'")
        found.append((name, Path(path)))
    return found


def folders_that_differ(paths: Sequence[Path]) -> list[str] | None:
    """A name for each file from the folders in which their paths differ; None where these do not tell them apart."""
    folders = [Path(abspath(path)).parent.parts for path in paths]
    while all(folders) and len({parts[0] for parts in folders}) == 1:
        folders = [parts[1:] for parts in folders]
    while all(folders) and len({parts[-1] for parts in folders}) == 1:
        folders = [parts[:-1] for parts in folders]
    names = ["/".join(parts) for parts in folders]
    return names if all(names) and len(set(names)) == len(names) else None
