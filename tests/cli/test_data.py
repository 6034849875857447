from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from simstudy.cli.command import app
from simstudy.files import datasets
from simstudy.files.datasets import DataSet, PublicFile


def data(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["data", *arguments])
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that holds the one data set there is: two files, of nobody's address."""
    (tmp_path / "toy").mkdir()
    files = []
    for name in ("one.txt", "two.txt"):
        (tmp_path / "toy" / name).write_text(name)
        sha256 = hashlib.sha256(name.encode()).hexdigest()
        files.append(PublicFile(f"toy/{name}", 7, sha256, f"http://127.0.0.1:9/{'long/' * 30}{name}"))
    monkeypatch.setattr(datasets, "datasets", lambda: {"toy": DataSet("toy", "two words", "CC0", tuple(files))})
    monkeypatch.delenv("SIMSTUDY_DATA_DIR", raising=False)
    return tmp_path


def test_list_names_data_sets_with_size_and_licence(at_hand: Path) -> None:
    code, out, _ = data("list")
    assert code == 0
    assert re.search(r"toy +2 +14 bytes +CC0 +two words", out)


def test_list_names_every_data_set_there_is() -> None:
    code, out, _ = data("list")
    assert code == 0
    assert all(re.search(rf"^ {name} +{len(known.files)} ", out, re.M) for name, known in datasets.datasets().items())


def test_list_says_where_files_are_kept(at_hand: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.pooch, "os_cache", lambda _: "/a/cache")
    first = "1 public data set; simstudy data fetch NAME fetches one. Files are "
    assert data("list")[1].startswith(f"{first}kept in /a/cache\n")
    monkeypatch.setenv("SIMSTUDY_DATA_DIR", str(at_hand))
    assert data("list")[1].startswith(f"{first}read from {at_hand}\n")


def test_list_of_one_has_a_whole_address_a_line(at_hand: Path) -> None:
    code, out, _ = data("list", "toy")
    assert code == 0
    first, _, _, *rows = [re.split("  +", line.strip()) for line in out.splitlines()]
    assert first == ["toy: 2 files, 14 bytes"]
    files = datasets.datasets()["toy"].files
    assert rows == [[file.name, "7 bytes", file.sha256[:12], file.url] for file in files]


def test_a_reader_who_has_seen_enough_gets_no_error() -> None:
    """As other commands: `| head` closes the pipe."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-m", "simstudy", "data", "list"], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_fetch_prints_the_paths(at_hand: Path) -> None:
    code, out, err = data("fetch", "toy", "--data-dir", str(at_hand))
    assert (code, err) == (0, "")
    assert out.splitlines() == [str(at_hand / "toy/one.txt"), str(at_hand / "toy/two.txt")]
    assert data("fetch", "toy/two.txt", "--data-dir", str(at_hand))[1].splitlines() == [str(at_hand / "toy/two.txt")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fetch", "ntlk"], "no data set and no data file is called 'ntlk' (did you mean 'nltk'?)"),
        (
            ["fetch", "nltk/brown.zip", "--data-dir", "/no"],
            "nltk/brown.zip: there is no folder /no; without --data-dir",
        ),
        (["list", "ntlk"], "data set must be one of colloc_krenn,"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments: list[str], message: str) -> None:
    code, out, err = data(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"simstudy: {message}")
    assert err.count("\n") == 1


def test_a_stop_says_that_the_same_command_goes_on(at_hand: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(datasets.pooch, "create", stopped)
    code, _, err = data("fetch", "toy")
    assert code == 130
    assert err == "simstudy: stopped; what has finished is kept, and the same command goes on from there\n"
