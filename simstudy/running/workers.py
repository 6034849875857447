"""Worker processes as an executor: one that dies takes nothing with it but the call it was at.

A worker is a fresh Python that shares nothing with this process but two pipes. There are no locks, no semaphores and no
shared memory that a death could leave held or behind: where a worker dies its pipe ends, and where this process dies
the workers' pipes end, and they with them.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Executor, Future
from types import TracebackType
from typing import Any, TypeVar

import cloudpickle

Result = TypeVar("Result")

# What BLAS, OpenMP and numba take the number of their threads from.
_THREADS = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMBA", "NUMEXPR")

_START = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from simstudy.running.workers import serve; serve()"

_PARENT_DEATH_SIGNAL = 1

_Call = tuple[Future[Any], Any]


class WorkerDied(RuntimeError):
    """The worker process that was at this call ended; the message says how."""


class Processes(Executor):
    """Calls functions, also those of a script or a notebook, in at most so many worker processes on this machine.

    A worker is started when a call waits for one. A call whose worker dies ends in `WorkerDied`; the others go on with
    one worker fewer, or with a new one where it was the last. Where the system allows fewer processes, those that it
    allows work; where not even one, calls end in an OSError. As a context it kills all workers when the block raises
    (Ctrl-C).
    """

    def __init__(self, n_workers: int) -> None:
        self.n_workers = self._most = n_workers
        names = [f"{library}_NUM_THREADS" for library in _THREADS]
        self._environment = {**os.environ, **dict.fromkeys(names, "1")}
        self._todo: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        # The thread that attends to each worker -> the worker, once it is started.
        self._workers: dict[threading.Thread, subprocess.Popen[bytes] | None] = {}
        self._unfinished = 0
        self._closed = self._killed = False
        self._lock = threading.Lock()

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """Have a function called; a RuntimeError where the executor was shut down."""
        future: Future[Result] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the executor was shut down")
            self._unfinished += 1
            self._todo.put((future, (fn, args, kwargs)))
            if len(self._workers) < min(self._most, self._unfinished):
                thread = threading.Thread(target=self._attend, daemon=True)
                self._workers[thread] = None
                thread.start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more calls; the workers end when all calls are done."""
        with self._lock:
            self._closed = True
            threads = list(self._workers)
            while cancel_futures and not self._todo.empty():
                with contextlib.suppress(queue.Empty):
                    if (call := self._todo.get_nowait()) is not None and call[0].cancel():
                        call[0].set_running_or_notify_cancel()
            for _ in threads:
                self._todo.put(None)
        for thread in threads if wait else ():
            thread.join()

    def kill_workers(self) -> None:
        """Take no more calls; the workers end at once, and with them what they have forked."""
        with self._lock:
            self._closed = self._killed = True
            workers = list(self._workers.values())
        for worker in filter(None, workers):
            _kill(worker)
        self.shutdown(cancel_futures=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.kill_workers()
        self.shutdown()

    def _attend(self) -> None:
        """Give one worker calls until there are none left; in a thread of its own."""
        worker: subprocess.Popen[bytes] | None = None
        try:
            while (call := self._todo.get()) is not None:
                try:
                    worker = worker or self._started()
                except OSError as error:
                    if self._gives_way(call):
                        return
                    call[0].set_exception(error)
                    continue
                lives = not call[0].set_running_or_notify_cancel() or _lives_through(worker, *call)
                with self._lock:
                    self._unfinished -= 1
                if not lives:
                    _end(worker)
                    worker = None
                    if self._gives_way():
                        return
        finally:
            if worker is not None:
                _end(worker)
            with self._lock:
                self._workers.pop(threading.current_thread(), None)

    def _started(self) -> subprocess.Popen[bytes]:
        try:
            worker = subprocess.Popen(
                [sys.executable, "-c", _START, json.dumps(sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=self._environment,
                # Ctrl-C is for this process, which then stops its workers, and what they have forked.
                process_group=0 if os.name == "posix" else None,
            )
        except OSError as error:
            raise OSError(error.errno, f"no worker process could be started ({error.strerror})") from None
        with self._lock:
            self._workers[threading.current_thread()] = worker
            if self._killed:
                _kill(worker)
        return worker

    def _gives_way(self, call: _Call | None = None) -> bool:
        """Leave the calls to the other workers, and one that was taken, where there are any others."""
        with self._lock:
            if len(self._workers) < 2 or (call and self._closed):
                return False
            del self._workers[threading.current_thread()]
            self._most = len(self._workers)
            if call:
                self._todo.put(call)
            return True


def _lives_through(worker: subprocess.Popen[bytes], future: Future[Any], call: Any) -> bool:
    """Have a worker do a call; whether it lives."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    try:
        content = cloudpickle.dumps(call)
    except Exception as error:
        # What can not be sent to another process, such as an open file.
        future.set_exception(error)
        return True
    try:
        pickle.dump(content, worker.stdin)
        worker.stdin.flush()
        raised, answer = pickle.load(worker.stdout)
    except (OSError, EOFError, ValueError, pickle.UnpicklingError):
        future.set_exception(WorkerDied(_cause(worker.wait())))
        return False
    try:
        value = pickle.loads(answer)
    except Exception as error:
        raised, value = True, error
    if raised:
        future.set_exception(value)
    else:
        future.set_result(value)
    return True


def _kill(worker: subprocess.Popen[bytes]) -> None:
    """Kill a worker and all that it has forked."""
    if os.name == "posix":
        with contextlib.suppress(OSError):
            os.killpg(worker.pid, signal.SIGKILL)
    else:
        worker.kill()


def _end(worker: subprocess.Popen[bytes]) -> None:
    _kill(worker)
    worker.wait()
    for pipe in (worker.stdin, worker.stdout):
        with contextlib.suppress(OSError):
            assert pipe is not None
            pipe.close()


def _cause(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"was killed by {name}" + (", perhaps for want of memory" if name == "SIGKILL" else "")


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
    calls: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    stream = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

    def listen() -> None:
        with contextlib.suppress(Exception):
            while True:
                calls.put(pickle.load(stream))
        # Whoever asked has gone.
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        pickle.dump(_answer(calls.get()), answers)
        answers.flush()


def _answer(content: bytes) -> tuple[bool, bytes]:
    """Whether a call raised, and what it returned or raised."""
    try:
        function, arguments, named = pickle.loads(content)
        return False, cloudpickle.dumps(function(*arguments, **named))
    except BaseException as error:
        with contextlib.suppress(Exception):
            answer = cloudpickle.dumps(error)
            pickle.loads(answer)
            return True, answer
        return True, pickle.dumps(RuntimeError(traceback.format_exc()))
