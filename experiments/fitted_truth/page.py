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
    "Distances are root mean squares over the splits. All splits halve the same set and are not independent, so the "
    "range of a ratio is no confidence interval. The test of a ratio halves each replicate as often as the real set. "
    "It is only as exact as the fitted model is close: if this is of the wrong kind, the replicates are, too. "
    "p-values are not corrected for the number of sets and measures. By chance alone, one set in twenty is "
    "significant for each measure. Shares and confidences are fractions, and gains are on the metric's scale."
)

MEASURES = {
    "curve": "The distance of two curves of gain against confidence: the mean absolute difference of the confidences "
    "at equal gain.",
    "r12": "The median correlation r12 of two systems' item scores. If documents are known, a score is that of a "
    "document.",
    "significant": "The share of pairs with p ≤ 0.05 (two-sided, not corrected).",
    "threshold": "The 95th percentile of the gains of pairs with p from 0.04 to 0.06 (two-sided).",
}
_DISTANCES = (
    "Distance, fitted: of the fitted set from the held-out half. Distance, halves: of the training half from it. The "
    "ratio is the first over the second. In brackets: its range if one split is left out. p is that of the first "
    "table."
)
_MEANS = (
    "Real (the held-out half), training (the training half), fitted (the fitted set) and fitted - real are means "
    "over the splits. Range of correct models: of their means of fitted - real. The other columns are those of the "
    "section above."
)
# Headings of sections and titles of panels.
_TITLES = {"curve": "Distance of curves", "r12": "Median r12", "significant": "Significant pairs"}

_DRAWN = {
    "real": ("black", "held-out half"),
    "training": ("tab:blue", "training half"),
    "fitted": ("tab:red", "fitted set"),
}


def headline(ratios: pd.DataFrame, study: Settings) -> Table:
    """A row for each set, a column for each measure."""
    rows = _ordered(ratios, study)
    rows = rows.assign(mark=np.where(rows["within"].eq(False), " *", ""), title_of=rows["measure"].map(_title))
    cell = Column("{ratio:.2f}[ (p = {p_value:.2f})]{mark}", missing="-")
    return Table(rows, {"set": "{title}", "metric": "{metric:metric}"}, across="title_of", cell=cell)


def sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """Ratios first, then each measure's numbers, then the sets."""
    ratios, curves = tables["ratios"], tables["curves"]
    return [
        Section(
            "Are fitted sets as similar to a real half as the other half is?",
            "Each real set is halved. A model is fitted to the training half and draws a fitted set. Both are "
            "compared with the held-out half. A cell is a ratio: the distance of the fitted set from the held-out "
            "half, over the distance of the training half from it. At a ratio near 1, fitted sets are as similar to "
            f"a real half as another real half is. Correct models are {study.replicates} sets drawn from the model "
            "that is fitted to the whole real set. p is the share of ratios that are at least as large, among the "
            "real set and its correct models. The test is one-sided. Its null hypothesis is that the real set was "
            f"drawn from such a model. A star marks p ≤ {study.level:g}. A cell without a ratio has too few pairs, or "
            "halves without a distance. A cell without p has too few correct models with a ratio. "
            f"{_said(ratios, tables['replicates'])} {_biased(ratios, study)}",
            figure=Figure("ratios", lambda: draw_ratios(ratios, study)),
            table=headline(ratios, study),
        ),
        Section(
            "Curves",
            "The running median of confidence by gain, with a line for each split: the held-out half, the training "
            "half, and the set drawn from the model of the training half. Confidence is 1 - p, two-sided.",
            figure=Figure("curves", lambda: draw_curves(curves, study)),
        ),
        *(_measure(measure, said, ratios, study) for measure, said in MEASURES.items()),
        Section(
            "The sets",
            "If systems are equal on every item, one of them is kept. Halved by: what is drawn for a half, and how "
            "many of these a set has. Shrinkage: the factor by which the model multiplies gains, because a part of "
            "the observed gains is noise. Moved: latent correlations are estimated pair by pair and are moved to the "
            "nearest valid correlation matrix. The column has the distance (Frobenius norm) divided by the number of "
            "systems.",
            table=Table(
                tables["sets"],
                {
                    "set": "{title}",
                    "kind": "{kind}",
                    "metric": "{metric:metric}",
                    "systems": "{n_systems}",
                    "items": "{n_items:,}",
                    "halved by": "{unit} ({n_units:,})",
                    "shrinkage": "{shrinkage:.3f}",
                    "moved": "{distance:.3f}",
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
        median = f", the median is {tested['ratio'].median():.2f} (correct models: {right:.2f})" if n else ""
        parts.append(f"{_title(measure)}: {inside} of {n} ratios are not significant{median}.")
    return " ".join(parts)


def _biased(ratios: pd.DataFrame, study: Settings) -> str:
    """How many biases are outside the range of those of correct models: a sharper look than ratios."""
    parts = []
    for measure in MEASURES:
        of_measure = ratios[(ratios["measure"] == measure) & ratios["bias"].notna() & ratios["null_bias_low"].notna()]
        if measure != "curve" and len(of_measure):
            inside = of_measure["bias"].between(of_measure["null_bias_low"], of_measure["null_bias_high"])
            parts.append(f"{_title(measure)} {int((~inside).sum())} of {len(of_measure)}")
    expected = f"By chance alone, {200 / (study.replicates + 1):.0f} % are expected."
    biases = ", ".join(parts) or "none known"
    return f"Biases (fitted - real) outside the range of correct models: {biases}. {expected}"


def _measure(measure: str, said: str, ratios: pd.DataFrame, study: Settings) -> Section:
    rows = _ordered(ratios[ratios["measure"] == measure], study)
    values = {} if measure == "curve" else {name: f"[{{{name}:.3f}}]" for name in ("real", "training", "fitted")}
    columns = {
        "set": "{title}",
        **values,
        "fitted - real": "[{bias:+.4f}]",
        "range of correct models": "[{null_bias_low:+.4f} to {null_bias_high:+.4f}]",
        "distance, fitted": "[{fitted_error:.4f}]",
        "distance, halves": "[{halves_error:.4f}]",
        "ratio (range without one split)": "[{ratio:.2f}][ ({low:.2f} - {high:.2f})]",
        "ratio of correct models: median, largest": "[{null_median:.2f}, {null_high:.2f}]",
        "p": "[{p_value:.2f}]",
    }
    if measure == "curve":
        for heading in ("fitted - real", "range of correct models"):
            del columns[heading]
    # The columns are explained in the first section that has them.
    explained = {"curve": _DISTANCES, "r12": _MEANS}.get(measure, "The columns are those of the section above.")
    return Section(_title(measure), f"{said} {explained}", table=Table(rows, columns))


def _title(measure: str) -> str:
    return _TITLES.get(measure, measure.capitalize())


def _ordered(ratios: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """Rows with titles and metrics, the curve first."""
    sets = [study.sets[name] for name in ratios["set"]]
    rows = ratios.assign(title=[of.title for of in sets], metric=[of.metric for of in sets])
    order: dict[str, Mapping[str, Any]] = {"set": study.sets, "measure": MEASURES}
    places = {column: {name: k for k, name in enumerate(names)} for column, names in order.items()}
    return rows.sort_values([*order], key=lambda column: column.map(places[str(column.name)]), ignore_index=True)


def draw_curves(curves: pd.DataFrame, study: Settings) -> Any:
    """A panel for each set that has curves."""
    names = [name for name in study.sets if len(curves) and (curves["set"] == name).any()]
    figure, axes = ss.plot.panels(
        [study.sets[name].title for name in names] or ["no curves"], per_row=4, width=2.7, height=2.1, shared=False
    )
    for ax, name in zip(axes, names, strict=False):
        of_set = curves[curves["set"] == name]
        for part, (color, label) in _DRAWN.items():
            for k, (_, line) in enumerate(of_set[of_set["part"] == part].groupby("draw")):
                ax.plot(
                    line["gain"],
                    line["confidence"],
                    color=color,
                    linewidth=0.7,
                    alpha=0.7,
                    label=label if not k else None,
                )
        rising = of_set[of_set["confidence"] < 0.995]["gain"]
        (metric,) = Column("{metric:metric}").texts(pd.DataFrame({"metric": [study.sets[name].metric]}))
        ax.set(
            xlabel=f"gain ({metric})", ylabel="confidence, 1 − p", ylim=(0.3, 1.01), xlim=(0, rising.quantile(0.995))
        )
    ss.plot.share_legend(figure, axes)
    return figure


def draw_ratios(ratios: pd.DataFrame, study: Settings) -> Any:
    """A panel for each measure: a set's ratio, and the range of those of correct models."""
    figure, axes = ss.plot.panels([_title(name) for name in MEASURES], per_row=len(MEASURES), width=2.8, height=3.6)
    places = {name: -k for k, name in enumerate(study.sets)}
    for ax, measure in zip(axes, MEASURES, strict=True):
        rows = ratios[(ratios["measure"] == measure) & ratios["ratio"].notna()]
        at = rows["set"].map(places)
        ax.hlines(at, rows["null_low"], rows["null_high"], color="0.8", linewidth=6, label="range of correct models")
        inside = rows["within"].ne(False).to_numpy()
        ax.plot(
            rows["ratio"][inside], at[inside], "o", color="black", markersize=4, label="not significant, or not tested"
        )
        ax.plot(rows["ratio"][~inside], at[~inside], "s", color="tab:red", markersize=4, label="significant")
        ax.axvline(1, color="0.5", linewidth=0.7)
        # A set has the same row in each panel, whether or not it has a ratio there.
        ax.set(xlabel="ratio", yticks=list(places.values()), ylim=(0.6 - len(places), 0.6))
        ax.set_yticklabels([of.title for of in study.sets.values()] if ax is axes[0] else [], fontsize=7)
    ss.plot.share_legend(figure, axes)
    return figure
