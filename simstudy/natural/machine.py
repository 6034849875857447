"""The outcome of one comparison for machines: JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

from simstudy.natural.examination import Examination
from simstudy.natural.page import sorted_pairs
from simstudy.plain_text import json_text


def as_json(found: Examination, settings: Mapping[str, Any]) -> str:
    """Everything that was found as a JSON object; what is not known is null.

    Parameters
    ----------
    found
        What `simstudy.natural.examine` returned.
    settings
        What was asked for.

    Returns
    -------
    text
        Keys simstudy (version), settings, verdict, notes, systems (best first), pairs (the most significant first),
        groups (lists of names), thresholds, significant_gains, near_duplicates; tables are lists of rows.
    """
    known = found.outputs.systems.drop(columns="family").rename(columns={"name": "system"})
    systems = found.leaderboard.merge(known, on="system", how="left").dropna(axis="columns", how="all")
    members = found.groups.groupby("group")["system"].agg(list)
    content = {
        "simstudy": version("simstudy"),
        "settings": dict(settings),
        "verdict": found.verdict,
        "notes": list(found.notes),
        "systems": _records(systems),
        "pairs": _records(sorted_pairs(found)),
        "groups": [list(group) for group in members],
        "thresholds": _records(found.thresholds),
        "significant_gains": _records(found.gains),
        "near_duplicates": _records(found.duplicates),
    }
    return json_text(json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2, default=str))


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    # Not by pandas' own JSON, which rounds to 15 decimals: a p-value of 1e-20 is not 0.
    cells = table.astype(object).where(table.notna() & ~table.isin([np.inf, -np.inf]), None)
    return [{str(name): value for name, value in row.items()} for row in cells.to_dict("records")]
