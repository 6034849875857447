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
    "Prediction intervals are for the result of the same systems on another test set of the same population. Counts "
    "(neighbours, ranks) have few values, so their intervals contain more outcomes than nominal. The minimum "
    "detectable gain of the other half is an estimate too: its interval joins the errors of both halves. Splits of "
    "one set depend on each other. Shares are therefore computed for each set, over its splits, and then averaged "
    "over sets; their 95 % intervals hold for other sets. Shares are fractions, and gains are on the metric's scale."
)

TITLES = {
    "share_significant": "share of significant pairs",
    "threshold": "threshold",
    "separated": "significant neighbours",
    "separated_corrected": "significant neighbours, Holm",
    "ranks": "ranks",
    DETECTABLE: "minimum detectable gain",
}
_RESULTS = (
    "The results of a test set are: the share of pairs with p <= 0.05 (two-sided, not corrected); the gain "
    "threshold, which is the 95th percentile of the gains of pairs with 0.04 <= p <= 0.06; the number of neighbours "
    "in the ranking that differ significantly, without and with Holm's correction for all neighbours; and the number "
    "of ranks. A new rank begins with the first system that differs significantly from the leader of the rank above "
    "it. With fewer than 20 pairs for it there is no threshold."
)
_TICKS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30)
_COLOURS = {"80": "#E69F00", "95": "#0072B2"}


def _source(source: str) -> str:
    """A part of the test set that predicts."""
    return "one half" if source == HALF else f"{source} of one half"


def _target(target: str) -> str:
    """A part of the test set that is predicted."""
    return "the other half" if target == HALF else "half of the other half"


def headline(calibration: pd.DataFrame) -> Table:
    """From halves: the shares of outcomes inside the intervals."""
    rows = calibration[(calibration["source"] == HALF) & (calibration["target"] == HALF)]
    return _shares(rows)


def _shares(rows: pd.DataFrame) -> Table:
    share = "{{share{0}:.0%}}[ ({{share{0}_low:.0%}} – {{share{0}_high:.0%}})]"
    return Table(
        rows.assign(
            title=rows["measure"].map(TITLES), source=rows["source"].map(_source), target=rows["target"].map(_target)
        ),
        {
            "predicted from": "{source}",
            "predicted for": "{target}",
            "result": "{title}",
            "sets": "{n_sets}",
            "outcomes": "{n_outcomes:,}",
            "inside the 80 % interval": Column(share.format(80), missing="-"),
            "inside the 95 % interval": Column(share.format(95), missing="-"),
            "least share of a set (95 %)": Column("{worst95:.0%}", missing="-"),
        },
    )


def sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """Calibration first, then errors by set, one test set from another, plans with a margin, and the sets."""
    calibration, errors = tables["calibration"], tables["errors"]
    parts = [
        Section(
            "Do prediction intervals hold?",
            f"{_said(calibration)} Each test set was halved at random, and one half, or a sample of its units, "
            f"predicted results on the other half. {_RESULTS} An outcome is one result of one split. Dots and cells "
            "have the share of outcomes inside the prediction interval (mean over sets), and in brackets and as "
            "lines its 95 % interval. Dashed lines are the nominal shares. The minimum detectable gain has no 80 % "
            "interval and is in the table only.",
            figure=Figure("calibration", lambda: draw_calibration(calibration)),
            table=_shares(calibration),
        ),
        Section(
            "Predicted and observed",
            "Predictions from one half, and the results of the other half. A dot of the figure is a test set. On the "
            "line, predicted and observed are equal. A cell has predicted / observed, both as means over splits. "
            "Units are those of one half. Thresholds and minimum detectable gains are on the metric's scale.",
            figure=Figure("predicted", lambda: draw_predicted(errors)),
            table=_errors(errors, tables["sets"]),
        ),
        Section("Predictions that fail", _failing(errors, study), table=_worst(errors)),
    ]
    if len(tables["transfers"]):
        parts.append(_transfers(tables["transfers"]))
    if len(tables["margins"]):
        parts.append(_margins(tables["margins"]))
    sets = {
        "set": "{test_set}", "kind": "{kind}", "metric": "{metric:metric}", "systems": "{n_systems}",
        "items": "{n_items:,}", "halved by": "{n_units:,} × {unit}",
    }  # fmt: skip
    said = (
        f"Each set has at least {study.least_items} items. The limit is so low because no retrieval set at hand has "
        "400 topics. Sets are halved by the units of the last column."
    )
    return [*parts, Section("The sets", said, table=Table(tables["sets"], sets))]


def _said(calibration: pd.DataFrame) -> str:
    rows = calibration[(calibration["source"] == HALF) & (calibration["target"] == HALF)].set_index("measure")
    parts = []
    for level in (95, 80):
        known = rows[f"share{level}"].dropna()
        shares = [(float(known[measure]), TITLES[measure]) for measure in TITLES if measure in known]
        if shares:
            (least, of_least), (most, of_most) = min(shares), max(shares)
            parts.append(
                f"{level} % prediction intervals contain {least:.0%} ({of_least}) to {most:.0%} ({of_most}) of the "
                "results"
            )
    return f"From one half to the other, {'; '.join(parts)}." if parts else ""


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
        "The table lists the predictions for the other half whose 95 % interval contains less than 70 % of the "
        f"results of the {study.splits} splits, the worst first. These are {len(bad)} of {len(rows)} combinations of "
        "set, source and result. Predicted and observed are means over splits."
    )


def _worst(errors: pd.DataFrame) -> Table:
    rows = errors[(errors["target"] == HALF) & (errors["inside95"] < 0.7)].sort_values("inside95", kind="stable")
    return Table(
        rows.assign(title=rows["measure"].map(TITLES), source=rows["source"].map(_source)),
        {
            "set": "{test_set}", "predicted from": "{source}", "result": "{title}", "predicted": "{predicted:.3g}",
            "observed": "{observed:.3g}", "inside the 80 % interval": "[{inside80:.0%}]",
            "inside the 95 % interval": "{inside95:.0%}",
        },
    )  # fmt: skip


def _margins(margins: pd.DataFrame) -> Section:
    off = (margins["power"] - margins["planned_power"]).abs()
    said = (
        "Two systems have equal true scores. The plan gives the number of units to show, with power 0.8, that one "
        "system is not worse by the margin, or that the two are equivalent within it. A test set shows this if the "
        "95 % interval of the gain is above minus the margin, or between minus the margin and the margin. Test sets "
        "of the planned size are simulated. Measured power is the share of them that show it, with its 95 % interval "
        f"(Clopper-Pearson). Measured and planned power differ by {off.max():.3f} at most."
    )
    rows = margins.assign(text=[f"{margin:g}" for margin in margins["margin"]])
    return Section(
        "Plans with a margin",
        said,
        table=Table(
            rows,
            {
                "systems": "{condition}", "metric": "{metric:metric}", "margin": "{text}", "to show": "{goal}",
                "units": "{n_units:,}", "planned power": "{planned_power:.3f}",
                "measured power": "{power:.3f} ({low:.3f} – {high:.3f})",
            },
        ),
    )  # fmt: skip


def _transfers(transfers: pd.DataFrame) -> Section:
    rows = transfers[transfers["measure"].isin([DETECTABLE, "share_significant", "ranks"])]
    detectable = transfers[transfers["measure"] == DETECTABLE]
    parsing = detectable[detectable["metric"] == "las"]["ratio"].dropna()
    few = rows[rows["metric"] != "las"]
    said = (
        "One test set predicts another one, for as many items as the other one has. SWE-bench Lite and Verified are "
        "subsets of SWE-bench (full) and share most of its systems. WMT24 has other texts than WMT21, the opposite "
        "direction of translation, and systems of a later year. Treebanks have other texts, and parsers of the same "
        "teams."
    )
    if len(parsing):
        held = detectable.loc[detectable["metric"] == "las", "inside95"].dropna()
        said += (
            f" Between treebanks, the predicted minimum detectable gain is {parsing.quantile(0.1):.2f} to "
            f"{parsing.quantile(0.9):.2f} times the target's own. This range holds for 80 % of {len(parsing)} ordered "
            f"pairs. The 95 % interval, which joins the errors of both, contains the target's own value for "
            f"{held.sum():.0f} of {len(held)} pairs. A row of the figure is a target, and a dot is a test set that "
            "predicts it. The table has the other test sets. Observed is the target's own "
            "value, and ratio is predicted / observed."
        )
    return Section(
        "One benchmark from another",
        said,
        figure=Figure("transfers", lambda: draw_transfers(transfers)),
        table=Table(
            few.assign(title=few["measure"].map(TITLES)),
            {
                "predicted from": "{source}", "predicted for": "{target}", "result": "{title}",
                "predicted": "{predicted:.3g}", "95 % interval": "[{low95:.3g} – {high95:.3g}]",
                "observed": "{observed:.3g}", "ratio": "[{ratio:.2f}]",
            },
        ),
    )  # fmt: skip


def draw_calibration(calibration: pd.DataFrame) -> Any:
    """A panel for each source and size, a row for each measure, dots for both levels."""
    keys = list(dict.fromkeys(zip(calibration["source"], calibration["target"], strict=True)))
    figure, axes = ss.plot.panels(
        [f"{_source(source)}, for {_target(of)}" for source, of in keys], per_row=2, height=2.4, width=4.6
    )
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
        ax.set(xlim=(0, 1.02), xlabel="share of outcomes inside the interval", ylim=(-0.6, len(measures) - 0.4))
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
    """Minimum detectable gains: predicted from another benchmark, over the target's own."""
    rows = transfers[transfers["measure"] == DETECTABLE].dropna(subset=["ratio"])
    targets = list(dict.fromkeys(rows["target"]))
    figure, axes = ss.plot.panels(["Minimum detectable gain (power 0.8)"], height=0.6 + 0.24 * len(targets), width=6.0)
    ax = axes[0]
    ax.axvline(1, color="0.5", linewidth=0.8)
    for k, target in enumerate(targets):
        own = rows[rows["target"] == target]
        ax.plot(own["ratio"], np.full(len(own), len(targets) - 1 - k), "o", markersize=4, alpha=0.7, color="tab:blue",
                linestyle="none")  # fmt: skip
    ax.set(xscale="log", xlabel="predicted from another test set / from the target's own outputs")
    ticks = [0.4, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 2.5]
    low, high = rows["ratio"].min() / 1.1, rows["ratio"].max() * 1.1
    ax.set_xticks([tick for tick in ticks if low < tick < high], [f"{tick:g}" for tick in ticks if low < tick < high])
    ax.minorticks_off()
    ax.set_yticks(np.arange(len(targets))[::-1], targets)
    return figure
