"""The page of a simulation: verdicts, rates with a figure, coverage, means, and what failed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import cycle
from typing import Any

import pandas as pd

from simstudy import plot
from simstudy.pages.sections import Figure, Section, Table
from simstudy.studies.simulation.analyses import CAUTION
from simstudy.studies.simulation.definition import Simulation
from simstudy.studies.simulation.summaries import BRADLEY

CLOSING = (
    "Intervals are 95 % Monte Carlo intervals: they say how well the replicates determine a number. Those of shares "
    "are by Clopper and Pearson, those of means by Student's t. Groups of replicates make them longer, by the spread "
    "between groups. Replicates on which a test has no result are missing: they are counted and not drawn again."
)

# Lines differ in more than their colours.
_MARKERS = "os^Dv<>PX*"

_SHARE = "{share:.4f} ({low:.4f} – {high:.4f})"

Tables = Mapping[str, pd.DataFrame]


def sections(tables: Tables, study: Simulation) -> list[Section]:
    """The parts of the page for which there are rows."""
    where = {name: f"{{{name}}}" for name in (*study.factors, *(["unit"] if study.units else []))}
    method = {**where, "method": "{method}"}
    replicates = {"replicates": "{n_sets:,}", "missing": "{n_missing:,}"}
    parts = []
    if "rates" in tables:
        parts.append(_rates(tables["rates"], study, {**method, "quantity": "{quantity}"}, replicates))
    if "coverage" in tables:
        columns = {**method, "coverage": _SHARE, "mean width": "[{mean_width:.4g}]", **replicates}
        text = "The share of intervals that hold the truth."
        parts.append(Section("Coverage", text, table=Table(tables["coverage"], columns)))
    if "means" in tables:
        means = "[{mean:.4g}][ ({mean_low:.4g} – {mean_high:.4g})]"
        columns = {**method, "quantity": "{quantity}", "mean": means, **replicates}
        text = "Means over replicates."
        if "bias" in tables["means"]:
            columns["bias"] = "[{bias:.4g} ({bias_low:.4g} – {bias_high:.4g})]"
            text += " Bias: the mean of the estimate minus the truth."
        parts.append(Section("Means", text, table=Table(tables["means"], columns)))
    if "conditions" in tables:
        columns = {**where, "truth": "[{truth:.4g}]", "replicates": "{replicates:,}", "failed": "{n_failed:,}"}
        text = "Truth: the true gain of the first system, or what the study's truth function says."
        parts.append(Section("Conditions", text, table=Table(tables["conditions"], columns)))
    if "failures" in tables:
        columns = {**where, "analysis": "{analysis}", "error": "{failure}", "replicates": "{n_failed:,}"}
        columns["the first"] = "{replicate:,}"
        text = "Errors that functions of study.py raised: they have no number on these replicates."
        parts.append(Section("Failed replicates", text, table=Table(tables["failures"], columns)))
    return parts


def summary(tables: Tables, study: Simulation) -> dict[str, Table]:
    """What a terminal shows at the end: how many type I error rates lie where, and what failed."""
    shown = {}
    if "verdict" in tables.get("rates", ()):
        rates = at_first_alpha(tables["rates"], study)
        counts = rates.groupby(["method", "quantity"])["verdict"].value_counts().unstack(fill_value=0)
        shown[f"Type I error rates at {study.alphas[0]:g} and Bradley's range"] = Table.of_text(counts.reset_index())
    if "failures" in tables:
        counts = tables["failures"].groupby(["analysis", "failure"], sort=False)["n_failed"].sum().reset_index()
        columns = {"analysis": "{analysis}", "error": "{failure}", "replicates": "{n_failed:,}"}
        shown["Errors of functions of study.py"] = Table(counts.drop_duplicates("analysis"), columns)
    return shown


def _rates(rates: pd.DataFrame, study: Simulation, at: dict[str, str], replicates: dict[str, str]) -> Section:
    """The rates at the first level of significance, with their figure."""
    alpha = study.alphas[0]
    shown = at_first_alpha(rates, study)
    columns = {**at, "rate": "[{share:.4f}][ ({low:.4f} – {high:.4f})]", **replicates}
    text = f"The share of replicates with p <= {alpha:g}, or on which a statement is true."
    if "verdict" in shown and shown["verdict"].notna().any():
        columns["verdict"] = "[{verdict}]"
        least, most = (factor * alpha for factor in BRADLEY)
        text += (
            f" Verdict: where the interval of a type I error rate lies beside Bradley's range, {least:g} to {most:g}. "
            "If more than 1 % of the replicates are missing, there is no verdict."
        )
    if "type_m" in shown and shown["type_m"].notna().any():
        columns["wrong winner if significant (type S)"] = "[{type_s:.3f} ({type_s_low:.3f} – {type_s_high:.3f})]"
        columns["observed gain / true gain (type M)"] = "[{type_m:.2f} ({type_m_low:.2f} – {type_m_high:.2f})]"
    if len(study.alphas) > 1:
        text += " The other levels are in rates.csv."
    figure = None
    if study.x and (shown["quantity"] != CAUTION).any():
        figure = Figure("rates", partial(rates_figure, shown, study, study.x))
    return Section("Rates", text, figure=figure, table=Table(shown, columns))


def at_first_alpha(rates: pd.DataFrame, study: Simulation) -> pd.DataFrame:
    """The rates at the study's first level of significance, and those that have no level."""
    if "alpha" not in rates:
        return rates
    return rates[rates["alpha"].isna() | (rates["alpha"] == study.alphas[0])]


def rates_figure(rates: pd.DataFrame, study: Simulation, along: str, panels: str | None = None) -> Any:
    """Rates against the levels of a factor, a panel for each value of another column (by default the study's).

    The level of significance is dashed, and Bradley's range of type I error rates is grey. A line is called after the
    columns in which lines differ.
    """
    return plot.styled(_drawn)(rates[rates["quantity"] != CAUTION], study, along, panels or study.panels)


def _drawn(rates: pd.DataFrame, study: Simulation, along: str, panels: str | None) -> Any:
    # It loads what draws.
    from simstudy.plot.parts import REFERENCE, colours_of, dots, in_percents

    texts = {name: rates[name].map(partial(study.title_of, name)) for name in ("method", *study.factors)}
    texts |= {"unit": rates["unit"]} if "unit" in rates else {}
    texts["quantity"] = rates["quantity"].str.removeprefix("p_value").str.removeprefix(", ")
    for name, text in texts.items():
        if name in (along, panels) or text.nunique() == 1:
            texts[name] = pd.Series("", rates.index)
    method = texts.pop("method")
    rest = _joined(*texts.values())
    lines = _joined(method, rest)
    lines = lines.where(lines != "", rates["method"])
    # What has more values has colours, the other markers.
    coloured, marked = (method, rest) if method.nunique() >= rest.nunique() else (rest, method)
    colours = colours_of("line", coloured.unique().tolist())
    markers = dict(zip(marked.unique(), cycle(_MARKERS), strict=False))
    looks = {line: (colours[x], markers[y]) for line, x, y in zip(lines, coloured, marked, strict=True)}
    places = {level: k for k, level in enumerate(dict.fromkeys(rates[along]))}
    views = [("", rates)]
    if panels:
        views = [(study.title_of(panels, value), rows) for value, rows in rates.groupby(panels, sort=False)]
    per_row = min(3, len(views))
    figure, axes = plot.panels([title for title, _ in views], per_row=per_row, height=2.8, width=3.4)
    for (_, rows), ax in zip(views, axes, strict=True):
        if "verdict" in rows and rows["verdict"].notna().any():
            ax.axhspan(*(factor * study.alphas[0] for factor in BRADLEY), color="0.9", linewidth=0, zorder=0)
        ax.axhline(study.alphas[0], zorder=1, **REFERENCE)
        for k, (line, (colour, marker)) in enumerate(looks.items()):
            members = rows[lines[rows.index] == line]
            # Beside each other, so that intervals do not hide each other.
            at = members[along].map(places) + min(0.06, 0.6 / len(looks)) * (k + 0.5 - len(looks) / 2)
            style = {"color": colour, "marker": marker, "markersize": 3, "linewidth": 0.9}
            dots(ax, at, members, "share", label=line, **style)
        ax.set_xticks(list(places.values()), [study.title_of(along, level) for level in places])
        in_percents(ax.yaxis)
    p_value = f"p ≤ {study.alphas[0]:g}"
    shown = [p_value if quantity.startswith("p_value") else quantity for quantity in rates["quantity"]]
    for ax in axes[::per_row]:
        ax.set_ylabel(f"share: {', '.join(dict.fromkeys(shown))}")
    for ax in axes[-per_row:]:
        ax.set(xlabel=along)
        ax.tick_params(labelbottom=True)
    plot.share_legend(figure, axes)
    return figure


def _joined(*columns: Any) -> Any:
    """The texts of each row that are not empty, with commas between them."""
    return pd.Series([", ".join(filter(None, texts)) for texts in zip(*columns, strict=True)], columns[0].index)
