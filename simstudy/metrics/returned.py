"""What a user's function returns, as numbers; whatever goes wrong in it is told to whoever made it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import iscoroutine
from typing import Any

import numpy as np

from simstudy.metrics.base import Array, FloatArray


def real_numbers(function: Callable[..., Any], columns: Sequence[Array], called: str) -> FloatArray:
    """What the function returns for these columns; a ValueError begins with what was `called` where it fails."""
    try:
        with np.errstate(all="ignore"):
            returned = function(*columns)
    except (Exception, SystemExit) as error:
        # Neither a bug of ours nor an end of the program.
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise ValueError(f"{called} fails: {said}") from None
    if iscoroutine(returned):
        # Otherwise Python warns that nobody awaited it.
        returned.close()
        raise ValueError(f"{called} must return real numbers, not a coroutine (as an async def does)")
    values = np.asarray(returned)
    if returned is None or values.dtype.kind not in "biuf":
        what = "nothing (is a return missing?)" if returned is None else f"'{values.dtype.name}'"
        raise ValueError(f"{called} must return real numbers, not {what}")
    return values.astype(np.float64, copy=False)
