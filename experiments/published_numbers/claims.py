"""What a published number is of, and a row that sets ours beside it."""

from __future__ import annotations

from typing import Any

import numpy as np

GAIN, SIZE, POWER, RANK, COUNT, SHARE, POINTS, P = (
    "gain, points", "items", "power", "rank", "count", "percent of pairs", "points", "p-value",
)  # fmt: skip

# How a number is written, by what it is.
FORMS = {
    GAIN: "{:.3f}", SIZE: "{:,.0f}", POWER: "{:.4f}", RANK: "{:.0f}", COUNT: "{:.0f}", SHARE: "{:.1f}",
    POINTS: "{:.2f}", P: "{:.3f}",
}  # fmt: skip


def claim(
    source: str, what: str, quantity: str, published: float, ours: float, *, note: str, means: str, **more: float
) -> dict[str, Any]:
    """A row of a published number: what is different here, and what it means."""
    row = {"source": source, "claim": what, "quantity": quantity, "published": published, "published_of": np.nan}
    return row | {"recomputed": np.nan, "ours": ours, "ours_of": np.nan} | more | {"note": note, "means": means}
