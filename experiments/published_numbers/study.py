"""Published numbers beside ours: powers, leaderboards, counts of data sets, few items, subsets of items."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pandas as pd

from simstudy.files import datasets
from simstudy.studies import Cell, Findings, Level, RunContext, ShippedTables, Shown, outputs_of

from . import subsets
from .boards import board_claims, equal_scores, load_board, neighbours, resolution_claims
from .calculators import calculators, installed
from .few_items import few_gains, one_accuracy, two_systems
from .page import CLOSING, sections, summary
from .powers import Difference, beside, of_papers, simulated_power
from .replicability import count_claims, overcounts
from .settings import Settings


def run(study: Settings, context: RunContext) -> Findings:
    """Get every number again, in its own way where that is known, and in ours."""
    with context.clock("powers"):
        said = [*of_papers(study.simulated), *calculators()]
        cells = [
            Cell(
                label=f"{one.source}, {one.name}",
                arguments=(
                    one.source,
                    one.name,
                    one.n,
                    one.gain,
                    one.difference,
                    one.level,
                    study.simulated,
                    study.seed,
                ),
            )
            for one in said
        ]
        powers = [done["power"] for done in context.run("test sets of published cases", simulate, cells)]
    with context.clock("leaderboards"):
        claims, resolution, hashes = boards(study, context)
    with context.clock("subsets"):
        ranked, by_gain, read = ranked_by_subsets(study, context)
    coverage = study.coverage.model_dump(exclude={"n_items"})
    tables = {
        "powers": beside(said, powers),
        "claims": pd.DataFrame([*claims, *count_claims(study.replicability), *subsets.claims(study.subsets, ranked)]),
        "neighbours": resolution,
        "overcounts": overcounts(study.replicability, study.seed),
        "one_accuracy": one_accuracy(study.few, coverage, study.coverage.n_items),
        "two_systems": two_systems(study.few, study.agreement, study.few_gain),
        "few_gains": few_gains(study.few, study.agreement),
        "subsets": ranked,
        "subsets_by_gain": by_gain,
        "left_out": pd.DataFrame([one.model_dump() for one in study.left_out], columns=["source", "claim", "reason"]),
    }
    facts = {"Powers": f"{len(said)}, each drawn {study.simulated:,} times", "Seed": str(study.seed)}
    if not installed():
        facts["Not installed"] = "statsmodels: pip install 'simstudy[tools]'"
    return Findings(tables=tables, facts=facts, data={"files": hashes | read})


def show(study: Settings, tables: ShippedTables) -> Shown:
    """The page of the tables."""
    return Shown(sections=sections(tables, study), closing=CLOSING, summary=summary(tables))


def simulate(
    source: str, name: str, n: int, gain: float, difference: Difference, level: Level, sets: int, seed: int
) -> dict[str, float]:
    """One cell: the power of a published case."""
    return {"power": simulated_power(source, name, n, gain, difference, level, sets, seed)}


def boards(study: Settings, context: RunContext) -> tuple[list[dict[str, object]], pd.DataFrame, dict[str, str]]:
    """Rows of the claims about leaderboards, the neighbours that one of them is about, and hashes of the files."""
    asked = study.resolution
    claims, hashes = [equal_scores(study.equal)], {}
    for board in study.boards:
        path = datasets.find(board.file, context.data_dir, allow_outside=context.allow_outside)
        hashes[board.file] = sha256(Path(path).read_bytes()).hexdigest()
        claims += board_claims(board, load_board(path))
    test_sets, read = outputs_of(asked.study, context, test_sets=[asked.test_set], metrics=["accuracy"])
    table = neighbours(test_sets[asked.test_set, "accuracy"].outputs, asked.top)
    return [*claims, *resolution_claims(asked, table)], table, hashes | read


def ranked_by_subsets(study: Settings, context: RunContext) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, str]]:
    """A row for each test set, method and size, the same by gain, and hashes of the files."""
    asked = study.subsets
    test_sets, hashes = outputs_of(asked.study, context, test_sets=asked.test_sets, metrics=["accuracy"])
    right = {
        name: test_sets[name, "accuracy"].outputs.statistics[..., 0].astype(float, order="C")
        for name in asked.test_sets
    }
    cells = [
        Cell(
            label=f"{name}, block {block}",
            arguments=(asked.only("sizes", "most"), study.seed, name, right[name], trials),
        )
        for name in asked.test_sets
        for block in range(-(-asked.trials // asked.block))
        for trials in [range(block * asked.block, min(asked.trials, (block + 1) * asked.block))]
    ]  # fmt: skip
    found = context.run("subsets of items", subsets.rank, cells)
    rows = [{"test_set": cell.arguments[2]} | row for cell, own in zip(cells, found, strict=True) for row in own]
    key = ["test_set", "method", "n_items", "gain_class"]
    by_gain = pd.DataFrame(rows).groupby(key, sort=False, as_index=False).sum()
    table = subsets.near(by_gain, asked.gain, asked.within)
    table = table.merge(subsets.least_gains(by_gain, asked.agreement), on=key[:3], validate="1:1")
    table["predicted"] = [
        subsets.predicted(right[name], size, asked.gain, asked.within) if method == subsets.RANDOM else float("nan")
        for name, method, size in table[key[:3]].to_numpy().tolist()
    ]
    of_set = {name: subsets.needed(own, asked.gain, asked.within, asked.agreement) for name, own in right.items()}
    described = pd.DataFrame(
        [
            {"test_set": name, "n_systems": len(own), "n_all_items": own.shape[1], **of_set[name]}
            for name, own in right.items()
        ]
    )
    return table.merge(described, on="test_set"), by_gain, hashes
