"""How the command fails: one line for people, and an exit code for scripts."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from io import UnsupportedOperation
from pathlib import Path
from typing import Any, NoReturn

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup

from simstudy.cli.options import ClickException
from simstudy.cli.stopping import Stopped, stop_in_order
from simstudy.cli.wording import worded_error
from simstudy.running import progress
from simstudy.running.program_files import ProgramError
from simstudy.text.plain_text import line, printable
from simstudy.validation import InputError, brief

#: Exit codes; `Stopped` has those of signals. 1 is also what `compare` with a gate says.
FAILED, BAD_INPUT, BUG, INTERRUPTED = 1, 2, 70, 130

# What there is to know of a command that was stopped.
_STOPPED = {
    "run": "stopped; what has finished is kept, and the same command goes on from there",
    "compare": "stopped; a comparison keeps nothing of what is not finished: the same command begins again",
    "plan": "stopped; a plan keeps nothing of what is not finished: the same command begins again",
    "data": "stopped; what has finished is kept, and the same command goes on from there",
}

_PACKAGE = Path(__file__).resolve().parents[1]

_console = Console(stderr=True, soft_wrap=True, emoji=False)


class OneLineGroup(TyperGroup):
    """The command: whatever goes wrong in it, or in how it was called, is told in one line."""

    def main(self, *args: Any, **options: Any) -> NoReturn:
        """Run the command that was asked for, and exit."""
        options["standalone_mode"] = False
        try:
            result = super().main(*args, **options)
        except ClickException as error:
            _say_usage(error)
            sys.exit(BAD_INPUT)
        except typer.Exit as error:
            sys.exit(error.exit_code)
        except typer.Abort:
            sys.exit(FAILED)
        sys.exit(result if isinstance(result, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Run the subcommand; where it fails, say why in one line, and exit with the code for that."""
        try:
            stop_in_order()
            with progress.shown():
                return super().invoke(ctx)
        except (ClickException, typer.Exit, typer.Abort):
            raise
        except BrokenPipeError:
            # Whoever read our output has seen enough (`| head`).
            _silence(sys.stdout)
            raise typer.Exit(0) from None
        except KeyboardInterrupt as error:
            code = error.code if isinstance(error, Stopped) else INTERRUPTED
            _fail(_STOPPED.get(ctx.invoked_subcommand, "stopped"), code)
        except Exception as error:
            shown = bool(ctx.params.get("traceback"))
            if shown:
                sys.stderr.write("".join(f"{printable(row)}\n" for row in traceback.format_exc().splitlines()))
            command = self.commands.get(ctx.invoked_subcommand)
            # A group has commands of its own.
            commands = getattr(command, "commands", {"": command}).values()
            message, code = _said_of(error, [param for part in commands for param in getattr(part, "params", ())])
            if (code == BUG or isinstance(error, ProgramError)) and not shown:
                message += f"; the traceback is in {_kept()} (simstudy --traceback … shows it)"
            _fail(message, code)


def say(message: str) -> None:
    """One line on standard error, in which nothing of a name acts on the terminal."""
    if is_closed(sys.stderr):
        # By a program of the user's. What is below it may be open; otherwise nobody can be told.
        try:
            sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        except OSError:
            return
    _console.print(Text(line(f"simstudy: {message}")))


@contextmanager
def outliving_the_pipe(wanted: bool) -> Iterator[None]:
    """Within the block, if `wanted`, output that nobody reads any more (`| head`) is dropped: the exit code counts."""
    try:
        yield
        if wanted:
            sys.stdout.flush()
    except BrokenPipeError:
        if not wanted:
            raise
        _silence(sys.stdout)


def _fail(message: str, code: int) -> NoReturn:
    say(message)
    raise typer.Exit(code)


def _said_of(error: Exception, params: Iterable[Any]) -> tuple[str, int]:
    """Message and exit code for an exception in a command with these parameters."""
    from simstudy.running.parallel import CellsFailed, ExecutorLost

    if isinstance(error, ExecutorLost):
        return str(error), FAILED
    if isinstance(error, CellsFailed):
        return f"{error}; what has finished is kept, and the same command runs only what is missing", FAILED
    if isinstance(error, MemoryError):
        return f"out of memory ({error or 'no more was to be had'}); fewer systems, items or jobs need less", BAD_INPUT
    if isinstance(error, OSError) and error.errno is not None:
        return _of_the_disk(error), BAD_INPUT
    if isinstance(error, InputError):
        return worded_error(error, params), BAD_INPUT
    if isinstance(error, ProgramError):
        return str(error), BAD_INPUT
    if isinstance(error, ValueError) and is_closed(sys.stdout):
        return "standard output: it was closed before anything was printed", BAD_INPUT
    named = traceback.format_exception_only(error)[-1].strip()
    return f"this is a bug of simstudy, not of what it was given ({named})", BUG


def _of_the_disk(error: OSError) -> str:
    """The system's message on a file, with the file's name; the name is guessed if the system gives none."""
    reason = (error.strerror or str(error)).lower()
    named = [os.fsdecode(name) for name in (error.filename, error.filename2) if isinstance(name, str | bytes | Path)]
    if named:
        return f"{' and '.join(named)}: {reason}"
    raised_in = {part for frame in traceback.extract_tb(error.__traceback__) for part in Path(frame.filename).parts}
    if "numba" in raised_in:
        # It keeps what it compiled beside the modules, or where it is told to.
        return f"numba's cache in {os.environ.get('NUMBA_CACHE_DIR') or _PACKAGE}: {reason}"
    if "rich" in raised_in or not _can_be_written(sys.stdout):
        _silence(sys.stdout)
        return f"standard output: {reason}"
    return reason


def is_closed(stream: Any) -> bool:
    """Whether a stream of Python's is closed, or what the system has below it."""
    try:
        return stream is not None and (stream.closed or os.fstat(stream.fileno()) is None)
    except UnsupportedOperation:
        # A stream in memory.
        return False
    except OSError:
        return True


def _can_be_written(stream: Any) -> bool:
    try:
        stream.flush()
    except (OSError, ValueError):
        return False
    return True


def _silence(stream: Any) -> None:
    """Python flushes the stream once more at its end: that must not complain."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _kept() -> str:
    """The file to which the current exception's traceback was written."""
    text = f"simstudy {version('simstudy')}, Python {sys.version}\n{sys.argv!r}\n\n{traceback.format_exc()}"
    try:
        handle, path = tempfile.mkstemp(prefix="simstudy-traceback-", suffix=".txt")
        with open(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        return f"no file, for none can be written ({error.strerror})"
    return path


def _say_usage(error: Any) -> None:
    """What is wrong with how the command was called, in one line."""
    # Called with nothing it has shown its help.
    if type(error).__name__ == "NoArgsIsHelpError":
        return
    context = getattr(error, "ctx", None)
    see = f" (see {context.command_path} --help)" if context is not None else ""
    message = error.format_message().strip().rstrip(".")
    if wrong := getattr(error.__cause__, "errors", None):
        # typer names the option and the rule, and not the value.
        first = wrong()[0]
        rule = first["msg"].partition(",")[0].removeprefix("Input should be ")
        message = f"{message.partition(':')[0]}: it must be {rule}, not {brief(first['input'])}"
    say(f"{message[:1].lower()}{message[1:]}{see}")
