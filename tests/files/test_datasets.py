from __future__ import annotations

import csv
import hashlib
import re
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest

from simstudy.files import datasets
from simstudy.files.datasets import (
    DataError,
    DataSet,
    NotPublicError,
    PublicFile,
    fetch,
    fetch_all,
    fetch_each,
    find,
    find_folder,
    registry,
)

NAME = "folder/file.txt"
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
    assert fetch(NAME).read_text() == "published"
    assert find(NAME).read_text() == "published"
    assert served.asked == [NAME]
    out, err = capfd.readouterr()
    assert (out, err) == ("", "fetching folder/file.txt (9 bytes)\n")


def test_a_corrupt_or_failed_download_is_refused_and_says_what_to_do(served: Public, tmp_path: Path) -> None:
    (served.folder / NAME).write_text("publishe")
    with pytest.raises(DataError, match=r"could not fetch folder/file.txt from http.*hash.*set data_dir"):
        fetch(NAME)
    (served.folder / NAME).unlink()
    with pytest.raises(DataError, match=r"could not fetch folder/file.txt.*404.*download it yourself"):
        find(NAME)
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_a_file_in_the_cache_that_was_changed_is_fetched_again(served: Public) -> None:
    fetch(NAME).write_text("changed")
    assert fetch(NAME).read_text() == "published"
    assert served.asked == [NAME, NAME]


def test_a_data_set_is_all_its_files_and_a_file_is_itself(served: Public, tmp_path: Path) -> None:
    paths = fetch_all("folder")
    assert [path.relative_to(tmp_path / "cache").as_posix() for path in paths] == list(TEXTS)
    assert [path.read_text() for path in paths] == list(TEXTS.values())
    assert fetch_all("folder/sys/a.txt") == [paths[2]]
    at_hand = write(tmp_path / "hand")
    assert fetch_all("folder", at_hand) == [at_hand / name for name in TEXTS]


def test_a_data_set_goes_on_where_an_error_ended_it(served: Public) -> None:
    (served.folder / "folder/sys/b.txt").unlink()
    with pytest.raises(DataError, match=r"could not fetch folder/sys/b\.txt"):
        fetch_all("folder")
    write(served.folder)
    served.asked.clear()
    assert len(fetch_all("folder")) == 3
    assert served.asked == ["folder/sys/b.txt", "folder/sys/a.txt"]


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
    at_hand = tmp_path / "hand"
    with pytest.raises(
        DataError,
        match=r"there is no folder .*hand, which data_dir .*; without either, `simstudy data fetch folder` will do$",
    ):
        fetch(NAME, at_hand)
    at_hand.mkdir()
    with pytest.raises(
        DataError,
        match=r"hand lacks folder/file.txt, which data_dir .*; without either, `simstudy data fetch folder` will do$",
    ):
        fetch(NAME, at_hand)
    (at_hand / "folder").mkdir()
    (at_hand / NAME).write_text("published")
    assert fetch(NAME, at_hand) == at_hand / NAME
    monkeypatch.setenv("SIMSTUDY_DATA_DIR", str(at_hand))
    assert fetch(NAME) == at_hand / NAME
    for changed in ("something else", "Published"):
        (at_hand / NAME).write_text(changed)
        with pytest.raises(DataError, match="is not the published file: its SHA-256 is not"):
            fetch(NAME)
    other = write(tmp_path / "other")
    assert fetch(NAME, other) == other / NAME, "an argument goes before the environment"
    assert not served.asked


def test_a_file_that_is_not_public_is_found_at_hand_only(
    served: Public, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "data_dir (--data-dir) or SIMSTUDY_DATA_DIR must name a folder that holds it"
    nowhere = f"folder/mine.csv has no public address: {where}"
    with pytest.raises(DataError, match=f"^{re.escape(nowhere)}$"):
        find("folder/mine.csv")
    at_hand = write(tmp_path / "hand")
    with pytest.raises(DataError, match=f"^{re.escape(f'{at_hand}/folder/mine.csv is missing, and {nowhere}')}$"):
        find("folder/mine.csv", at_hand)
    (at_hand / "folder/mine.csv").write_text("a,b")
    assert find("folder/mine.csv", at_hand) == at_hand / "folder/mine.csv"
    monkeypatch.setenv("SIMSTUDY_DATA_DIR", str(at_hand))
    assert find("folder/mine.csv") == at_hand / "folder/mine.csv"


@pytest.mark.parametrize("n", [1, 2, 4, 5, 6, 7])
def test_of_many_files_that_are_not_public_five_are_named(n: int) -> None:
    names = [f"set/file{k}.csv" for k in range(n)]
    said = str(NotPublicError(names))
    assert [name for name in names if name in said] == names[:5]
    assert ("more" in said) == (n > 5)
    assert n <= 5 or f" and {n - 5} more have" in said
    assert n == 1 or n > 5 or f" and {names[-1]} have" in said


def test_a_folder_is_the_registrys_files_below_it_sorted(served: Public) -> None:
    assert [path.name for path in find_folder("folder/sys")] == ["a.txt", "b.txt"]
    assert sorted(served.asked) == ["folder/sys/a.txt", "folder/sys/b.txt"]
    with pytest.raises(DataError, match="^folder/sy has no public address"):
        find_folder("folder/sy")


def test_a_folder_at_hand_is_what_is_there_but_hidden_files_and_notes(served: Public, tmp_path: Path) -> None:
    at_hand = write(tmp_path / "hand")
    for name in ("0.txt", ".hidden", "SOURCE.md", ".cache/c.txt"):
        (at_hand / "folder/sys" / name).parent.mkdir(exist_ok=True)
        (at_hand / "folder/sys" / name).write_text("x")
    expected = [at_hand / "folder/sys" / name for name in ("0.txt", "a.txt", "b.txt")]
    assert find_folder("folder/sys", at_hand) == expected
    assert find_folder("folder/sys/", at_hand) == expected
    (at_hand / "folder/sys/a.txt").write_text("something else")
    with pytest.raises(DataError, match="is not the published file"):
        find_folder("folder/sys", at_hand)
    with pytest.raises(DataError, match=r"hand/other is missing, and other has no public address"):
        find_folder("other", at_hand)
    (at_hand / "other").mkdir()
    with pytest.raises(DataError, match="hand/other has no files$"):
        find_folder("other", at_hand)
    assert not served.asked


def test_unknown_names_are_told_the_nearest() -> None:
    with pytest.raises(DataError, match="no data file is called 'folder/none'$"):
        fetch("folder/none")
    with pytest.raises(
        DataError, match=r"no data file is called 'nltk/brwn\.zip' \(did you mean 'nltk/brown\.zip'\?\)"
    ):
        fetch("nltk/brwn.zip")
    with pytest.raises(DataError, match=r"no data set and no data file is called 'wmt21' \(did you mean 'wmt21_de-en'"):
        fetch_all("wmt21")


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


def test_all_files_that_a_folder_lacks_and_all_unknown_names_are_told_at_once(tmp_path: Path) -> None:
    unknown = "no data file is called 'nltk/brwn.zip' (did you mean 'nltk/brown.zip'?)"
    will_do = "without either, `simstudy data fetch nltk` will do"
    for folder, told in (
        (tmp_path, f"{tmp_path} lacks nltk/brown.zip, which data_dir (--data-dir) or SIMSTUDY_DATA_DIR names"),
        (
            tmp_path / "no",
            f"there is no folder {tmp_path}/no, which data_dir (--data-dir) or SIMSTUDY_DATA_DIR names",
        ),
    ):
        with pytest.raises(DataError, match=f"^{re.escape(f'{told}; {will_do}; {unknown}')}$"):
            fetch_each(["nltk/brown.zip", "nltk/brwn.zip"], folder)


def test_names_that_lead_out_of_the_folder_are_refused_unless_allowed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "data", tmp_path / "scores.csv"
    (inside / "own").mkdir(parents=True)
    outside.write_text("a,b")
    (inside / "own/link.csv").symlink_to(outside)
    for name in (str(outside), "../scores.csv", "own/link.csv"):
        with pytest.raises(DataError, match=r"allow_outside \(--allow-outside\) lets it be read$"):
            find(name, inside)
        assert find(name, inside, allow_outside=True).read_text() == "a,b"
    (tmp_path / "other").mkdir()
    (tmp_path / "other/a.csv").write_text("c,d")
    with pytest.raises(DataError, match=r"allow_outside \(--allow-outside\) lets it be read$"):
        find_folder("../other", inside)
    assert [path.read_text() for path in find_folder("../other", inside, allow_outside=True)] == ["c,d"]
    with pytest.raises(DataError, match="^a data file must be named as <folder>/<file>, not ''$"):
        find_folder("", inside)
