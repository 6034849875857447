"""Claims of the paper are judged by what the tables say: made-up ones for which the answer is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from simstudy.rankings.candidates import Candidates
from tests.experiments.programs import program

EVERT, LISTS = program("evert_2004", "claims"), program("evert_2004", "n_best_lists")
RANKINGS, up_to, in_ranges = EVERT.RANKINGS, EVERT.up_to, EVERT.in_ranges


def told(orders: dict[str, list[int]], true: np.ndarray) -> pd.DataFrame:
    """Claims about 3,000 candidates; each ranking's order is a list of the candidates, best first."""
    n = len(true)
    scores = {name: -np.argsort(order) for name, order in orders.items()}
    candidates = Candidates.from_scores(pd.DataFrame(scores, index=[str(i) for i in range(n)]), true)
    lengths = range(100, 2001)
    ties = pd.DataFrame({"ties": ["jitter", "jitter", "keep"], "significant_up_to": [1268, 1301, 1]})
    curves, differences = LISTS.precision_curve(candidates, lengths), LISTS.ranking_differences(candidates, lengths)
    table: pd.DataFrame = EVERT.claims(curves, differences, ties, 0.05)
    return table


def with_hits(first_hits: int, n: int = 3000, n_true: int = 600) -> list[int]:
    """An order of candidates 0 … n - 1, of which the first n_true are true, with so many of them in the first 2,000.

    They are spread evenly, and so are the others behind them.
    """
    head = np.linspace(0, 1999, first_hits).astype(int)
    tail = np.linspace(2000, n - 1, n_true - first_hits).astype(int)
    order = np.empty(n, dtype=int)
    places = np.r_[head, tail]
    order[places] = np.arange(n_true)
    order[np.setdiff1d(np.arange(n), places)] = np.arange(n_true, n)
    return order.tolist()


def held(table: pd.DataFrame) -> dict[str, str]:
    return dict(zip(table["claim"], table["holds"], strict=True))


def test_curves_in_the_papers_order_hold() -> None:
    """G2 above t above X2 above f everywhere: what is said of those holds, that t leads near 800 does not."""
    true = np.arange(3000) < 600
    orders = {
        "log_likelihood": with_hits(560),
        "t_score": with_hits(540),
        "chi_squared": with_hits(450),
        "frequency": with_hits(300),
    }
    answers = held(told(orders, true))
    assert answers["baseline precision"] == "no", "20.00 % is not 11.09 %"
    assert answers["G2 and t are the most useful"] == "yes"
    assert answers["t is marginally better than G2"] == "no"
    assert answers["G2 is marginally better than t"] == "yes"
    assert answers["both are by far superior to frequency"] == "yes"
    assert answers["G2 is better than X2 (Dunning)"] == "yes"
    assert answers["G2 and X2 are both substantially above the baseline"] != "no"


def test_curves_in_the_opposite_order_do_not() -> None:
    true = np.arange(3000) < 600
    orders = {
        "log_likelihood": with_hits(300),
        "t_score": with_hits(310),
        "chi_squared": with_hits(450),
        "frequency": with_hits(560),
    }
    answers = held(told(orders, true))
    for claim in (
        "G2 and t are the most useful",
        "G2 is marginally better than t",
        "both are by far superior to frequency",
        "G2 is better than X2 (Dunning)",
        "G2 and X2 are both substantially above the baseline",
    ):
        assert answers[claim] == "no", claim


def test_identical_rankings_never_differ() -> None:
    same = dict.fromkeys(RANKINGS, with_hits(500))
    table = told(same, np.arange(3000) < 600).set_index("claim")
    assert table.loc["G2 and X2 differ significantly", "holds"] == "no"
    ways = "up to 0 (1,268 to 1,301 for other ways to break ties); in all for no n"
    assert table.loc["G2 and X2 differ significantly", "here"] == ways
    assert table.loc["intervals of G2 and X2 overlap", "here"] == "for all n from 100 to 2,000"


def test_up_to_is_the_end_of_the_first_run() -> None:
    index = [5, 6, 7, 8]
    assert up_to(pd.Series([True, True, False, True], index=index)) == 6
    assert up_to(pd.Series([False, True, True, True], index=index)) == 0
    assert up_to(pd.Series([True] * 4, index=index)) == 8


def test_the_three_longest_ranges_are_named_in_their_order() -> None:
    """Runs of 2, 1, 4, 1 and 3 of twenty lengths; fewer runs are all named, and one length is no range."""
    runs = pd.Series([bool(int(of)) for of in "11010111100100111000"], index=range(991, 1011))
    assert in_ranges(runs) == "n = 991 - 992, 996 - 999, 1,005 - 1,007 and 2 shorter ranges (55% of all)"
    assert in_ranges(runs.loc[1000:]) == "n = 1,002, 1,005 - 1,007 (36% of all)"
    assert (in_ranges(runs.loc[1005:1007]), in_ranges(~runs.loc[1005:1007])) == ("all n from 1,005 to 1,007", "no n")


def test_numbers_of_section_4() -> None:
    """From the printed numbers alone, whatever the candidates are; p by hand with scipy's other functions."""
    from scipy import stats

    true = np.arange(3000) < 600
    same = dict.fromkeys(RANKINGS, with_hits(500))
    table = told(same, true).set_index("claim")
    p = 1 - stats.binom.cdf(11, 80, 0.05)
    assert table.loc["t: intervals that miss", "here"].startswith(f"p = {p:.2g}")
    assert table.loc["t: intervals that miss", "holds"] == "yes"
    assert table.loc["G2: intervals that miss", "holds"] == "nothing claimed"
    assert table.loc["95 % interval of 200 of 500", "holds"] == "yes"
    assert table.loc["t threshold of nominal level 0.05", "here"] == "1.645"
    # Normal samples with sigma 0.044: how often is their standard deviation 0.057 or more?
    rng = np.random.default_rng(0)
    sd = 0.044 * rng.standard_normal((200_000, 80)).std(axis=1, ddof=1)
    share = (sd >= 0.057).mean()
    assert table.loc["G2: s is 20 % to 40 % larger than expected", "here"] == "30% larger"
    g2 = table.loc["G2: the binomial is not rejected"]
    assert g2["holds"] == "no"
    printed = float(g2["here"].rpartition("= ")[2].partition(" ")[0])
    assert share == pytest.approx(printed, abs=4 * np.sqrt(printed / 200_000) + 0.00005)


def test_a_pair_of_rankings_is_significant_before_and_after_correction_on_shares_of_the_lengths() -> None:
    """At five lengths p is significant three times, Holm's once, that of Benjamini and Hochberg twice; or none is."""
    names = ["ranking_1", "ranking_2", "n", "better", "p_value", "p_holm", "p_bh"]
    one = [("b", "a", 7, "b", 0.2, 1, 1), ("b", "a", 8, "a", 0.05, 0.06, 0.06), ("b", "a", 9, "b", 0.06, 0.2, 0.07),
           ("b", "a", 10, "b", 0.01, 0.04, 0.04), ("b", "a", 11, None, 0.03, 0.09, 0.05)]  # fmt: skip
    other = [("b", "c", n, "c", 0.051, 1, 1) for n in range(7, 12)]
    found = program("evert_2004").shares(pd.DataFrame([*one, *other], columns=names), 0.05)
    assert found.astype(object).where(found.notna(), None).to_numpy().tolist() == [
        ["b", "a", 0.6, 0.6, 0.2, 0.4, 8, 11],
        ["b", "c", 0.0, 0.0, 0.0, 0.0, None, None],
    ]
