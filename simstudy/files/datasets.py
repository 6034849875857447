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

import pooch
from rich.filesize import decimal

from simstudy.notes import Argument, Words
from simstudy.validation import InputError, nearest

#: The environment variable that names a folder of data files.
VARIABLE = "SIMSTUDY_DATA_DIR"

# Missing files that a message names.
_NAMED = 5


class DataError(InputError):
    """A data file, whose name is `at`, is missing, unknown or not the one that was published."""


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
    folder = data_dir or os.environ.get(VARIABLE)
    return Path(folder) if folder else None


def cache_folder() -> Path:
    """The user's folder in which downloaded files are kept."""
    return Path(pooch.os_cache("simstudy"))


def fetch(name: str, data_dir: str | Path | None = None) -> Path:
    """The path of a public file, ``<data set>/<file>``: `fetch_each` of one."""
    return fetch_each([name], data_dir)[name]


def fetch_all(name: str, data_dir: str | Path | None = None) -> list[Path]:
    """The paths of a data set's files, in the table's order, or of a single file: `fetch_each` of them."""
    if name in datasets():
        return list(fetch_each([file.name for file in datasets()[name].files], data_dir).values())
    names = {**datasets(), **registry()}
    if name not in names:
        raise DataError(f"no data set and no data file is called '{name}'", remedy=nearest(name, names))
    return [fetch(name, data_dir)]


def fetch_each(names: Iterable[str], data_dir: str | Path | None = None) -> dict[str, Path]:
    """The paths of public files by name, ``<data set>/<file>``.

    The folder `data_dir` (by default SIMSTUDY_DATA_DIR, if set) is laid out as ``<data set>/<file>`` and is used
    instead of the network. Otherwise each file is downloaded once, to the user's cache folder; standard error says so.
    What was downloaded before a stop or an error is kept. A DataError if a name is unknown, the folder lacks files, a
    file cannot be downloaded, or its bytes are not the published ones.
    """
    files, folder, wanted = registry(), folder_at_hand(data_dir), list(dict.fromkeys(names))
    for name in wanted:
        if name not in files:
            raise DataError(f"no data file is called '{name}'", remedy=nearest(name, files))
    if folder is None:
        return {name: _downloaded(files[name]) for name in wanted}
    if missing := [name for name in wanted if not (folder / name).is_file()]:
        raise _missing(missing, folder)
    for name in wanted:
        if pooch.file_hash(str(folder / name), alg="sha256") != files[name].sha256:
            raise DataError(f"{folder / name} is not the published file: its SHA-256 is not {files[name].sha256}")
    return {name: folder / name for name in wanted}


def _missing(names: list[str], folder: Path | None) -> DataError:
    """The error of data files that a folder lacks: all of them are public, or none is."""
    rule = ""
    if folder is not None:
        rule = f"no such file in {folder}" if folder.is_dir() else f"there is no folder {folder}"
    remedy = "without {data_dir} and {variable} public files are downloaded"
    if names[0] not in registry():
        rule += f"{', and ' if rule else ''}no public address"
        remedy = "{data_dir} or {variable} must name a folder that has such files"
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    words = Words(remedy, data_dir=Argument("data_dir"), variable=VARIABLE)
    return DataError(rule, remedy=words, at=", ".join(names[:_NAMED]) + more)


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
        remedy = "download it yourself to a folder that {data_dir} or {variable} names, as {file}"
        raise DataError(
            f"could not fetch {file.name} from {file.url} ({reason})",
            remedy=Words(remedy, data_dir=Argument("data_dir"), variable=VARIABLE, file=file.name),
        ) from error


def find(name: str, data_dir: str | Path | None = None, *, allow_outside: bool = False) -> Path:
    """The path of a file that need not be public: `find_all` of a name that is no folder's."""
    path, *others = find_all(name, data_dir, allow_outside=allow_outside)
    if others or path.name != Path(name).name:
        raise DataError("a folder, and no file", at=name)
    return path


def find_all(
    name: str, data_dir: str | Path | None = None, home: Path | None = None, *, allow_outside: bool = False
) -> list[Path]:
    """The paths of a file, or of all files below a folder, sorted by name; they need not be public.

    They come from a study's own folder (`home`), else from the folder at hand, else from their public addresses. Hidden
    files and SOURCE.md are left out. A DataError where there are none, where a public file at hand has another hash, or
    where a name leads out of its folder, as an absolute path, by "..", or by a link, unless `allow_outside`.
    """
    public, data = registry(), folder_at_hand(data_dir)
    # A file whose hash is checked may be a link to anywhere.
    for folder, checked in ((home, {}), (data, public)):
        if folder is None:
            continue
        if not allow_outside and name not in checked:
            _check_inside(name, folder)
        files = _files_in(folder, name)
        for file in files:
            if not allow_outside and file not in checked:
                _check_inside(file, folder)
        if files:
            return [fetch(file, data) if file in checked else path for file, path in files.items()]
    names = sorted(file for file in public if file == name or file.startswith(f"{name.rstrip('/')}/"))
    if names and data is None:
        return [*fetch_each(names).values()]
    raise _missing([name], data or home)


def _files_in(folder: Path, name: str) -> dict[str, Path]:
    """The file of this name in a folder, or all files below the folder of this name, by their names, sorted."""
    path = folder / name
    if path.is_file():
        return {Path(name).as_posix(): path}
    files: dict[str, Path] = {}
    for file in path.rglob("*"):
        inside = file.relative_to(path)
        hidden = any(part.startswith(".") for part in inside.parts)
        if file.is_file() and not hidden and file.name != "SOURCE.md":
            files[Path(name, inside).as_posix()] = file
    return dict(sorted(files.items()))


def _check_inside(name: str, folder: Path) -> None:
    """Raise a DataError where the name of a data file leads out of a folder."""
    path = Path(name)
    is_plain = name and "\0" not in name and not path.is_absolute() and ".." not in path.parts
    if not is_plain or not (folder / path).resolve().is_relative_to(folder.resolve()):
        remedy = Words("{allow_outside} lets it be read", allow_outside=Argument("allow_outside", True))
        raise DataError(f"not inside {folder}, or a link that leads out of it", remedy=remedy, at=repr(name))
