"""Public data by name: found in a folder at hand, or fetched from its address; the hash is checked either way."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import pooch


class DataError(ValueError):
    """A data file is missing, unknown or not the one that was published."""


@dataclass(frozen=True)
class DataFile:
    """One public file: ``<folder>/<file>``, its size in bytes, SHA-256 and address."""

    name: str
    size: int
    sha256: str
    url: str


@cache
def registry() -> dict[str, DataFile]:
    """All files that can be had by name.

    Examples
    --------
    >>> registry()["ud_english_ewt/en_ewt-ud-test.conllu"].size
    1804515
    """
    with files("simstudy").joinpath("datasets.csv").open(encoding="utf-8") as table:
        rows = [DataFile(row["file"], int(row["bytes"]), row["sha256"], row["url"]) for row in csv.DictReader(table)]
    return {row.name: row for row in rows}


def fetch(name: str, data_dir: str | Path | None = None) -> Path:
    """The path of a public file.

    Parameters
    ----------
    name
        ``<folder>/<file>`` in the registry.
    data_dir
        A folder laid out as ``<folder>/<file>``, used instead of the network; by default the environment variable
        SIMSTUDY_DATA_DIR, where set. Otherwise the file is downloaded once, to the user's cache folder.

    Raises
    ------
    DataError
        Where the name is unknown, the file is not in the folder, it cannot be downloaded, or its bytes are not
        the published ones.
    """
    if name not in registry():
        raise DataError(f"no data file is called '{name}'")
    file = registry()[name]
    folder = data_dir or os.environ.get("SIMSTUDY_DATA_DIR")
    if folder:
        path = Path(folder) / file.name
        if not path.is_file():
            raise DataError(f"{path} is missing: --data-dir or SIMSTUDY_DATA_DIR must hold {file.name}")
        if pooch.file_hash(str(path), alg="sha256") != file.sha256:
            raise DataError(f"{path} is not the published file: its SHA-256 is not {file.sha256}")
        return path
    try:
        return Path(
            pooch.retrieve(
                file.url, known_hash=f"sha256:{file.sha256}", path=pooch.os_cache("simstudy"), fname=file.name
            )
        )
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise DataError(
            f"could not fetch {file.name} from {file.url} ({reason}); download it yourself and set --data-dir or "
            f"SIMSTUDY_DATA_DIR to a folder that holds it as {file.name}"
        ) from error
