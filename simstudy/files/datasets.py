"""Public data by name: found in a folder at hand, or fetched from its address; the hash is checked either way."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pooch
from rich.filesize import decimal

from simstudy.validation import InputError, nearest

# Files that a message names.
_NAMED = 5


class DataError(InputError):
    """A data file is missing, unknown or not the one that was published."""


class NotPublicError(DataError):
    """Files, ``<data set>/<file>`` each, that have no public address are in no folder at hand."""

    def __init__(self, names: list[str], folder: Path | None = None) -> None:
        self.names, self.folder = names, folder
        one = len(names) == 1
        shown = [*names[:_NAMED], *([f"{len(names) - _NAMED} more"] if len(names) > _NAMED else [])]
        listed = names[0] if one else f"{', '.join(shown[:-1])} and {shown[-1]}"
        looked = ""
        if folder and not folder.is_dir():
            looked = f"there is no folder {folder}, and "
        elif folder:
            looked = f"{folder / listed} is missing, and " if one else f"{folder} lacks files, and "
        must = "data_dir (--data-dir) or SIMSTUDY_DATA_DIR must name a folder that holds"
        super().__init__(
            "", f"{looked}{listed} {'has' if one else 'have'} no public address: {must} {'it' if one else 'them'}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return NotPublicError, (self.names, self.folder)


class OutsideError(DataError):
    """Names of data files that lead out of the folder of data files."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        data_file, it = ("a data file", "it") if len(names) == 1 else ("data files", "them")
        listed = ", ".join(f"'{name}'" for name in names)
        super().__init__(
            "",
            f"{data_file} must be named as <folder>/<file> in the folder of data, not {listed}; allow_outside "
            f"(--allow-outside) lets {it} be read",
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return OutsideError, (self.names,)


@dataclass(frozen=True)
class DataFile:
    """A file of data that a cell reads, known by its content.

    Parameters
    ----------
    path
        Where the file is on this machine.
    sha256
        The SHA-256 of its content, in hexadecimal digits.

    Examples
    --------
    >>> here, there = DataFile(Path("here/scores.csv"), "2c26b4"), DataFile(Path("there/copy.csv"), "2c26b4")
    >>> here.fingerprint() == there.fingerprint()
    True
    """

    path: Path
    sha256: str

    @classmethod
    def of(cls, path: Path) -> DataFile:
        """The file at this path, with the SHA-256 of its content."""
        return cls(path, pooch.file_hash(str(path), alg="sha256"))

    def fingerprint(self) -> str:
        """The SHA-256 of the content: the path is not part of it."""
        return self.sha256


@dataclass(frozen=True)
class PublicFile:
    """One public file: ``<data set>/<file>``, its size in bytes, SHA-256 and address."""

    name: str
    size: int
    sha256: str
    url: str


@dataclass(frozen=True)
class DataSet:
    """Public files that belong together: what they are, and the licence as their publisher states it."""

    name: str
    what: str
    licence: str
    files: tuple[PublicFile, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)


@cache
def datasets() -> dict[str, DataSet]:
    """All data sets that can be had by name: the table datasets.toml."""
    with resources.files("simstudy.files").joinpath("datasets.toml").open("rb") as table:
        rows = tomllib.load(table)
    return {
        name: DataSet(
            name,
            row["what"],
            row["licence"],
            tuple(
                PublicFile(f"{name}/{file}", entry["bytes"], entry["sha256"], row["base"] + entry.get("path", file))
                for file, entry in row["files"].items()
            ),
        )
        for name, row in rows.items()
    }


def registry() -> dict[str, PublicFile]:
    """All files that can be had by name."""
    return {file.name: file for dataset in datasets().values() for file in dataset.files}


def folder_at_hand(data_dir: str | Path | None = None) -> Path | None:
    """The folder that is used instead of the network: `data_dir`, or else SIMSTUDY_DATA_DIR, or else none."""
    folder = data_dir or os.environ.get("SIMSTUDY_DATA_DIR")
    return Path(folder) if folder else None


def cache_folder() -> Path:
    """The user's folder in which downloaded files are kept."""
    return Path(pooch.os_cache("simstudy"))


def fetch(name: str, data_dir: str | Path | None = None) -> Path:
    """The path of a public file, ``<data set>/<file>``: `fetch_each` of one."""
    return fetch_each([name], data_dir)[name]


def fetch_all(name: str, data_dir: str | Path | None = None) -> list[Path]:
    """The paths of a data set's files, in the table's order, or of a single file: `fetch_each` of them."""
    known = {**datasets(), **registry()}
    if name not in known:
        raise DataError(f"no data set and no data file is called '{name}'{nearest(name, known)}")
    files = [file.name for file in datasets()[name].files] if name in datasets() else [name]
    return list(fetch_each(files, data_dir).values())


def fetch_each(names: Iterable[str], data_dir: str | Path | None = None) -> dict[str, Path]:
    """The paths of public files by name, ``<data set>/<file>``.

    The folder `data_dir` (by default SIMSTUDY_DATA_DIR, if set) is laid out as ``<data set>/<file>`` and is used
    instead of the network. Otherwise each file is downloaded once, to the user's cache folder; standard error says so.
    What was downloaded before a stop or an error is kept. A DataError if a name is unknown, the folder lacks files (it
    names all of them), a file cannot be downloaded, or its bytes are not the published ones.
    """
    known, folder, wanted = registry(), folder_at_hand(data_dir), list(dict.fromkeys(names))
    unknown = [f"no data file is called '{name}'{nearest(name, known)}" for name in wanted if name not in known]
    lacking = [name for name in wanted if folder and name in known and not (folder / name).is_file()]
    if folder and lacking:
        sets = dict.fromkeys(name.split("/")[0] for name in lacking)
        lacks = f"{folder} lacks {', '.join(lacking)}" if folder.is_dir() else f"there is no folder {folder}"
        unknown.insert(
            0,
            f"{lacks}, which data_dir (--data-dir) or SIMSTUDY_DATA_DIR names; without either, "
            f"{' and '.join(f'`simstudy data fetch {name}`' for name in sets)} will do",
        )
    if unknown:
        raise DataError("; ".join(unknown))
    return {name: _verified(known[name], folder) if folder else _downloaded(known[name]) for name in wanted}


def _verified(file: PublicFile, folder: Path) -> Path:
    path = folder / file.name
    if pooch.file_hash(str(path), alg="sha256") != file.sha256:
        raise DataError(f"{path} is not the published file: its SHA-256 is not {file.sha256}")
    return path


def _downloaded(file: PublicFile) -> Path:
    def download(url: str, output: str, caller: object) -> None:
        print(f"fetching {file.name} ({decimal(file.size)})", file=sys.stderr)
        pooch.HTTPDownloader()(url, output, caller)

    # Our line says which file and how large; pooch's own would say the same again, with two long paths.
    pooch.get_logger().setLevel("WARNING")
    public = pooch.create(
        cache_folder(), base_url="", registry={file.name: f"sha256:{file.sha256}"}, urls={file.name: file.url}
    )
    try:
        return Path(public.fetch(file.name, downloader=download))
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise DataError(
            f"could not fetch {file.name} from {file.url} ({reason}); download it yourself and set data_dir "
            f"(--data-dir) or SIMSTUDY_DATA_DIR to a folder that holds it as {file.name}"
        ) from error


def find(name: str, data_dir: str | Path | None = None, *, allow_outside: bool = False) -> Path:
    """The path of a file that need not be public: `fetch` of one in the registry, any other from a folder at hand.

    There is no hash to check the others against. A DataError also where the name leads out of that folder, as an
    absolute path, by "..", or by a link, unless `allow_outside`.
    """
    if name in registry():
        return fetch(name, data_dir)
    folder = folder_at_hand(data_dir)
    if not allow_outside:
        _check_inside(name, folder)
    if folder is not None and (folder / name).is_file():
        return folder / name
    raise NotPublicError([name], folder)


def beside(name: str, home: Path, *, allow_outside: bool = False) -> list[Path]:
    """The file of this name in a study's own folder, or all files below that folder; none where there is no such name.

    Hidden files are left out. A DataError where the name leads out of the study's folder, unless `allow_outside`.
    """
    path = home / name
    if not (path.is_file() or path.is_dir()):
        return []
    if not allow_outside:
        _check_inside(name, home)
    return [path] if path.is_file() else [path / inside for inside in sorted(_visible(path))]


def _visible(folder: Path) -> list[Path]:
    """The files below a folder, by their paths in it, without hidden ones and SOURCE.md."""
    below = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    return [path for path in below if not any(part.startswith(".") for part in path.parts) and path.name != "SOURCE.md"]


def find_folder(name: str, data_dir: str | Path | None = None, *, allow_outside: bool = False) -> list[Path]:
    """The paths of all files below a folder, ``<data set>/<folder>`` or a data set, sorted by name: `find` of each.

    In a folder at hand these are the files that are there, without hidden ones and SOURCE.md; else the registry's. A
    DataError where there are none.
    """
    folder = folder_at_hand(data_dir)
    if not allow_outside:
        _check_inside(name, folder)
    name = name.rstrip("/")
    if folder is None:
        names = [file for file in registry() if file.startswith(f"{name}/")]
    else:
        names = [f"{name}/{path.as_posix()}" for path in _visible(folder / name)]
    if names:
        return [find(file, data_dir, allow_outside=allow_outside) for file in sorted(names)]
    if folder is not None and (folder / name).is_dir():
        raise DataError(f"{folder / name} has no files")
    raise NotPublicError([name], folder)


def _check_inside(name: str, folder: Path | None) -> None:
    """Raise a DataError where a name that a study gives leads out of the folder of data files."""
    if not name.strip("/") or "\0" in name:
        raise DataError(f"a data file must be named as <folder>/<file>, not {name!r}")
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise OutsideError([name])
    if folder is not None and not (folder / name).resolve().is_relative_to(folder.resolve()):
        lifts = "allow_outside (--allow-outside) lets it be read"
        raise DataError(f"{folder / name} is a link that leads out of {folder}; {lifts}")
