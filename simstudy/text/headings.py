"""Headings of columns that are named by what a user called a system or a task."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def apart(names: Sequence[str], taken: Collection[str]) -> list[str]:
    """The names as headings beside those that are taken; what comes again gets a number.

    Examples
    --------
    >>> apart(["gain", "old", "old"], ["gain", "p"])
    ['gain (2)', 'old', 'old (2)']
    """
    known, found = set(taken), []
    for name in names:
        heading, number = name, 1
        while heading in known:
            number += 1
            heading = f"{name} ({number})"
        known.add(heading)
        found.append(heading)
    return found
