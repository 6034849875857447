"""The study of Chinchor 1992: worked examples, constructed cases, and a MUC-like set of systems."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from simstudy import figures
from simstudy.analyses.groups import RULES, gain_ranges, groups, intransitive
from simstudy.analyses.multiplicity import corrected
from simstudy.cells import Cell
from simstudy.engines.comparisons import compare
from simstudy.generators.messages import messages
from simstudy.outputs import Outputs
from simstudy.pvalues import certainty, significant
from simstudy.runner import progress_bar, run_cells
from simstudy.sections import Figure, Section
from simstudy.studies.chinchor_1992 import page
from simstudy.studies.chinchor_1992.definition import MUC_LIKE, Chinchor1992, Constructed, Worked
from simstudy.studies.definition import StudyError
from simstudy.studies.findings import Findings, RunContext
from simstudy.studies.problems import Problems


def run(study: Chinchor1992, context: RunContext) -> Findings:
    """Her examples, then a MUC-like set, each through randomization with 9,999 shuffles and exactly."""
    tables: dict[str, pd.DataFrame] = {}
    rules = {"cutoff": study.cutoff, "certainty": study.certainty}
    worked, cases = _check(study)
    with context.clock("examples"):
        tables["worked"] = _tested(_shuffled(worked, study.seed), _exact(worked), study)
        tables["readings"] = _readings(study)
        of_cases = {name: _shuffled(outputs, study.seed) for name, outputs in cases.items()}
        tested = []
        for case in study.constructed:
            pairs = _tested(of_cases[case.name], _exact(cases[case.name]), study)
            named = pairs["system_a"] + " / " + pairs["system_b"]
            tested.append(pairs.assign(published=named.map(case.published).astype(float)))
        tables["constructed"] = pd.concat(tested, ignore_index=True)
    with context.clock("the MUC-like set"):
        outputs = messages(study.muc.n_systems, study.muc.n_messages, seed=study.seed, test_set=MUC_LIKE)
        by_metric = {metric: outputs.with_metric(metric) for metric in study.muc.metrics}
        of_set, exact = _compare_all(by_metric, study, context)
    with context.clock("groups and figures"):
        drawn = {**{f"case_{k + 1}": (name, pairs) for k, (name, pairs) in enumerate(of_cases.items())},
                 **{metric: (metric, pairs) for metric, pairs in of_set.items()}}  # fmt: skip
        tables["scores"] = pd.DataFrame({"system": outputs.names} | {m: o.scores() for m, o in by_metric.items()})
        tables["pairs"] = pd.concat([_decided(of_set[m], exact[m], study) for m in of_set], ignore_index=True)
        tables["decisions"] = _decisions(tables["pairs"])
        grouped = {
            name: {rule: groups(pairs, rule=rule, cutoff=study.cutoff, certainty=study.certainty) for rule in RULES}
            for name, (_, pairs) in drawn.items()
        }
        tables["groups"] = pd.concat([found for rule in grouped.values() for found in rule.values()], ignore_index=True)
        tables["intransitive"] = pd.concat(
            [intransitive(pairs, **rules) for _, pairs in drawn.values()], ignore_index=True
        )
        tables["gain_ranges"] = pd.concat([gain_ranges(pairs, **rules) for pairs in of_set.values()], ignore_index=True)
        shown = {
            name: _drawn(pairs, grouped[name]["maximal"], name, title, study) for name, (title, pairs) in drawn.items()
        }
    sections = page.example_sections(tables)
    for name, of_one in shown.items():
        if name == study.muc.metrics[0]:
            sections += page.set_sections(MUC_LIKE, rules, tables)
        sections += of_one
    return Findings(
        tables,
        sections,
        {
            "Test": "approximate randomization, |difference|, 9,999 shuffles, beside the exact p-value",
            "Cutoff and certainty": f"{study.cutoff:g} and {study.certainty:g}",
            "MUC-like set": f"{study.muc.n_systems} systems, {study.muc.n_messages} messages (synthetic)",
            "Seed": str(study.seed),
        },
        page.CLOSING,
        {"The MUC-like set": page.decisions(tables)},
        comparisons=pd.concat([both[m] for m in of_set for both in (of_set, exact)], ignore_index=True),
    )


def _check(study: Chinchor1992) -> tuple[Outputs, dict[str, Outputs]]:
    """The worked example and the constructed cases, by name; a StudyError says all that is wrong with any of them."""
    problems = Problems(study.name)
    worked, cases = [], {}
    with problems.at("worked"):
        worked.append(_built(study.worked, "muc_precision", "worked"))
    for case in study.constructed:
        with problems.at(f"constructed '{case.name}'"):
            cases[case.name] = _built(case, case.metric, case.name)
            named = [f"{one} / {other}" for one, other in combinations(cases[case.name].best_first().names, 2)]
            unknown = sorted(set(case.published) - set(named))
            if unknown:
                raise StudyError(f"published: no pair {', '.join(unknown)}; pairs are {', '.join(named)}")
    problems.raise_any()
    return worked[0], cases


def _shuffled(outputs: Outputs, seed: int) -> pd.DataFrame:
    return compare(outputs, test="randomization", convention="chinchor1992", seed=seed)


def _exact(outputs: Outputs) -> pd.DataFrame:
    return compare(outputs, test="randomization", alternative="two-sided", monte_carlo=False)


def _built(case: Worked | Constructed, metric: str, name: str) -> Outputs:
    """Message-level four-tuples from runs of correct fills."""
    four = np.zeros((len(case.correct), case.n_messages, 4), dtype=np.int64)
    if case.relevant > case.n_messages:
        raise StudyError(f"relevant must be at most n_messages, {case.n_messages}, not {case.relevant}")
    for k, (system, runs) in enumerate(case.correct.items()):
        correct = np.repeat([fills for _, fills in runs], [n for n, _ in runs])
        if len(correct) != case.relevant or correct.min() < 0 or correct.max() > case.fills:
            raise StudyError(
                f"correct.{system} must have {case.relevant} messages in its runs, each with 0 to {case.fills} "
                f"correct fills, not {runs}"
            )
        four[k, : case.relevant] = np.stack(
            [np.full_like(correct, case.fills), np.full_like(correct, case.fills), correct, np.zeros_like(correct)], -1
        )
    return Outputs.from_statistics(four, metric, list(case.correct), task="constructed", test_set=name)


def _tested(shuffled: pd.DataFrame, exact: pd.DataFrame, study: Chinchor1992) -> pd.DataFrame:
    """Each pair by 9,999 shuffles, with their certainty, and exactly."""
    columns = ["test_set", "metric", "system_a", "system_b", "score_a", "score_b", "gain", "p_value", "n_extreme"]
    return shuffled[columns].assign(
        certainty=certainty(shuffled["n_extreme"], shuffled["n_resamples"], study.cutoff), exact_p=exact["p_value"]
    )


def _readings(study: Chinchor1992) -> pd.DataFrame:
    """The printed confidence level, what the printed level gives, and which level would give the printed one."""
    rows = []
    for reading in study.readings:
        n = reading.n_shuffles
        count = round(reading.level * (n + 1)) - 1
        counts = np.arange(n + 1)
        nearest = int(np.abs(certainty(counts, n, reading.cutoff) - reading.confidence).argmin())
        rows.append(
            {
                **reading.model_dump(),
                "computed": float(certainty(count, n, reading.cutoff)),
                "level_of_printed": (nearest + 1) / (n + 1),
            }
        )
    return pd.DataFrame(rows)


def _compare_all(
    by_metric: dict[str, Outputs], study: Chinchor1992, context: RunContext
) -> tuple[dict[str, pd.DataFrame], dict[str, pd.DataFrame]]:
    """For each metric all pairs by shuffles, and exactly."""
    cells = [
        Cell(
            label=f"{metric}, {how}",
            description={"kind": "chinchor", "outputs": o.fingerprint(), "how": how, "seed": study.seed},
            arguments=(o, how, study.seed),
        )
        for how in ("shuffled", "exact")
        for metric, o in by_metric.items()
    ]
    with progress_bar("comparing systems", len(cells)) as advance:
        found = run_cells(_compared, cells, n_jobs=context.n_jobs, cache=context.cells, finished=lambda _: advance(1))
    n = len(by_metric)
    return dict(zip(by_metric, found[:n], strict=True)), dict(zip(by_metric, found[n:], strict=True))


def _compared(outputs: Outputs, how: str, seed: int) -> pd.DataFrame:
    return _exact(outputs) if how == "exact" else _shuffled(outputs, seed)


def _decided(shuffled: pd.DataFrame, exact: pd.DataFrame, study: Chinchor1992) -> pd.DataFrame:
    """One row a pair: p by shuffles, certainty, decision, corrected p, and the exact p."""
    table = corrected(shuffled)
    columns = ["metric", "system_a", "system_b", "score_a", "score_b", "gain", "p_value", "p_holm", "p_bh", "n_extreme"]
    n_extreme, n_resamples = table["n_extreme"], table["n_resamples"]
    return table[columns].assign(
        certainty=certainty(n_extreme, n_resamples, study.cutoff),
        significant=significant(table, study.cutoff, study.certainty),
        exact_p=exact["p_value"],
        at_cutoff=study.cutoff,
    )


def _decisions(pairs: pd.DataFrame) -> pd.DataFrame:
    """By metric, how many pairs each way of deciding calls different."""
    rows = []
    for metric, members in pairs.groupby("metric", sort=False):
        below = {name: members[name] <= members["at_cutoff"] for name in ("p_value", "exact_p", "p_holm", "p_bh")}
        rows.append(
            {
                "metric": metric,
                "n_pairs": len(members),
                "certain": int(members["significant"].sum()),
                "in_doubt": int((below["p_value"] & ~members["significant"]).sum()),
                "exact": int(below["exact_p"].sum()),
                "in_doubt_exact": int((below["p_value"] & ~members["significant"] & below["exact_p"]).sum()),
                "shuffled_other_than_exact": int((below["p_value"] != below["exact_p"]).sum()),
                "holm": int(below["p_holm"].sum()),
                "bh": int(below["p_bh"].sum()),
            }
        )
    return pd.DataFrame(rows)


def _drawn(pairs: pd.DataFrame, found: pd.DataFrame, name: str, title: str, study: Chinchor1992) -> list[Section]:
    """The matrix and the groups of one table, in the manner of her figures 3-6 and 7-11."""

    def matrix() -> Any:
        return _titled(figures.matrix(pairs, cutoff=study.cutoff, certainty=study.certainty), title)

    return [
        Section(
            f"{title}: significance levels",
            "Systems by score; blue pairs differ certainly.",
            figure=Figure(f"matrix_{name}", matrix),
        ),
        Section(
            f"{title}: groups",
            "Dots on a line are systems no two of which differ certainly; the line is thin beside others.",
            figure=Figure(f"groups_{name}", lambda: _titled(figures.groups(found), title)),
        ),
    ]


def _titled(ax: Any, title: str) -> Any:
    ax.set_title(title, loc="left", fontsize=10, fontweight="bold")
    return ax
