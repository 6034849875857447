"""The sections of the page, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from simstudy.pages.sections import Figure, Section, Table

from .commits import EQUAL, KEPT, SOME_BETTER
from .drawing import draw_commits, draw_growing
from .settings import Settings

CLOSING = (
    "Data are simulated. Shares are fractions of simulated test sets, with 95 % intervals (Clopper-Pearson). Tests are "
    "two-sided and not corrected, apart from the shares of the level. Differences of scores "
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
            "Items arrive: false claims about equally good systems",
            f"The share of test sets on which a test has been significant at {study.alpha:g} by the given look, "
            f"although the two systems are equally good. The usual test looks after every {study.growing.step} items: "
            "McNemar's exact test for right or wrong answers, and the paired t test for other scores. The sequential "
            "test looks after every item. It keeps its level for items in random order. Items in the order of two "
            "topics break this assumption: one system is better on the first topic, and the other one on the second. "
            "The figure leaves them out. Its dashed line is the level.",
            figure=Figure("growing", lambda: draw_growing(grown[grown["condition"].isin(random)], study.alpha)),
            table=Table(grown, {"scores": "{title}", "looks": "{n_looks}"}, across="method", cell=_RATE),
        ),
        Section(
            "Items arrive: the items that the sequential test needs",
            "Items until the sequential test is significant, if there is a true gain, over the planned items. The "
            f"planned items give the usual test power {study.power:g}, by the normal approximation. The next column "
            "has the measured power of the usual test. A test set without a significant result after "
            f"{study.growing.most} times the planned items counts as {study.growing.most} in the mean, which has its "
            f"standard error in brackets. For the same power: the multiple within which {100 * study.power:g} % of "
            "the test sets are significant. The last two columns are shares of test sets.",
            table=Table(
                cost,
                {
                    "scores": "{title}",
                    "true gain": "{gain:.3f}",
                    "planned items": "{n_planned:,}",
                    "power of the usual test": "{power_usual:.3f}",
                    "sequential test, items / planned: mean": "{mean_items:.2f} (± {mean_items_se:.2f})",
                    "median": "{median_items:.2f}",
                    "for the same power": "{items_of_power:.2f}",
                    "significant by the planned items": "{ended_by_plan:.3f}",
                    f"not significant after {study.growing.most} times": "{no_end:.3f}",
                },
            ),
        ),
        Section(
            "Another commit at each look: false passes",
            "The share of test sets on which a gate has passed a commit that is no better than the baseline, by the "
            "given look. A look compares a new commit with one baseline by McNemar's exact test. All commits are "
            f"tested on the same {study.commits.n_items:,} items. A commit passes if it is ahead and p is at most the "
            f"level of look k: alpha = {study.alpha:g}, or a share of it. With shares, a look that passes hands its "
            "level on to the next one. In the last rows, each change that raises the score on these items is kept, "
            "though it is no better on other items. No share of the level repairs that. The dashed line is alpha.",
            figure=Figure("commits", lambda: draw_commits(pd.concat([equal, kept]), study.alpha)),
            table=Table(
                pd.concat([equal, better, kept]),
                {"commits": "{truth}", "looks": "{n_looks}"},
                across="rule",
                cell=_RATE,
            ),
        ),
        Section(
            "Another commit at each look: the cost of shares of the level",
            "Power is the share of test sets on which a commit with a true gain passes at its look. One commit in "
            f"{study.commits.better_every} has such a gain, and the usual test detects it with power {study.power:g} "
            "by the normal approximation. Times the items: so many times as many items give a test at the level of "
            "this look the same power.",
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
