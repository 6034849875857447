"""The call of a cell's function as bytes, which workers anywhere can make; what is large in it lies in files.

Whoever makes the call needs this package, the same program, and the folder of the cells or what was sent instead.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import mmap
import os
import pickle
import socket
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import cloudpickle
import numpy as np

from simstudy.files.whole import named_in_errors
from simstudy.running.cells import Cell, encoded, write
from simstudy.running.clusters import sent_file
from simstudy.running.program_files import LOADED
from simstudy.running.provenance import differences
from simstudy.running.threads import one_blas_thread

# Arrays and arguments of so many bytes are written once, and mapped by every worker.
_LARGE = 2**16

# Where a worker finds bytes: the offset in the file of large ones, or the name of a file that was sent; and how many.
_Place = tuple[int | str, int]

# Files of arrays are called so: by host and process, so that what a killed one left is known as such.
_PREFIX = f".arrays-{socket.gethostname()}-"


class OtherProgram(RuntimeError):
    """The worker is not of the program that the result's key says."""


class _Call:
    """Unpickled it is what `_make` returns: a worker without this package says what it lacks as any error."""

    def __init__(self, **what: Any) -> None:
        self._what = what

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(_make, **self._what), ()


def _make(
    *,
    key: str,
    label: str,
    parts: Sequence[Sequence[bytes | _Place]],
    arrays: str,
    programs: Mapping[str, str],
    folder: str | None,
    program: tuple[tuple[str, str], ...],
) -> tuple[str, float, bytes]:
    """The traceback where the cell's function raised, its seconds, and the result where it is to be sent back.

    `parts` are the function and its arguments: of each the pickled object and its arrays, as bytes or as places in the
    file `arrays`. Without a folder the result is sent back. A worker that can have other versions than the parent must
    have those of `program`.
    """
    if wrong := differences(program):
        raise OtherProgram(wrong)
    try:
        # Programs that the call does not need are not loaded: one may be gone, or take seconds to import.
        LOADED.update(programs)
        function, *arguments = (_object([_found(arrays, each) for each in part]) for part in parts)
        result, seconds = made(function, key, label, tuple(arguments))
        if folder is None:
            return "", seconds, result
        write(Path(folder), key, result)
    except (Exception, SystemExit):
        return traceback.format_exc(), 0, b""
    return "", seconds, b""


def _object(buffers: Sequence[bytes | mmap.mmap]) -> Any:
    content, *arrays = buffers
    return pickle.loads(content, buffers=arrays)


def _found(arrays: str, at: bytes | _Place) -> bytes | mmap.mmap:
    """The bytes of a call, or the mapped ones of a file."""
    if isinstance(at, bytes):
        return at
    where, size = at
    path, offset = (sent_file(where), 0) if isinstance(where, str) else (Path(arrays), where)
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ, offset=offset)


def made(function: Callable[..., Any], key: str, label: str, arguments: tuple[Any, ...]) -> tuple[bytes, float]:
    """The result of a cell, and the seconds that it took."""
    start = time.perf_counter()
    # A sum that several threads share is rounded differently: no result may depend on the number of cores.
    with one_blas_thread(), _no_forks_left():
        result = function(*arguments)
    return encoded(key, label, result), time.perf_counter() - start


class Calls:
    """Makes calls of cells; holds the file of what is large in them, which lies in the folder until the block ends.

    With `send` something large is sent under a name instead, as a file of its own, when a second cell needs it: all
    workers get it. What one cell needs alone goes with its call.
    """

    def __init__(
        self, function: Callable[..., Any], folder: Path, send: Callable[[str, bytes], None] | None = None
    ) -> None:
        self._function, self._folder, self._send = function, folder, send
        self._file: IO[bytes] | None = None
        # What was pickled, by identity, with its pickle and arrays; and by these bytes' address where they were put, or
        # None. All is held, so that nothing else can come to lie there.
        self._pickled: dict[int, tuple[Any, list[pickle.PickleBuffer]]] = {}
        self._places: dict[tuple[int, int], _Place | None] = {}
        self._end = 0

    def __enter__(self) -> Calls:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            Path(self._file.name).unlink(missing_ok=True)

    def call(self, key: str, cell: Cell, *, sent_back: bool, program: Mapping[str, str]) -> bytes:
        """The call of a cell's function, which `pickle.loads` makes (`_make`); it raises where that cannot be sent."""
        parts = [[self._put(each) for each in self._buffers(what)] for what in (self._function, *cell.arguments)]
        call = _Call(
            key=key,
            label=cell.label,
            parts=parts,
            arrays="" if self._file is None else self._file.name,
            programs=dict(LOADED),
            folder=None if sent_back else str(self._folder.resolve()),
            program=tuple(program.items()),
        )
        return pickle.dumps(call)

    def _buffers(self, what: Any) -> list[pickle.PickleBuffer]:
        """The function or an argument as bytes: its pickle, and its large arrays. Large ones are pickled once."""
        if id(what) in self._pickled:
            return self._pickled[id(what)][1]
        arrays: list[pickle.PickleBuffer] = []

        def outside(buffer: pickle.PickleBuffer) -> bool:
            if buffer.raw().nbytes < _LARGE:
                return True
            arrays.append(buffer)
            return False

        content = cloudpickle.dumps(what, protocol=5, buffer_callback=outside)
        buffers = [pickle.PickleBuffer(content), *arrays]
        if arrays or len(content) >= _LARGE:
            self._pickled[id(what)] = what, buffers
        return buffers

    def _put(self, buffer: pickle.PickleBuffer) -> bytes | _Place:
        """The bytes themselves, or where they were put."""
        raw = buffer.raw()
        if raw.nbytes < _LARGE:
            return bytes(raw)
        address = (np.frombuffer(raw, dtype=np.uint8).ctypes.data, raw.nbytes)
        if self._send is not None and address not in self._places:
            self._places[address] = None
            return bytes(raw)
        place = self._places.get(address)
        if place is None:
            place = self._places[address] = self._write(raw), raw.nbytes
        return place

    def _write(self, array: memoryview) -> int | str:
        """Where an array was written."""
        if self._send is not None:
            name = f"simstudy-{hashlib.sha256(array).hexdigest()}"
            self._send(name, bytes(array))
            return name
        at = self._end
        with named_in_errors(self._folder):
            if self._file is None:
                prefix = f"{_PREFIX}{os.getpid()}-"
                self._file = tempfile.NamedTemporaryFile(dir=self._folder.resolve(), prefix=prefix, delete=False)  # noqa: SIM115
            self._file.seek(at)
            self._file.write(array)
            self._file.flush()
        self._end += -(-array.nbytes // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
        return at


def sweep(folder: Path) -> None:
    """Remove the arrays of processes of this machine that were killed."""
    if os.name != "posix":
        return
    for path in folder.glob(f"{_PREFIX}*"):
        try:
            os.kill(int(path.name.removeprefix(_PREFIX).partition("-")[0]), 0)
        except ProcessLookupError:
            path.unlink(missing_ok=True)
        except (OSError, ValueError):
            # It lives, as somebody else's.
            continue


@contextmanager
def _no_forks_left() -> Iterator[None]:
    """Raise a RuntimeError where the block leaves a copy of this process behind (`os.fork`); a copy ends here."""
    if not hasattr(os, "fork"):
        yield
        return
    process = os.getpid()
    # Copies of this process have the pipe open too; programs that it starts have not.
    reader, writer = os.pipe()
    try:
        yield
    finally:
        if os.getpid() != process:
            # It must not do what comes next once more.
            os.write(writer, b"!")
            os._exit(1)
        os.close(writer)
        os.set_blocking(reader, False)
        try:
            left = os.read(reader, 1) != b""
        except BlockingIOError:
            left = True
        os.close(reader)
    if left:
        raise RuntimeError("it forked a process that had not ended when the function returned")
