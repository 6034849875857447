"""Test sets that an earlier run has read, kept by the bytes of their files: a resumed run need not parse these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from simstudy.loaders.reading import Reading
from simstudy.outputs import Outputs
from simstudy.running.cells import SUFFIX, DamagedCell, encoded, kept, write
from simstudy.running.fingerprints import describe
from simstudy.running.provenance import program_of

#: Outputs, the notes on them, and the files that were read for them.
Read = tuple[Outputs, tuple[str, ...], list[Path]]


class KeptReads:
    """What was read, in a study's folder of cells: by the study's words, the program, and the SHA-256 of each file.

    Every file is hashed in each run, so that no number comes of a file that has changed. A file that changes while it
    is read is not kept. Nothing is written before `write`: a study that is refused leaves nothing behind.
    """

    def __init__(self, cells: Path | None) -> None:
        self._cells = cells
        self._new: dict[str, tuple[str, Read, Sequence[Path]]] = {}

    def keys(
        self, reader: Callable[..., Any], asked: Sequence[tuple[Any, Sequence[Path]]], reading: Reading
    ) -> list[str]:
        """What test sets are known by, from what is said of each and its files; empty texts where none is kept."""
        if self._cells is None:
            return [""] * len(asked)
        program = program_of(reader)
        return [
            describe({"program": program, "test set": said, "files": [reading.digest(path) for path in files]})[:32]
            for said, files in asked
        ]

    def has(self, key: str) -> bool:
        """Whether an earlier run kept this."""
        return self._cells is not None and (self._cells / f"{key}{SUFFIX}").is_file()

    def found(self, key: str, files: Sequence[Path]) -> Read | None:
        """What an earlier run kept; None where there is nothing, or it is damaged."""
        if self._cells is None:
            return None
        try:
            value = kept(self._cells, key)
            with TemporaryDirectory(prefix="simstudy-") as folder:
                path = Path(folder) / "outputs.parquet"
                path.write_bytes(value["outputs"].tobytes())
                outputs = Outputs.load(path)
            return outputs, tuple(value["notes"]), [files[k] for k in value["files"]]
        except (OSError, DamagedCell, ValueError, KeyError, IndexError, TypeError):
            return None

    def add(self, key: str, label: str, read: Read, files: Sequence[Path], reading: Reading) -> None:
        """Remember what was read, unless a file has changed since it was hashed."""
        if self._cells is not None and not reading.changed(files):
            self._new[key] = label, read, files

    def write(self) -> None:
        """Keep what was read now, as far as there is room."""
        for key, (label, (outputs, notes, used), files) in self._new.items():
            # A column that a file cannot hold, or a full disk: it is read again next time.
            with suppress(OSError, ValueError), TemporaryDirectory(prefix="simstudy-") as folder:
                path = Path(folder) / "outputs.parquet"
                outputs.save(path)
                content = np.frombuffer(path.read_bytes(), dtype=np.uint8)
                value = {"outputs": content, "notes": list(notes), "files": [files.index(path) for path in used]}
                assert self._cells is not None
                self._cells.mkdir(parents=True, exist_ok=True)
                write(self._cells, key, encoded(key, label, value))
        self._new.clear()
