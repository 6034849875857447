"""The data files of a study of natural comparisons: where each of them is, and what the study calls it."""

from __future__ import annotations

from pathlib import Path

from simstudy.files.datasets import find_all
from simstudy.readers.formats import is_log
from simstudy.readers.paths import files_to_read

#: How files end that are tables of scores.
TABLES = (".csv", ".tsv", ".parquet")


class DataFiles:
    """The data files of a study: where each is, and what it is called there.

    A file beside the study.toml goes before one of that name in the folder of data files.
    """

    def __init__(self, data_dir: str | Path | None, allow_outside: bool, home: Path | None) -> None:
        self._data_dir, self._allow_outside, self._home = data_dir, allow_outside, home
        self._known: dict[str, list[Path]] = {}
        self.names: dict[Path, str] = {}
        #: The files of folders, which are read as systems only if nothing else names them; and, by the name of a
        #: folder, where it is and the files of its subfolders that are not read.
        self.inside: set[Path] = set()
        self.left: dict[str, tuple[Path, list[Path]]] = {}

    def named(self, name: str) -> list[Path]:
        """A data file, or the files of a folder; a DataError where there is none."""
        if name not in self._known:
            paths = find_all(name, self._data_dir, self._home, allow_outside=self._allow_outside)
            self._known[name] = self._to_read(name, paths)
            for path in self._known[name]:
                # Below a folder by the path inside it: files of two subfolders may have one name.
                _, folder, inside = path.as_posix().rpartition(f"/{name.rstrip('/')}/")
                self.names[path] = folder[1:] + inside if folder else name
        return self._known[name]

    def _to_read(self, name: str, found: list[Path]) -> list[Path]:
        # The files of a folder that are read, as `simstudy.load` opens it; a file as it is.
        parts = Path(name).parts
        if len(found) == 1 and found[0].parts[-len(parts) :] == parts:
            return found
        folder = next((path for path in found[0].parents if path.parts[-len(parts) :] == parts), None)
        if folder is None:
            return found
        read, left = files_to_read(folder, found, is_log)
        self.inside.update(read)
        if left:
            self.left[name] = folder, left
        return read
