"""Constituency parsing of English: trained on newspaper text (the Penn Treebank sample)."""

from __future__ import annotations

from pathlib import Path

from simstudy.training import Task
from simstudy_learners.constituency.corpora import (
    CRAFT_SPLIT,
    PENN_TREEBANK,
    constituency_task,
    craft_files,
    read_craft,
    read_penn_treebank,
)


def constituency_ptb(data_dir: Path | None = None) -> Task:
    """The reverse of `constituency`: parsers trained on newspaper text, biomedical articles the other domain.

    Of the 199 files of the Penn Treebank sample every fourth is for testing (wsj_0004, wsj_0008, ...), the others are
    for training.
    """
    craft = read_craft(data_dir)
    ptb = read_penn_treebank(data_dir)
    train, test = [d for i, d in enumerate(ptb) if i % 4 != 3], ptb[3::4]
    files = [CRAFT_SPLIT["test"], *craft_files(), PENN_TREEBANK]
    return constituency_task("constituency_ptb", train, {"PTB test": test, "CRAFT test": craft["test"]}, files)
