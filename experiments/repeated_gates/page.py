"""The sections of the page, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from simstudy.pages.sections import Figure, Section, Table

from .commits import EQUAL, KEPT, SOME_BETTER
from .drawing import draw_commits, draw_growing
from .settings import Settings

CLOSING = (
    "Shares are fractions of sets, with 95 % intervals (Clopper-Pearson). Tests are two-sided. Differences of scores "
    "are parts of the width of the range that a score may have."
)
_RATE = "{share:.4f} ({low:.4f} – {high:.4f})"


def summary(tables: Mapping[str, pd.DataFrame]) -> dict[str, Table]:
    """The tables that a terminal shows."""
    return {
        "False claims at any look while items arrive": Table(
            tables["growing"], {"condition": "{condition}", "looks": "{n_looks}"}, across="method", cell="{share:.3f}"
        ),
        "False passes by any look of another commit": Table(
            tables["commits"], {"truth": "{truth}", "looks": "{n_looks}"}, across="rule", cell="{share:.3f}"
        ),
    }


def sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """Level and cost of both situations."""
    titles = {name: of.title for name, of in study.conditions.items()}
    grown, cost = (tables[name].assign(title=tables[name]["condition"].map(titles)) for name in ("growing", "cost"))
    # In the figure are items in random order.
    random = [name for name, of in study.conditions.items() if not of.by_topic]
    commits = tables["commits"]
    equal, better, kept = (commits[commits["truth"] == truth] for truth in (EQUAL, SOME_BETTER, KEPT))
    return [
        Section(
            "Items arrive: claims about equally good systems",
            f"The share of sets in which a test has called one of two equally good systems better at {study.alpha:g} "
            f"by the given look. There is a look after every {study.growing.step} items; the sequential test looks "
            "after every item. It promises its level for items in random order: items in the order of two topics break "
            "it.",
            figure=Figure("growing", lambda: draw_growing(grown[grown["condition"].isin(random)], study.alpha)),
            table=Table(grown, {"scores": "{title}", "looks": "{n_looks}"}, across="method", cell=_RATE),
        ),
        Section(
            "Items arrive: what the sequential test costs",
            f"Items until the sequential test rejects, with a true gain, as a multiple of the items that the "
            f"usual test needs for power {study.power:g}. A set without rejection after {study.growing.most} times "
            f"these items counts as {study.growing.most}.",
            table=Table(
                cost,
                {
                    "scores": "{title}",
                    "true gain": "{gain:.3f}",
                    "planned items": "{n_planned:,}",
                    "power of the usual test": "{power_usual:.3f}",
                    "sequential: mean": "{mean_items:.2f} (± {mean_items_se:.2f})",
                    "median": "{median_items:.2f}",
                    "for the same power": "{items_of_power:.2f}",
                    "found by the planned items": "{ended_by_plan:.3f}",
                    "not found": "{no_end:.3f}",
                },
            ),
        ),
        Section(
            "Another commit at each look: false passes",
            f"The share of sets in which a gate has passed a commit that is no better than the baseline, by the given "
            f"look. All commits are tested on the same {study.commits.n_items:,} items. The last rows are of somebody "
            "who keeps each change that raises the score on these items: no share of the level repairs that.",
            figure=Figure("commits", lambda: draw_commits(pd.concat([equal, kept]), study.alpha)),
            table=Table(
                pd.concat([equal, better, kept]),
                {"commits": "{truth}", "looks": "{n_looks}"},
                across="rule",
                cell=_RATE,
            ),
        ),
        Section(
            "Another commit at each look: what the shares cost",
            f"The share of sets in which a commit with a true gain passes at its look, if every "
            f"{study.commits.better_every} th commit has one, and how many times as many items a test at the level of "
            "this look needs for the same power.",
            table=Table(
                better[better["power"].notna()],
                {
                    "rule": "{rule}",
                    "look": "{n_looks}",
                    "level of the look": "{level:.2g}",
                    "power": "{power:.3f}",
                    "times the items": "{times_items:.2f}",
                },
            ),
        ),
    ]
