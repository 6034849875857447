"""What the page shows: its sections, with their figures and tables. The texts are in study.toml."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

import simstudy as ss
from simstudy.pages.sections import Figure, Section, Table
from simstudy.studies import ShippedTables, Shown, Simulation

from .drawing import draw_choices, draw_coverage, draw_exaggeration, draw_power, draw_rates, draw_uniformity
from .tables import DEFAULT_TEST, DEPENDENT_UNITS, EVEN, FAILS, FIRST, HIGHEST, KEEPS, NAMED, ONE_SIDED, two_sided

# The tests whose error rates are drawn, and the least number of units: with fewer, some tests cannot reject at all.
_DRAWN, _LEAST_DRAWN = ("randomization", "t_paired", "bootstrap", "skew_corrected", "sign_flips"), 6

_SIDES = {ONE_SIDED: "one-sided, better system", NAMED: "one-sided, named beforehand"}

# The columns of the page's tables, and the templates of their cells.
_CHOSEN = {
    "situation": "{situation}",
    "units": "{sizes}",
    "first choice": "{first}",
    "highest error rate": "{worst}",
    "power": "{power}",
    "also keep their level": "{keeps}",
    "reject too often": "{fails}",
}
_VERDICT = {
    "test": "{test}",
    "true null hypothesis": "{null}",
    "conditions": "{n_conditions}",
    "rates in the target range": "{n_within} of {n_rates}",
    "in Bradley's range": "{n_liberal} of {n_rates}",
    "lowest rate": "{lowest:.3f}",
    "highest rate": "{highest:.3f}",
    "highest rate, fewer units": "{highest_fewer:.3f}",
}
_EXACT = {
    "test": "{test}",
    "level": "{alpha:g}",
    "conditions": "{n_conditions}",
    "rates": "{n_rates}",
    "highest rate": "{highest:.4f}",
    "largest excess in standard deviations": "{highest_sd:.1f}",
    "significantly above the level": "{n_above}",
}
_AT = {"condition": "{view}", "units": "{n_units:,}"}
_MARKED = "{opened}{share:.3f}{marks}{closed}"
_MAGNITUDES = {
    **_AT,
    "power": "{share:.3f}",
    "wrong winner": "{wrong:.4f} ({wrong_low:.4f} – {wrong_high:.4f})",
    "wrong winner if significant (type S)": "[{type_s:.3f}]",
    "observed gain / true gain (type M)": "[{type_m:.2f} ({type_m_low:.2f} – {type_m_high:.2f})]",
}
_COVERED = {
    **_AT,
    "true gain": "{true_gain:.2f}",
    "interval": "{interval}",
    "coverage": "{share:.3f} ({low:.3f} – {high:.3f})",
    "mean width": "{mean_width:.3g}",
    "test sets without an interval": "{undefined:.1%}",
}
_SYSTEMS = {
    "condition": "{title}",
    "metric": "{metric}",
    "systems": "{systems}",
    "true scores": "{score_1:.4g} and {score_2:.4g}",
}


def show(study: Simulation, tables: ShippedTables) -> Shown:
    """Which test when, error rates, exact tests, cautions, power and coverage."""
    at = {name: _with_views(table, tables["conditions"]) for name, table in tables.items() if "condition" in table}
    shown, aims = study.page["shown"], study.page["aims"]
    rates, powers = two_sided(at["rates"], study), two_sided(at["power"], study)
    drawn = rates[rates["test"].isin(_DRAWN) & (rates["breaks"] != DEPENDENT_UNITS)]
    drawn = drawn[drawn["n_units"] >= _LEAST_DRAWN]
    sides = at["rates"].query("test == @DEFAULT_TEST and alpha == @study.alphas[0] and breaks == ''")
    sides = sides[sides["n_units"].isin(shown)].assign(alternative=sides["alternative"].replace(_SIDES))
    curves = powers[powers["test"].isin(EVEN) & (powers["n_units"] >= _LEAST_DRAWN)]
    default = powers[powers["test"] == DEFAULT_TEST]
    # A gain that is 0 but for rounding is written as 0.
    covered = at["coverage"].assign(true_gain=at["coverage"]["true_gain"].round(2) + 0.0)
    chosen, verdicts = chosen_tests(tables["choices"]), _verdicts(tables["tests"])
    sections = {
        "Which test when": (chosen, Figure("choices", lambda: draw_choices(tables["choices"]))),
        "Null hypotheses of the tests": (_null_hypotheses(study.tests), None),
        "Which test keeps its level?": (verdicts, None),
        "Type I error rates by condition": (None, Figure("error_rates", lambda: draw_rates(drawn, aims))),
        "All tests": (Table(marked(rates[rates["n_units"].isin(shown)], aims), _AT, across="test", cell=_MARKED), None),
        "One-sided tests": (Table(sides, _AT, across="alternative", cell="{share:.3f}"), None),
        "Few units": (_by_size(at["few_units"], "{error_rate:.3f} / {coverage:.3f}"), None),
        "Exact tests of exchangeable systems": (Table(tables["exact"], _EXACT), None),
        "Are p-values uniform?": (None, Figure("uniformity", lambda: draw_uniformity(at["quantiles"]))),
        "Cautions": (
            _by_size(
                at["cautions"].assign(mark=np.where(at["cautions"]["off_level"], " ▲", "")),
                "{error_rate:.3f} / {coverage:.3f} / {cautioned:.0%}{mark}",
            ),
            None,
        ),
        "Power": (
            Table(powers[powers["n_units"].isin(shown)], _AT, across="test", cell="{share:.3f}"),
            Figure("power", lambda: draw_power(curves)),
        ),
        "The wrong winner, and too large a gain": (
            Table(default, _MAGNITUDES),
            Figure("exaggeration", lambda: draw_exaggeration(default)) if default["type_m"].any() else None,
        ),
        "Coverage of the interval": (None, Figure("coverage", lambda: draw_coverage(covered, aims))),
        "Intervals": (Table(covered[covered["n_units"].isin(shown)], _COVERED), None),
        "Conditions": (Table(tables["conditions"], _SYSTEMS), None),
    }
    values = _values(study, at["cautions"])
    return Shown(
        sections=[
            Section(heading, study.texts[heading].format(**values), table=table, figure=figure)
            for heading, (table, figure) in sections.items()
        ],
        closing=study.texts["closing"],
        summary={"Which test when": chosen, "Two-sided type I error rates, equal scores": verdicts},
    )


def _with_views(table: pd.DataFrame, conditions: pd.DataFrame) -> pd.DataFrame:
    """The table with each condition's situation, and its title as the view; files have no text if nothing is broken."""
    of_name = conditions.set_index("condition")
    breaks = table["breaks"].astype(object).fillna("") if "breaks" in table else pd.Series("", table.index)
    return table.assign(
        breaks=breaks,
        situation=table["condition"].map(of_name["situation"]),
        view=table["condition"].map(of_name["title"]) + np.where(breaks == DEPENDENT_UNITS, ", by item", ""),
    )


def _values(study: Simulation, cautions: pd.DataFrame) -> dict[str, Any]:
    """The values that the texts of sections name."""
    aims = study.page["aims"]
    shares = {
        text: cautions.loc[cautions["off_level"] == off, "cautioned"]
        for text, off in (("if level or coverage is wrong", True), ("if neither is", False))
    }
    means = [f"{rows.mean():.0%} {text} ({len(rows):,} cells)" for text, rows in shares.items() if len(rows)]
    ranges = {f"{name}_range": "{:g} – {:g}".format(*aims[name]) for name in ("target", "liberal", "coverage")}
    values = {"alpha": study.alphas[0], "test": DEFAULT_TEST, "highest": HIGHEST, "cautioned": "; ".join(means)}
    return {**aims, **ranges, **values, "shown": study.page["shown"]}


def chosen_tests(choices: pd.DataFrame) -> Table:
    """The tests of each verdict in a situation and band of sizes."""
    rows = []
    for (situation, sizes), members in choices.groupby(["situation", "sizes"], sort=False):
        first, keeps, fails = (members[members["verdict"] == verdict] for verdict in (FIRST, KEEPS, FAILS))
        rows.append(
            {
                "situation": situation,
                "sizes": sizes,
                "first": ", ".join(first["test"]) or "none",
                "worst": _range("{:.3f}", first["worst"]),
                "power": _range("{:.2f}", first["power"].dropna()),
                "keeps": ", ".join(keeps["test"]),
                "fails": ", ".join(fails["test"]),
            }
        )
    return Table(pd.DataFrame(rows), _CHOSEN)


def _range(template: str, values: pd.Series[float]) -> str:
    """A number, or the range of several that differ."""
    texts = [template.format(value) for value in sorted(values)]
    return " – ".join(dict.fromkeys([texts[0], texts[-1]])) if texts else ""


def _null_hypotheses(tests: list[str]) -> Table:
    rows = [{"test": name, "null": ss.TESTS[name].null, "assumes": ss.TESTS[name].assumes} for name in tests]
    columns = {"test": "{test}", "null hypothesis": "{null}", "further assumptions": "{assumes}"}
    return Table(pd.DataFrame(rows), columns)


def _verdicts(tests: pd.DataFrame) -> Table:
    """The verdict on each test; one row is enough where no condition breaks the test."""
    return Table(tests[(tests["n_conditions"] > 0) & ~tests.duplicated(["test", "n_conditions"])], _VERDICT)


def marked(rates: pd.DataFrame, aims: Mapping[str, Any]) -> pd.DataFrame:
    """Rates with a mark for each range that they leave, and brackets if the condition breaks the test."""
    marks = pd.Series("", rates.index)
    for low, high in (aims["target"], aims["liberal"]):
        marks += np.select([rates["share"] > high, rates["share"] < low], ["▲", "▼"], "")
    opened, closed = (np.where(rates["breaks"] == "", "", bracket) for bracket in "()")
    return rates.assign(marks=marks, opened=opened, closed=closed)


def _by_size(table: pd.DataFrame, cell: str) -> Table:
    """A row for each condition, a column for each number of units."""
    sizes = table["n_units"].map("{:,} units".format)
    return Table(table.assign(size=sizes), {"condition": "{view}"}, across="size", cell=cell)
