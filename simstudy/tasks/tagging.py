"""Part-of-speech tagging of English: trained on the English Web Treebank, tested on it and on four other domains."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import MultinomialNB

from simstudy.datasets import fetch_each, registry
from simstudy.loaders.conllu import Sentence, read_conllu
from simstudy.tasks.base import Task
from simstudy.tasks.classification import Classifier, Rows, count_correct
from simstudy.tasks.examples import Examples
from simstudy.tasks.token_features import Tokens, dense_view, sparse_views

_TRAIN = "ud_english_ewt/en_ewt-ud-train.conllu"
_TEST_SETS: dict[str, list[str]] = {
    "EWT test": ["ud_english_ewt/en_ewt-ud-test.conllu"],
    "EWT dev": ["ud_english_ewt/en_ewt-ud-dev.conllu"],
    "PUD": ["ud_english_other/en_pud-ud-test.conllu"],
    "ATIS": [f"ud_english_other/en_atis-ud-{part}.conllu" for part in ("test", "dev", "train")],
    "ESLSpok": [f"ud_english_other/en_eslspok-ud-{part}.conllu" for part in ("test", "dev", "train")],
    "Tweebank": [f"ud_english_other/en-ud-tweet-{part}.fixed.conllu" for part in ("test", "dev", "train")],
}


# A test set's order is fixed data: it has a seed of its own, which no study changes.
_ORDER_SEED = 20120712


def tagging(data_dir: Path | None = None) -> Task:
    """Universal part-of-speech tags of UD English; an item is a sentence, the metric is accuracy over words.

    Trained on the 12,544 sentences of EWT train by three unlike base systems. All splits of the treebanks that
    are not trained on are test data. Genres (EWT: answers, email, newsgroup, reviews, weblog; PUD: news, wiki)
    are the ``domain`` of an item, documents its ``cluster``.

    The files have one genre after the other, and the first sentences of a genre can be unlike the rest (in EWT test
    they are much shorter). Test sets are therefore put in a fixed mixed order: every initial segment is a random sample
    with the genres in the proportions of the whole.
    """
    at = fetch_each(chain([_TRAIN], *_TEST_SETS.values()), data_dir)
    train = read_conllu(at[_TRAIN])
    tests = {name: _mixed([s for file in files for s in read_conllu(at[file])]) for name, files in _TEST_SETS.items()}
    # The embeddings see the training text only, which comes first.
    everything = [train, *tests.values()]
    tokens = Tokens.index([sentence.words for sentences in everything for sentence in sentences])
    n_train = sum(len(sentence.words) for sentence in train)
    linear, bayes = sparse_views(tokens)
    views: dict[str, Any] = {"linear": linear, "bayes": bayes, "dense": dense_view(tokens, n_train)}
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
        files={file: registry()[file].sha256 for file in chain([_TRAIN], *_TEST_SETS.values())},
    )


def _examples(sentences: Sequence[Sentence], features: dict[str, Any]) -> Examples:
    domains = [_domain(sentence) for sentence in sentences]
    items = pd.DataFrame({"id": [sentence.id for sentence in sentences]})
    if any(domains):
        items["domain"] = domains
    if all(sentence.document for sentence in sentences):
        items["cluster"] = [sentence.document for sentence in sentences]
    item_of_row = np.repeat(np.arange(len(sentences)), [len(sentence.words) for sentence in sentences])
    tags = np.array([tag for sentence in sentences for tag in sentence.tags])
    return Examples(Rows(features, item_of_row), tags, items)


def _domain(sentence: Sentence) -> str:
    """The genre, from the identifier: EWT's begin with it, PUD's with n (news) or w (wiki) and a number."""
    prefix = sentence.id.split("-")[0]
    if prefix in ("answers", "email", "newsgroup", "reviews", "weblog"):
        return prefix
    if sentence.id[1:].isdigit():
        return {"n": "news", "w": "wiki"}.get(sentence.id[0], "")
    return ""


def _mixed(sentences: Sequence[Sentence]) -> list[Sentence]:
    """A fixed order in which every initial segment is a random sample of each genre, in the whole's proportions."""
    shuffled = np.random.default_rng(_ORDER_SEED).permutation(len(sentences))
    domains = pd.Series([_domain(sentences[i]) for i in shuffled])
    grouped = domains.groupby(domains)
    place = (grouped.cumcount() + 0.5) / grouped.transform("size")
    return [sentences[shuffled[k]] for k in place.sort_values(kind="stable").index]
