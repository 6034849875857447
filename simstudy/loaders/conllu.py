"""Parsed or tagged sentences in CoNLL-U."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path

import numpy as np
import pandas as pd

from simstudy.loaders.assembling import Asked, SystemOutputs, assemble
from simstudy.loaders.base import Loaded, Source
from simstudy.loaders.corpora.conllu import Sentence, read_conllu
from simstudy.loaders.items import items_in_order
from simstudy.loaders.text_columns import annotated
from simstudy.metrics.attachment import attachment_counts
from simstudy.metrics.base import IntArray
from simstudy.validation import InputError


def read_conllu_outputs(source: Source) -> Loaded:
    """Parsed or tagged sentences, one file for each system, scored by UAS, LAS or accuracy (of universal tags).

    Sentences are matched by ``sent_id``; their words must be the same. Documents are the items' ``cluster``.
    """
    gold_path, metric = source.gold("CoNLL-U", ["uas", "las", "accuracy"]), source.metric.name
    gold = {sentence.id: sentence for sentence in _read(gold_path, metric)}
    systems = []
    for name, path in source.systems().items():
        sentences = _read(path, metric)
        counts = [_counts(path, s, gold_path, gold.get(s.id, s), metric) for s in sentences]
        answers = [_answer(sentence, metric) for sentence in sentences]
        texts = (_text(sentence, metric) for sentence in sentences)
        ids = [sentence.id for sentence in sentences]
        systems.append(SystemOutputs(name, str(path), ids, np.array(counts), answers, texts=texts))

    def nothing(item: str) -> IntArray:
        n = len(gold[item].words)
        return np.array([0, n] if metric == "accuracy" else [0, 0, n])

    items = pd.DataFrame({"id": list(gold)})
    if all(sentence.document for sentence in gold.values()):
        items["cluster"] = [sentence.document for sentence in gold.values()]
    items = items_in_order(source, items, named=True)
    words = {name: " ".join(sentence.words) for name, sentence in gold.items()}
    asked = Asked(words, {name: _text(sentence, metric) for name, sentence in gold.items()})
    return assemble(systems, source, items, nothing, asked)


def _read(path: Path, metric: str) -> list[Sentence]:
    sentences = read_conllu(path)
    if metric != "accuracy":
        for sentence in sentences:
            if -1 in sentence.heads:
                raise InputError(f"{path}, line {sentence.line}: sentence '{sentence.id}' has a word without a head")
    return sentences


def _counts(path: Path, own: Sentence, gold_path: Path, gold: Sentence, metric: str) -> tuple[int, ...]:
    if own.words != gold.words:
        raise InputError(
            f"{path}, line {own.line}: the words of sentence '{own.id}' are not those of {gold_path}, line {gold.line}"
        )
    if metric == "accuracy":
        return sum(a == b for a, b in zip(own.tags, gold.tags, strict=True)), len(gold.words)
    parses = ((sentence.heads, sentence.relations) for sentence in (own, gold))
    return attachment_counts(*parses, labelled=metric == "las")


def _text(sentence: Sentence, metric: str) -> str:
    """A sentence with what a metric looks at behind each word: its tag, or its head's number and the relation."""
    if metric == "accuracy":
        return annotated(sentence.words, sentence.tags)
    heads = map(str, sentence.heads)
    if metric == "uas":
        return annotated(sentence.words, heads)
    return annotated(sentence.words, (f"{head}:{rel}" for head, rel in zip(heads, sentence.relations, strict=True)))


def _answer(sentence: Sentence, metric: str) -> Hashable:
    """What a metric looks at."""
    return {
        "accuracy": sentence.tags,
        "uas": sentence.heads,
        "las": (sentence.heads, sentence.relations),
    }[metric]
