"""Test sets that an earlier run has read, kept by the bytes of their files: a resumed run need not parse these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from simstudy.metrics import get_metric
from simstudy.outputs import Outputs
from simstudy.readers.text_files import Reading
from simstudy.running.cell_files import DamagedCell, encode, read, write
from simstudy.running.keys import CellKeys

#: Outputs, the notes on them, and the files that were read for them.
Read = tuple[Outputs, tuple[str, ...], list[Path]]


class KeptReads:
    """Test sets in a study's folder of cells, found by the study's words and the SHA-256 of each file.

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
        keys = CellKeys()
        return [keys.of(reader, (said, [reading.digest(path) for path in files])) for said, files in asked]

    def found(self, key: str, files: Sequence[Path]) -> Read | None:
        """What an earlier run kept; None where there is nothing, or it is damaged."""
        if self._cells is None:
            return None
        try:
            value = read(self._cells, key)
            name, statistics, signature = value["metric"]
            metric = get_metric(name).with_statistics(statistics).signed(signature)
            outputs = Outputs(metric=metric, **value["outputs"])
            if outputs.fingerprint() != value["fingerprint"]:
                return None
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
            with suppress(OSError, TypeError):
                parts = {name: value for name, value in vars(outputs).items() if name != "metric"}
                metric = outputs.metric
                value = {
                    "metric": (metric.name, metric.statistics, metric.signature),
                    "outputs": parts,
                    "fingerprint": outputs.fingerprint(),
                    "notes": list(notes),
                    "files": [files.index(path) for path in used],
                }
                assert self._cells is not None
                write(self._cells, key, encode(key, label, value))
        self._new.clear()
