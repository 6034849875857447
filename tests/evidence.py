"""Tables of the documentation that are filled from results: what was validated, and the papers' numbers beside ours.

A page marks the place of a table by ``<!-- table NAME -->`` and ``<!-- end -->``. ``python -m tests.documentation
--write`` fills it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from simstudy.text.plain_text import csv_name

ROOT = Path(__file__).parents[1]
_MARKED = re.compile(r"(<!-- table (\S+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)

# A rate of test or interval this far from what is promised is marked.
LEVEL, COVERAGE = (0.035, 0.065), (0.935, 0.975)


def filled(page: str) -> str:
    """The page with its tables as the results have them."""
    return _MARKED.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}{found[3]}", page)


def _csv(name: str) -> pd.DataFrame:
    return pd.read_csv(ROOT / "results" / name)


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in [head, ["---"] * len(head), *rows])


def _marked(rate: float, band: tuple[float, float], harm: Callable[[float], bool]) -> str:
    text = f"{rate:.3f}"
    return f"**{text}**" if harm(rate) else f"({text})" if not band[0] <= rate <= band[1] else text


def tests() -> str:
    """Shares of test sets of equally good systems on which each test rejects; bold if too often."""
    rates, titles = _csv("error_rates/rates.csv"), _csv("error_rates/conditions.csv").set_index("condition")["title"]
    rates = rates[(rates["alternative"] == "two-sided") & (rates["alpha"] == 0.05)]
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
    rows = _csv("error_rates/coverage.csv")
    titles = _csv("error_rates/conditions.csv").set_index("condition")["title"]
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
    return _markdown(
        ["condition", "shown", "units", "planned power", "measured power (95 %)"],
        [
            [one.condition, one.goal, f"{one.n_units:,}", f"{one.planned_power:.3f}",
             f"{one.power:.3f} ({one.low:.3f}–{one.high:.3f})"]
            for one in rows.itertuples()
        ],
    )  # fmt: skip


def families() -> str:
    """Family-wise error rates for 20 equally good systems, all pairs, two-sided."""
    rows = _csv("multiple_systems/families.csv")
    titles = _csv("multiple_systems/conditions.csv").set_index("condition")["title"]
    rows = rows[
        (rows["truth"] == "all equal") & (rows["n_systems"] == 20) & (rows["family"] == "all pairs")
        & (rows["alternative"] == "two-sided")
    ]  # fmt: skip
    methods = ["none", "Holm", "Romano-Wolf"]
    table = rows.pivot_table(index="condition", columns="method", values="share", sort=False)
    return _markdown(
        ["20 equally good systems", *methods],
        [
            [titles[name], *(_marked(row[method], (0, 0.06), lambda x: x > 0.06) for method in methods)]
            for name, row in table.iterrows()
        ],
    )


def ranks() -> str:
    """Shares of test sets whose confidence sets hold the true ranks, for 20 equally good systems."""
    rows = _csv("multiple_systems/rank_sets.csv")
    titles = _csv("multiple_systems/conditions.csv").set_index("condition")["title"]
    rows = rows[(rows["truth"] == "all equal") & (rows["n_systems"] == 20)]
    kinds = ["all ranks", "own rank", "the best"]
    table = rows.pivot_table(index="condition", columns="guarantee", values="share", sort=False)
    return _markdown(
        ["20 equally good systems", *kinds],
        [
            [titles[name], *(_marked(row[kind], (0.935, 1), lambda x: x < 0.935) for kind in kinds)]
            for name, row in table.iterrows()
        ],
    )


def rankings() -> str:
    """Where the binomial model of rankings holds, and where candidates depend on each other."""
    rows = _csv("evert_2004/simulated.csv")
    return _markdown(
        ["candidates", "intervals that miss", "Fisher's test rejects"],
        [
            [
                f"clusters of {one.cluster_size:g}, correlation {one.within:g}"
                if one.cluster_size > 1
                else "independent",
                *(_marked(rate, (0, 0.06), lambda x: x > 0.06) for rate in (one.missed, one.fisher)),
            ]
            for one in rows.itertuples()
        ],
    )


def tools() -> str:
    """Each tool's tests with their rates on the bench, least and most over the kinds of data."""
    rows = _csv("tools_bench/bench.csv")
    rows = rows[rows["type_1_1"].notna()]
    written = []
    for (tool, test, version), own in rows.groupby(["tool", "test", "version"], sort=False, dropna=False):
        low, high = own["type_1_1"].min(), own["type_1_1"].max()
        rates = f"{low:.3f}" if len(own) == 1 else f"{low:.3f} – {high:.3f}"
        shown = "" if isinstance(version, float) else str(version)
        written.append([str(tool), csv_name(shown), csv_name(str(test)), f"**{rates}**" if high > LEVEL[1] else rates])
    return _markdown(["tool", "version", "test", "type I error rate"], written)


def samples() -> str:
    """Both noises of sampled answers, published and here."""
    rows = _csv("samples/noises.csv")
    return _markdown(
        ["set", "questions", "SE, Wang", "here", "between, Wang", "here", "within, Wang", "here"],
        [
            [
                str(one.title), f"{one.n_questions}",
                *(f"{getattr(one, f'{name}{end}'):.2f}" for name in ("se", "between", "within")
                  for end in ("_published", "")),
            ]
            for one in rows.itertuples()
        ],
    )  # fmt: skip


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
    "tests": tests, "intervals": intervals, "plans": plans, "families": families, "ranks": ranks, "rankings": rankings,
    "tools": tools, "samples": samples, "sample_plans": sample_plans,
    **{study: paper(study) for study in ("berg_kirkpatrick_2012", "yeh_2000", "chinchor_1992", "evert_2004")},
}  # fmt: skip
