"""What an examination says of several samples of each question: both noises, in lines, as columns and as a section."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from simstudy import plot
from simstudy.comparisons.sample_noise import noise_curve, noises
from simstudy.metrics.base import Ratio
from simstudy.outputs.samples import has_samples
from simstudy.pages.sections import Column, Figure, Section, Table
from simstudy.text.numerals import gain_text

if TYPE_CHECKING:
    from simstudy.examination.examination import Examination

# Pairs that a page draws and lists, those of the best systems first.
_DRAWN, _LISTED = 4, 20


def noises_of(found: Examination, of: str) -> pd.DataFrame:
    """The noises of gains or scores; an empty table where no question has several samples."""
    outputs = found.outputs
    unit = found.test_set.unit
    # Samples that are tested as items of their own have no standard error by questions.
    if unit == "item" or not has_samples(outputs) or not isinstance(outputs.metric, Ratio):
        return pd.DataFrame()
    table = noises(outputs, of=of, unit=unit if isinstance(unit, str) else None)
    return table if table["se_within"].notna().any() else pd.DataFrame()


def noise_lines(found: Examination) -> list[str]:
    """Both noises in two sentences; none where there are no samples."""
    table = found.noises
    if len(table) == 0:
        return []
    points = in_points(found)
    if len(table) == 1:
        row = table.iloc[0]
        se, between, within, one = (gain_text(row[f"se{end}"]) for end in ("", "_between", "_within", "_one"))
        # Without any noise there is no share.
        share = f" ({100 * row['share_within']:.0f} % of the variance)" if row["se"] > 0 else ""
        why = ""
        if row["se_within"] > row["se"] and within != se:
            why = " By chance the estimate within questions is larger than the whole. Between questions, it is then 0."
        return [
            f"Standard error of the gain: {se}{points}; between questions {between}, within questions {within}"
            f"{share}.{why}",
            f"With one sample of each question it would be {one}{points}. {_with_more(row, points)}",
        ]
    known = table.loc[table["se"] > 0]
    typical, floor = known["share_within"].median(), (known["se_between"] / known["se"]).median()
    more = f"More samples reduce its standard error by {100 * (1 - floor):.0f} % at most."
    if floor == 0:
        more = "Noise between questions is not seen, so how far more samples reduce the standard error is not known."
    return [f"Noise within questions: {100 * typical:.0f} % of the variance of a gain (median pair). {more}"]


def in_points(found: Examination) -> str:
    """The unit behind a gain, after a blank; nothing for a metric that is not in points of 100."""
    return " points" if found.outputs.metric.unit in ("percent", "points") else ""


def _with_more(row: pd.Series[float], points: str) -> str:
    """How far more samples reduce the standard error, in a sentence."""
    between, low, high = (gain_text(row[f"se_between{end}"]) for end in ("", "_low", "_high"))
    if np.isfinite(row["se_between_high"]):
        return f"With more samples it falls to about {between}{points} (95 % interval {low} to {high})."
    if row["se_between"] > 0:
        return f"With more samples it falls to about {between}{points}."
    return "So few questions do not tell how far it falls with more samples."


def with_noises(board: pd.DataFrame, found: Examination) -> tuple[pd.DataFrame, dict[str, str]]:
    """A leaderboard with the noises of the scores, and the columns that people see; as it is without samples."""
    table = found.score_noises
    if len(table) == 0:
        return board, {}
    own = table.set_index("system").loc[board["system"]]
    board = board.assign(noise_se=own["se"].to_numpy(), noise_share=own["share_within"].to_numpy())
    return board, {"se": "[{noise_se:gain}]", "within": "[{noise_share:.0%}]"}


def sections(found: Examination) -> list[Section]:
    """What a page says of the samples; nothing without any."""
    table = found.noises
    if len(table) == 0:
        return []
    neighbours = table[table["system_b"] == table["system_a"].map(_next(found))]
    shown = neighbours if len(table) > _LISTED else table
    columns: dict[str, str | Column] = {
        "better": "{system_a:name}", "worse": "{system_b:name}", "gain": "{gain:gain}", "se": "[{se:gain}]",
        "between questions (95 %)": "[{se_between:gain}][ ({se_between_low:gain}–{se_between_high:gain})]",
        "within": "[{se_within:gain}]",
        "share within (95 %)": "[{share_within:.0%}][ ({share_low:.0%}–{share_high:.0%})]",
        "se with one sample": "[{se_one:gain}]",
    }  # fmt: skip
    which = " Shown are neighbours by score." if len(shown) < len(table) else ""
    numbers = table[["samples_a", "samples_b"]].to_numpy(np.float64)
    low, high = float(numbers.min()), float(numbers.max())
    samples = f"{low:.3g}" if np.isclose(low, high) else f"{low:.3g} to {high:.3g}"
    return [
        Section(
            "Samples of each question",
            f"Each question has {samples} samples. The noise within questions is what other samples of the same "
            "systems would change; it falls with their number. The noise between questions is what other questions "
            "would change; it stays (dashed lines). Their squares add up to that of the standard error. If by "
            "chance the estimate within questions is larger than the standard error, the one between questions is 0. "
            f"All pairs are in noises.csv, scores in score_noises.csv.{which}",
            figure=Figure("noises", lambda: plot.noise_curve(noise_curve(neighbours.head(_DRAWN)))),
            table=Table(shown.head(_LISTED), columns),
        )
    ]


def _next(found: Examination) -> dict[str, str]:
    names = found.leaderboard["system"].tolist()
    return dict(zip(names[:-1], names[1:], strict=True))
