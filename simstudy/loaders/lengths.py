"""Outputs that are empty, or of a length that no reference has: what to say of them.

An output is far too long where it has more than five times the characters of each of its references, and at least 200
more; far too short where each has more than five times its characters, and at least 200 more. Of 136 systems on seven
public test sets (WMT17 en-de, WMT21 de-en, WMT22 ja-en, WMT24 en-de, E2E, RealSumm, SummEval) that names eight: seven
of WMT24, and the one of WMT22 whose outputs are no sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simstudy.loaders.base import counted
from simstudy.notes import note

_TIMES, _MORE = 5, 200

# Files that a note names.
_MOST_NAMED = 3


def note_lengths(outputs: Mapping[Path, Sequence[str]], references: Sequence[Sequence[str]], *, texts: bool) -> None:
    """Say which files have outputs that are empty, or far longer or shorter than all their references.

    Parameters
    ----------
    outputs
        File -> the n outputs of a system.
    references
        Of each of the n items, at least one.
    texts
        Whether outputs are texts, so that their lengths say something. Labels may be empty only.

    Examples
    --------
    >>> from simstudy.notes import notes_kept
    >>> with notes_kept() as notes:
    ...     note_lengths({Path("a"): ["", "a cat"], Path("b"): ["a", "cat " * 60]}, [["a"], ["a cat"]], texts=True)
    >>> for text in notes:
    ...     print(text)
    empty outputs: a has 1, first in line 1
    outputs more than 5 times as long as each reference: b has 1, first in line 2
    """
    longest, shortest = (np.array([end(map(len, own)) for own in references]) for end in (max, min))
    lengths = {path: np.array([len(text.strip()) for text in own]) for path, own in outputs.items()}
    _say("empty outputs", {path: n == 0 for path, n in lengths.items()})
    if texts:
        long = {path: (n > _TIMES * longest) & (n >= longest + _MORE) for path, n in lengths.items()}
        short = {path: (n > 0) & (_TIMES * n < shortest) & (n + _MORE <= shortest) for path, n in lengths.items()}
        _say(f"outputs more than {_TIMES} times as long as each reference", long)
        _say(f"outputs less than 1/{_TIMES} as long as each reference", short)


def _say(what: str, found: Mapping[Path, NDArray[np.bool_]]) -> None:
    """Name the files that have some, those with the most first, and the first line of each."""
    files = sorted((path for path in found if found[path].any()), key=lambda path: -int(found[path].sum()))
    said = [f"{path} has {found[path].sum():,}, first in line {found[path].argmax() + 1:,}" for path in files]
    if len(said) > _MOST_NAMED:
        said[_MOST_NAMED:] = [counted(len(said) - _MOST_NAMED, "more file")]
    if said:
        note(f"{what}: {'; '.join(said)}")
