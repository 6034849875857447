"""Workers of a cluster that is there already, by dask.distributed: an executor of cells, and how it is lost.

No file system has to be shared. A cell goes out as a call. What is large in it and another cell needs too goes once to
each worker (a plugin, which workers that join later get too). The result comes back as bytes with a checksum.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar
from warnings import catch_warnings, filterwarnings

Result = TypeVar("Result")

# Seconds until an address that nobody answers at is given up.
_PATIENCE = 5

# How often a file is sent while workers die, and the seconds in between.
_TRIES, _PAUSE = 20, 0.5

_LOCAL = re.compile(r"local:([1-9]\d{0,3})")
_REMOTE = re.compile(r"(?:tcp|tls|ws|wss|ucx)://[^\s/]+:\d+")


class ClusterLost(RuntimeError):
    """The scheduler of a cluster ended, or cannot be reached any more; finished cells are kept."""


class ClusterExecutor(Executor):
    """Calls functions on the workers of a dask cluster."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._executor: Executor = client.get_executor(pure=False)
        self._address = str(client.scheduler.address)
        self._sent: set[str] = set()

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """Have a function called by some worker; a ClusterLost where there is no scheduler any more."""
        self._check()
        with catch_warnings():
            # Scores that one cell needs alone are large, and go with its call.
            filterwarnings("ignore", "Sending large graph")
            return self._executor.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more calls. The cluster goes on: it is somebody else's."""
        self._executor.shutdown(wait=wait)

    def send(self, name: str, content: bytes) -> None:
        """Give each worker, now or when it joins, a file of this name in its own folder."""
        if name in self._sent:
            return
        for _ in range(_TRIES):
            self._check()
            try:
                self._client.register_plugin(_file_of(name, content))
                break
            except (OSError, CancelledError, TimeoutError):
                # A worker that dies meanwhile ends the sending to all.
                time.sleep(_PAUSE)
        else:
            raise self._lost()
        self._sent.add(name)

    def result(self, future: Future[Result]) -> Result:
        """What a call returned; a ClusterLost where it was dropped with its scheduler."""
        try:
            return future.result()
        except CancelledError:
            raise self._lost() from None

    def _check(self) -> None:
        if self._client.status != "running":
            raise self._lost()

    def _lost(self) -> ClusterLost:
        kept = "finished cells are kept, and the same command goes on from there"
        return ClusterLost(f"the scheduler at {self._address} is gone; {kept}")


def _file_of(name: str, content: bytes) -> Any:
    from distributed import WorkerPlugin

    class File(WorkerPlugin):
        """Written where a worker keeps its own files. Sent by value: workers need not have this module's version."""

        def __init__(self, name: str) -> None:
            self.name = name

        def setup(self, worker: Any) -> None:
            from pathlib import Path

            path = Path(worker.local_directory) / name
            half = path.with_name(f".{name}")
            half.write_bytes(content)
            half.replace(path)

    return File(name)


def sent_file(name: str) -> Path:
    """Where a worker finds a file that was sent to it."""
    from distributed import get_worker

    return Path(get_worker().local_directory) / name


@contextmanager
def cluster(address: str) -> Iterator[ClusterExecutor]:
    """An executor on the cluster of a scheduler ("tcp://host:8786"), or on one of N processes here ("local:N").

    A ValueError says that the address is none, that nobody answers there within five seconds, or that the package
    distributed is missing.
    """
    local = _LOCAL.fullmatch(address)
    if not local and not _REMOTE.fullmatch(address):
        raise ValueError(f"cluster must be the address of a scheduler, tcp://host:8786, or local:N, not '{address}'")
    try:
        distributed: Any = import_module("distributed")
    except ModuleNotFoundError:
        raise ValueError(
            "cluster needs the package distributed, which is not installed: pip install 'simstudy[cluster]'"
        ) from None
    if local:
        workers = {"n_workers": int(local[1]), "threads_per_worker": 1, "processes": True, "dashboard_address": None}
        with distributed.LocalCluster(**workers) as own, distributed.Client(own) as client:
            yield ClusterExecutor(client)
        return
    try:
        client = distributed.Client(address, timeout=_PATIENCE)
    except (OSError, TimeoutError, ValueError):
        raise ValueError(f"cluster must be the address of a scheduler, but nobody answers at '{address}'") from None
    with client:
        yield ClusterExecutor(client)
