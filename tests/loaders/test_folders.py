"""Files of a folder that are no outputs."""

from __future__ import annotations

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
