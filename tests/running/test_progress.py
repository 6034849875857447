"""Progress: what people see of a long call, from its second second on."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from rich import console as rich_console
from rich.console import Console
from rich.progress import Progress

from simstudy.running import progress
from simstudy.running.progress import doing, say, shown, shown_to_people


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> StringIO:
    """A terminal that is looked at all the time."""
    file = StringIO()

    def console(**_: object) -> Console:
        return Console(file=file, force_terminal=True, width=70, highlight=False)

    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_LOOK", 0.001)
    monkeypatch.setattr(rich_console, "Console", console)
    return file


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_phases_are_shown_while_they_last_and_the_bar_is_gone_between_them(terminal: StringIO) -> None:
    def seen(*texts: str) -> bool:
        frame = terminal.getvalue().rpartition("\x1b[2K")[2]
        return all(text in frame for text in texts)

    with doing("nobody looks", 2) as advance:
        advance(1)
    with shown():
        with doing("outer [26] :100:", 4) as advance:
            advance(3)
            until(lambda: seen("outer [26] :100:", "━", " 75%"))
            with doing("inner"):
                until(lambda: seen("outer", "inner"))
            until(lambda: not seen("inner"))
            say("a line [above] it")
            with suppress(KeyError), doing("failing"):
                raise KeyError
        assert "a line [above] it" in terminal.getvalue()
        shown_so_far = terminal.getvalue()
        assert shown_so_far.endswith("\x1b[1A\x1b[2K"), "its line is empty: whatever is printed now is not in a bar"
        with shown(), doing("one screen"):
            until(lambda: seen("one screen"))
        thread = threading.Thread(target=lambda: doing("elsewhere").__enter__())
        thread.start()
        thread.join()
    assert "elsewhere" not in terminal.getvalue()


def test_who_waits_for_less_than_two_seconds_sees_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with shown(), doing("short", 1) as advance:
        advance(1)
    assert progress._PATIENCE == 2
    assert capsys.readouterr() == ("", "")


def test_a_log_has_a_line_a_minute_with_the_time_that_is_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """90 of 100 cells are there from an earlier run; then one takes ten seconds."""
    now = [0.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    screen, bar = progress._Screen(), Progress(console=Console(file=StringIO()), get_time=lambda: now[0])
    phase = progress.Phase("cells", 100)
    screen.phases.append(phase)
    phase.advance(90)
    for _ in range(7):
        screen._update(bar)
        now[0] += 10
        phase.advance(1)
    screen._update(bar)
    assert capsys.readouterr() == ("", "simstudy: cells: 96 %, 40 s left\n")


def test_a_notebook_has_one_line_that_is_empty_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []

    class Handle:
        def update(self, data: dict[str, str], raw: bool) -> None:
            written.append(data["text/plain"])

    def show(data: dict[str, str], raw: bool, display_id: bool) -> Handle:
        written.append(data["text/plain"])
        return Handle()

    shell = SimpleNamespace(kernel=object())
    ipython = SimpleNamespace(get_ipython=lambda: shell, display=SimpleNamespace(display=show))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_LOOK", 0.001)

    @shown_to_people
    def long() -> int:
        """Return 1."""
        with doing("resampling", 4) as advance:
            advance(1)
            until(lambda: bool(written))
        return 1

    assert (long(), long.__name__, long.__doc__) == (1, "long", "Return 1.")
    assert written[0].startswith("resampling: 25 %")
    assert written[-1] == ""


@pytest.mark.parametrize("shell", [None, SimpleNamespace(get_ipython=lambda: None)])
def test_elsewhere_calls_show_nothing(monkeypatch: pytest.MonkeyPatch, shell: Any, terminal: StringIO) -> None:
    monkeypatch.setitem(sys.modules, "IPython", shell)

    @shown_to_people
    def long() -> None:
        with doing("long"):
            time.sleep(0.05)

    long()
    assert terminal.getvalue() == ""


def test_a_line_is_printed_as_it_is_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    text = "[red]:100: " + "x" * 200
    say(text)
    assert capsys.readouterr() == ("", f"{text}\n")
