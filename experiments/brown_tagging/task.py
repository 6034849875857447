"""Part-of-speech tagging of the Brown corpus: a population of 47,000 sentences in fifteen genres."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.naive_bayes import MultinomialNB

from simstudy.files.datasets import fetch, registry
from simstudy.training import Classifier, Examples, Rows, Task, count_correct, mixed_order
from simstudy_learners.sequences.perceptron import GreedyPerceptron
from simstudy_learners.sequences.token_features import Tokens, bayes_view, numbered_view
from simstudy_learners.sequences.trigram_tagger import TrigramTagger, spelling_view
from simstudy_learners.tagged import TaggedDocument, read_tagged

_CORPUS = "nltk/brown.zip"

#: About how many sentences are trained on.
N_TRAIN = 10_000

# Which documents are trained on is fixed data: it has a seed of its own, which no study changes.
_SPLIT_SEED = 19640601


def brown_tagging(data_dir: Path | None = None) -> Task:
    """Brown's own tags, simplified; an item is a sentence, the metric is accuracy over tokens.

    Trained on whole documents that are drawn at random, genre by genre, until they have about 10,000 sentences in the
    genres' proportions. All others are the test population, in a fixed mixed order: every initial segment is a random
    sample with the genres in the proportions of the whole. The genre is the ``domain`` of an item, its document the
    ``cluster``.

    Three unlike taggers: a trigram hidden Markov model (Brants 2000), a greedy averaged perceptron with its own last
    tags among the features (Collins 2002), and naive Bayes, which sees words in context but no tags.

    A ValueError is raised where a line of the corpus is malformed.
    """
    documents = read_tagged(fetch(_CORPUS, data_dir))
    chosen = training_documents(documents, N_TRAIN)
    train = [document for document, is_chosen in zip(documents, chosen, strict=True) if is_chosen]
    rest = [document for document, is_chosen in zip(documents, chosen, strict=True) if not is_chosen]
    return _task(train, rest)


def _task(train: Sequence[TaggedDocument], population: Sequence[TaggedDocument]) -> Task:
    trained, tested = _table(train), _table(population)
    tested = tested.iloc[mixed_order(tested["domain"].tolist())].reset_index(drop=True)
    sentences = [*trained.pop("sentence"), *tested.pop("sentence")]
    tokens = Tokens.index([[word for word, _ in sentence] for sentence in sentences])
    n_train = sum(len(sentence) for sentence in sentences[: len(trained)])
    views: dict[str, Any] = {
        "bayes": bayes_view(tokens),
        "numbered": numbered_view(tokens, n_train),
        "spelling": spelling_view(tokens.types, tokens.current),
    }
    simple: dict[str, str] = {}
    tags = np.array([simple.setdefault(tag, simplified(tag)) for sentence in sentences for _, tag in sentence])
    item_of_row = np.repeat(np.arange(len(sentences)), [len(sentence) for sentence in sentences])
    return Task(
        name="brown_tagging",
        train=_examples(
            {view: rows[:n_train] for view, rows in views.items()}, tags[:n_train], item_of_row[:n_train], trained
        ),
        test_sets={
            "population": _examples(
                {view: rows[n_train:] for view, rows in views.items()},
                tags[n_train:],
                item_of_row[n_train:] - len(trained),
                tested,
            )
        },
        systems={
            "trigram HMM": TrigramTagger(),
            "perceptron": GreedyPerceptron(),
            "naive Bayes": Classifier(MultinomialNB(alpha=0.03), "bayes"),
        },
        statistics={"accuracy": count_correct},
        files={_CORPUS: registry()[_CORPUS].sha256},
    )


def simplified(tag: str) -> str:
    """A tag of the Brown corpus without what it says of headlines, titles, quotation and language, and contractions.

    The suffixes -TL, -HL and -NC and the prefix FW- are taken off, and of the tags of a contraction the first is kept,
    which for a verb is the verb's: 472 tags become 104. The asterisk of a negated verb (DOZ*) stays.

    Examples
    --------
    >>> [simplified(tag) for tag in ("nn-tl", "fw-at-tl", "pps+bez", "doz*", "--", "fw-*", "vb-hl")]
    ['NN', 'AT', 'PPS', 'DOZ*', '--', '*', 'VB']
    """
    core = re.sub(r"(-(TL|HL|NC))+$", "", tag.upper()).removeprefix("FW-")
    return core.split("+")[0] or core


def training_documents(documents: Sequence[TaggedDocument], n_sentences: int) -> NDArray[np.bool_]:
    """Which documents are trained on: random ones of each genre, up to the number of sentences nearest to its share.

    The shares of all genres sum up to n_sentences. Each genre has at least one document on either side.
    """
    rng = np.random.default_rng(_SPLIT_SEED)
    genres = np.array([document.genre for document in documents])
    sizes = np.array([len(document.sentences) for document in documents])
    chosen = np.zeros(len(documents), bool)
    for genre in np.unique(genres):
        order = rng.permutation(np.flatnonzero(genres == genre))
        so_far = np.cumsum(sizes[order])
        wanted = n_sentences * so_far[-1] / sizes.sum()
        chosen[order[: max(1, 1 + int(np.argmin(np.abs(so_far[:-1] - wanted))))]] = True
    return chosen


def _table(documents: Sequence[TaggedDocument]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            (f"{document.name}-{number}", document.genre, document.name, sentence)
            for document in documents
            for number, sentence in enumerate(document.sentences, start=1)
        ],
        columns=["id", "domain", "cluster", "sentence"],
    )


def _examples(
    views: dict[str, Any], tags: NDArray[Any], item_of_row: NDArray[np.int64], items: pd.DataFrame
) -> Examples:
    return Examples(Rows(views, item_of_row), tags, items)
