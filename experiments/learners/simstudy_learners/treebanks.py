"""The Universal Dependencies treebanks of English that tasks are trained and tested on, in a fixed mixed order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pandas as pd

from simstudy.files.datasets import fetch_each, registry
from simstudy.readers.conllu import Sentence, read_conllu
from simstudy.training import mixed_order

#: Files of the registry of public data.
TRAIN = "ud_english_ewt/en_ewt-ud-train.conllu"
TEST_SETS: dict[str, list[str]] = {
    "EWT test": ["ud_english_ewt/en_ewt-ud-test.conllu"],
    "EWT dev": ["ud_english_ewt/en_ewt-ud-dev.conllu"],
    "PUD": ["ud_english_other/en_pud-ud-test.conllu"],
    "ATIS": [f"ud_english_other/en_atis-ud-{part}.conllu" for part in ("test", "dev", "train")],
    "ESLSpok": [f"ud_english_other/en_eslspok-ud-{part}.conllu" for part in ("test", "dev", "train")],
    "Tweebank": [f"ud_english_other/en-ud-tweet-{part}.fixed.conllu" for part in ("test", "dev", "train")],
}


@dataclass(frozen=True)
class Treebanks:
    """Sentences to train on, test sets by name, and the files they come from with their SHA-256."""

    train: list[Sentence]
    tests: dict[str, list[Sentence]]
    files: dict[str, str]


def read_ud_english(data_dir: Path | None, read: Callable[[Path], list[Sentence]] = read_conllu) -> Treebanks:
    """EWT train, and as test sets EWT test and dev, PUD, ATIS, ESLSpok and Tweebank; `read` reads a file.

    All splits of the treebanks that are not trained on are test data. EWT's and PUD's files have one genre after the
    other, and the first sentences of a genre can be unlike the rest (in EWT test they are much shorter). Test sets are
    therefore put in a fixed mixed order: every initial segment is a random sample with the genres in the proportions of
    the whole.
    """
    files = [*chain([TRAIN], *TEST_SETS.values())]
    at = fetch_each(files, data_dir)
    tests = {name: _mixed([s for part in parts for s in read(at[part])]) for name, parts in TEST_SETS.items()}
    return Treebanks(read(at[TRAIN]), tests, {file: registry()[file].sha256 for file in files})


def item_table(sentences: Sequence[Sentence]) -> pd.DataFrame:
    """A row a sentence: ``id``; where known ``domain`` (the genre) and ``cluster`` (the document).

    Genres are answers, email, newsgroup, reviews and weblog in EWT, news and wiki in PUD.
    """
    items = pd.DataFrame({"id": [sentence.id for sentence in sentences]})
    domains = [_domain(sentence) for sentence in sentences]
    if any(domains):
        items["domain"] = domains
    if all(sentence.document for sentence in sentences):
        items["cluster"] = [sentence.document for sentence in sentences]
    return items


def _domain(sentence: Sentence) -> str:
    """The genre, from the identifier: EWT's begin with it, PUD's with n (news) or w (wiki) and a number."""
    prefix = sentence.id.split("-")[0]
    if prefix in ("answers", "email", "newsgroup", "reviews", "weblog"):
        return prefix
    if sentence.id[1:].isdigit():
        return {"n": "news", "w": "wiki"}.get(sentence.id[0], "")
    return ""


def _mixed(sentences: Sequence[Sentence]) -> list[Sentence]:
    return [sentences[k] for k in mixed_order([_domain(sentence) for sentence in sentences])]
