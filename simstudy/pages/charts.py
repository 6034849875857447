"""Charts that several kinds of pages have."""

from __future__ import annotations

import pandas as pd

from simstudy.pages.sections import Chart
from simstudy.text.numerals import score_format
from simstudy.text.plain_text import shown


def leaderboard(board: pd.DataFrame, most: int, *, x: str) -> Chart:
    """Scores with intervals, and confidence sets for ranks, of the first systems.

    `board` has the columns of `simstudy.leaderboard`, or of averages; `x` names the scores.
    """
    digits = score_format(board["score"].abs().max())
    first, last = board["score"].iloc[0], board["score"].iloc[-1]
    turned = ", lower is better" if last - first > 1e-9 * max(abs(first), abs(last)) else ""
    rows = board.head(most)
    names = rows["system"].map(shown)
    told = [
        f"{name}: {row.score:{digits}} ({row.score_low:{digits}} to {row.score_high:{digits}}), rank {row.rank}, "
        f"confidence set {row.rank_low} to {row.rank_high}"
        for name, row in zip(names, rows.itertuples(), strict=True)
    ]
    systems = pd.DataFrame(
        {
            "system": names,
            "score": rows["score"],
            "low": rows["score_low"],
            "high": rows["score_high"],
            **{name: rows[name] for name in ("rank", "rank_low", "rank_high", "may_be_best")},
            "title": told,
        }
    )
    level = f"{100 * float(board['level'].iloc[0]):g} %"
    settings = {
        "x": f"{x}{turned}, with {level} interval",
        "ranks": f"rank, {level} confidence set",
        "furthest": int(rows["rank_high"].max()),
    }
    return Chart("leaderboard", {"systems": systems}, settings)


def intervals(rows: pd.DataFrame, *, x: str, key: tuple[str, str]) -> Chart:
    """Gains with intervals (columns name, gain, low, high, marked, title), one below the other.

    `key` says what is marked and what is not.
    """
    settings = {"x": x, "marked": key[0], "others": key[1], "label": f"{len(rows)} gains with intervals"}
    return Chart("intervals", {"rows": rows}, settings)
