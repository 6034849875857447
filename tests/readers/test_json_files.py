from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from simstudy.readers.text_files import NUMBER, field_of, first_keys, parse_json
from simstudy.validation import InputError


def test_a_key_that_comes_again_among_many_is_found_fast() -> None:
    keys = ", ".join(f'"k{i}": 0' for i in range(100_000))
    with pytest.raises(InputError, match="k7"):
        parse_json(f'{{{keys}, "k7": 1}}', "x.json")


def test_fields_have_their_kind() -> None:
    record = {"n": 2, "yes": True, "none": None, "list": [1]}
    assert field_of(record, "n", NUMBER, "x") == 2
    assert field_of(record, "none", str, "x", "default") == "default"
    for name, kind in (("yes", int), ("list", str), ("none", str), ("missing", list)):
        with pytest.raises(InputError) as error:
            field_of(record, name, kind, "x.json, sample 3")
        assert error.value.at == "x.json, sample 3"
    with pytest.raises(InputError):
        field_of([record], "n", int, "x")


def test_first_keys_of_a_large_a_packed_and_another_file(tmp_path: Path) -> None:
    (tmp_path / "large.json").write_text('{"status": 1, "eval": {"task": "x"}, "samples": [' + "1, " * 2**20)
    assert first_keys(tmp_path / "large.json") == {"status", "eval", "task", "samples"}
    (tmp_path / "lines.jsonl.gz").write_bytes(gzip.compress(b'{"a": 1}\n{"b": 1}\n'))
    assert first_keys(tmp_path / "lines.jsonl.gz") == {"a"}
    (tmp_path / "text.txt").write_text("a: b\n")
    (tmp_path / "damaged.json.gz").write_bytes(b"\x1f\x8b")
    for name in ("text.txt", "damaged.json.gz", "missing.json"):
        assert first_keys(tmp_path / name) == frozenset()
