"""Progress: who hears what a call says of itself, and what the bar shows."""

from __future__ import annotations

from contextlib import suppress
from threading import Thread

import pytest

from simstudy.running.progress import advanced, listening, progress_bar, say


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


def test_a_bar_shows_its_title_and_the_share_that_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("training systems", 8) as advance:
        advance(2)
        advance(4)
    out, err = capsys.readouterr()
    assert out == ""
    assert "training systems" in err
    assert " 75%" in err


def test_a_line_is_printed_as_it_is_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    text = "[red]:100: " + "x" * 200
    say(text)
    assert capsys.readouterr() == ("", f"{text}\n")
