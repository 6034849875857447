"""What a call hands on to a function further down: the function's arguments by their names, at its first call."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable
from typing import Any

import pytest


class HandedError(Exception):
    """Ends a call as soon as it has reached the function that is looked at."""


def answers(base: Any, given: Any, weights: Any) -> Any:
    """What a base system answers to the examples that it was trained on."""
    return base.train(given, weights, 0)(given)


def handed(call: Callable[[], Any], function: str, nth: int = 0) -> dict[str, Any]:
    """The arguments of the nth call of a function, "module:name" in the learners; nothing after it is run."""
    path = f"simstudy_learners.{function}"
    original = pkgutil.resolve_name(path)
    signature = inspect.signature(getattr(original, "py_func", original))
    seen: list[dict[str, Any]] = []

    def instead(*arguments: Any, **named: Any) -> Any:
        seen.append(dict(signature.bind(*arguments, **named).arguments))
        if len(seen) > nth:
            raise HandedError
        return original(*arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(path.replace(":", "."), instead)
        with pytest.raises(HandedError):
            call()
    return seen[-1]
