"""What the page shows: its sections, figures, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

import simstudy as ss
from simstudy.pages.sections import Figure, Section, Table
from simstudy.studies import ShippedTables, Shown, Simulation

from .published import GAIN_TOPICS, LEVEL, SIGN_WITH_TIES

CLOSING = (
    "The two systems have equal means in the population unless a gain is named. Each rejection is then an error, "
    "whatever null hypothesis the test has. Intervals are 95 % and take the test sets of one pair of runs as a "
    "cluster. Shares are fractions. The test sets of a batch share their resamples, which adds little."
)
# Null hypothesis or control -> how test sets are drawn under it.
MODELS = {
    "fitted": "The null hypothesis of the paper. Both systems have the margin of one run. Their copula is fitted to "
    "two runs, and AIC chooses among all families.",
    "symmetric": "The margins are the same, and AIC chooses among symmetric families. So the systems are exchangeable.",
    "refitted": "The margins are the same. The copula is fitted again, to 50 topics from the symmetric copula, and AIC "
    "chooses among all families. There is no asymmetry to find.",
    "equal means": "Each system has the margin of its own run, moved so that the means are equal. The two runs have "
    "similar means. AIC chooses among symmetric families.",
    "real topics": "The real topics of two runs with similar means are resampled, after the gain is subtracted.",
    "equal means, nothing to find": "A control of equal means. Margins and copula are fitted again, to 50 topics that "
    "were drawn with one margin for both systems.",
    "real topics, nothing to find": "A control of real topics. First, a fair coin exchanges the two systems on each "
    "topic, in such a way that the gain is nearly what it was.",
}
# Those that have a panel: the others are controls.
NULLS = [name for name in MODELS if "nothing to find" not in name]
TOPICS = {"measure": "{title}", "topics": "{n_topics}"}

# The test that asks what the paper's sign test does is drawn in its place.
# Test -> its colour, that of the figures of error rates.
_COLOURS = {
    "t_paired": "#E69F00", "wilcoxon": "#CC79A7", SIGN_WITH_TIES: "#999999", "bootstrap": "#D55E00",
    "randomization": "#009E73",
}  # fmt: skip
DRAWN = tuple(_COLOURS)


def show(study: Simulation, tables: ShippedTables) -> Shown:
    """The page: the published rates first, then their causes, then gains."""
    sections = [*_published(tables, study), *_causes(tables, study), *_gains(tables, study)]
    summary = {"Two-sided error rates beside the published ones": headline(tables["published"], study)}
    return Shown(sections=sections, closing=CLOSING, summary=summary)


def headline(beside: pd.DataFrame, study: Simulation, alternative: str = "two-sided") -> Table:
    """Rates without a gain: ours, and the published ones in brackets."""
    rows = beside[(beside["gain"] == 0) & (beside["alternative"] == alternative)]
    return Table(titled(rows, study), TOPICS, across="test", cell="{share:.4f} ({published:.4f})")


def titled(rows: pd.DataFrame, study: Simulation) -> pd.DataFrame:
    """The rows with the measures' titles."""
    return rows.assign(title=[study.title_of("measure", name) for name in rows["measure"]])


def _published(tables: Mapping[str, pd.DataFrame], study: Simulation) -> list[Section]:
    beside = tables["published"]
    null = beside[beside["gain"] == 0]
    first = next(iter(study.factors["measure"]))
    title = study.title_of("measure", first)
    middle = null[(null["measure"] == first) & (null["n_topics"] == GAIN_TOPICS)]
    levels = tables["rates"].query("condition == 'fitted' and measure == @first and alternative == 'two-sided'")
    return [
        Section(
            "The published rates",
            f"Rates of p ≤ 0.05 for {title} under the null hypothesis of the paper: both systems have the margin of "
            "one run and the copula of two runs. The alternative greater is one-sided, for a system that was named "
            "beforehand. Published: the rate that the authors publish. Here: our rate with its 95 % interval. Inside: "
            "whether the published rate lies in our interval. In the next two tables, "
            f"{int(null['inside'].sum())} of {len(null)} rates do. The names of tests are those of this tool: t_paired "
            "is the paired t test, and randomization the paper's permutation test.",
            table=Table(
                middle,
                {
                    "alternative": "{alternative}",
                    "topics": "{n_topics}",
                    "test": "{test}",
                    "published": "{published:.4f}",
                    "here": "{share:.4f} ({low:.4f} – {high:.4f})",
                    "inside": "{inside:yes}",
                },
            ),
        ),
        Section(
            "All measures",
            "Two-sided rates of p ≤ 0.05 for all measures, under the null hypothesis of the paper. The published rate "
            "is in brackets.",
            table=headline(beside, study),
        ),
        Section(
            "One-sided tests",
            "The same for one-sided tests, for a system that was named beforehand.",
            table=headline(beside, study, "greater"),
        ),
        Section(
            "All levels",
            f"Two-sided rates of p at or below each level for {title}, under the null hypothesis of the paper. The "
            f"paper's sign test takes differences up to {study.fixed['tie']:g} as ties, and sign does not.",
            table=Table(levels, {"level": "{alpha:g}", "topics": "{n_topics}"}, across="test", cell="{share:.4f}"),
        ),
    ]


def _causes(tables: Mapping[str, pd.DataFrame], study: Simulation) -> list[Section]:
    rates, shapes = tables["rates"], tables["shapes"]
    shown = rates[(rates["alpha"] == LEVEL) & (rates["alternative"] == "two-sided")]
    models = pd.DataFrame([{"name": name, "model": text} for name, text in MODELS.items()])
    last = rates["n_topics"].max()
    profile = study.fixed["profile"]
    predicted = shapes.assign(predicted=shapes[f"predicted_{last}"], counted=shapes[f"sign_{last}"])
    return [
        Section(
            "Which part of the model raises the rates?",
            f"Two-sided rates of p ≤ {LEVEL:g} under five null hypotheses, by measure and number of topics. "
            "Crosses: published rates, in the colours of the tests. Sign is the paper's sign test. Rates above 25 % "
            "are outside the panels. Bands: 0.035 – 0.065 and 0.025 – 0.075 (Bradley's liberal criterion). The table "
            "says how test sets are drawn under each null hypothesis, and under two controls.",
            figure=Figure("type_1_errors", lambda: draw_rates(shown, tables["published"], study)),
            table=Table(models, {"null hypothesis": "{name}", "test sets": "{model}"}),
        ),
        Section(
            "Rates by null hypothesis",
            f"The two-sided rates of p ≤ {LEVEL:g} at {last} topics, and those of the controls (nothing to "
            "find). A control starts from exchangeable systems and otherwise takes the steps of its null hypothesis. "
            "Its rate is what these steps give if there is nothing to find.",
            table=Table(
                titled(shown[shown["n_topics"] == last], study),
                {"measure": "{title}", "null hypothesis": "{condition}"},
                across="test",
                cell="{share:.4f}",
            ),
        ),
        Section(
            "Distribution of the differences",
            "D is the score of the first system minus that of the second on a topic. Balance: the root mean square "
            f"over pairs of P(D > 0) - P(D < 0), without the part that comes from drawing {profile:,} topics. "
            f"Balance beyond ties: the same for differences beyond {study.fixed['tie']:g}. Skewness: the mean absolute "
            f"skewness of D. The next two columns have rates of the paper's sign test at {last} topics: the one that "
            "this balance alone predicts, and the one that was counted. The last column has the share of pairs for "
            "which an asymmetric copula was chosen.",
            table=Table(
                titled(predicted, study),
                {
                    "measure": "{title}",
                    "null hypothesis": "{condition}",
                    "balance": "{balance:.3f}",
                    "balance beyond ties": "{balance_beyond_ties:.3f}",
                    "skewness": "{skewness:.2f}",
                    "predicted rate": "{predicted:.3f}",
                    "counted rate": "{counted:.3f}",
                    "asymmetric copula": "{asymmetric:.0%}",
                },
            ),
        ),
    ]


def _gains(tables: Mapping[str, pd.DataFrame], study: Simulation) -> list[Section]:
    gains, beside = tables["gains"], tables["published"]
    published = beside[beside["gain"] > 0]
    two_sided = gains[gains["alternative"] == "two-sided"]
    return [
        Section(
            "Power and type III errors",
            f"Two-sided tests at {LEVEL:g} on {GAIN_TOPICS} topics, by the true gain. Power: the share "
            "of test sets that are rejected, for either system. Type III error rate: the share of test sets that are "
            "rejected and in which the better system has the lower mean score. Crosses: published rates, in the "
            "colours of the tests. Sign is the paper's sign test.",
            figure=Figure("gains", lambda: draw_gains(two_sided, published, study)),
        ),
        Section(
            "Power and type III errors, with the published rates",
            "The same tests at the gains that the paper has too. A cell has the power, then the type III error rate. "
            "The published rate is in brackets after each.",
            table=Table(
                titled(published, study),
                {"measure": "{title}", "gain": "{gain:g}"},
                across="test",
                cell="{share:.3f} ({published:.3f}), {wrong:.4f} ({published_wrong:.4f})",
            ),
        ),
    ]


def draw_rates(shown: pd.DataFrame, beside: pd.DataFrame, study: Simulation) -> Any:
    """A row of panels for each measure, one for each null hypothesis."""
    titles = [f"{study.title_of('measure', name)}: {null}" for name in study.factors["measure"] for null in NULLS]
    figure, axes = ss.plot.panels(titles, per_row=len(NULLS), width=2.6, height=2.1)
    null = beside[(beside["gain"] == 0) & (beside["alternative"] == "two-sided")]
    places = [(measure, condition) for measure in study.factors["measure"] for condition in NULLS]
    for ax, (measure, condition) in zip(axes, places, strict=True):
        rows = shown[(shown["measure"] == measure) & (shown["condition"] == condition) & shown["test"].isin(DRAWN)]
        rows = rows.assign(test=rows["test"].replace({SIGN_WITH_TIES: "sign"}), n_units=rows["n_topics"])
        ss.plot.error_rates(rows, target=(0.035, 0.065), ax=ax)
        ax.set_xlabel("topics")
        if condition == "fitted":
            _crosses(ax, null[null["measure"] == measure], "n_topics", "published")
    ss.plot.share_legend(figure, axes)
    return figure


def _crosses(ax: Any, marks: pd.DataFrame, at: str, column: str) -> None:
    """Published rates, in the colours of their tests."""
    style: dict[str, Any] = {"markersize": 5.5, "markeredgecolor": "black", "markeredgewidth": 0.6, "zorder": 9}
    for test, rows in marks.groupby("test", sort=False):
        ax.plot(rows[at], rows[column], "X", color=_COLOURS.get(str(test), "black"), **style)
    ax.plot([], [], "X", color="white", label="published", **style)


def draw_gains(gains: pd.DataFrame, known: pd.DataFrame, study: Simulation) -> Any:
    """Power in the first row, type III errors in the second, a column for each measure."""
    kinds = {"share": ("power", "published"), "wrong": ("type III errors", "published_wrong")}
    measures = study.factors["measure"]
    titles = [f"{study.title_of('measure', name)}: {errors}" for errors, _ in kinds.values() for name in measures]
    figure, axes = ss.plot.panels(titles, per_row=len(measures), width=2.6, height=2.2, shared=False)
    places = [(kind, measure) for kind in kinds for measure in measures]
    for ax, (kind, measure) in zip(axes, places, strict=True):
        for test in DRAWN:
            rows = gains[(gains["measure"] == measure) & (gains["test"] == test)]
            name = "sign" if test == SIGN_WITH_TIES else test
            ax.plot(rows["gain"], rows[kind], "o-", markersize=2.5, linewidth=1, color=_COLOURS[test], label=name)
        _crosses(ax, known[known["measure"] == measure], "gain", kinds[kind][1])
        ax.set(xlabel="true gain", ylim=(0, 1.02) if kind == "share" else (0, 0.03))
    ss.plot.share_legend(figure, axes)
    return figure
