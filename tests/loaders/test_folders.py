"""Files of a folder that are no outputs."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from simstudy.loaders.door import load


def test_a_readme_of_a_folder_is_no_system(tmp_path: Path) -> None:
    """It has another ending than the others; of the same ending, or named by the user, it may be a system."""
    folder = tmp_path / "submissions"
    folder.mkdir()
    gold = tmp_path / "gold.txt"
    gold.write_text("x\ny\n")
    for name, text in {"new.txt": "x\ny\n", "old.txt": "x\nx\n", "README.md": "# Task\n", "LICENSE": "MIT\n"}.items():
        (folder / name).write_text(text)
    loaded = load(folder, "accuracy", references=gold)
    assert (loaded.outputs.names, loaded.outputs.scores().tolist()) == (["new", "old"], [100, 50])
    assert loaded.notes == (f"2 files not read as outputs: {folder / 'LICENSE'}, {folder / 'README.md'}",)
    with pytest.raises(ValueError, match=r"README\.md"):
        load([folder / "new.txt", folder / "README.md"], "accuracy", references=gold)
    (folder / "readme.txt").write_text("x\ny\n")
    assert load(folder, "accuracy", references=gold).outputs.names == ["new", "old", "readme"]


def test_a_readme_of_a_zip_file_is_no_system(tmp_path: Path) -> None:
    """Of tables and of texts, and where the zip file lies in a folder."""
    gold = tmp_path / "gold.txt"
    gold.write_text("x\ny\n")
    texts = {"new.txt": "x\ny\n", "old.txt": "x\nx\n"}
    tables = {"new.jsonl": '{"item": "a", "score": 1}\n', "old.jsonl": '{"item": "a", "score": 0}\n'}
    for files, references, scores in ((texts, [gold], [100, 50]), (tables, [], [100, 0])):
        folder = tmp_path / f"of-{len(references)}"
        folder.mkdir()
        archive = folder / "submissions.zip"
        with zipfile.ZipFile(archive, "w") as packed:
            for name, text in {"README.md": "# Task\n", **files}.items():
                packed.writestr(f"runs/{name}", text)
        for given in (archive, folder):
            loaded = load(given, "accuracy", references=references)
            assert (loaded.outputs.names, loaded.outputs.scores().tolist()) == (["new", "old"], scores)
            assert f"1 file not read as outputs: {archive / 'runs' / 'README.md'}" in loaded.notes
