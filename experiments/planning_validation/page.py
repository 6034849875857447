"""What the page shows: its sections, figures, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

import simstudy as ss
from simstudy.pages.sections import Column, Figure, Section, Table

from .halves import DETECTABLE, HALF, MEASURES
from .settings import Settings

CLOSING = (
    "Splits of one set are not independent of each other: shares are means over sets of their shares over splits, and "
    "their 95 % intervals come from the sets. Prediction intervals are for the number that another test set of the "
    "same population shows, of the same systems; counts have few values, so that theirs hold more than they say. The "
    "interval of the minimum detectable gain joins the errors of both halves. Shares are fractions, gains on the "
    "metric's scale."
)

TITLES = {
    "share_significant": "share of significant pairs",
    "threshold": "threshold",
    "separated": "significant neighbours",
    "separated_corrected": "and after Holm's correction",
    "ranks": "ranks",
    DETECTABLE: "minimum detectable gain",
}
_TICKS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30)
_COLOURS = {"80": "tab:orange", "95": "tab:blue"}


def headline(calibration: pd.DataFrame) -> Table:
    """From halves: the shares of outcomes inside the intervals."""
    rows = calibration[(calibration["source"] == HALF) & (calibration["target"] == HALF)]
    return _shares(rows)


def _shares(rows: pd.DataFrame) -> Table:
    share = "[{{share{0}:.0%}}][ ({{share{0}_low:.0%}} – {{share{0}_high:.0%}})]"
    return Table(
        rows.assign(title=rows["measure"].map(TITLES)),
        {
            "predicted from": "{source}",
            "target": "{target}",
            "result": "{title}",
            "sets": "{n_sets}",
            "outcomes": "{n_outcomes:,}",
            "inside 80 %": Column(share.format(80), missing="-"),
            "inside 95 %": Column(share.format(95), missing="-"),
            "worst set (95 %)": Column("[{worst95:.0%}]", missing="-"),
        },
    )


def sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """Calibration first, then errors by set, one test set from another, plans with a margin, and the sets."""
    calibration, errors = tables["calibration"], tables["errors"]
    parts = [
        Section(
            "Do prediction intervals hold?",
            f"{_said(calibration)} Dots are means over sets, lines their 95 % intervals; dashed: what intervals say.",
            figure=Figure("calibration", lambda: draw_calibration(calibration)),
            table=_shares(calibration),
        ),
        Section(
            "Predicted and observed",
            "A dot is a test set: the mean over splits of what one half predicted and of what the other half showed.",
            figure=Figure("predicted", lambda: draw_predicted(errors)),
            table=_errors(errors, tables["sets"]),
        ),
        Section("What fails", _failing(errors, study), table=_worst(errors)),
    ]
    if len(tables["transfers"]):
        parts.append(_transfers(tables["transfers"]))
    if len(tables["margins"]):
        parts.append(_margins(tables["margins"]))
    sets = {
        "set": "{test_set}", "kind": "{kind}", "metric": "{metric:metric}", "systems": "{n_systems}",
        "items": "{n_items:,}", "halved by": "{n_units:,} × {unit}",
    }  # fmt: skip
    said = f"All have {study.least_items} items or more; of retrieval no set at hand has 400 topics."
    return [*parts, Section("The sets", said, table=Table(tables["sets"], sets))]


def _said(calibration: pd.DataFrame) -> str:
    rows = calibration[(calibration["source"] == HALF) & (calibration["target"] == HALF)].set_index("measure")
    found = {str(measure): (float(row["share80"]), float(row["share95"])) for measure, row in rows.iterrows()}
    said = [
        f"{TITLES[measure]} {found[measure][0]:.0%} and {found[measure][1]:.0%}"
        for measure in MEASURES
        if np.isfinite(found.get(measure, (np.nan, np.nan))[0])
    ]
    return f"The 80 % and 95 % prediction intervals hold these shares of the other half's outcomes: {'; '.join(said)}."


def _errors(errors: pd.DataFrame, sets: pd.DataFrame) -> Table:
    rows = errors[(errors["source"] == HALF) & (errors["target"] == HALF)].merge(
        sets[["test_set", "metric", "n_systems"]], on=["test_set", "metric"]
    )
    rows = rows.assign(title=rows["measure"].map(TITLES))
    return Table(
        rows,
        {"set": "{test_set}", "metric": "{metric:metric}", "systems": "{n_systems}", "units": "{n_units:,}"},
        across="title",
        cell=Column("{predicted:.3g} / {observed:.3g}", missing="-"),
    )


def _failing(errors: pd.DataFrame, study: Settings) -> str:
    rows = errors[(errors["target"] == HALF) & errors["inside95"].notna()]
    bad = rows[rows["inside95"] < 0.7]
    return (
        f"The 95 % interval holds less than 70 % of the {study.splits} outcomes for these sets and measures: "
        f"{len(bad)} of {len(rows)}. The table lists them, the worst first."
    )


def _worst(errors: pd.DataFrame) -> Table:
    rows = errors[(errors["target"] == HALF) & (errors["inside95"] < 0.7)].sort_values("inside95", kind="stable")
    return Table(
        rows.assign(title=rows["measure"].map(TITLES)),
        {
            "set": "{test_set}", "predicted from": "{source}", "result": "{title}", "predicted": "{predicted:.3g}",
            "observed": "{observed:.3g}", "inside 80 %": "[{inside80:.0%}]", "inside 95 %": "{inside95:.0%}",
        },
    )  # fmt: skip


def _margins(margins: pd.DataFrame) -> Section:
    off = (margins["power"] - margins["planned_power"]).abs()
    said = (
        "Two systems have equal true scores. A plan says how many units show with power 0.8 that one is not worse by "
        "the margin, or that they are equivalent within it. Test sets of this size are drawn, and counted where the "
        f"interval of compare shows it. Found and planned power differ by {off.max():.3f} at most."
    )
    rows = margins.assign(text=[f"{margin:g}" for margin in margins["margin"]])
    return Section(
        "Plans with a margin",
        said,
        table=Table(
            rows,
            {
                "systems": "{condition}", "metric": "{metric:metric}", "margin": "{text}", "to show": "{goal}",
                "units": "{n_units:,}", "planned": "{planned_power:.3f}", "found": "{power:.3f}",
                "95 %": "{low:.3f} – {high:.3f}",
            },
        ),
    )  # fmt: skip


def _transfers(transfers: pd.DataFrame) -> Section:
    rows = transfers[transfers["measure"].isin([DETECTABLE, "share_significant", "ranks"])]
    detectable = transfers[transfers["measure"] == DETECTABLE]
    parsing = detectable[detectable["metric"] == "las"]["ratio"].dropna()
    few = rows[rows["metric"] != "las"]
    said = "A benchmark of other items, and of other systems but for the treebanks."
    if len(parsing):
        held = detectable.loc[detectable["metric"] == "las", "inside95"].dropna()
        said += (
            f" Between treebanks the predicted minimum detectable gain is {parsing.quantile(0.1):.2f} to "
            f"{parsing.quantile(0.9):.2f} times the one that the target itself says (80 % of {len(parsing)} ordered "
            f"pairs of treebanks); the joint 95 % intervals hold {held.sum():.0f} of {len(held)}. The table has the "
            "others."
        )
    return Section(
        "One benchmark from another",
        said,
        figure=Figure("transfers", lambda: draw_transfers(transfers)),
        table=Table(
            few.assign(title=few["measure"].map(TITLES)),
            {
                "from": "{source}", "to": "{target}", "result": "{title}", "predicted": "{predicted:.3g}",
                "95 %": "[{low95:.3g} – {high95:.3g}]", "observed": "{observed:.3g}", "ratio": "[{ratio:.2f}]",
            },
        ),
    )  # fmt: skip


def draw_calibration(calibration: pd.DataFrame) -> Any:
    """A panel for each source and size, a row for each measure, dots for both levels."""
    keys = list(dict.fromkeys(zip(calibration["source"], calibration["target"], strict=True)))
    figure, axes = ss.plot.panels([f"from {source} to {of}" for source, of in keys], per_row=2, height=2.4, width=4.6)
    measures = list(MEASURES)
    for (source, of), ax in zip(keys, axes, strict=True):
        own = calibration[(calibration["source"] == source) & (calibration["target"] == of)].set_index("measure")
        for inside, offset in (("80", 0.14), ("95", -0.14)):
            ax.axvline(int(inside) / 100, color=_COLOURS[inside], linewidth=0.8, linestyle=(0, (4, 3)))
            rows = own.reindex(measures)
            at = np.arange(len(measures))[::-1] + offset
            share = rows[f"share{inside}"]
            reach = np.array([share - rows[f"share{inside}_low"], rows[f"share{inside}_high"] - share])
            ax.errorbar(share, at, xerr=np.nan_to_num(reach), fmt="o", markersize=4, linewidth=1.2,
                        color=_COLOURS[inside], label=f"{inside} % intervals")  # fmt: skip
        ax.set(xlim=(0, 1.02), xlabel="share of outcomes inside", ylim=(-0.6, len(measures) - 0.4))
        ax.set_yticks(np.arange(len(measures))[::-1], [TITLES[measure] for measure in measures])
    ss.plot.share_legend(figure, axes)
    return figure


def draw_predicted(errors: pd.DataFrame) -> Any:
    """A panel for each measure: predicted against observed, a dot for each set."""
    measures = [*MEASURES, DETECTABLE]
    figure, axes = ss.plot.panels(
        [TITLES[measure] for measure in measures], per_row=3, height=2.9, width=3.2, shared=False
    )
    for measure, ax in zip(measures, axes, strict=True):
        rows = errors[(errors["measure"] == measure) & (errors["source"] == HALF) & (errors["target"] == HALF)]
        rows = rows[rows["observed"].notna() & rows["predicted"].notna()]
        ax.plot(rows["predicted"], rows["observed"], "o", markersize=4, alpha=0.75, color="tab:blue", linestyle="none")
        if len(rows):
            both = rows[["predicted", "observed"]].to_numpy()
            if measure in ("threshold", DETECTABLE):
                ends = (both.min() / 1.3, both.max() * 1.3)
                ax.set(xscale="log", yscale="log")
                ticks = [tick for tick in _TICKS if ends[0] < tick < ends[1]]
                ax.minorticks_off()
                ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
                ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
            else:
                ends = (0.0 if measure != "share_significant" else both.min() - 0.05, both.max() * 1.05)
            ax.plot(ends, ends, color="0.5", linewidth=0.8)
            ax.set(xlim=ends, ylim=ends)
        ax.set(xlabel="predicted", ylabel="observed")
    return figure


def draw_transfers(transfers: pd.DataFrame) -> Any:
    """Detectable gains: predicted from another benchmark, over the one that the target says."""
    rows = transfers[transfers["measure"] == DETECTABLE].dropna(subset=["ratio"])
    targets = list(dict.fromkeys(rows["target"]))
    figure, axes = ss.plot.panels(["Detectable gain, predicted / own"], height=0.6 + 0.24 * len(targets), width=6.0)
    ax = axes[0]
    ax.axvline(1, color="0.5", linewidth=0.8)
    for k, target in enumerate(targets):
        own = rows[rows["target"] == target]
        ax.plot(own["ratio"], np.full(len(own), len(targets) - 1 - k), "o", markersize=4, alpha=0.7, color="tab:blue",
                linestyle="none")  # fmt: skip
    ax.set(xscale="log", xlabel="predicted from another benchmark / own")
    ticks = [0.4, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 2.5]
    low, high = rows["ratio"].min() / 1.1, rows["ratio"].max() * 1.1
    ax.set_xticks([tick for tick in ticks if low < tick < high], [f"{tick:g}" for tick in ticks if low < tick < high])
    ax.minorticks_off()
    ax.set_yticks(np.arange(len(targets))[::-1], targets)
    return figure
