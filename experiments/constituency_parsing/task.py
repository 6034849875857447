"""Constituency parsing of English: trained on biomedical articles (CRAFT)."""

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


def constituency(data_dir: Path | None = None) -> Task:
    """Labelled F1 of parsers of biomedical articles; an item is a sentence, an article its ``cluster``.

    Trained on the 60 training articles of CRAFT's official split, 18,951 trees of any length (titles, headings and
    captions among them). Test sets are its 30 test articles and, as another domain, the Penn Treebank sample, both
    without the sentences of more than 40 words: 7,659 of 9,099 trees, and 3,629 of 3,914. They are in a fixed random
    order, so that every initial segment is a random sample.

    Sentences are parsed from their words: tags are the grammar's own. Traces and function tags are removed.

    A ValueError is raised where a file has no well-formed trees.
    """
    craft = read_craft(data_dir)
    ptb = read_penn_treebank(data_dir)
    files = [*CRAFT_SPLIT.values(), *craft_files(), PENN_TREEBANK]
    return constituency_task("constituency", craft["train"], {"CRAFT test": craft["test"], "PTB sample": ptb}, files)
