"""Colours: a relation of systems has the same in all figures, sizes go from light to dark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import seaborn as sns

from simstudy.validation import brief, check_texts

# Colour-blind safe (Okabe and Ito 2008): blue for the rule, vermilion for the specially correlated.
_RELATIONS = {
    "different ": "#0072B2",
    "same ": "#D55E00",
    "all pairs": "#444444",
    "system combinations": "#009E73",
    "combination and single system": "#CC79A7",
}


def colours_among(by: str, values: Sequence[Any], among: Sequence[Any] | None) -> dict[Any, Any]:
    """A colour for each of the values, the same as in other panels, which have the values `among` together."""
    if among is None:
        return colours_of(by, values)
    check_texts("among", among, "names")
    listed = list(among)
    for value in values if listed else []:
        if value not in listed:
            raise ValueError(f"among must have every value of {by}, unlike {brief(listed)}, which lacks '{value}'")
    return colours_of(by, listed or values)


def colours_of(by: str, values: Sequence[Any]) -> dict[Any, Any]:
    """A colour for each of the values that a column has: relations keep theirs, sizes go from light to dark."""
    if by == "relation":
        return {value: relation_colour(value) for value in values}
    if by == "n_items":
        return dict(zip(sorted(values), sns.color_palette("viridis_r", len(values) + 1)[1:], strict=True))
    return dict(zip(values, sns.color_palette("husl" if len(values) > 8 else "Dark2", len(values)), strict=True))


def relation_colour(relation: str) -> str:
    """The colour of a relation class, which is the same in all figures.

    Examples
    --------
    >>> relation_colour("same group") == relation_colour("same family"), relation_colour("group unknown")
    (True, '#999999')
    """
    return next((colour for start, colour in _RELATIONS.items() if relation.startswith(start)), "#999999")
