"""How the command is stopped: by Ctrl-C, by SIGTERM, and by SIGHUP, when its terminal is closed."""

from __future__ import annotations

import os
import signal

_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Stopped(KeyboardInterrupt):
    """A signal asks this process to end; `code` is the exit code, 128 + the signal's number."""

    def __init__(self, number: int) -> None:
        self.code = 128 + number


def stop_at_once() -> None:
    """Let a signal end this process with one line: while Python still imports, nothing needs to be put in order."""
    for number in _SIGNALS:
        # Who started us may have asked that one of them be ignored (nohup).
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def stop_in_order() -> None:
    """From here on let a signal raise `Stopped`, so that workers are stopped, folders left, and one line printed."""
    for number in _SIGNALS:
        if signal.getsignal(number) is _end:
            signal.signal(number, _stop)


def _end(number: int, _: object) -> None:
    try:
        os.write(2, b"simstudy: stopped\n")
    finally:
        os._exit(128 + number)


def _stop(number: int, _: object) -> None:
    # A second one must not break into putting things in order; Ctrl-C may.
    for other in _SIGNALS:
        if other != signal.SIGINT:
            signal.signal(other, signal.SIG_IGN)
    for stream in (1, 2):
        try:
            os.write(stream, b"")
        except OSError:
            # The terminal is gone: what is printed on the way out must not fail.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    raise Stopped(number)
