"""Small tasks of constituency parsing: the shipped tasks with few documents, whose parsers answer within seconds."""

from __future__ import annotations

from pathlib import Path

from simstudy.training import Task
from simstudy_learners.constituency.corpora import constituency_task, read_craft, read_penn_treebank


def few_articles(data_dir: Path | None) -> Task:
    """The task of constituency_parsing: eight articles to train on, two to test on, and newspaper texts."""
    craft = read_craft(data_dir)
    test_sets = {"CRAFT test": craft["test"][:2], "PTB sample": read_penn_treebank(data_dir)[:40]}
    return constituency_task("constituency", craft["train"][:8], test_sets)


def few_newspaper_texts(data_dir: Path | None) -> Task:
    """The task of constituency_parsing_ptb: 80 newspaper texts to train on, 40 to test on, and two articles."""
    texts = read_penn_treebank(data_dir)
    test_sets = {"PTB test": texts[80:120], "CRAFT test": read_craft(data_dir)["test"][:2]}
    return constituency_task("constituency_ptb", texts[:80], test_sets)
