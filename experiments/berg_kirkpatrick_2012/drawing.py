"""The figures of the page: pairs and curves of the studies, beside figures 2 to 11 of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

import simstudy as ss

from .comparing import Tables

if TYPE_CHECKING:
    from .settings import Settings

_UNLIKE = "different families"

# Studies of resampled systems have the one-sided test of the paper.
_ONE_SIDED = "greater"

#: Study -> what a figure shows -> the number of the paper's figure that shows it of its data.
Figures = Mapping[str, Mapping[str, int | None]]


def home(points: pd.DataFrame) -> pd.DataFrame:
    """The rows of the home test set, which come first."""
    first: pd.DataFrame = points[points["test_set"] == points["test_set"].iloc[0]]
    return first


def natural(study: Settings, parts: Mapping[str, Tables]) -> Any:
    """A panel for each test set of systems that others made."""
    names = [f"{part.test_set} (their {part.like.partition(':')[0]})" for part in study.natural]
    figure, axes = ss.plot.panels(names, width=4.2, shared=False)
    for part, ax in zip(study.natural, axes, strict=True):
        points = parts[part.study]["points"]
        chosen = points[(points["test_set"] == part.test_set) & (points["metric"] == part.metric)]
        ss.plot.curve(chosen[chosen["n_items"] == chosen["n_items"].max()], ax=ax)
    return figure


def titles(names: Iterable[str], figures: Figures, what: str) -> list[str]:
    """The names of studies, with the figures of the paper that show the same of its data."""
    like = {name: figures[name][what] for name in names}
    return [f"{shown(name)} (fig. {like[name]})" if like[name] else shown(name) for name in names]


def shown(study: str) -> str:
    """The name of a study in words."""
    return study.replace("_", " ")


def synthetic(parts: Mapping[str, Tables], figures: Figures) -> Any:
    """A panel for each study: its pairs on the whole home test set."""
    figure, axes = ss.plot.panels(titles(parts, figures, "whole"), per_row=3, width=2.9, height=2.6, shared=False)
    for tables, ax in zip(parts.values(), axes, strict=True):
        whole = _some(_whole(tables["points"]))
        curves = tables["curves"]
        same = (curves["test_set"] == whole["test_set"].iloc[0]) & (curves["n_items"] == whole["n_items"].iloc[0])
        ss.plot.curve(whole.assign(alternative=_ONE_SIDED), curves[same], ax=ax)
    return figure


def _some(points: pd.DataFrame, by: str = "relation", most: int = 50) -> pd.DataFrame:
    """At most so many points of a class, evenly over the gains."""
    classes = [rows.sort_values("gain") for _, rows in points.groupby(by, sort=False)]
    return pd.concat([rows.iloc[:: -(-len(rows) // most)] for rows in classes])


def _whole(points: pd.DataFrame) -> pd.DataFrame:
    at_home = home(points)
    whole: pd.DataFrame = at_home[at_home["n_items"] == at_home["n_items"].max()]
    return whole


def overlays(parts: Mapping[str, Tables]) -> Any:
    """A panel for each study that has natural systems on its home test set: these over the resampled ones."""
    of_natural = {name: tables["overlay"]["test_set"].iloc[0] for name, tables in parts.items()}
    names = [f"{shown(name)}: {natural}" for name, natural in of_natural.items()]
    figure, axes = ss.plot.panels(names, per_row=2, width=4.4, height=3.2, shared=False)
    for (name, tables), ax in zip(parts.items(), axes, strict=True):
        ss.plot.curve(tables["overlay_points"], over=of_natural[name], ax=ax)
    return figure


def sizes(parts: Mapping[str, Tables], figures: Figures) -> Any:
    """A panel for each study: initial segments of its home test set."""
    figure, axes = ss.plot.panels(titles(parts, figures, "sizes"), per_row=3, width=2.9, height=2.6, shared=False)
    for tables, ax in zip(parts.values(), axes, strict=True):
        points, curves = home(tables["points"]), tables["curves"]
        at_home = curves["test_set"] == points["test_set"].iloc[0]
        shown = _some(points[points["relation"] == _UNLIKE], "n_items", 10)
        rows = at_home & (curves["relation"] == _UNLIKE)
        ss.plot.curve(shown.assign(alternative=_ONE_SIDED), curves[rows], by="n_items", ax=ax)
        # Nine sizes have no room for a legend as large as elsewhere.
        ax.legend(loc="lower right", fontsize=6, labelspacing=0.2, handlelength=1.2)
    return figure


def at_one_size(tables: Tables) -> pd.DataFrame:
    """The points of a study's test sets at the size that most of them have; none where there is one test set only."""
    points = tables["points"][tables["points"]["relation"] == _UNLIKE]
    several = points.groupby("n_items")["test_set"].nunique()
    same: pd.DataFrame = points[points["n_items"] == several.idxmax()]
    return same if several.max() > 1 else same.iloc[:0]


def domains(parts: Mapping[str, Tables], figures: Figures) -> Any:
    """A panel for each study: test sets of equal size."""
    drawn = {name: _some(at_one_size(tables), "test_set", 30) for name, tables in parts.items()}
    names = [
        f"{title}, {points['n_items'].iloc[0]:,} items"
        for title, points in zip(titles(drawn, figures, "domains"), drawn.values(), strict=True)
    ]
    figure, axes = ss.plot.panels(names, per_row=2, width=3.8, height=2.8, shared=False)
    for points, tables, ax in zip(drawn.values(), parts.values(), axes, strict=True):
        curves = tables["curves"]
        same = (curves["n_items"] == points["n_items"].iloc[0]) & (curves["relation"] == _UNLIKE)
        ss.plot.curve(points.assign(alternative=_ONE_SIDED), curves[same], by="test_set", ax=ax)
    return figure
