"""Progress: who hears what a call says of itself, and what people see of it, from the second second on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import StringIO
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from simstudy.running import display, progress
from simstudy.running.progress import Phase, advanced, doing, listening, shown, shown_to_people
from simstudy.text.numerals import duration


class Screen:
    """A display that keeps what it showed: titles, and None where it was cleared."""

    every = 0.001

    def __init__(self) -> None:
        self.seen: list[str | None] = []
        self.looked = Event()

    def update(self, phase: Phase) -> None:
        self.seen.append(phase.title)
        self.looked.set()

    def clear(self) -> None:
        self.seen.append(None)

    def look(self) -> str | None:
        """What it shows now, after another look."""
        for _ in range(2):
            self.looked.clear()
            assert self.looked.wait(5)
        return self.seen[-1]


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Screen]:
    made = Screen()
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(display, "display", lambda: made)
    return made


def in_a_terminal(width: int = 60, **options: Any) -> Console:
    return Console(file=StringIO(), force_terminal=True, width=width, highlight=False, **options)


def text_of(console: Console) -> str:
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_only_the_innermost_listener_hears_and_only_in_its_block() -> None:
    outer: list[int] = []
    inner: list[int] = []
    with listening(outer.append):
        advanced(1)
        with suppress(KeyError), listening(inner.append):
            advanced(2)
            raise KeyError
        advanced(3)
        thread = Thread(target=advanced, args=(4,))
        thread.start()
        thread.join()
    advanced(5)
    assert (outer, inner) == ([1, 3], [2])


def test_a_phase_is_shown_while_it_lasts_and_the_one_that_knows_its_end_before_others(screen: Screen) -> None:
    with doing("nobody looks", 2) as advance:
        advance(1)
    with shown():
        with doing("outer"):
            assert screen.look() == "outer"
            with doing("counted", 4), doing("inner", 2):
                assert screen.look() == "counted"
            with doing("inner"):
                assert screen.look() == "inner"
            with suppress(KeyError), doing("failing"):
                raise KeyError
            assert screen.look() == "outer"
        # Whatever is printed now is not written into a bar.
        assert screen.seen[-1] is None
        with shown(), doing("one screen"):
            assert screen.look() == "one screen"
        thread = Thread(target=_work, args=("elsewhere",))
        thread.start()
        thread.join()
    assert screen.seen[-1] is None
    assert "elsewhere" not in screen.seen


def _work(title: str) -> None:
    with doing(title):
        pass


def test_who_waits_for_less_than_two_seconds_sees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise AssertionError

    monkeypatch.setattr(display, "display", none)
    with shown(), doing("short", 1) as advance:
        advance(1)
    assert progress._PATIENCE == 2


def test_the_time_that_is_left_is_told_at_the_rate_of_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """90 of 100 cells are there from an earlier run; then one takes two seconds."""
    now = [0.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    phase = Phase("cells", 100, begun=0.0)
    phase.advance(90)
    assert display.words(phase) == "90 %"
    for _ in range(4):
        now[0] += 2
        phase.advance(1)
    assert display.words(phase) == "94 %, 12 s left"
    monkeypatch.setattr(display, "monotonic", lambda: 75.4)
    assert display.words(Phase("reading", begun=0.0)) == "1 min 15 s"
    assert [duration(seconds) for seconds in (0.4, 59.6, 3600, 7300)] == [
        "0 s",
        "1 min 0 s",
        "1 h 0 min",
        "2 h 1 min",
    ]


def test_a_bar_has_its_title_and_share_and_is_gone_at_the_end() -> None:
    console = in_a_terminal()
    bar, phase = display._Bar(console), Phase("resampling [26] systems :100:", 8)
    phase.advance(6)
    bar.update(phase)
    display.say("a line [above] it")
    assert all(
        part in text_of(console) for part in ("resampling [26] systems :100:", "━", "75 %", "a line [above] it\n")
    )
    before = len(text_of(console))
    bar.clear()
    bar.clear()
    erased = text_of(console)[before:]
    assert "\x1b[2K" in erased, "its line is empty"
    assert not display._bars
    bar.update(Phase("scoring BLEU"))
    assert "scoring BLEU" in text_of(console)[before:]
    bar.clear()


def test_a_bar_without_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    console = in_a_terminal()
    bar = display._Bar(console)
    bar.update(Phase("a", 2))
    bar.clear()
    assert not [
        part for part in text_of(console).split("\x1b[")[1:] if part.startswith(("3", "38")) and "m" in part[:12]
    ]


@pytest.mark.parametrize("terminal", [True, False])
def test_a_log_has_a_line_a_minute(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a terminal, and in one that can not draw twice."""
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    log, now = display.display(), [display.monotonic()]
    monkeypatch.setattr(display, "monotonic", lambda: now[0])
    phase = Phase("scoring TER", begun=now[0])
    for _ in range(150):
        log.update(phase)
        now[0] += 1
    log.clear()
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert (out, len(lines)) == ("", 2)
    assert all(line.startswith("simstudy: scoring TER: ") for line in lines)


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
    notebook = display.display()
    notebook.clear()
    phase = Phase("resampling", 4)
    phase.advance(1)
    notebook.update(phase)
    notebook.update(phase)
    notebook.clear()
    assert written[0] == written[1] == f"resampling {'━' * 8}{'╌' * 22} 25 %"
    assert written[2:] == [""]


def test_calls_show_their_progress_where_somebody_sits_before_them(
    monkeypatch: pytest.MonkeyPatch, screen: Screen
) -> None:
    @shown_to_people
    def long(wait: Callable[[], object]) -> int:
        """Return 1."""
        with doing("long"):
            wait()
        return 1

    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert (long(lambda: None), screen.seen) == (1, [])
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert (long(lambda: None), screen.seen) == (1, []), "IPython is imported, but this is no prompt of its own"
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=object))
    assert (long(screen.look), screen.seen[-1]) == (1, None)
    assert (long.__name__, long.__doc__) == ("long", "Return 1.")


def test_a_line_is_printed_as_it_is_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    text = "[red]:100: " + "x" * 200
    display.say(text)
    assert capsys.readouterr() == ("", f"{text}\n")
