"""The level that was asked for is that of every decision, mark, chart and sentence."""

from __future__ import annotations

import re

import numpy as np
import pytest

import simstudy as ss
from simstudy.examination import charts
from simstudy.examination.limits import limits
from simstudy.examination.page import page_of
from simstudy.examination.printed import neighbours_text
from simstudy.papers.document import Table, cells
from simstudy.truth import correlated_accuracies


def marks(table: Table, column: str) -> dict[tuple[str, ...], str]:
    """The mark of each row of a table for a paper, by its systems."""
    head = [heading for heading, _ in table.columns]
    names = [head.index(name) for name in ("System", "Better", "Worse") if name in head]
    rows = map(cells, table.rows)
    return {tuple(row[k].text for k in names): row[head.index(column)].mark for row in rows}


@pytest.mark.parametrize("alpha", [0.002, 0.01])
def test_every_decision_and_sentence_is_at_the_level_that_was_asked_for(alpha: float) -> None:
    found = ss.examine(correlated_accuracies([0.5, 0.54, 0.6, 0.66, 0.76], 200, seed=18), alpha=alpha, margin=8)
    frame, first = found.pairs.frame, found.leaderboard["system"].tolist()
    assert (frame["better"] == frame["system_a"]).all()
    pairs = list(zip(frame["system_a"], frame["system_b"], strict=True))
    holm, alone = (dict(zip(pairs, frame[name], strict=True)) for name in ("p_holm", "p_value"))
    # Other levels would give other answers.
    for p in (holm, alone):
        assert len({sum(one <= level for one in p.values()) for level in (alpha, alpha / 5, 0.05)}) == 3
    n = sum(p <= alpha for p in holm.values())
    counted = f"{n} of 10 pairs differ significantly at {alpha:g} (two-sided, Holm)."
    neighbours = sum(holm[pair] <= alpha for pair in zip(first, first[1:], strict=False))
    said = f"{neighbours} of 4 differ significantly at {alpha:g} (Holm, for all pairs)"
    assert neighbours_text(found) == said
    page = page_of(found, "c")
    written = "\n".join([page.headline, *page.answer, *(section.text for section in page.sections)])
    for text in (found.text, written):
        assert counted in text
        assert said in text
    assert counted in found.to_markdown()

    def mark(p: float, signs: str = "†‡") -> str:
        return signs[1] if p <= alpha / 5 else signs[0] if p <= alpha else ""

    with_best = {(name,): mark(holm[first[0], name]) for name in first[1:]}
    assert marks(found.paper().table("leaderboard"), "Accuracy (%)") == {(first[0],): "", **with_best}
    differing = set()
    for baseline in first:
        own = {pair: p for pair, p in alone.items() if baseline in pair}
        order = sorted(own, key=lambda pair: own[pair])
        # Holm's correction for four pairs, by hand.
        steps = np.maximum.accumulate([own[pair] * (4 - k) for k, pair in enumerate(order)])
        for_four = dict(zip(order, steps, strict=True))
        ahead = {level: [sum(p <= level for pair, p in for_four.items() if pair[side] != baseline) for side in (0, 1)]
                 for level in (alpha, 0.05)}  # fmt: skip
        better, worse = ahead[alpha]
        differing.add(ahead[alpha] != ahead[0.05])
        beside = found.to_markdown(baseline=baseline)
        assert f"Of the 4 other systems, {better} {'is' if better == 1 else 'are'} significantly better than " in beside
        assert f" and {worse} significantly worse, at {alpha:g} (two-sided, " in beside
        with_own = {tuple(name for name in pair if name != baseline): mark(p, "†‡" if pair[1] == baseline else "§¶")
                    for pair, p in for_four.items()}  # fmt: skip
        table = found.paper(baseline=baseline).table("leaderboard")
        assert marks(table, "Accuracy (%)") == {(baseline,): "", **with_own}
    assert True in differing
    assert marks(found.paper().table("pairs"), "Gain") == {pair: mark(p) for pair, p in holm.items()}
    sure = [p <= alpha for p in alone.values()]
    every = found.pairs.to_markdown(alpha=alpha)
    assert counted in every
    assert counted in found.pairs.to_latex(alpha=alpha).replace("{}", "")
    assert every.split("\n\n")[0] == found.to_markdown("pairs").split("\n\n")[0]
    matrix = charts.matrix(found)
    assert matrix.tables["pairs"]["significant"].tolist() == sure
    assert matrix.settings["alpha"] == alpha
    drawn = charts.intervals_of(found, frame)
    assert drawn.tables["rows"]["marked"].tolist() == sure
    for name in (str(matrix.settings["significant"]), str(drawn.settings["marked"])):
        assert name.startswith(f"significant at {alpha:g} (two-sided, not corrected)")
    assert ("not shown to be zero" in " ".join(limits(found))) == (not all(sure))
    assert f"Equivalent: two one-sided tests at {alpha / 2:g} reject" in written
    known = written.replace("p ≈ 0.05", "").replace("0.04 <= p <= 0.06", "")
    texts = "\n".join([known, found.text, beside, found.to_markdown(), every])
    assert re.findall(r".*(?<!\d)0\.05(?!\d).*", texts) == []
    two = ss.examine(found.outputs.select(first[:2]), alpha=alpha)
    assert marks(two.paper().tables[0], "Accuracy (%)")[first[0],] == mark(alone[first[0], first[1]])
    assert re.findall(r".*(?<!\d)0\.05(?!\d).*", f"{two.text}\n{two.to_markdown()}") == []
