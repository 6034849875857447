from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from simstudy import datasets
from simstudy.datasets import DataError, DataFile, fetch, registry

NAME = "folder/file.txt"


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A public address on this machine with one file in it, and an empty cache folder."""
    public = tmp_path / "public"
    public.mkdir()
    (public / "file.txt").write_text("published")

    class Quiet(SimpleHTTPRequestHandler):
        def __init__(self, *args: object) -> None:
            super().__init__(*args, directory=str(public))  # type: ignore[arg-type]

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    file = DataFile(
        NAME, 9, hashlib.sha256(b"published").hexdigest(), f"http://127.0.0.1:{server.server_port}/file.txt"
    )
    monkeypatch.setattr(datasets, "registry", lambda: {NAME: file})
    monkeypatch.setattr(datasets.pooch, "os_cache", lambda _: tmp_path / "cache")
    monkeypatch.delenv("SIMSTUDY_DATA_DIR", raising=False)
    yield public
    server.shutdown()
    server.server_close()


def test_fetched_once_and_checked(served: Path) -> None:
    assert fetch(NAME).read_text() == "published"
    (served / "file.txt").unlink()
    assert fetch(NAME).read_text() == "published"


def test_a_corrupt_download_is_refused(served: Path) -> None:
    (served / "file.txt").write_text("publishe")
    with pytest.raises(DataError, match=r"could not fetch folder/file.txt from http.*hash.*set --data-dir"):
        fetch(NAME)


def test_no_network_says_what_to_do(served: Path) -> None:
    (served / "file.txt").unlink()
    with pytest.raises(DataError, match=r"could not fetch folder/file.txt.*404.*download it yourself"):
        fetch(NAME)


def test_a_folder_at_hand_is_used_and_checked(served: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_hand = tmp_path / "hand"
    with pytest.raises(
        DataError, match=r"file.txt is missing: --data-dir or SIMSTUDY_DATA_DIR must hold folder/file.txt"
    ):
        fetch(NAME, at_hand)
    (at_hand / "folder").mkdir(parents=True)
    (at_hand / NAME).write_text("published")
    assert fetch(NAME, at_hand) == at_hand / NAME
    monkeypatch.setenv("SIMSTUDY_DATA_DIR", str(at_hand))
    assert fetch(NAME) == at_hand / NAME
    (at_hand / NAME).write_text("something else")
    with pytest.raises(DataError, match="is not the published file: its SHA-256 is not"):
        fetch(NAME)


def test_unknown_file() -> None:
    with pytest.raises(DataError, match="no data file is called 'folder/none'"):
        fetch("folder/none")


def test_the_registry_is_complete() -> None:
    for name, file in registry().items():
        assert name.count("/") == 1
        assert file.url.startswith("https://")
        assert len(file.sha256) == 64
        assert file.size > 0
