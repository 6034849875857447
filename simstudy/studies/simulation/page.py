"""The page of a simulation: verdicts, rates with a figure, coverage, means, and what failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import cycle
from typing import Any

import pandas as pd

from simstudy import plot
from simstudy.pages.sections import Figure, Section, Table
from simstudy.studies.simulation.analyses import CAUTION
from simstudy.studies.simulation.definition import Simulation
from simstudy.studies.simulation.summaries import BRADLEY, quantile_column

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
        for share in study.quantiles:
            name = quantile_column(share)
            columns[f"{share:g} quantile"] = f"[{{{name}:.4g}} ({{{name}_low:.4g}} – {{{name}_high:.4g}})]"
        parts.append(Section("Means", text, table=Table(tables["means"], columns)))
    if "conditions" in tables:
        columns = {**where, "truth": "[{truth:.4g}]", "replicates": "{replicates:,}", "failures": "{n_failed:,}"}
        text = (
            "Truth: the true gain of the first system, or what the study's truth function says. Failures are those of "
            "all functions of study.py."
        )
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
        columns["significant estimate / true gain (type M)"] = "[{type_m:.2f} ({type_m_low:.2f} – {type_m_high:.2f})]"
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
    panels = panels or study.panels
    rates = rates[rates["quantity"] != CAUTION]
    columns = ["method", *study.factors, *(["unit"] if "unit" in rates else []), "quantity"]
    texts = pd.DataFrame(
        {name: [study.title_of(name, value) for value in rates[name]] for name in columns}, rates.index
    )
    texts["quantity"] = texts["quantity"].str.removeprefix("p_value").str.removeprefix(", ")
    differing = [name for name in columns if name not in (along, panels) and texts[name].nunique() > 1] or ["method"]
    rest = [name for name in differing if name != "method"]
    rows = texts.assign(
        line=[", ".join(filter(None, line)) for line in texts[differing].to_numpy()],
        rest=[", ".join(filter(None, line)) for line in texts[rest].to_numpy()],
    )
    if panels in study.factors and isinstance(study.factors[panels], list):
        rows[panels] = f"{panels} " + rows[panels]
    rows = rows.join(rates[[name for name in ("share", "low", "high", "verdict") if name in rates]])
    # Methods have colours, and what else differs has markers; or the other way round if more of that differs.
    by = ["method", "rest"] if rows["rest"].nunique() <= rows["method"].nunique() else ["rest", "method"]
    p_value = f"p ≤ {study.alphas[0]:g}"
    shown = [p_value if quantity.startswith("p_value") else quantity for quantity in rates["quantity"]]
    label = f"share: {', '.join(dict.fromkeys(shown))}"
    alpha = study.alphas[0]
    return lines_figure(rows, along, "line", panels, by=by, label=label, level=alpha, alpha=alpha)


def lines_figure(
    rows: pd.DataFrame, along: str, line: str, panel: str | None, *, label: str, by: Sequence[str] = (),
    among: Sequence[str] | None = None, per_row: int = 3, level: float | None = None, alpha: float | None = None,
    shared: bool | None = None,
) -> Any:  # fmt: skip
    """Shares with their intervals against the values of a column.

    Parameters
    ----------
    rows
        A table with shares (`share`, `low`, `high`).
    along, line, panel
        Columns: each value of `along` is a place, each value of `line` a line, and each value of `panel` a panel.
    label
        Of the shares.
    by
        Two columns by whose values lines have colours and markers; by default lines have colours.
    among
        All lines of several figures, which have the same colours in each.
    per_row
        Panels in a row.
    level
        A dashed line that shares are held against.
    alpha
        A grey band, in panels with verdicts: Bradley's range at this level.
    shared
        Whether panels share their axes; by default those of a grid of several rows do.
    """

    def draw() -> Any:
        # It loads what draws.
        from simstudy.plot.parts import REFERENCE, colours_among, dots, in_percents

        by_colour, by_marker = by or (line, None)
        colours = colours_among("line", list(dict.fromkeys(rows[by_colour])), among)
        markers = dict(zip(dict.fromkeys(rows[by_marker]), cycle(_MARKERS))) if by_marker else {}
        lines = list(dict.fromkeys(rows[line]))
        width = min(0.06 * len(lines), 0.6)
        places = {value: k for k, value in enumerate(dict.fromkeys(rows[along]))}
        parts = [("", rows)] if panel is None else list(rows.groupby(panel, sort=False))
        titles, columns = [str(title) for title, _ in parts], min(per_row, len(parts))
        figure, axes = plot.panels(titles, per_row=columns, height=2.8, width=3.4, shared=shared)
        for (_, part), ax in zip(parts, axes, strict=True):
            if alpha is not None and "verdict" in part and part["verdict"].notna().any():
                ax.axhspan(*(factor * alpha for factor in BRADLEY), color="0.9", linewidth=0, zorder=0)
            if level is not None:
                ax.axhline(level, **REFERENCE, zorder=1)
            for k, name in enumerate(lines):
                chosen = part[part[line] == name]
                if chosen.empty:
                    continue
                # Beside each other, so that intervals do not hide each other.
                at = chosen[along].map(places) + width * ((k + 0.5) / len(lines) - 0.5)
                marker = markers[chosen[by_marker].iloc[0]] if by_marker else "o"
                colour = colours[chosen[by_colour].iloc[0]]
                dots(ax, at, chosen, "share", label=name, marker=marker, color=colour, markersize=3, linewidth=0.9)
            ax.set_xticks(list(places.values()), list(map(str, places)))
            in_percents(ax.yaxis)
        for ax in axes[::columns]:
            ax.set_ylabel(label)
        for ax in axes[-columns:]:
            ax.set(xlabel=along)
            ax.tick_params(labelbottom=True)
        plot.share_legend(figure, axes)
        return figure

    return plot.styled(draw)()
