"""What the page shows: its sections, figures, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

import simstudy as ss
from simstudy.pages.sections import Figure, Section, Table

from .conditions import NULLS, SIGN_WITH_TIES
from .controls import CONTROLS
from .settings import Settings

CLOSING = (
    "Two systems have equal means in the population, but where a gain is named: each rejection is an error, whatever "
    "hypothesis a test has of its own. Intervals are 95 % and take test sets of one pair of runs for a cluster. Shares "
    "are fractions. The test sets of a batch share their resamples, which adds little."
)
TOPICS = {"measure": "{title}", "topics": "{n_topics}"}

# The test that asks what the paper's sign test does is drawn in its place.
# Test -> its colour, that of the figures of error rates.
_COLOURS = {
    "t_paired": "#E69F00", "wilcoxon": "#CC79A7", SIGN_WITH_TIES: "#999999", "bootstrap": "#D55E00",
    "randomization": "#009E73",
}  # fmt: skip
DRAWN = tuple(_COLOURS)


def headline(beside: pd.DataFrame, study: Settings) -> Table:
    """Two-sided rates without a gain: ours, and the published ones in brackets."""
    rows = beside[(beside["gain"] == 0) & (beside["alternative"] == "two-sided")]
    return Table(titled(rows, study), TOPICS, across="test", cell="{share:.4f} ({published:.4f})")


def titled(rows: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """The rows with the measures' titles."""
    return rows.assign(title=[study.measures[name].title for name in rows["measure"]])


def sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """The published table first, then what makes it, then gains."""
    return [*_published(tables, study), *_causes(tables, study), *_gains(tables, study)]


def _published(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    beside = tables["published"]
    null = beside[beside["gain"] == 0]
    first = next(iter(study.measures))
    middle = null[(null["measure"] == first) & (null["n_topics"] == study.n_topics[len(study.n_topics) // 2])]
    inside = f"{int(null['inside'].sum())} of the {len(null)} published rates lie in our intervals" if len(null) else ""
    own = tables["rates"]
    own = own[(own["condition"] == "fitted") & (own["measure"] == first) & (own["alternative"] == "two-sided")]
    return [
        Section(
            "The published rates",
            f"{study.measures[first].title}, the paper's own null hypothesis: both systems have the margin of one run "
            f"and the copula of two runs. Rates of p ≤ 0.05. Over all measures, numbers of topics, tests and both "
            f"alternatives, {inside}.",
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
            "Two-sided rates of p ≤ 0.05 here, and the published ones in brackets.",
            table=headline(beside, study),
        ),
        Section(
            "One-sided",
            "The same where a system was named beforehand.",
            table=Table(
                titled(null[null["alternative"] == "greater"], study),
                TOPICS,
                across="test",
                cell="{share:.4f} ({published:.4f})",
            ),
        ),
        Section(
            "All levels",
            f"{study.measures[first].title}, two-sided, the paper's null hypothesis.",
            table=Table(own, {"level": "{alpha:g}", "topics": "{n_topics}"}, across="test", cell="{share:.4f}"),
        ),
    ]


def _causes(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    rates, shapes = tables["rates"], tables["shapes"]
    shown = rates[(rates["alpha"] == study.level) & (rates["alternative"] == "two-sided")]
    words = "; ".join(f"{name}: {said}" for name, said in NULLS.items())
    last = study.n_topics[-1]
    predicted = shapes.assign(predicted=shapes[f"predicted_{last}"], counted=shapes[f"sign_{last}"])
    return [
        Section(
            "Which part of the model does it?",
            f"Two-sided rates of p ≤ {study.level:g} under five null hypotheses. {words}. Crosses: published. Bands: "
            "0.035 – 0.065 and 0.025 – 0.075 (Bradley's liberal criterion).",
            figure=Figure("type_1_errors", lambda: draw_rates(shown, tables["published"], study)),
        ),
        Section(
            "Rates by null hypothesis",
            f"The same as numbers, at {last} topics, and for controls with exchangeable systems: the rates that the "
            f"procedures of the last two have if there is nothing to find. "
            f"{'; '.join(f'{name}: {said}' for name, said in CONTROLS.items())}.",
            table=Table(
                titled(shown[shown["n_topics"] == last], study),
                {"measure": "{title}", "null hypothesis": "{condition}"},
                across="test",
                cell="{share:.4f}",
            ),
        ),
        Section(
            "How differences are distributed",
            f"Balance: root mean square over pairs of P(D > 0) - P(D < 0), of all differences and of those beyond "
            f"{study.tie:g}, less what drawing {study.profile:,} topics adds. Skewness: mean size. The sign test's "
            f"rate at {last} topics that the balance alone predicts, and the one that was counted. The last column: "
            "pairs for which an asymmetric copula was chosen.",
            table=Table(
                titled(predicted, study),
                {
                    "measure": "{title}",
                    "null hypothesis": "{condition}",
                    "balance": "{balance:.3f}",
                    "beyond ties": "{balance_beyond_ties:.3f}",
                    "skewness": "{skewness:.2f}",
                    "predicted": "{predicted:.3f}",
                    "counted": "{counted:.3f}",
                    "asymmetric": "{asymmetric:.0%}",
                },
            ),
        ),
    ]


def _gains(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    gains, beside = tables["gains"], tables["published"]
    known = beside[beside["gain"] > 0]
    two_sided = gains[gains["alternative"] == "two-sided"]
    return [
        Section(
            "Power, and errors of the third kind",
            f"{study.gains.n_topics} topics, two-sided at {study.level:g}, by the true gain: the share of test sets "
            "that are rejected, and of those rejected for the worse system (the better one's mean is the lower one). "
            "Crosses: published.",
            figure=Figure("gains", lambda: draw_gains(two_sided, known, study)),
        ),
        Section(
            "Beside the published ones",
            "Power here (published), and the rate of type III errors here (published).",
            table=Table(
                titled(known, study),
                {"measure": "{title}", "gain": "{gain:g}"},
                across="test",
                cell="{share:.3f} ({published:.3f}), {wrong:.4f} ({published_wrong:.4f})",
            ),
        ),
    ]


def draw_rates(shown: pd.DataFrame, beside: pd.DataFrame, study: Settings) -> Any:
    """A row of panels for each measure, one for each null hypothesis."""
    titles = [f"{of.title}: {name}" for of in study.measures.values() for name in NULLS]
    figure, axes = ss.plot.panels(titles, per_row=len(NULLS), width=2.6, height=2.1)
    null = beside[(beside["gain"] == 0) & (beside["alternative"] == "two-sided")]
    places = [(measure, condition) for measure in study.measures for condition in NULLS]
    for ax, (measure, condition) in zip(axes, places, strict=True):
        rows = shown[(shown["measure"] == measure) & (shown["condition"] == condition) & shown["test"].isin(DRAWN)]
        rows = rows.assign(test=rows["test"].replace({SIGN_WITH_TIES: "sign"}), n_units=rows["n_topics"])
        ss.plot.error_rates(rows, target=(0.035, 0.065), ax=ax)
        ax.set_xlabel("topics")
        if condition == "fitted":
            marks = null[null["measure"] == measure]
            ax.plot(
                marks["n_topics"], marks["published"], "x", color="black", markersize=4, zorder=9, label="published"
            )
    ss.plot.share_legend(figure, axes)
    return figure


def draw_gains(gains: pd.DataFrame, known: pd.DataFrame, study: Settings) -> Any:
    """Power in the first row, type III errors in the second, a column for each measure."""
    kinds = {"share": ("power", "published"), "wrong": ("type III", "published_wrong")}
    titles = [f"{of.title}: {said}" for said, _ in kinds.values() for of in study.measures.values()]
    figure, axes = ss.plot.panels(titles, per_row=len(study.measures), width=2.6, height=2.2, shared=False)
    places = [(kind, measure) for kind in kinds for measure in study.measures]
    for ax, (kind, measure) in zip(axes, places, strict=True):
        for test in DRAWN:
            rows = gains[(gains["measure"] == measure) & (gains["test"] == test)]
            name = "sign" if test == SIGN_WITH_TIES else test
            ax.plot(rows["gain"], rows[kind], "o-", markersize=2.5, linewidth=1, color=_COLOURS[test], label=name)
        marks = known[known["measure"] == measure]
        ax.plot(marks["gain"], marks[kinds[kind][1]], "x", color="black", markersize=4, zorder=9, label="published")
        ax.set(xlabel="true gain", ylim=(0, 1) if kind == "share" else (0, 0.03))
    ss.plot.share_legend(figure, axes)
    return figure
