from __future__ import annotations

import json
import sys
import tracemalloc
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from simstudy.files.unpacking import unpacking_at_most
from simstudy.loaders.door import load
from tests.loaders.archives import DEFLATED, STORED, ZSTD, eval_log, zipped
from tests.loaders.test_inspect_logs import sample, write


def logs(folder: Path, method: int) -> tuple[list[Path], list[Path]]:
    """Two logs in JSON form, and the same as archives."""
    folder.mkdir()
    one = write(folder / "1.json", [sample(i, "CI"[i == "b"], k, said=i * k) for k in (1, 2) for i in "ab"], "org/a")
    two = write(folder / "2.json", [sample(i, 0.25, k, said="") for k in (1, 2) for i in "ab"], "org/b")
    archives = []
    for path in (one, two):
        archives.append(path.with_suffix(".eval"))
        archives[-1].write_bytes(eval_log(json.loads(path.read_text()), method))
    return [one, two], archives


@pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTD])
def test_archives_are_the_same_as_logs_in_json(method: int, tmp_path: Path) -> None:
    in_json, archives = logs(tmp_path / "logs", method)
    expected, found = load(in_json, "mean"), load(archives, "mean")
    assert found.outputs.scores().tolist() == [0.5, 0.25]
    assert found.outputs.fingerprint() == expected.outputs.fingerprint()
    assert (found.outputs.names, found.notes) == (["org/a", "org/b"], expected.notes)
    # Of a folder, both forms; they are one log too many.
    for path in in_json[1:] + archives[:1]:
        path.unlink()
    assert load(tmp_path / "logs", "mean").outputs.fingerprint() == expected.outputs.fingerprint()


def test_inspects_own_reader_is_used_where_it_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that it does not read goes to ours."""
    (one, _), (archive, _) = logs(tmp_path / "logs", ZSTD)
    asked: list[str] = []
    refused = False

    def read_eval_log(path: str) -> Any:
        asked.append(path)
        if refused:
            raise RuntimeError("a field is missing")
        log = json.loads(one.read_text())
        log["samples"][0]["scores"]["match"]["value"] = "I"

        def dumped(content: Any) -> Any:
            return SimpleNamespace(model_dump=lambda include: {k: v for k, v in content.items() if k in include})

        return SimpleNamespace(samples=[dumped(one) for one in log["samples"]], model_dump=dumped(log).model_dump)

    module = ModuleType("inspect_ai.log")
    module.read_eval_log = read_eval_log  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "inspect_ai", ModuleType("inspect_ai"))
    monkeypatch.setitem(sys.modules, "inspect_ai.log", module)
    assert load(archive, "accuracy").outputs.scores().tolist() == [25]
    refused = True
    assert load(archive, "accuracy").outputs.scores().tolist() == [50]
    assert asked == [str(archive)] * 2


def test_archives_that_are_none_are_told(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    log = {"status": "success", "eval": {"task": "quiz", "model": "m"}, "samples": [sample("a", "C")]}
    whole = eval_log(log)
    at = whole.index(b"samples/") + 40
    for content, message in (
        (b"PK\3\4\xff", "log.eval is not a whole zip file$"),
        (whole[:-30], "log.eval is not a whole zip file$"),
        (whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :], "log.eval is not a whole zip file$"),
        (zipped({"samples/a.json": b"{}"}), "log.eval: no header.json in the archive: the evaluation is not complete"),
        (zipped({"header.json": b"[]"}), "log.eval, header.json: not as Inspect writes it"),
        (zipped({"header.json": b'{"eval'}), r"log.eval, header.json, line 1: not JSON \(is the file cut\?\)"),
        (eval_log(log | {"status": "cancelled"}), "log.eval: the log's status is 'cancelled', not 'success'"),
        (eval_log(log | {"samples": []}), "log.eval: the log has no samples"),
    ):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=message) as error:
            load(path, "accuracy")
        assert "\n" not in str(error.value)


def test_an_archive_that_unpacks_to_too_much_is_told_and_not_held(tmp_path: Path) -> None:
    """Whatever size it says of itself."""
    path = tmp_path / "log.eval"
    for method in (DEFLATED, ZSTD):
        for size in (None, 10):
            path.write_bytes(zipped({"samples/a.json": b"0" * 2**25}, method, size))
            assert path.stat().st_size < 2**18
            tracemalloc.start()
            try:
                with unpacking_at_most("1M"), pytest.raises(ValueError, match="log.eval") as error:
                    load(path, "accuracy")
                assert tracemalloc.get_traced_memory()[1] < 2**23
            finally:
                tracemalloc.stop()
            if size is None:
                assert "unpacks to more than 1.0 MiB: max_size" in str(error.value)
