"""Functions that tests send to workers. They import nothing else, so that workers start quickly."""

from __future__ import annotations

import os
import signal
import sys
import time


def alone() -> tuple[str, int]:
    """The standard input of a call, read after a Ctrl-C that is not for workers."""
    print("noise")
    os.kill(os.getpid(), signal.SIGINT)
    return sys.stdin.read(), os.getpid()


def fail(x: int) -> int:
    print("noise on the answers' pipe")
    if x == 1:
        raise KeyError("no")
    if x == 2:
        os._exit(3)
    if x == 3:
        os.abort()
    if x == 4:
        raise Unpicklable("of", "two")
    if x == 5:
        sys.exit(7)
    return x


class Unpicklable(Exception):
    """With the text alone, which is all that pickle keeps, none can be made."""

    def __init__(self, text: str, more: str) -> None:
        super().__init__(text + more)


def number() -> int:
    time.sleep(0.03)
    return os.getpid()
