"""Part-of-speech tagging of English: trained on the English Web Treebank, tested on it and on four other domains."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import MultinomialNB

from simstudy.readers.conllu import Sentence
from simstudy.training import Classifier, Examples, Rows, Task, count_correct
from simstudy_learners.sequences.token_features import Tokens, bayes_view, dense_view, linear_view
from simstudy_learners.treebanks import item_table, read_ud_english


def tagging(data_dir: Path | None = None) -> Task:
    """Universal part-of-speech tags of UD English; an item is a sentence, the metric is accuracy over words.

    Trained on the 12,544 sentences of EWT train by three unlike base systems; the test sets, their order, domains and
    documents are those of `read_ud_english`.
    """
    treebanks = read_ud_english(data_dir)
    train, tests = treebanks.train, treebanks.tests
    # The embeddings see the training text only, which comes first.
    everything = [train, *tests.values()]
    tokens = Tokens.index([sentence.words for sentences in everything for sentence in sentences])
    n_train = sum(len(sentence.words) for sentence in train)
    views: dict[str, Any] = {
        "linear": linear_view(tokens),
        "bayes": bayes_view(tokens),
        "dense": dense_view(tokens, n_train),
    }
    first = 0
    examples = []
    for sentences in everything:
        n_words = sum(len(sentence.words) for sentence in sentences)
        examples.append(_examples(sentences, {view: rows[first : first + n_words] for view, rows in views.items()}))
        first += n_words
    return Task(
        name="tagging",
        train=examples[0],
        test_sets=dict(zip(tests, examples[1:], strict=True)),
        systems={
            "linear model": Classifier(
                SGDClassifier(loss="modified_huber", alpha=1e-5, max_iter=5, tol=None), "linear"
            ),
            "naive Bayes": Classifier(MultinomialNB(alpha=0.15), "bayes"),
            "random forest": Classifier(RandomForestClassifier(10, max_features=8), "dense"),
        },
        statistics={"accuracy": count_correct},
        files=treebanks.files,
    )


def _examples(sentences: Sequence[Sentence], features: dict[str, Any]) -> Examples:
    item_of_row = np.repeat(np.arange(len(sentences)), [len(sentence.words) for sentence in sentences])
    tags = np.array([tag for sentence in sentences for tag in sentence.tags])
    return Examples(Rows(features, item_of_row), tags, item_table(sentences))
