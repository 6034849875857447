"""Domains in one call: each is compared apart, and clusters and items are those of the domain."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from simstudy.cli.command import app
from simstudy.examination.several import folder_names
from tests.cli.command import as_json, compare, rows_of


def test_domains_are_compared_apart(four: str) -> None:
    columns = ["--metric", "accuracy", "--columns", "domain=genre"]
    whole = pd.read_csv(four)
    alone = {name: as_json(four, *columns, "--domain", name)["pairs"] for name in ("news", "web", "mail")}
    for options, domains in (
        (["--by-domain"], ["news", "web", "mail"]),
        (["--domain", "web", "--domain", "news"], ["web", "news"]),
    ):
        result = CliRunner().invoke(app, ["compare", four, *columns, *options, "--json"])
        found = json.loads(result.stdout)
        assert [part["settings"]["domain"] for part in found] == domains
        for part, domain in zip(found, domains, strict=True):
            own = whole[whole["genre"] == domain]
            assert {system["system"]: system["score"] for system in part["systems"]} == pytest.approx(
                {name: 100 * own[name].mean() for name in "abcd"}
            )
            assert part["pairs"] == alone[domain]
            assert not any("tested together" in note for note in part["notes"])
    code, out, _ = compare(four, *columns, "--by-domain", "--metric", "mean")
    assert code == 0
    assert [row[:2] for row in rows_of(out, "domain")[1:]][:3] == [
        ["news", "accuracy"],
        ["web", "accuracy"],
        ["mail", "accuracy"],
    ]
    assert len(out.splitlines()) <= 25
    assert "nothing is corrected for the 6 rows" in out


def test_parallel_items_are_no_clusters_of_one_domain() -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {"item": range(60), "old": rng.integers(0, 2, 60), "new": rng.integers(0, 2, 60), "cluster": [*range(30)] * 2}
    )
    table.assign(domain=["de"] * 30 + ["fr"] * 30).to_csv("parallel.csv", index=False)
    _, whole, _ = compare("parallel.csv", "--metric", "accuracy")
    assert "30 clusters" in whole
    _, out, _ = compare("parallel.csv", "--metric", "accuracy", "--by-domain")
    assert "cluster" not in out.replace("unit:cluster", "")
    assert "\nItems: 30\n" in out
    assert "differ on at least one domain" in out


def test_two_systems_by_domain_have_their_items_and_verbose_says_all() -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {"item": range(60), "old": rng.integers(0, 2, 60), "new": 1, "domain": ["x"] * 40 + ["y"] * 20}
    )
    table.to_csv("t.csv", index=False)
    code, out, _ = compare("t.csv", "--metric", "accuracy", "--by-domain")
    assert code == 0
    assert [row[:2] for row in rows_of(out, "domain")] == [["domain", "items"], ["x", "40"], ["y", "20"]]
    code, out, _ = compare("t.csv", "--metric", "accuracy", "--by-domain", "--verbose")
    assert out.count("Wins, losses and ties of new") == 2


def test_folders_of_parts_are_plain_and_differ() -> None:
    assert folder_names(["chrf", "chrf++", "news/2021 bleu", "é", "É", "Chrf", "figures"]) == [
        "chrf", "chrfplusplus", "news_2021_bleu", "part", "part_2", "Chrf_2", "figures_2",
    ]  # fmt: skip
