from __future__ import annotations

import csv
import hashlib
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest

from simstudy.files import datasets
from simstudy.files.datasets import DataError, DataSet, PublicFile, fetch, fetch_all, find, find_all, registry
from tests.readers.line_files import input_error

NAME = "folder/file.txt"
refused = partial(input_error, kind=DataError)
TEXTS = {NAME: "published", "folder/sys/b.txt": "second", "folder/sys/a.txt": "third"}


class Public:
    """A public address on this machine: a folder, and the addresses that were asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[str] = []


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Public]:
    """A public address with the three files of one data set, and an empty cache folder."""
    public = Public(tmp_path / "public")
    write(public.folder)

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *args: object) -> None:
            super().__init__(*args, directory=str(public.folder))  # type: ignore[arg-type]

        def do_GET(self) -> None:
            public.asked.append(self.path.removeprefix("/"))
            super().do_GET()

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    files = tuple(
        PublicFile(
            name, len(text), hashlib.sha256(text.encode()).hexdigest(), f"http://127.0.0.1:{server.server_port}/{name}"
        )
        for name, text in TEXTS.items()
    )
    monkeypatch.setattr(datasets, "datasets", lambda: {"folder": DataSet("folder", "three texts", "CC0", files)})
    monkeypatch.setattr(datasets.pooch, "os_cache", lambda _: tmp_path / "cache")
    monkeypatch.delenv("SIMSTUDY_DATA_DIR", raising=False)
    yield public
    server.shutdown()
    server.server_close()


def write(folder: Path) -> Path:
    for name, text in TEXTS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_fetched_once_and_checked(served: Public, capfd: pytest.CaptureFixture[str]) -> None:
    assert fetch(NAME).read_text() == find(NAME).read_text() == "published"
    assert served.asked == [NAME]
    assert capfd.readouterr() == ("", "fetching folder/file.txt (9 bytes)\n")
    fetch(NAME).write_text("changed")
    assert fetch(NAME).read_text() == "published"
    assert served.asked == [NAME, NAME]


def test_a_corrupt_or_failed_download_is_refused_and_says_what_to_do(served: Public, tmp_path: Path) -> None:
    (served.folder / NAME).write_text("publishe")
    with pytest.raises(DataError, match=r"could not fetch folder/file.txt from http.*hash.*download it yourself"):
        fetch(NAME)
    (served.folder / NAME).unlink()
    with pytest.raises(DataError, match=r"could not fetch folder/file.txt.*404.*data_dir"):
        find(NAME)
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_a_data_set_is_all_its_files_and_goes_on_where_an_error_ended_it(served: Public, tmp_path: Path) -> None:
    (served.folder / "folder/sys/b.txt").unlink()
    with pytest.raises(DataError, match=r"could not fetch folder/sys/b\.txt"):
        fetch_all("folder")
    write(served.folder)
    served.asked.clear()
    paths = fetch_all("folder")
    assert served.asked == ["folder/sys/b.txt", "folder/sys/a.txt"]
    assert [path.relative_to(tmp_path / "cache").as_posix() for path in paths] == list(TEXTS)
    assert [path.read_text() for path in paths] == list(TEXTS.values())
    assert fetch_all("folder/sys/a.txt") == [paths[2]]
    at_hand = write(tmp_path / "hand")
    assert fetch_all("folder", at_hand) == [at_hand / name for name in TEXTS]


def test_a_stop_leaves_no_part_of_a_file(served: Public, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetch(NAME)

    class Stopped:
        def __call__(self, url: str, output: str, caller: object) -> None:
            Path(output).write_text("sec")
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(datasets.pooch, "HTTPDownloader", Stopped)
        with pytest.raises(KeyboardInterrupt):
            fetch_all("folder")
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == [tmp_path / "cache" / NAME]
    assert [path.read_text() for path in fetch_all("folder")] == list(TEXTS.values())
    assert sorted(served.asked) == sorted(TEXTS)


def test_a_folder_at_hand_is_used_and_checked(served: Public, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_hand, other = tmp_path / "hand", write(tmp_path / "other")
    remedy = "without data_dir and SIMSTUDY_DATA_DIR public files are downloaded"
    refused(NAME, at_hand, by=fetch, match=f"^{NAME}: there is no folder {at_hand}; {remedy}$")
    at_hand.mkdir()
    refused("folder", at_hand, by=fetch_all, match=f"^{', '.join(TEXTS)}: no such file in {at_hand}; {remedy}$")
    write(at_hand)
    assert fetch(NAME, at_hand) == at_hand / NAME
    monkeypatch.setenv("SIMSTUDY_DATA_DIR", str(at_hand))
    assert fetch(NAME) == at_hand / NAME
    (at_hand / NAME).rename(tmp_path / "elsewhere")
    (at_hand / NAME).symlink_to(tmp_path / "elsewhere")
    assert find(NAME) == at_hand / NAME, "a link may lead anywhere, for the hash is checked"
    for changed in ("something else", "Published"):
        (at_hand / NAME).write_text(changed)
        for get in (fetch, find, find_all):
            refused(NAME, by=get, match="is not the published file: its SHA-256 is not")
    assert fetch(NAME, other) == other / NAME, "an argument goes before the environment"
    assert not served.asked


def test_a_file_that_is_not_public_is_found_at_hand_only(served: Public, tmp_path: Path) -> None:
    remedy = "no public address; data_dir or SIMSTUDY_DATA_DIR must name a folder that has such files"
    refused("folder/mine.csv", by=find, match=f"^folder/mine.csv: {remedy}$")
    at_hand, home = write(tmp_path / "hand"), write(tmp_path / "home")
    refused("folder/mine.csv", at_hand, by=find, match=f"^folder/mine.csv: no such file in {at_hand}, and {remedy}$")
    (at_hand / "folder/mine.csv").write_text("a,b")
    assert find("folder/mine.csv", at_hand) == at_hand / "folder/mine.csv"
    refused("folder/sys", at_hand, by=find, match="folder/sys: a folder, and no file")
    # A study's own folder goes first; whatever it has is the study's own.
    (home / NAME).write_text("own")
    assert find_all(NAME, at_hand, home) == [home / NAME]
    assert find_all("folder/mine.csv", at_hand, home) == [at_hand / "folder/mine.csv"]
    refused(
        "folder/mine.csv", None, home, by=find_all, match=f"^folder/mine.csv: no such file in {home}, and {remedy}$"
    )


def test_a_folder_is_its_visible_files_sorted_and_checked(served: Public, tmp_path: Path) -> None:
    assert [path.name for path in find_all("folder/sys")] == ["a.txt", "b.txt"]
    assert sorted(served.asked) == ["folder/sys/a.txt", "folder/sys/b.txt"]
    refused("folder/sy", by=find_all, match="^folder/sy: no public address")
    at_hand = write(tmp_path / "hand")
    for name in ("0.txt", ".hidden", "SOURCE.md", ".cache/c.txt"):
        (at_hand / "folder/sys" / name).parent.mkdir(exist_ok=True)
        (at_hand / "folder/sys" / name).write_text("x")
    expected = [at_hand / "folder/sys" / name for name in ("0.txt", "a.txt", "b.txt")]
    assert find_all("folder/sys", at_hand) == find_all("folder/sys/", at_hand) == expected
    (at_hand / "folder/sys/a.txt").write_text("something else")
    for name in ("folder/sys", "folder//sys", "./folder/sys"):
        refused(name, at_hand, by=find_all, match="is not the published file")
    (at_hand / "empty").mkdir()
    refused("empty", at_hand, by=find_all, match=f"^empty: no such file in {at_hand}")


def test_unknown_names_are_told_the_nearest() -> None:
    refused(
        "nltk/brwn.zip", by=fetch, match=r"no data file is called 'nltk/brwn\.zip' \(did you mean 'nltk/brown\.zip'\?\)"
    )
    refused("wmt21", by=fetch_all, match=r"no data set and no data file is called 'wmt21' \(did you mean 'wmt21_de-en'")


def test_the_table_is_complete_and_its_addresses_are_of_fixed_bytes() -> None:
    for name, dataset in datasets.datasets().items():
        assert dataset.name == name
        assert dataset.what
        assert dataset.licence
        assert dataset.files
    for name, file in registry().items():
        assert ".." not in name
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert file.size > 0
        assert file.url == quote(file.url, safe=":/"), "a character that an address must quote"
        assert re.match("https://.*/[0-9a-f]{40}/", file.url), "an address names a commit"


def test_every_file_is_what_the_table_says(shared_data: Path) -> None:
    """Sizes and hashes of the bytes at hand; and no file with a public address is left out."""
    for file in registry().values():
        data = (shared_data / file.name).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (file.size, file.sha256), file.name
    # Data sets that came later have tables of their own.
    own = [shared_data / name / "upstream.csv" for name in datasets.datasets()]
    public = {}
    for path in (shared_data / "upstream.csv", *(path for path in own if path.is_file())):
        with path.open(encoding="utf-8") as table:
            public |= {row["file"]: row["url"] for row in csv.DictReader(table) if row["url"]}
    assert {file.name: file.url for file in registry().values()} == public
