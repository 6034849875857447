"""Chunking of English: the shared task of CoNLL 2000."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import SGDClassifier

from simstudy.files.datasets import fetch, registry
from simstudy.files.packed import unzipped
from simstudy.readers.text_files import decoded
from simstudy.training import BaseSystem, Classifier, Examples, Rows, Task, mixed_order
from simstudy_learners.sequences.crf import ConditionalRandomField
from simstudy_learners.sequences.spans import count_spans
from simstudy_learners.sequences.specialised_hmm import SpecialisedHMM
from simstudy_learners.sequences.token_features import numbered, one_hot

_CORPUS = "nltk/conll2000.zip"

_BIO_TAG = re.compile("O|[BI]-.+")


@dataclass(frozen=True)
class ChunkedSentence:
    """A sentence's words, their parts of speech, and their chunk tags (O, B-NP, I-NP, …)."""

    words: list[str]
    parts: list[str]
    chunks: list[str]


def chunking(data_dir: Path | None = None) -> Task:
    """Base phrases of the Wall Street Journal; an item is a sentence, the metric is F1 of spans (conlleval's).

    Trained on the 8,936 sentences of sections 15 to 18, tested on the 2,012 of section 20. Parts of speech are those of
    the files, given by Brill's tagger (Tjong Kim Sang and Buchholz 2000, "Introduction to the CoNLL-2000 shared task:
    chunking"). The files do not say where articles begin, but neighbouring sentences are more alike than by chance: the
    test set is in a fixed mixed order, so that every initial segment is a random sample. An item's id is the sentence's
    number in the file.

    Three unlike chunkers: a conditional random field (words and parts of speech of a window of five tokens, and their
    pairs and triples, as Sha and Pereira 2003 have them), a linear support-vector machine that labels each token on its
    own, and a hidden Markov model with specialised states (Molina and Pla 2002). The package of the first is the extra
    ``simstudy[crf]``.

    A ValueError is raised where that package is not installed, or a line of the files is malformed.
    """
    # A learner that is not installed is told before anything is fetched.
    systems = base_systems()
    path = fetch(_CORPUS, data_dir)
    files = unzipped(path)
    return _task(systems, *(read_chunks(files[name], f"{path}: {name}") for name in ("train.txt", "test.txt")))


def base_systems() -> dict[str, BaseSystem]:
    """Three chunkers; a ValueError where the package of the CRF is not installed."""
    return {
        "CRF": ConditionalRandomField(),
        "linear SVM": Classifier(SGDClassifier(alpha=1e-5, max_iter=5, tol=None, average=True), "local"),
        "HMM": SpecialisedHMM(),
    }


def _task(systems: dict[str, BaseSystem], train: Sequence[ChunkedSentence], test: Sequence[ChunkedSentence]) -> Task:
    order = mixed_order([""] * len(test))
    sentences = [*train, *(test[k] for k in order)]
    n_train = sum(len(sentence.words) for sentence in train)
    item_of_row = np.repeat(np.arange(len(sentences)), [len(sentence.words) for sentence in sentences])
    words = _numbers([word for sentence in sentences for word in sentence.words])
    parts = _numbers([part for sentence in sentences for part in sentence.parts])
    features = numbered(_window(words, parts, item_of_row), n_train)
    views: dict[str, Any] = {
        "numbered": features,
        "local": one_hot(features),
        "symbols": np.stack([words, parts], axis=1).astype(np.int32),
    }
    gold = np.array([chunk for sentence in sentences for chunk in sentence.chunks])

    def examples(rows: slice, first: int, numbers: NDArray[np.int64]) -> Examples:
        inputs = Rows({view: matrix[rows] for view, matrix in views.items()}, item_of_row[rows] - first)
        return Examples(inputs, gold[rows], pd.DataFrame({"id": (1 + numbers).astype(str)}))

    return Task(
        name="chunking",
        train=examples(slice(n_train), 0, np.arange(len(train))),
        test_sets={"test": examples(slice(n_train, None), len(train), order)},
        systems=systems,
        statistics={"span_f1": count_spans},
        files={_CORPUS: registry()[_CORPUS].sha256},
    )


def read_chunks(content: bytes, where: str) -> list[ChunkedSentence]:
    r"""The sentences of a file: a line ``word part-of-speech chunk-tag`` for each token, empty lines between sentences.

    A ValueError names file and line where a line has another number of columns, or its tag is not O, B-label or
    I-label.

    Examples
    --------
    >>> read_chunks(b"He PRP B-NP\nsings VBZ B-VP\n\n", "train.txt")
    [ChunkedSentence(words=['He', 'sings'], parts=['PRP', 'VBZ'], chunks=['B-NP', 'B-VP'])]
    """
    sentences, rows = [], []
    for number, line in enumerate([*decoded(content, where).split("\n"), ""], start=1):
        row = line.split()
        if row:
            if len(row) != 3 or not _BIO_TAG.fullmatch(row[2]):
                raise ValueError(f"{where}, line {number}: '{line}' is not a word, a part of speech and a chunk tag")
            rows.append(row)
        elif rows:
            sentences.append(ChunkedSentence(*(list(column) for column in zip(*rows, strict=True))))
            rows = []
    return sentences


def _numbers(strings: Sequence[str]) -> NDArray[np.int64]:
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(string, 1 + len(numbers)) for string in strings])


def _window(
    words: NDArray[np.int64], parts: NDArray[np.int64], item_of_row: NDArray[np.int64]
) -> list[NDArray[np.int64]]:
    """Words and parts of speech in a window of five tokens, alone, in pairs and in triples."""

    def beside(codes: NDArray[np.int64], distance: int) -> NDArray[np.int64]:
        """The codes of tokens so far away, 0 outside of the sentence."""
        there = np.roll(item_of_row, -distance) == item_of_row
        if distance:
            there[slice(-distance, None) if distance > 0 else slice(-distance)] = False
        return np.where(there, np.roll(codes, -distance), 0)

    w = {distance: beside(words, distance) for distance in range(-2, 3)}
    p = {distance: beside(parts, distance) for distance in range(-2, 3)}
    several = [
        (w[-1], w[0]),
        (w[0], w[1]),
        *((p[k], p[k + 1]) for k in range(-2, 2)),
        *((p[k], p[k + 1], p[k + 2]) for k in range(-2, 1)),
    ]
    return [*w.values(), *p.values(), *(_joined(codes) for codes in several)]


def _joined(codes: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """One number for several."""
    joined = np.zeros(len(codes[0]), np.int64)
    for code in codes:
        joined = joined * 2**20 + code
    return joined
