"""The data files of a study of natural comparisons: where each of them is, and what the study calls it."""

from __future__ import annotations

from pathlib import Path

from simstudy.files.datasets import DataError, NotPublicError, beside, find, find_folder, registry

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
        #: The files of folders, which are read as systems only if nothing else names them.
        self.inside: set[Path] = set()

    def named(self, name: str) -> list[Path]:
        """A data file, or the files of a folder; a DataError where there is none."""
        if name not in self._known:
            self._known[name] = self._found(name)
            for path in self._known[name]:
                # Below a folder by the path inside it: files of two subfolders may have one name.
                _, folder, inside = path.as_posix().rpartition(f"/{name.rstrip('/')}/")
                self.names[path] = folder[1:] + inside if folder else name
                if folder:
                    self.inside.add(path)
        return self._known[name]

    def _found(self, name: str) -> list[Path]:
        if self._home is not None and (own := beside(name, self._home, allow_outside=self._allow_outside)):
            return own
        try:
            return self._of_data(name)
        except NotPublicError as error:
            raise NotPublicError(error.names, error.folder or self._home) from None

    def _of_data(self, name: str) -> list[Path]:
        try:
            return [find(name, self._data_dir, allow_outside=self._allow_outside)]
        except DataError:
            if name in registry() or Path(name).suffix in (".gz", *TABLES):
                raise
            return find_folder(name, self._data_dir, allow_outside=self._allow_outside)
