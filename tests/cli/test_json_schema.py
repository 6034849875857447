"""The JSON of the command has the schema that the documentation ships, and other columns need another version."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest

from simstudy import schema
from simstudy.examination.json_schema import json_schema
from tests.cli.command import compare
from tests.documentation import JSON_SCHEMA, examples_in, schema_text

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
VALIDATOR = jsonschema.Draft202012Validator(json_schema())

PRINTED = {
    "two systems": "old.txt new.txt --metric accuracy --references gold.txt",
    "many": "classifiers.csv --metric accuracy --margin 2 --duplicates note",
    "several metrics": "translations/old.txt translations/new.txt --metric bleu --metric chrf --references "
    "translations/ref.txt --resamples 999",
    "tasks": "harness --metric accuracy --fail-if-worse model-large model-small",
    "samples": "samples.csv --metric accuracy",
    "gates": "old.txt new.txt --metric accuracy --references gold.txt --margin 1 --fail-unless-better new old "
    "--fail-unless-not-worse new old --looks looks.json",
    "a sequential gate": "old.txt new.txt --metric accuracy --references gold.txt --fail-unless-better new old "
    "--sequential",
}


@pytest.fixture(autouse=True)
def _examples(_here: None, tmp_path: Any) -> None:
    examples_in(tmp_path)


@pytest.mark.parametrize("arguments", PRINTED.values(), ids=PRINTED)
def test_what_is_printed_has_the_shipped_schema(arguments: str) -> None:
    code, out, _ = compare(*shlex.split(arguments), "--json")
    assert code == 0
    content = json.loads(out)
    VALIDATOR.validate(content)
    for one in content if isinstance(content, list) else [content]:
        assert one["schema"] == {"name": "simstudy-comparison", "version": schema.JSON_VERSION}
        assert set(one["pairs"][0]) == {*schema.OWN, "p_holm", "p_bh"} | (
            {name for name in schema.ADDED if schema.KNOWN[name].added_by == "equivalence"} if "--margin" in arguments
            else set()
        )  # fmt: skip


def test_the_schema_refuses_what_it_does_not_know() -> None:
    content = json.loads(compare(*shlex.split(PRINTED["gates"]), "--json")[1])
    for damage in (
        lambda c: c.pop("schema"),
        lambda c: c["schema"].update(version=0),
        lambda c: c["pairs"][0].pop("p_value"),
        lambda c: c["pairs"][0].update(p_value=1.5),
        lambda c: c["pairs"][0].update(wins="27"),
        lambda c: c["pairs"][0].update(favours="new"),
        lambda c: c["gates"][0].update(gate="best"),
        lambda c: c.update(gate={}),
    ):
        other = json.loads(json.dumps(content))
        damage(other)
        assert not VALIDATOR.is_valid(other)


def test_the_documentation_ships_the_schema_that_the_columns_make() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())
    assert JSON_SCHEMA.read_text("utf-8") == schema_text(), "python -m tests.documentation --write"


def test_other_columns_need_another_version() -> None:
    assert schema.FINGERPRINTS[schema.JSON_VERSION] == schema.fingerprint(), (
        "columns changed: add a version with the new fingerprint to simstudy.schema.FINGERPRINTS"
    )
