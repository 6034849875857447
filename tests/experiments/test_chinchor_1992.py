"""The study of Chinchor 1992: her examples by algebra, her cases by their pattern, a small set of systems by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.studies import Results, Study
from tests.experiments.programs import Answered, assert_shipped, program, small
from tests.oracles import compared, could_be

STUDY = program("chinchor_1992")
SHUFFLES = 9_999
METRICS = ["muc_recall", "muc_f"]


def study() -> Study:
    return small("chinchor_1992", muc={"n_systems": 5, "n_messages": 20, "metrics": METRICS})


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return ss.run_study(study(), out=tmp_path_factory.mktemp("chinchor"), n_jobs=1)


def by_pair(table: pd.DataFrame) -> dict[str, Any]:
    return {" / ".join(sorted((row.system_a, row.system_b))): row for row in table.itertuples()}


def test_one_message_that_differs_cannot_be_significant(done: Results) -> None:
    """A and B: whichever way the coin of the one message falls, the difference is the same."""
    row = by_pair(done.tables["worked"])["A / B"]
    assert (row.system_a, row.score_a, row.score_b) == ("A", 75, 100 * 49 * 15 / (50 * 20))
    assert (row.exact_p, row.p_value, row.n_extreme, row.certainty) == (1, 1, SHUFFLES, 0)


def test_fifty_messages_all_won_are_two_shuffles_of_all(done: Results) -> None:
    """A and C: only the shuffle that swaps none of the 50 messages and the one that swaps all are as extreme."""
    row = by_pair(done.tables["worked"])["A / C"]
    assert (row.system_a, row.score_a, row.score_b) == ("C", 90, 75)
    assert row.exact_p == pytest.approx(2 * 2.0**-50, rel=1e-12)
    assert (row.n_extreme, row.p_value) == (0, 1 / (SHUFFLES + 1))
    assert row.certainty == pytest.approx(1 - 0.9 ** (SHUFFLES + 1))


def test_the_printed_confidence_belongs_to_another_level(done: Results) -> None:
    """0.635 is what a level of 0.0990 has; 0.0994 has 0.584."""
    (row,) = done.tables["readings"].itertuples()
    assert (row.level, row.confidence) == (0.0994, 0.635)
    assert row.computed == pytest.approx(stats.beta.cdf(0.1, 993 + 1, SHUFFLES - 993 + 1))
    assert row.level_of_printed == pytest.approx(0.0990)
    assert f"{stats.beta.cdf(0.1, 989 + 1, SHUFFLES - 989 + 1):.3f}" == "0.635"
    assert f"{row.computed:.3f}" == "0.584"


def constructed(done: Results, case: str) -> dict[str, Any]:
    return by_pair(done.tables["constructed"].query("test_set == @case"))


def certain(row: Any) -> bool:
    return bool(row.p_value <= 0.1 and row.certainty >= 0.99)


def test_similar_systems_differ_certainly_by_a_smaller_gain(done: Results) -> None:
    """GE, GE-CMU and UMASS of TST3: 4.0 points are significant, 4.4 not certainly, 0.4 not at all."""
    rows = constructed(done, "GE, GE-CMU, UMASS")
    close, wide, small = rows["GE / GE-CMU"], rows["GE / UMASS"], rows["GE-CMU / UMASS"]
    assert certain(close)
    assert wide.p_value <= 0.1
    assert wide.exact_p <= 0.1
    assert not certain(wide)
    assert small.p_value > 0.1
    assert small.gain < close.gain < wide.gain
    assert {pair: row.published for pair, row in rows.items()} == {
        "GE / GE-CMU": 0.0415, "GE / UMASS": 0.0994, "GE-CMU / UMASS": 0.8918
    }  # fmt: skip


def test_a_better_system_may_differ_less_certainly(done: Results) -> None:
    """SRA, Paramax and MDC of TST3: Paramax is not as good as SRA, but it alone differs from MDC."""
    rows = constructed(done, "SRA, Paramax, MDC")
    assert {pair: certain(row) for pair, row in rows.items()} == {
        "Paramax / SRA": False, "MDC / SRA": False, "MDC / Paramax": True
    }  # fmt: skip
    assert rows["Paramax / SRA"].system_a == "SRA"
    assert rows["MDC / Paramax"].gain < rows["MDC / SRA"].gain
    assert all(np.isnan(row.published) for row in rows.values())


def test_tables_of_the_examples_are_the_shipped_ones(done: Results) -> None:
    """They do not depend on the MUC-like set. In groups, the less similar systems are together."""
    for title in ("worked", "readings", "constructed"):
        assert_shipped("chinchor_1992", title, done.tables[title])
    for title in ("groups", "intransitive"):
        table = done.tables[title]
        assert_shipped("chinchor_1992", title, table[table["test_set"] != "MUC-like"], ("test_set",))


def test_all_that_is_decided_is_by_the_studys_level_certainty_and_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exact p-values are made up, nine tenths of those of the shuffles, and no setting is a default."""
    asked: list[tuple[str, str, str, int]] = []
    frames: dict[tuple[str, str], pd.DataFrame] = {}

    def made_up(outputs: ss.Outputs, how: str, seed: int) -> pd.DataFrame:
        asked.append((outputs.test_set, outputs.metric.name, how, seed))
        frame = compared(outputs, test="randomization", convention="chinchor1992", seed=seed)
        frames.setdefault((outputs.test_set, outputs.metric.name), frame)
        return frame if how == "shuffled" else frame.assign(p_value=0.9 * frame["p_value"])

    monkeypatch.setattr(STUDY, "compared", made_up)
    muc = {"n_systems": 6, "n_messages": 30, "metrics": ["muc_f_2p", "muc_recall"]}
    run = Answered(lambda cell: made_up(*cell.arguments))
    found = STUDY.run(small("chinchor_1992", muc=muc, alpha=0.2, certainty=0.9, seed=3), run)
    cases = [("worked", "muc_precision"), *((case, "muc_f") for case in STUDY.CONSTRUCTED)]
    every = [*cases, *(("MUC-like", metric) for metric in muc["metrics"])]  # type: ignore[attr-defined]
    assert sorted(asked) == sorted((*one, how, 3) for one in every for how in ("shuffled", "exact"))
    function, cells = run.parts["comparing systems"]
    assert function is made_up
    assert [(cell.arguments[0].metric.name, *cell.arguments[1:]) for cell in cells] == [
        (metric, how, 3) for metric in ("muc_f_2p", "muc_recall") for how in ("shuffled", "exact")
    ]
    tables = found.tables
    rules: dict[str, Any] = {"alpha": 0.2, "certainty": 0.9}
    wanted = {key: frame.assign(**told(frame)) for key, frame in frames.items()}
    for title, keys in (("worked", every[:1]), ("constructed", every[1:3]), ("pairs", every[3:])):
        together = pd.concat([wanted[key] for key in keys], ignore_index=True)
        own = tables[title].drop(columns="published", errors="ignore")
        pd.testing.assert_frame_equal(own, together[list(own)])
    grouped = [STUDY.grouped(frames[key], rules) for key in every[1:]]
    pd.testing.assert_frame_equal(tables["groups"], pd.concat(grouped, ignore_index=True))
    for title, make, keys in (
        ("intransitive", STUDY.intransitive, every[1:]), ("gain_ranges", STUDY.gain_ranges, every[3:])
    ):  # fmt: skip
        made = pd.concat([make(frames[key], **rules) for key in keys], ignore_index=True)
        pd.testing.assert_frame_equal(tables[title], made)
    outputs = program("chinchor_1992", "muc_like").muc_like(6, 30, seed=3)
    assert tables["scores"].to_dict("list") == {
        "system": outputs.names, **{m: outputs.with_metric(m).scores().tolist() for m in ("muc_f_2p", "muc_recall")}
    }  # fmt: skip
    assert len(found.comparisons) == 2 * 2 * 15
    assert found.facts["Cutoff and certainty"] == "0.2 and 0.9"
    assert (found.facts["MUC-like set"], found.facts["Seed"]) == ("6 systems, 30 messages (synthetic)", "3")


def told(frame: pd.DataFrame) -> dict[str, Any]:
    """Columns that follow from p-values and counts, at the level 0.2 with certainty 0.9."""
    certainty = stats.beta.cdf(0.2, frame["n_extreme"] + 1, SHUFFLES - frame["n_extreme"] + 1)
    p = frame["p_value"]
    ranked = np.sort(p)
    holm = np.maximum.accumulate(ranked * np.arange(ranked.size, 0, -1)).clip(max=1)
    return {
        "certainty": certainty, "exact_p": 0.9 * p, "at_alpha": 0.2, "significant": (p <= 0.2) & (certainty >= 0.9),
        "p_bh": stats.false_discovery_control(p), "p_holm": holm[np.searchsorted(ranked, p)],
    }  # fmt: skip


def test_the_page_names_every_figure_and_table(done: Results) -> None:
    page = (done.folder / "README.md").read_text()
    shown = ["case_1", "case_2", *METRICS]
    drawn = {path.name for path in (done.folder / "figures").iterdir()}
    assert drawn == {
        f"{kind}_{name}.{suffix}" for kind in ("matrix", "groups") for name in shown for suffix in ("png", "svg")
    }  # fmt: skip
    for name in drawn:
        assert name.endswith(".svg") or f"(figures/{name})" in page
    assert {path.stem for path in done.folder.glob("*.csv")} == set(done.tables)
    for name, table in done.tables.items():
        assert f"[{name}.csv]({name}.csv): {len(table)} row{'s' * (len(table) != 1)}\n" in page
    assert "nan" not in page.lower()


def test_constructed_scores_are_plain_arithmetic(done: Results) -> None:
    """A system fills all slots of all relevant messages, so recall, precision and F are one."""
    cases = {
        "GE, GE-CMU, UMASS": {
            "GE": 40 * 11 + 10 * 12,
            "GE-CMU": 10 * 6 + 2 * 16 + 28 * 11 + 10 * 12,
            "UMASS": 13 * 11 + 13 * 15 + 14 * 7 + 10 * 8,
        },
        "SRA, Paramax, MDC": {"SRA": 26 * 10 + 8 * 5, "Paramax": 33 * 5 + 14 * 9 + 3 * 2, "MDC": 44 * 5 + 6 * 5},
    }
    for case, correct in cases.items():
        expected = {name: 100 * fills / (50 * 20) for name, fills in correct.items()}
        for row in constructed(done, case).values():
            assert (row.score_a, row.score_b) == pytest.approx((expected[row.system_a], expected[row.system_b]))
            assert row.gain == pytest.approx(row.score_a - row.score_b)


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("GE, GE-CMU, UMASS", [["GE", "UMASS"], ["GE-CMU", "UMASS"]]),
        ("SRA, Paramax, MDC", [["SRA", "Paramax"], ["SRA", "MDC"]]),
    ],
)
def test_groups_of_the_constructed_cases_overlap_as_hers(done: Results, case: str, expected: list[list[str]]) -> None:
    pairs = done.tables["constructed"].query("test_set == @case")
    one_table = pairs.assign(task="constructed", n_items=100, test="randomization", n_resamples=SHUFFLES)
    assert ss.comparisons.groups(one_table, p="p_value").groupby("group")["system"].agg(list).tolist() == expected
    found = done.tables["intransitive"].query("test_set == @case")
    assert found["kind"].tolist() == ["wider gain, not significant"]


def test_every_p_value_is_within_its_monte_carlo_error_of_the_exact_one(done: Results) -> None:
    for name in ("worked", "constructed", "pairs"):
        for row in done.tables[name].itertuples():
            assert row.p_value == (row.n_extreme + 1) / (SHUFFLES + 1)
            assert could_be(row.n_extreme, SHUFFLES, row.exact_p), row
            beta = stats.beta(row.n_extreme + 1, SHUFFLES - row.n_extreme + 1)
            assert row.certainty == pytest.approx(beta.cdf(0.1), abs=1e-12)
