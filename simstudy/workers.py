"""Worker processes: each has a pipe of its own, so that one that dies takes nothing with it but the cell it was at.

A worker is a fresh Python that shares nothing with this process but its pipes and one unnamed file of large arrays.
There are no locks, no semaphores and no named shared memory that a death could leave held or behind: where a worker
dies its pipe ends, and where this process dies the workers' pipes end, and they with them.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import mmap
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import cloudpickle
import numpy as np

from simstudy.files import named_in_errors
from simstudy.program_files import LOADED, ProgramFinder

# Arrays of so many bytes are not sent to each worker, but written once and mapped.
_LARGE = 2**16

# What BLAS, OpenMP and numba take the number of their threads from.
_THREADS = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMBA", "NUMEXPR")

_LENGTH = struct.Struct("<q")

_START = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from simstudy.workers import serve; serve()"

_PARENT_DEATH_SIGNAL = 1


@dataclass(frozen=True)
class Ended:
    """How a call ended."""

    task: int
    """The number of the call."""
    trace: str = ""
    """The traceback, where it raised."""
    died: str = ""
    """What ended the worker process, where it died of this call."""


def call_in_processes(
    function: Callable[..., None], tasks: Sequence[tuple[Any, ...]], n_workers: int, folder: Path | None = None
) -> Generator[Ended]:
    """Call a function on each tuple of arguments in worker processes; yields how each call ended, as they end.

    The function may be one of a script or a notebook, and keeps its results itself. A call that no worker was left to
    take is not yielded. When the iteration is closed (Ctrl-C), all workers are killed. Where the system allows fewer
    processes, those that it allows work; where not even one, an OSError is raised. The unnamed file of large arrays
    lies in `folder`, or in the system's temporary folder.
    """
    todo: queue.SimpleQueue[int] = queue.SimpleQueue()
    for k in range(len(tasks)):
        todo.put(k)
    ended: queue.SimpleQueue[Ended | None] = queue.SimpleQueue()
    with _Arrays(folder) as arrays:

        def message(task: int) -> bytes:
            return arrays.pickled((function, tasks[task]))

        workers = _started(min(n_workers, len(tasks)), arrays.descriptor)
        try:
            threads = [threading.Thread(target=_attend, args=(w, todo, message, ended), daemon=True) for w in workers]
            for thread in threads:
                thread.start()
            working = len(threads)
            while working:
                one = ended.get()
                if one is None:
                    working -= 1
                else:
                    yield one
        finally:
            for worker in workers:
                _kill(worker)
            for worker in workers:
                worker.wait()
                for pipe in (worker.stdin, worker.stdout):
                    with contextlib.suppress(OSError):
                        assert pipe is not None
                        pipe.close()


def _started(n: int, descriptor: int | None) -> list[subprocess.Popen[bytes]]:
    threads = str(max(1, (os.cpu_count() or 1) // n))
    names = [f"{library}_NUM_THREADS" for library in _THREADS]
    environment = {**dict.fromkeys(names, threads), **os.environ}
    line = [sys.executable, "-c", _START, json.dumps(sys.path), str(-1 if descriptor is None else descriptor)]
    workers: list[subprocess.Popen[bytes]] = []
    for _ in range(n):
        try:
            worker = subprocess.Popen(
                line,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
                pass_fds=() if descriptor is None else (descriptor,),
                # Ctrl-C is for this process, which then stops its workers, and what they have forked.
                process_group=0 if os.name == "posix" else None,
            )
        except OSError as error:
            # No more processes or open files are allowed: fewer workers do the same work.
            if not workers:
                raise OSError(error.errno, f"no worker process could be started ({error.strerror})") from None
            break
        workers.append(worker)
    return workers


def _attend(
    worker: subprocess.Popen[bytes],
    todo: queue.SimpleQueue[int],
    message: Callable[[int], bytes],
    ended: queue.SimpleQueue[Ended | None],
) -> None:
    """Give one worker calls until there are none left, or it dies."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    try:
        while True:
            try:
                task = todo.get_nowait()
            except queue.Empty:
                return
            try:
                content = message(task)
            except Exception:
                # What can not be sent to another process, such as an open file.
                ended.put(Ended(task, trace=traceback.format_exc()))
                continue
            try:
                _send(worker.stdin, content)
                answer = _receive(worker.stdout)
            except (OSError, ValueError):
                answer = None
            if answer is None:
                ended.put(Ended(task, died=_cause(worker.wait())))
                _kill(worker)
                return
            ended.put(Ended(task, trace=answer.decode()))
    finally:
        ended.put(None)


def _kill(worker: subprocess.Popen[bytes]) -> None:
    """End a worker and all that it has forked."""
    if os.name == "posix":
        with contextlib.suppress(OSError):
            os.killpg(worker.pid, signal.SIGKILL)
    else:
        worker.kill()


def _cause(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"was killed by {name}" + (", perhaps for want of memory" if name == "SIGKILL" else "")


def _send(stream: IO[bytes], message: bytes) -> None:
    stream.write(_LENGTH.pack(len(message)))
    stream.write(message)
    stream.flush()


def _receive(stream: IO[bytes]) -> bytes | None:
    """The next message; None where the stream ends before it is whole."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    message = stream.read(length)
    return message if len(message) == length else None


class _Arrays:
    """Large arrays in one unnamed file, which every worker maps: it goes with the last process that has it open."""

    def __init__(self, folder: Path | None) -> None:
        # Only on POSIX can a worker inherit an open file; elsewhere arrays are sent like everything else.
        self._folder = folder or Path(tempfile.gettempdir())
        with named_in_errors(self._folder):
            self._file = tempfile.TemporaryFile(dir=self._folder) if os.name == "posix" else None  # noqa: SIM115
        self._places: dict[tuple[int, int], tuple[int, int]] = {}
        self._written: list[pickle.PickleBuffer] = []
        self._end = 0
        self._lock = threading.Lock()

    @property
    def descriptor(self) -> int | None:
        return None if self._file is None else self._file.fileno()

    def __enter__(self) -> _Arrays:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            # What did not fit was told when it was written.
            with contextlib.suppress(OSError):
                self._file.close()

    def pickled(self, value: Any) -> bytes:
        """A value as bytes, its large arrays as places in the file."""
        places: list[tuple[int, int]] = []

        def outside(buffer: pickle.PickleBuffer) -> bool:
            raw = buffer.raw()
            if self._file is None or raw.nbytes < _LARGE:
                return True
            # An array that several calls share is written once. What was written is held, so that no other array can
            # come to lie at its address.
            known = (np.frombuffer(raw, dtype=np.uint8).ctypes.data, raw.nbytes)
            if known not in self._places:
                with named_in_errors(self._folder):
                    self._file.seek(self._end)
                    self._file.write(raw)
                    self._file.flush()
                self._places[known] = (self._end, raw.nbytes)
                self._written.append(buffer)
                self._end += -(-raw.nbytes // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
            places.append(self._places[known])
            return False

        with self._lock:
            content = cloudpickle.dumps(value, protocol=5, buffer_callback=outside)
        return pickle.dumps((content, places, LOADED))


def serve() -> None:
    """What a worker process does: call what comes until nothing more can come."""
    if sys.platform == "linux":
        # A call that does not let go of Python's lock must not outlive the parent either.
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    if hasattr(os, "register_at_fork"):
        # What a call forks must not keep the pipe open when this process dies.
        os.register_at_fork(after_in_child=answers.close)
    # What a learner prints must not get between the answers.
    os.dup2(2, 1)
    descriptor = int(sys.argv[2])
    messages: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    stream = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

    def listen() -> None:
        while (message := _receive(stream)) is not None:
            messages.put(message)
        # Whoever asked has gone.
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    programs = ProgramFinder()
    sys.meta_path.append(programs)
    while True:
        trace = ""
        try:
            content, places, files = pickle.loads(messages.get())
            # Programs that the call does not need are not loaded: one may be gone, or take seconds to import.
            programs.files.update(files)
            maps = [mmap.mmap(descriptor, size, access=mmap.ACCESS_READ, offset=start) for start, size in places]
            function, arguments = pickle.loads(content, buffers=maps)
            function(*arguments)
            del function, arguments, maps
        except (Exception, SystemExit):
            trace = traceback.format_exc()
        _send(answers, trace.encode(errors="replace"))
