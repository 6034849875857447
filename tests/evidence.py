"""Tables of the documentation that are filled from results: what was validated, and the papers' numbers beside ours.

A page marks the place of a table by ``<!-- table NAME -->`` and ``<!-- end -->``. ``python -m tests.documentation
--write`` fills it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from simstudy.studies import load_study
from simstudy.text.plain_text import csv_name

ROOT = Path(__file__).parents[1]
_MARKED = re.compile(r"(<!-- table (\S+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)

# A rate of test or interval this far from what is promised is marked.
LEVEL, COVERAGE = (0.035, 0.065), (0.935, 0.975)

# Conditions of error_rates that were chosen because the default test fails there.
_HARD = ("skewed differences", "precision, few wrong")


def filled(page: str) -> str:
    """The page with its tables as the results have them."""
    return _MARKED.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}{found[3]}", page)


def _csv(name: str) -> pd.DataFrame:
    return pd.read_csv(ROOT / "results" / name)


def _titles(study: str) -> pd.Series:
    """The titles of a study's conditions, by condition."""
    return _csv(f"{study}/conditions.csv").set_index("condition")["title"]


def _rates() -> pd.DataFrame:
    """Type I error rates of two-sided tests at 0.05."""
    rates = _csv("error_rates/rates.csv")
    return rates[(rates["alternative"] == "two-sided") & (rates["alpha"] == 0.05)]


def _of_equal_systems() -> pd.DataFrame:
    """Shares and mean shares of multiple_systems for 20 equally good systems, of all pairs two-sided and of ranks.

    The column `kind` has the correction of pairs, and what is promised of ranks.
    """
    means = _csv("multiple_systems/means.csv").rename(columns={"mean": "share"})
    rows = pd.concat([_csv("multiple_systems/rates.csv"), means], ignore_index=True)
    rows = rows[(rows["equality"] == "all equal") & (rows["n_systems"] == 20)]
    corrections = rows["method"].str.removeprefix("all pairs, two-sided, ")
    return rows.assign(kind=corrections.where(rows["quantity"] == "any false claim", rows["quantity"]))


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in [head, ["---"] * len(head), *rows])


def _marked(rate: float, band: tuple[float, float], harm: Callable[[float], bool]) -> str:
    text = f"{rate:.3f}"
    return f"**{text}**" if harm(rate) else f"({text})" if not band[0] <= rate <= band[1] else text


def _by_condition(kinds: list[str], band: tuple[float, float], harm: Callable[[float], bool]) -> str:
    study: Any = load_study("multiple_systems")
    table = _of_equal_systems().pivot_table(index="condition", columns="kind", values="share", sort=False)
    rows = [
        [study.title_of("condition", at), *(_marked(row[kind], band, harm) for kind in kinds)]
        for at, row in table.iterrows()
    ]
    return _markdown(["20 equally good systems", *kinds], rows)


def _range(rates: pd.Series) -> str:
    return f"{rates.min():.3f} – {rates.max():.3f}" if len(rates) else ""


def summary() -> str:
    """Lowest and highest rate of all that was measured, from 100 units on, in usual and in hard conditions."""
    situation = _csv("error_rates/conditions.csv").set_index("condition")["situation"]
    rates, covered = _rates(), _csv("error_rates/coverage.csv")
    # Items of clusters are no units: their rates are in the table of tests.
    by_cluster = rates.loc[rates["unit"] == "cluster", "condition"].unique()
    written = []

    def add(what: str, promised: str, own: pd.DataFrame, values: pd.Series, hard: pd.Series, where: str) -> None:
        of = own["condition"] if "condition" in own else own.index.to_series()
        usual, rest = (f"{of[part].nunique() or ''}" for part in (~hard, hard))
        written.append([what, promised, usual, _range(values[~hard]), rest, _range(values[hard]), where])

    for name, own in rates.groupby("test", sort=False):
        own = own[(own["n_units"] >= 100) & ((own["unit"] == "cluster") | ~own["condition"].isin(by_cluster))]
        hard = own["condition"].map(situation).isin(_HARD)
        add(f"`{name}`", "type I error rate 0.05", own, own["share"], hard, "[tests](#tests-type-i-error-rates)")
    own = covered[(covered["n_units"] >= 100) & covered["breaks"].isna()]
    hard = own["condition"].map(situation).isin(_HARD)
    add("interval of a gain", "coverage 0.95", own, own["share"], hard, "[intervals](#intervals-coverage)")
    equal = _of_equal_systems()
    for method, correction in (("Holm", "Holm's correction"), ("Romano-Wolf", "Romano and Wolf's correction")):
        own = equal[equal["kind"] == method]
        add(correction, "family-wise error rate 0.05", own, own["share"], own["condition"].str.contains("unequal"),
            "[many systems](#many-systems-family-wise-error-rates)")  # fmt: skip
    own = equal[equal["kind"] == "all ranks"]
    add("confidence sets for ranks", "coverage 0.95", own, own["share"], own["condition"].str.contains("unequal"),
        "[ranks](#confidence-sets-for-ranks)")  # fmt: skip
    own = _csv("evert_2004/simulated.csv")
    add("interval of a precision at n", "coverage 0.95", own, 1 - own["missed"], own["within"] > 0,
        "[rankings](#rankings-of-candidates)")  # fmt: skip
    own = _csv("planning_validation/margins.csv")
    add("plans with a margin: measured minus planned power", "0", own, own["power"] - own["planned_power"],
        pd.Series(False, index=own.index), "[plans](#plans-planned-and-measured-power)")  # fmt: skip
    head = ["what", "promised", "usual conditions", "result", "hard conditions", "result", "by condition"]
    return _markdown(head, written)


def failures() -> str:
    """Where the default test fails: type I error rates of tests, and coverage, by number of units."""
    rates, covered = _rates(), _csv("error_rates/coverage.csv")
    conditions = _csv("error_rates/conditions.csv").set_index("condition")
    names = ["sign_flips", "bootstrap", "skew_corrected", "precision_score"]
    written = []
    for condition in conditions.index[conditions["situation"].isin(_HARD) & (conditions["true_gain"] == 0)]:
        own = rates[rates["condition"] == condition]
        own = own[own["unit"] == min(own["unit"])]  # cluster comes before item
        for n in (100, 500, 2000):
            at = own[own["n_units"] == n].set_index("test")["share"]
            share = covered[(covered["condition"] == condition) & (covered["n_units"] == n)]
            share = share.loc[share["unit"] == min(own["unit"]), "share"].item()
            cells = [_marked(at[name], LEVEL, lambda x: x > LEVEL[1]) if name in at else "" for name in names]
            coverage = _marked(share, COVERAGE, lambda x: x < COVERAGE[0])
            written.append([conditions.at[condition, "title"], f"{n:,}", *cells, coverage])
    return _markdown(["scores of equally good systems", "units", *names, "coverage of the interval"], written)


def tests() -> str:
    """Shares of test sets of equally good systems on which each test rejects; bold if too often."""
    rates, titles = _rates(), _titles("error_rates")
    names = ["sign_flips", "bootstrap", "randomization", "skew_corrected", "t_paired", "sign", "wilcoxon"]
    rows = []
    for condition, members in rates.groupby("condition", sort=False):
        units = members["unit"].unique()
        for unit in units:
            own = members[members["unit"] == unit]
            for n in (100, 500):
                at = own[own["n_units"] == n].set_index("test")["share"]
                cells = [_marked(at[name], LEVEL, lambda x: x > LEVEL[1]) if name in at else "" for name in names]
                by = f", by {unit}" if len(units) > 1 else ""
                rows.append([f"{titles[condition]}{by}", f"{n:,}", *cells])
    return _markdown(["scores of equally good systems", "units", *names], rows)


def intervals() -> str:
    """Coverage of the 95 % interval of a gain; bold if too low."""
    rows, titles = _csv("error_rates/coverage.csv"), _titles("error_rates")
    written = []
    for (condition, unit), own in rows.groupby(["condition", "unit"], sort=False):
        share = own.set_index("n_units")["share"]
        if not own["breaks"].isna().all():
            continue
        sizes = [share.get(n) for n in (10, 20, 50, 100, 500)]
        cells = ["" if one is None else _marked(one, COVERAGE, lambda x: x < COVERAGE[0]) for one in sizes]
        written.append([titles[condition], unit, *cells])
    return _markdown(["scores", "unit", *(f"{n} units" for n in (10, 20, 50, 100, 500))], written)


def plans() -> str:
    """Planned and measured power of plans with a margin."""
    rows = _csv("planning_validation/margins.csv")
    written = [
        [one.condition, one.goal, f"{one.n_units:,}", f"{one.planned_power:.3f}",
         f"{one.power:.3f} ({one.low:.3f}–{one.high:.3f})"]
        for one in rows.itertuples()
    ]  # fmt: skip
    return _markdown(["condition", "shown", "units", "planned power", "measured power (95 %)"], written)


def families() -> str:
    """Family-wise error rates for 20 equally good systems, all pairs, two-sided."""
    return _by_condition(["none", "Holm", "Romano-Wolf"], (0, 0.06), lambda x: x > 0.06)


def ranks() -> str:
    """Shares of test sets whose confidence sets hold the true ranks, for 20 equally good systems."""
    return _by_condition(["all ranks", "own rank", "the best"], (0.935, 1), lambda x: x < 0.935)


def many_tasks() -> str:
    """Rejections of equal macro averages and coverage, by the hypothesis that is true, for unequal tasks."""
    keys = ["sizes", "agreement", "redrawn", "gains", "n_tasks", "method"]
    coverage = _csv("many_tasks/coverage.csv").set_index(keys)["share"].rename("coverage")
    rows = _csv("many_tasks/rates.csv").join(coverage, on=keys)
    rows = rows[rows["verdict"].notna() & (rows["sizes"] == "unequal") & (rows["agreement"] == "usual")]
    drawn = {"items": "these tasks", "tasks and items": "tasks like these"}
    names = {"macro, these tasks": "these tasks", "macro, tasks like these: sign flips": "like these, flips",
             "macro, tasks like these: t test": "like these, t", "all items pooled": "pooled",
             "tasks won, sign test": "tasks won"}  # fmt: skip
    written = []
    for (redrawn, gains, n_tasks), members in rows.groupby(["redrawn", "gains", "n_tasks"], sort=False):
        by_method = members.set_index("method")
        rates = [_marked(by_method.loc[name, "share"], LEVEL, lambda x: x > LEVEL[1]) for name in names]
        cover = [
            _marked(by_method.loc[name, "coverage"], (0.935, 0.965), lambda x: x < 0.935)
            for name in ("macro, these tasks", "macro, tasks like these: t test")
        ]
        written.append([drawn[redrawn], str(gains), str(n_tasks), *rates, *cover])
    head = ["true of", "truth", "tasks", *names.values(), "interval, these", "interval, like these"]
    return _markdown(head, written)


def rankings() -> str:
    """Where the binomial model of rankings holds, and where candidates depend on each other."""
    rows = _csv("evert_2004/simulated.csv")
    return _markdown(
        ["candidates", "intervals that miss", "Fisher's test rejects"],
        [
            [f"clusters of {one.cluster_size:g}, correlation {one.within:g}" if one.cluster_size > 1 else "independent",
             *(_marked(rate, (0, 0.06), lambda x: x > 0.06) for rate in (one.missed, one.fisher))]
            for one in rows.itertuples()
        ],
    )  # fmt: skip


def tools() -> str:
    """Each tool's tests with their rates on the bench, least and most over the kinds of data."""
    rows = _csv("tools_bench/bench.csv")
    rows = rows[rows["type_1_1"].notna()]
    written = []
    for (tool, test, version), own in rows.groupby(["tool", "test", "version"], sort=False, dropna=False):
        low, high = own["type_1_1"].min(), own["type_1_1"].max()
        # Of few drawn sets a rate may be high by chance.
        harm = ((own["type_1_1"] > LEVEL[1]) & (own["type_1_1_low"] > 0.05)).any()
        rates = f"{low:.3f}" if len(own) == 1 else f"{low:.3f} – {high:.3f}"
        shown = "" if isinstance(version, float) else str(version)
        written.append([str(tool), csv_name(shown), csv_name(str(test)), f"**{rates}**" if harm else rates])
    return _markdown(["tool", "version", "test", "type I error rate"], written)


def samples() -> str:
    """Both noises of sampled answers, published and here."""
    rows = _csv("samples/noises.csv")
    columns = [f"{name}{end}" for name in ("se", "between", "within") for end in ("_published", "")]
    written = [
        [str(one.title), f"{one.n_questions}", *(f"{getattr(one, column):.2f}" for column in columns)]
        for one in rows.itertuples()
    ]
    return _markdown(["set", "questions", "SE, Wang", "here", "between, Wang", "here", "within, Wang", "here"], written)


def sample_plans() -> str:
    """Predicted over realised standard errors with other numbers of samples, by the size of the set."""
    rows = _csv("samples/plans.csv")
    rows = rows.assign(size=np.where(rows["n_questions"] < 50, "30 questions", "75 questions and more"))
    written = []
    for (size, pilot, planned), own in rows.groupby(["size", "pilot", "planned"], sort=False):
        typical = int(((own["ratio"] - 1).abs() <= 0.1).sum())
        plan = f"{pilot} to {planned}"
        written.append(
            [size, plan, f"{len(own)}", f"{own['ratio'].min():.3f} – {own['ratio'].max():.3f}", f"{typical}",
             f"{100 * own['holds'].mean():.0f} %"]
        )  # fmt: skip
    head = ["sets of", "samples", "sets", "mean ratio of a set", "within 10 %", "single splits within 10 %"]
    return _markdown(head, sorted(written, reverse=True))


def paper(study: str) -> Callable[[], str]:
    """The first table of a study's README that has the paper's numbers, with a link for each row."""

    def table() -> str:
        text = (ROOT / "experiments" / study / "README.md").read_text("utf-8")
        found = re.search(r"^\|[^\n]*\bthe paper\b[^\n]*\n\|[-| ]+\n(?:\|[^\n]*\n)+", text, flags=re.MULTILINE)
        assert found, study
        head, _, *rows = (line.strip("| ").split(" | ") for line in found[0].splitlines())
        where = f"[results](../results/{study}/README.md)"
        head = [*([] if len(head) == len(rows[0]) else ["claim"]), *head, "where"]
        return _markdown([cell.strip() or "claim" for cell in head], [[*row, where] for row in rows])

    return table


TABLES: dict[str, Callable[[], str]] = {
    "tests": tests, "intervals": intervals, "plans": plans, "families": families, "many_tasks": many_tasks,
    "ranks": ranks, "rankings": rankings, "tools": tools, "summary": summary,
    "failures": failures, "samples": samples, "sample_plans": sample_plans,
    **{study: paper(study) for study in ("berg_kirkpatrick_2012", "yeh_2000", "chinchor_1992", "evert_2004")},
}  # fmt: skip
