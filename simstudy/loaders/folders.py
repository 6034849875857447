"""Which files are read: folders opened, the format that the files are of, and those of a folder that are of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TypeVar

from simstudy.files.unpacking import files_in, plain_name
from simstudy.loaders.base import Loaded, Source
from simstudy.loaders.json_files import first_keys
from simstudy.loaders.reading import require_file
from simstudy.loaders.tables import JSON
from simstudy.notes import note
from simstudy.text.numerals import counted
from simstudy.validation import InputError

T = TypeVar("T")

_JSON = tuple(f"*{ending}" for ending in JSON)

# Files that say what a folder is.
_ABOUT = re.compile(r"(?:readme|licen[cs]e|copying|notice|changelog)(?:\.\w+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Format:
    """A format of system outputs.

    Its files are known by patterns of their names, packed (.gz) or not, or else by the metrics that no other format of
    files without such names has; "@" stands for precision@n and the like. Formats that share names of files (.json) say
    by `holds` whether a file is theirs; the last of them takes what no other does.
    """

    what: str
    read: Callable[[Source], Loaded]
    files: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    holds: Callable[[Path], bool] | None = None
    #: Where files say themselves what is right, so that nothing is compared with gold answers: what to say of it.
    scored: str = ""
    #: Whether an evaluation harness writes it, and patterns of its other files, of which no note tells.
    is_log: bool = False
    beside: tuple[str, ...] = ()

    def has(self, file: Path) -> bool:
        """Whether a file is of this format."""
        return _matches(file, self.files) and (self.holds is None or self.holds(file))

    def names(self, file: Path) -> bool:
        """Whether a file has the name that only this format's files have: the first of its patterns."""
        return self.holds is not None and _matches(file, self.files[:1]) and self.holds(file)


def opened(
    paths: Sequence[tuple[str | None, Path]], formats: Collection[Format]
) -> tuple[dict[Path, str | None], frozenset[Path]]:
    """The files with the names of their systems, folders opened, and those of the files that came from folders.

    A zip file is a folder of all files in it. Of other folders `files_to_read` says which files are read.
    """
    files: dict[Path, str | None] = {}
    inside: list[Path] = []
    left: dict[Path, list[Path]] = {}
    for name, path in paths:
        if path.is_dir():
            every = sorted(one for one in path.rglob("*") if one.is_file() and not one.name.startswith("."))
            if not every:
                raise InputError(f"folder {path} has no files")
            own, left[path] = files_to_read(path, _outputs(every), formats)
            found = [one for file in own for one in _unzipped(file)]
            inside += found
        else:
            found = _unzipped(path)
        if twice := [file for file in found if file in files]:
            raise InputError(f"{twice[0]} is given twice")
        files |= dict.fromkeys(found, name)
    if not files:
        raise InputError("paths must name at least one file or folder of system outputs")
    for folder, below in left.items():
        if not_read := [file for file in below if file not in files]:
            note("text", text=left_below(folder, not_read))
    return files, frozenset(inside)


def _outputs(files: Sequence[Path]) -> list[Path]:
    """The files of a folder or zip file without READMEs and licences, if no other has their ending; a note says so."""
    about = [file for file in files if _ABOUT.fullmatch(file.name)]
    endings = {file.suffix.lower() for file in files if file not in about}
    left = [file for file in about if endings and file.suffix.lower() not in endings]
    if left:
        note("text", text=f"{counted(len(left), 'file')} not read as outputs: {', '.join(map(str, left))}")
    return [file for file in files if file not in left]


def files_to_read(folder: Path, every: Sequence[Path], formats: Collection[Format]) -> tuple[list[Path], list[Path]]:
    """The files that are read of all files below a folder (`every`), which are those in it, and the others.

    They are those of its subfolders too if it has none of its own, or if only its subfolders have logs of a harness.
    """
    own = [file for file in every if file.parent == folder]
    logs = [file for file in every if any(one.is_log and one.names(file) for one in formats)]
    if not own or (logs and not set(logs) & set(own)):
        return [*every], []
    return own, [file for file in every if file.parent != folder]


def left_below(folder: Path, files: Sequence[Path]) -> str:
    """What a note says of files in subfolders that are not read."""
    return (
        f"{counted(len(files), 'file')} in subfolders of {folder} not read, because the folder has files of its own: "
        f"{files[0]}{' …' if len(files) > 1 else ''}"
    )


def without_others(
    files: Mapping[Path, T], inside: Collection[Path], others: Mapping[str, Sequence[Path]]
) -> dict[Path, T]:
    """The files without those of folders (`inside`) that another argument names: these are no systems' outputs.

    `others` has the files by the arguments that name them. A note tells which are left out.
    """
    known = {path.resolve(): argument for argument, paths in others.items() for path in paths}
    kept: dict[Path, T] = {}
    for file, value in files.items():
        if file in inside and file.resolve() in known:
            note("text", text=f"{file} is not read as a system: it is given as {known[file.resolve()]}")
        else:
            kept[file] = value
    return kept


def format_of(source: Source, formats: Mapping[str, Format], default: str, inside: frozenset[Path]) -> str:
    """The name of the format that the files are of; `default` if their names do not tell.

    Logs that have a name of their own decide. Files of JSON without such a name, beside others, do not: a table of
    scores may lie beside the texts that were scored.
    """
    for name, one in formats.items():
        if one.is_log and any(map(one.names, source.paths)):
            return name
    plain = [file for file in source.paths if not _matches(file, _JSON)]
    known = {file: next((name for name, one in formats.items() if one.has(file)), None) for file in source.paths}
    of = {known[file] for file in plain or source.paths}
    chosen = next((name for name in formats if name in of), default)
    if plain:
        # JSON that was named is meant, and so are logs. Other JSON in a folder is left aside by `files_of`.
        others = [file for file in source.paths if _matches(file, _JSON) and known[file] != chosen]
        logs = [] if source.references else [name for name, one in formats.items() if one.is_log]
        meant = [file for file in others if file not in inside or known[file] in logs]
        if meant:
            what = formats[str(known[meant[0]])].what if known[meant[0]] else "JSON"
            raise InputError(
                f"files of two kinds: {len(plain):,} such as {plain[0]}, and {len(meant):,} such as {meant[0]} "
                f"({what}); give one kind, or say by format= what they are"
            )
    return chosen


def files_of(files: Sequence[Path], own: Format, inside: frozenset[Path]) -> tuple[Path, ...]:
    """The files that are read as this format: what was named, and of folders what is of the format.

    A note tells of others, unless the harness writes them beside its logs.
    """
    if own.is_log:
        kept = [file for file in files if own.has(file)]
        if not kept:
            # The reader says what is wrong with them.
            return tuple(file for file in files if _matches(file, own.files)) or tuple(files)
        beside = {file for file in files if file not in kept and _matches(file, own.beside)}
        # One that is damaged is left to the reader, which says so.
        anonymous = not any(_matches(file, own.files[:1]) for file in kept)
        damaged = {file for file in files if anonymous and _matches(file, own.files) and not first_keys(file)}
        meant = {file for file in files if file not in beside and (file not in inside or file in damaged)}
        kept = [file for file in files if file in kept or file in meant or _matches(file, own.files[:1])]
    else:
        # Files of JSON in a folder of others: scores, settings.
        kept = [file for file in files if file not in inside or not _matches(file, _JSON) or own.has(file)]
        takes_json = any(fnmatch(pattern, json) for pattern in own.files for json in _JSON)
        if not kept or own.holds is not None or takes_json:
            return tuple(files)
        beside = set()
    left = [file for file in files if file not in kept and file not in beside]
    if left:
        note(
            "text",
            text=f"{counted(len(left), 'file')} not read, not {own.what}: {left[0]}{' …' if len(left) > 1 else ''}",
        )
    return tuple(kept)


def _unzipped(path: Path) -> list[Path]:
    """The files of outputs in a zip file, or the file itself."""
    require_file(path)
    if path.suffix.lower() != ".zip":
        return [path]
    if not (found := files_in(path)):
        raise InputError(f"{path} has no files")
    return _outputs(found)


def _matches(file: Path, patterns: Sequence[str]) -> bool:
    return any(fnmatch(plain_name(file).lower(), pattern) for pattern in patterns)
