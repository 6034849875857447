"""What the page shows: its sections, figures, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

import simstudy as ss
from simstudy.pages.sections import Column, Figure, Section, Table

from .settings import Settings

CLOSING = (
    "Distances are root mean squares over splits, of halves of one and the same set: they are not independent of each "
    "other, so that a ratio's range over splits is no interval. The test of a ratio takes as many splits of each "
    "replicate, and is as exact as the fitted model is near: where that is of the wrong kind, so are the replicates. "
    "One set in twenty is outside by chance alone for each measure. Shares are fractions, gains on the metric's scale."
)

MEASURES = {
    "curve": "curve: mean distance of the confidences at equal gain",
    "r12": "median correlation of two systems' item scores",
    "significant": "share of pairs with p ≤ 0.05",
    "threshold": "95th percentile of gains of pairs with p from 0.04 to 0.06",
}
# Titles of panels, where they are not the names.
_PANELS = {"r12": "correlation"}

_DRAWN = {
    "real": ("black", "held-out half"),
    "training": ("tab:blue", "training half"),
    "fitted": ("tab:red", "fitted"),
}


def headline(ratios: pd.DataFrame, study: Settings) -> Table:
    """A row for each set, a column for each measure."""
    rows = _ordered(ratios, study)
    rows = rows.assign(mark=np.where(rows["within"].eq(False), " *", ""))
    cell = Column("{ratio:.2f}[ (p = {p_value:.2f})]{mark}", missing="-")
    return Table(rows, {"set": "{title}", "metric": "{metric:metric}"}, across="measure", cell=cell)


def sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """Ratios first, then each measure's numbers, then the sets."""
    ratios, curves = tables["ratios"], tables["curves"]
    return [
        Section(
            "Are fitted sets as near as real halves?",
            f"{_said(ratios, tables['replicates'])} A cell is the ratio of the fitted sets' distance from the held-out "
            f"half to that of the training half, and the p-value of that among {study.replicates} correct models; "
            f"* is p ≤ {study.level:g}. {_biased(ratios, study)}",
            figure=Figure("ratios", lambda: draw_ratios(ratios, study)),
            table=headline(ratios, study),
        ),
        Section(
            "Curves",
            "Confidence by gain, a line for each split: real halves, and sets drawn from the model that was fitted to "
            "one of them.",
            figure=Figure("curves", lambda: draw_curves(curves, study)),
        ),
        *(_measure(measure, said, ratios, study) for measure, said in MEASURES.items()),
        Section(
            "The sets",
            "Equal systems are left out but for one. Shrinkage: what differences of true scores are multiplied by. "
            "Distance: how far the latent correlations were moved to be possible together, by system.",
            table=Table(
                tables["sets"],
                {
                    "set": "{title}",
                    "kind": "{kind}",
                    "metric": "{metric:metric}",
                    "systems": "{n_systems}",
                    "items": "{n_items:,}",
                    "halved by": "{n_units:,} × {unit}",
                    "shrinkage": "{shrinkage:.3f}",
                    "distance": "{distance:.3f}",
                },
            ),
        ),
    ]


def _said(ratios: pd.DataFrame, replicates: pd.DataFrame) -> str:
    parts = []
    for measure in MEASURES:
        tested = ratios[(ratios["measure"] == measure) & ratios["within"].notna()]
        n, inside = len(tested), int(tested["within"].eq(True).sum())
        right = replicates[replicates["measure"] == measure]["ratio"].median()
        median = f", median {tested['ratio'].median():.2f} (correct models: {right:.2f})" if n else ""
        parts.append(f"{measure} {inside} of {n}{median}")
    return f"Ratios that are not larger than those of all correct models: {'; '.join(parts)}."


def _biased(ratios: pd.DataFrame, study: Settings) -> str:
    """How many biases lie beyond all those of correct models: a sharper look than ratios."""
    parts = []
    for measure in MEASURES:
        known = ratios[(ratios["measure"] == measure) & ratios["bias"].notna() & ratios["null_bias_low"].notna()]
        if measure != "curve" and len(known):
            inside = known["bias"].between(known["null_bias_low"], known["null_bias_high"])
            parts.append(f"{measure} {int((~inside).sum())} of {len(known)}")
    expected = f"by chance alone {200 / (study.replicates + 1):.0f} % would be"
    return f"Biases (fitted - real) beyond all of correct models: {', '.join(parts) or 'none known'}; {expected}."


def _measure(measure: str, said: str, ratios: pd.DataFrame, study: Settings) -> Section:
    rows = _ordered(ratios[ratios["measure"] == measure], study)
    values = {} if measure == "curve" else {name: f"[{{{name}:.3f}}]" for name in ("real", "training", "fitted")}
    columns = {
        "set": "{title}",
        **values,
        "fitted - real": "[{bias:+.4f}]",
        "of correct models": "[{null_bias_low:+.4f} to {null_bias_high:+.4f}]",
        "distance, fitted": "[{fitted_error:.4f}]",
        "distance, halves": "[{halves_error:.4f}]",
        "ratio (range over splits)": "[{ratio:.2f}][ ({low:.2f} - {high:.2f})]",
        "correct models: median, largest": "[{null_median:.2f}, {null_high:.2f}]",
        "p": "[{p_value:.2f}]",
    }
    if measure == "curve":
        for heading in ("fitted - real", "of correct models"):
            del columns[heading]
    means = "real (the held-out half), training (the half that was learned from) and fitted are means over splits"
    text = f"The {said}; {means}." if values else f"The {said}."
    return Section(measure if measure != "significant" else "significant pairs", text, table=Table(rows, columns))


def _ordered(ratios: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """Rows with titles and metrics, the curve first."""
    titles = {name: of.title for name, of in study.sets.items()}
    metrics = {name: of.metric for name, of in study.sets.items()}
    rows = ratios.assign(title=ratios["set"].map(titles), metric=ratios["set"].map(metrics))
    order = {measure: k for k, measure in enumerate(MEASURES)}
    places = {name: k for k, name in enumerate(study.sets)}
    keyed = rows.assign(place=rows["set"].map(places), at=rows["measure"].map(order))
    return keyed.sort_values(["place", "at"], ignore_index=True).drop(columns=["place", "at"])


def draw_curves(curves: pd.DataFrame, study: Settings) -> Any:
    """A panel for each set that has curves."""
    names = [name for name in study.sets if len(curves) and (curves["set"] == name).any()]
    figure, axes = ss.plot.panels(
        [study.sets[name].title for name in names] or ["no curves"], per_row=4, width=2.7, height=2.1, shared=False
    )
    for ax, name in zip(axes, names, strict=False):
        own = curves[curves["set"] == name]
        for part, (color, label) in _DRAWN.items():
            for k, (_, line) in enumerate(own[own["part"] == part].groupby("draw")):
                ax.plot(
                    line["gain"],
                    line["confidence"],
                    color=color,
                    linewidth=0.7,
                    alpha=0.7,
                    label=label if not k else None,
                )
        rising = own[own["confidence"] < 0.995]["gain"]
        (metric,) = Column("{metric:metric}").texts(pd.DataFrame({"metric": [study.sets[name].metric]}))
        ax.set(
            xlabel=f"gain ({metric})",
            ylabel="confidence, 1 − p",
            ylim=(0.3, 1.01),
            xlim=(0, rising.quantile(0.995)),
        )
    ss.plot.share_legend(figure, axes)
    return figure


def draw_ratios(ratios: pd.DataFrame, study: Settings) -> Any:
    """A panel for each measure: a set's ratio, and the range of those of correct models."""
    figure, axes = ss.plot.panels(
        [_PANELS.get(name, name) for name in MEASURES], per_row=len(MEASURES), width=2.8, height=3.6
    )
    places = {name: -k for k, name in enumerate(study.sets)}
    for ax, measure in zip(axes, MEASURES, strict=True):
        rows = ratios[(ratios["measure"] == measure) & ratios["ratio"].notna()]
        at = rows["set"].map(places)
        ax.hlines(at, rows["null_low"], rows["null_high"], color="0.8", linewidth=6, label="correct models")
        inside = rows["within"].ne(False).to_numpy()
        ax.plot(rows["ratio"][inside], at[inside], "o", color="black", markersize=4, label="not larger, or not tested")
        ax.plot(
            rows["ratio"][~inside], at[~inside], "s", color="tab:red", markersize=4, label="larger than all of these"
        )
        ax.axvline(1, color="0.5", linewidth=0.7)
        # A set has the same row in each panel, whether or not it has a ratio there.
        ax.set(xlabel="ratio", yticks=list(places.values()), ylim=(0.6 - len(places), 0.6))
        ax.set_yticklabels([of.title for of in study.sets.values()] if ax is axes[0] else [], fontsize=7)
    ss.plot.share_legend(figure, axes)
    return figure
