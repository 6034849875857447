"""Small tasks: shipped tasks with few items, which parsers and translators answer within seconds."""

from __future__ import annotations

import sys
from pathlib import Path

from simstudy.files.datasets import fetch_each
from simstudy.training import Task
from simstudy.training.named import maker
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


def few_sentences(data_dir: Path | None) -> Task:
    """The task of machine_translation: 2,000 sentence pairs to train on, 200 of two test sets each to test on."""
    shipped = sys.modules[maker("translation").__module__]
    names = {"train": shipped.TRAIN, **{name: shipped.TEST_SETS[name] for name in ("test 2016", "MSCOCO 2017")}}
    files = [f"{name}.{language}.gz" for name in names.values() for language in shipped.LANGUAGES]
    at = fetch_each(files, data_dir)
    lines = {name: 2000 if name == "train" else 200 for name in names}
    pairs = {name: [side[: lines[name]] for side in shipped.read_pairs(at, file)] for name, file in names.items()}
    task: Task = shipped.translation_task("translation", pairs.pop("train"), pairs)
    return task
