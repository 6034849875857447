"""The figures of an examination as data, for pages that draw them in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from simstudy.examination.rows import sides
from simstudy.metrics import label
from simstudy.metrics.mean import LOWER
from simstudy.pages import charts
from simstudy.pages.sections import Chart
from simstudy.pairs import order_of
from simstudy.papers.pairs import p_texts
from simstudy.statistics.decisions import Decision
from simstudy.text.numerals import p_floor, p_short, score_format
from simstudy.text.plain_text import shown

if TYPE_CHECKING:
    from simstudy.examination.examination import Examination

# Pairs that a browser draws as points; lanes of groups that have room beside a matrix.
MOST_POINTS, _MOST_LANES = 12_500, 24
# Of so few pairs all are drawn.
_FEW = 30


def leaderboard(found: Examination, most: int) -> Chart:
    """Scores with intervals, and confidence sets for ranks, of the first systems."""
    return charts.leaderboard(found.leaderboard, most, x=f"{_metric(found)}{_percent(found, ', %')}")


def gain_confidence(found: Examination, curve: pd.DataFrame) -> Chart:
    """A point for each pair: gain against confidence, with the running medians of the relation classes."""
    pairs = found.pairs.frame
    drawn = pair_points(found)
    sure = 1 - pairs["p_value"]
    # A test that prefers the system that is behind is no confidence in the gain.
    drawn["confidence"] = sure.where(pairs["better"] != pairs["system_b"], 0.0).to_numpy()
    # Beyond the gain from which on every pair is significant there is nothing to see, unless the pairs are few.
    widest = drawn.loc[(drawn["confidence"] < 0.995) | (len(drawn) <= _FEW), "gain"].max()
    end = 1.05 * float(widest if widest > 0 else drawn["gain"].max() or 1.0)
    lines = curve[curve["gain"] <= end]
    columns = {"confidence_05": "low", "confidence_95": "high"}
    lines = lines[["relation", "gain", "confidence", *columns]].rename(columns=columns)
    lines = lines.assign(relation=lines["relation"].map(shown))
    one_sided = sides(found) == "one-sided"
    settings = {
        "x": f"gain ({_metric(found)}{_percent(found, ', points')})",
        "y": f"confidence, 1 − p ({sides(found)})",
        "relations": list(dict.fromkeys(drawn["relation"])),
        "end": end,
        "lowest": 0.5 if one_sided else 0.0,
        "label": f"gain and confidence of {len(pairs):,} pairs",
    }
    return Chart("gain_confidence", {"pairs": drawn, "curve": lines}, settings)


def matrix(found: Examination) -> Chart:
    """The p-value of each pair as a cell, best systems first, and groups of systems that do not differ."""
    pairs = found.pairs.frame
    order = order_of(pairs)
    cells = pair_points(found).assign(
        column=order.better, row=order.worse, significant=Decision(found.alpha).significant(pairs),
        p_value=pairs["p_value"].to_numpy(), p_short=[
            p_short(p, found.alpha, p_floor(n)).replace("0.", ".")
            for p, n in zip(pairs["p_value"], pairs["n_resamples"], strict=True)
        ],
    )  # fmt: skip
    groups = _lanes(found.groups)
    settings = {
        "alpha": found.alpha,
        "significant": (
            f"significant at {found.alpha:g} ({sides(found)}, not corrected): the stronger the colour, the smaller p"
        ),
        "groups": "groups that do not differ significantly (Holm)",
        "lanes": int(groups["lane"].max()) + 1 if len(groups) else 0,
        "label": f"p-values of {len(pairs):,} pairs",
    }
    systems = pd.DataFrame({"system": [shown(name) for name in order.names]})
    return Chart("matrix", {"systems": systems, "pairs": cells, "groups": groups}, settings)


def groups(found: Examination) -> Chart:
    """Scores, best first, and the groups as lines beside them."""
    board = found.leaderboard
    names = pd.DataFrame({"system": board["system"].map(shown), "score": board["score"]})
    order = order_of(found.pairs.frame).names
    places = {name: k for k, name in enumerate(order)}
    names = names.iloc[np.argsort([places[name] for name in board["system"]], kind="stable")]
    lanes = _lanes(found.groups)
    settings = {
        "x": f"{_metric(found)}{_percent(found, ', %')}",
        "lanes": int(lanes["lane"].max()) + 1 if len(lanes) else 0,
        "label": f"scores of {len(board)} systems, and groups of systems that do not differ significantly",
    }
    return Chart("groups", {"systems": names, "groups": lanes}, settings)


def pair(found: Examination) -> Chart:
    """The gain of one pair with its interval."""
    chart = intervals_of(found, found.pairs.frame)
    if found.margin is None:
        return chart
    return Chart(chart.kind, chart.tables, {**chart.settings, "margin": found.margin})


def neighbours(found: Examination) -> Chart:
    """Each system's gain over the next one by score, with its interval."""
    return intervals_of(found, found.neighbours[found.neighbours["gain_low"].notna()])


def intervals_of(found: Examination, pairs: pd.DataFrame) -> Chart:
    """The gains of these pairs with their intervals."""
    return charts.intervals(
        pd.DataFrame(
            {
                "name": [f"{shown(a)} – {shown(b)}" for a, b in zip(pairs["system_a"], pairs["system_b"], strict=True)],
                "gain": pairs["gain"].to_numpy(),
                "low": pairs["gain_low"].to_numpy(),
                "high": pairs["gain_high"].to_numpy(),
                "marked": Decision(found.alpha).significant(pairs),
                "title": [f"p {p}" for p in p_texts(pairs, found.alpha)["p"]],
            }
        ),
        x=f"gain ({_metric(found)}{_percent(found, ', points')})",
        key=(f"significant at {found.alpha:g} ({sides(found)}, not corrected)", "not significant"),
    )


def pair_points(found: Examination) -> pd.DataFrame:
    """What a chart tells of each pair, in the order of the comparisons."""
    pairs = found.pairs.frame
    digits = score_format(np.abs(found.outputs.scores()).max())
    texts = p_texts(pairs, found.alpha)
    return pd.DataFrame(
        {
            "a": pairs["system_a"].map(shown).to_numpy(),
            "b": pairs["system_b"].map(shown).to_numpy(),
            "relation": pairs["relation"].map(shown).to_numpy(),
            "gain": pairs["gain"].to_numpy(),
            "gain_text": [format(gain, digits) for gain in pairs["gain"]],
            "interval": [
                "" if np.isnan(low) else f"{low:{digits}} to {high:{digits}}"
                for low, high in zip(pairs["gain_low"], pairs["gain_high"], strict=True)
            ],
            "p": texts["p"],
            "holm": texts["holm"],
        }
    )


def _lanes(groups: pd.DataFrame) -> pd.DataFrame:
    """Groups of two and more as lines from their first to their last place, in as few lanes as keep them apart."""
    found: list[dict[str, Any]] = []
    ends: list[int] = []
    for number, rows in groups.groupby("group"):
        places = sorted(rows["rank"] - 1)
        if len(places) < 2:
            continue
        lane = next((k for k, end in enumerate(ends) if end < places[0]), len(ends))
        ends[lane : lane + 1] = [places[-1]]
        members = " ".join(map(str, places))
        found.append({"group": number, "lane": lane, "first": places[0], "last": places[-1], "members": members})
    table = pd.DataFrame(found, columns=["group", "lane", "first", "last", "members"])
    return table[table["lane"] < _MOST_LANES]


def _metric(found: Examination) -> str:
    return label(found.test_set.metric).removesuffix(LOWER)


def _percent(found: Examination, text: str) -> str:
    return text if found.outputs.metric.unit == "percent" else ""
