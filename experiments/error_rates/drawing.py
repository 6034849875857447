"""The figures of several panels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import simstudy as ss

from .conditions import Aims


def draw_rates(rates: pd.DataFrame, aims: Aims) -> Any:
    """A panel for each condition, with the rates of some tests over the number of units; all panels to one height."""
    most = max(0.25, np.ceil(20 * rates["share"].max()) / 20)
    views = {str(view): rows for view, rows in rates.groupby("view", sort=False)}
    figure, axes = ss.plot.panels(list(views), per_row=min(4, len(views)), width=2.7, height=2.3)
    for ax, rows in zip(axes, views.values(), strict=True):
        ss.plot.error_rates(rows, target=aims.target, liberal=aims.liberal, most=most, ax=ax)
    ss.plot.share_legend(figure, axes)
    return figure


def draw_uniformity(quantiles: pd.DataFrame) -> Any:
    """A panel for each test, with a line for each condition."""
    tests = {str(test): rows for test, rows in quantiles.groupby("test", sort=False)}
    figure, axes = ss.plot.panels(list(tests), per_row=min(3, len(tests)), width=3.3, height=2.4)
    for ax, rows in zip(axes, tests.values(), strict=True):
        ss.plot.uniformity(rows, ax=ax)
    ss.plot.share_legend(figure, axes)
    return figure


def draw_power(found: pd.DataFrame) -> Any:
    """A panel for each condition with a gain."""
    views = {str(view): rows for view, rows in found.groupby("view", sort=False)}
    figure, axes = ss.plot.panels(list(views), per_row=min(4, len(views)), width=2.9, height=2.3)
    for ax, rows in zip(axes, views.values(), strict=True):
        ss.plot.power_curves(rows, ax=ax)
    ss.plot.share_legend(figure, axes)
    return figure


def draw_exaggeration(default: pd.DataFrame) -> Any:
    """Type M over power, a line a condition."""
    return ss.plot.single(ss.plot.exaggeration, default, width=6.4, height=4.2)


def draw_coverage(covered: pd.DataFrame, aims: Aims) -> Any:
    """A row for each condition and unit."""
    rows, height = covered.assign(title=covered["view"]), 0.4 * covered["view"].nunique() + 1
    return ss.plot.single(ss.plot.coverage, rows, target=aims.coverage, width=7.6, height=height, legend_aside=True)
