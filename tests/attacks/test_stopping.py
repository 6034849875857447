"""Signals at any moment from the first import on: one line, and the exit code that shells know them by."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends signals")

# Sends this process a signal when a module is looked for; then the command is entered as it is by users.
SCRIPT = """
import os, runpy, signal, sys
number, module, ignored, entry, *sys.argv[1:] = sys.argv[1:]
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), int(number))
sys.meta_path.insert(0, Interrupted())
# Whoever runs the tests may ignore it, as shells do behind &.
usual = signal.default_int_handler if int(number) == signal.SIGINT else signal.SIG_DFL
signal.signal(int(number), signal.SIG_IGN if ignored == "ignored" else usual)
if entry == "module":
    runpy.run_module("simstudy", run_name="__main__")
from simstudy.cli import main
sys.exit(main())
"""


def interrupted(number: int, module: str, *arguments: str, ignored: bool = False, entry: str) -> tuple[int, str]:
    line = [sys.executable, "-c", SCRIPT, str(number), module, "ignored" if ignored else "", entry, *arguments]
    result = subprocess.run(line, capture_output=True, text=True, timeout=60)
    return result.returncode, result.stderr


@pytest.mark.parametrize(("number", "code", "entry"), [(2, 130, "script"), (15, 143, "module"), (1, 129, "script")])
def test_a_signal_while_the_command_is_imported_is_one_line(number: int, code: int, entry: str) -> None:
    assert interrupted(number, "typer", "list", entry=entry) == (code, "simstudy: stopped\n")


def test_a_signal_while_a_subcommand_is_imported_is_one_line() -> None:
    code, errors = interrupted(2, "numpy", "run", "quickstart", "--out", "never", entry="script")
    assert code == 130
    assert errors.startswith("simstudy: stopped")
    assert errors.count("\n") == 1


@pytest.mark.parametrize("number", [1, 2])
def test_signals_that_who_started_it_ignores_stay_ignored(number: int) -> None:
    """As under nohup, or behind &."""
    assert interrupted(number, "typer", "--version", ignored=True, entry="script") == (0, "")
