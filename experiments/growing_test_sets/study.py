"""Tests of the same two systems while items arrive: the usual one at each look, and one that may look at any time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import stats

import simstudy as ss
from simstudy.studies import Block, by_block

from .page import show as show

USUAL, SEQUENTIAL = "usual test at each look", "sequential test"


def truth(condition: Mapping[str, Any]) -> float:
    """The mean difference of scores; a ValueError where a difference cannot have it."""
    gain, largest = condition["gain"], condition["differ" if condition["kind"] == "answers" else "width"]
    if gain + condition["by_topic"] >= largest:
        raise ValueError(f"gains must be below {largest:g}")
    return float(gain)


@by_block
def generate(condition: Mapping[str, Any], n: int, rng: np.random.Generator) -> np.ndarray:
    """Differences of the two systems' scores (n, items)."""
    gain = condition["gain"]
    n_items = condition["most"] * planned_items(condition) if gain else condition["step"] * max(condition["n_looks"])
    shape = (n, n_items)
    if condition["kind"] == "graded":
        width, share = condition["width"], (1 + gain / condition["width"]) / 2
        return np.asarray(width * (2 * rng.beta(4 * share, 4 * (1 - share), shape) - 1))
    if condition["kind"] == "rare":
        high, low, share = rare_gains(condition)
        return np.where(rng.random(shape) < share, high, low)
    topic = np.where(np.arange(n_items) < n_items // 2, condition["by_topic"], -condition["by_topic"])
    wins = (condition["differ"] + gain + topic) / 2
    drawn = rng.random(shape)
    return np.asarray((drawn < wins).astype(float) - (drawn >= 1 - (condition["differ"] - wins)))


def planned_items(condition: Mapping[str, Any]) -> int:
    """The number of items with which a test of a mean has the power, by the normal approximation."""
    z = stats.norm.ppf(1 - condition["alpha"] / 2) + stats.norm.ppf(condition["power"])
    return int(np.ceil(z**2 * variance(condition) / condition["gain"] ** 2))


def variance(condition: Mapping[str, Any]) -> float:
    """The variance of an item's difference."""
    gain = condition["gain"]
    if condition["kind"] == "answers":
        return float(condition["differ"] - gain**2)
    if condition["kind"] == "graded":
        # A Beta variable on (-width, width) whose two parameters add up to 4.
        return float((condition["width"] ** 2 - gain**2) / 5)
    high, low, share = rare_gains(condition)
    return share * (1 - share) * (high - low) ** 2


def rare_gains(condition: Mapping[str, Any]) -> tuple[float, float, float]:
    """The large gain, the usual loss, and the share of large gains with which the mean is the true gain."""
    high, differ = condition["width"], condition["differ"]
    low = -high * differ / (1 - differ)
    return high, low, (condition["gain"] - low) / (high - low)


@by_block
def repeated_tests(block: Block) -> dict[str, dict[str, np.ndarray]]:
    """Smallest p-values of both tests by each look; with a gain, p-values and items until the sequential test ends."""
    condition, sequential = block.condition, sequential_p_values(block.data)
    if not condition["gain"]:
        looks = condition["step"] * np.arange(1, max(condition["n_looks"]) + 1)
        usual = np.minimum.accumulate(p_values(condition["kind"], block.data, looks), axis=1)
        by_look = {USUAL: usual, SEQUENTIAL: sequential[:, looks - 1]}
        return {
            method: {f"p_value by look {n}": smallest[:, n - 1] for n in condition["n_looks"]}
            for method, smallest in by_look.items()
        }
    planned, most = planned_items(condition), condition["most"]
    once = p_values(condition["kind"], block.data, np.array([planned]))[:, 0]
    significant = sequential <= condition["alpha"]
    items = np.where(significant[:, -1], significant.argmax(axis=1) + 1, most * planned)
    return {
        USUAL: {"p_value, planned items": once},
        SEQUENTIAL: {
            "p_value, planned items": sequential[:, planned - 1],
            "p_value, all items": sequential[:, -1],
            "items / planned items": items / planned,
            "planned items": np.full(len(block), planned),
        },
    }


def sequential_p_values(differences: np.ndarray) -> np.ndarray:
    """Two-sided p-values (sets, items) of all items so far: 2 over the largest e-value of either side."""
    largest = [
        np.maximum.accumulate(np.maximum(ss.comparisons.e_values(d), ss.comparisons.e_values(-d))) for d in differences
    ]
    return np.minimum(2 / np.array(largest), 1)


def p_values(kind: str, differences: np.ndarray, looks: np.ndarray) -> np.ndarray:
    """Two-sided p-values (sets, looks) of McNemar's exact test of answers, or of the paired t test."""
    if kind == "answers":
        wins, losses = (np.cumsum(differences == sign, axis=1)[:, looks - 1] for sign in (1, -1))
        return np.asarray(np.minimum(2 * stats.binom.cdf(np.minimum(wins, losses), wins + losses, 0.5), 1))
    mean = np.cumsum(differences, axis=1)[:, looks - 1] / looks
    square = np.cumsum(differences**2, axis=1)[:, looks - 1] / looks
    se = np.sqrt((square - mean**2).clip(min=0) / (looks - 1))
    t = np.divide(np.abs(mean), se, out=np.zeros_like(mean), where=se > 0)
    return np.asarray(2 * stats.t.sf(t, looks - 1))
