"""The line under a verdict, and on a page, that says how its p-values came about."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import pandas as pd
import pytest

import simstudy as ss
from tests.cli.command import compare_signed, write_wide
from tests.oracles import compared


def said(*arguments: str) -> str:
    code, out, err = compare_signed(*arguments)
    assert (code, err) == (0, "")
    found = re.findall(r"^Signature: +(.*)$", out, flags=re.MULTILINE)
    assert len(found) == 1
    return str(found[0])


def test_options_that_decide_a_p_value_are_in_the_signature() -> None:
    two = write_wide("two.csv", {"new": [1] * 30, "old": [1, 0] * 15})
    here = f"simstudy:{version('simstudy')}"
    assert said(two, "--metric", "accuracy") == f"metric:accuracy|test:sign_flips|sides:two|unit:item|{here}"
    drawn = ["--test", "bootstrap", "--convention", "koehn2004", "--seed", "7", "--resamples", "50"]
    assert said(two, "--metric", "mean", *drawn) == (
        f"metric:mean|test:bootstrap|sides:one|convention:koehn2004|unit:item|resamples:50|seed:7|{here}"
    )


@pytest.mark.usefixtures("undrawn")
def test_a_domain_is_named_wherever_its_items_are_compared() -> None:
    """Header, signature, title of the page and verdict say whose numbers these are; without --domain there is none."""
    rights = {"new": [1, 1, 1, 0, 1], "old": [0, 1, 0, 0, 0], "other": [1, 0, 0, 0, 0]}
    table = pd.DataFrame(rights | {"domain": ["java"] * 3 + ["c"] * 2}).rename_axis("item")
    table.to_csv("all.csv")
    _, out, _ = compare_signed("all.csv", "--metric", "accuracy", "--domain", "java", "--out", "page")
    assert "\nTest set: java\nItems: 3\n" in out
    assert "|unit:item|test_set:java|simstudy:" in out
    page = Path("page/README.md").read_text()
    assert page.startswith("# 3 systems compared by accuracy on java\n")
    assert "|test_set:java|" in page
    assert "Test set" in page
    table.drop(columns="other").to_csv("two.csv")
    assert "|test_set:java|" in said("two.csv", "--metric", "accuracy", "--domain", "java")
    _, out, _ = compare_signed("all.csv", "--metric", "accuracy")
    assert "\nItems: 5\n" in out
    assert "test_set" not in out
    outputs = ss.load("all.csv", "accuracy").outputs
    both = pd.concat([compared(outputs.domain(name)) for name in ("java", "c")])
    assert "test_set" not in ss.comparisons.signature(both)


def test_sacrebleu_s_own_signature_is_part_of_it() -> None:
    from sacrebleu.metrics.bleu import BLEU

    for name, text in {"new": "the cat\nthe dog", "old": "a cat\nthe dog", "gold": "the cat\nthe dog"}.items():
        Path(name).write_text(text)
    theirs = BLEU(lowercase=True, tokenize="char", references=[["the cat", "the dog"]])
    found = said("new", "old", "--metric", "bleu", "--references", "gold", "--tokenize", "char", "--lowercase")
    assert found.startswith(f"metric:bleu|{theirs.get_signature()}|test:sign_flips|")
    page = said("new", "old", "--metric", "chrf", "--references", "gold", "--out", "page")
    assert "|nc:6|nw:0|" in page
    assert page.replace("|", "\\|") in Path("page/README.md").read_text() or page in Path("page/README.md").read_text()
