"""Preferences between two systems: win rates, and Bradley-Terry strengths with or without regularisation."""

from __future__ import annotations

import re

from simstudy.metrics.mean import Mean

WIN_RATE = Mean("win_rate", low=0, high=1, scale=100, label="win rate", unit="percent")
BRADLEY_TERRY = Mean("bradley_terry", label="Bradley-Terry strength", unit="points")

_STRENGTH = re.compile(r"bradley_terry(?::alpha=([0-9]*\.?[0-9]+))?")


def strength_metric(name: str) -> Mean | None:
    """The metric "bradley_terry", or one such as "bradley_terry:alpha=0.1", a fit with a penalty; else None."""
    parts = _STRENGTH.fullmatch(name)
    if parts is None or (parts[1] and float(parts[1]) == 0):
        return None
    if not parts[1]:
        return BRADLEY_TERRY
    return Mean(name, label=f"{BRADLEY_TERRY.label} (alpha {parts[1]})", unit="points")


def penalty_of(name: str) -> float:
    """The alpha in the name of a metric of strengths; 0 without one."""
    parts = _STRENGTH.fullmatch(name)
    return float(parts[1]) if parts and parts[1] else 0.0
