"""Machine translation from German to English: descriptions of pictures (Multi30k)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from simstudy.files.datasets import fetch_each, registry
from simstudy.notes import note
from simstudy.readers.text_files import read_lines
from simstudy.training import BaseSystem, Examples, Task, mixed_order
from simstudy.validation import InputError
from simstudy_learners.translation.bilingual_ngrams import BilingualNgrams
from simstudy_learners.translation.phrase_based import PhraseBased
from simstudy_learners.translation.stack_decoder import MOST_WORDS
from simstudy_learners.translation.texts import count_bleu, count_chrf, index_texts
from simstudy_learners.translation.translation_memory import TranslationMemory

#: Beginnings of the names of files, which end in the language.
TRAIN = "multi30k/train"
TUNE = "multi30k/val"
TEST_SETS = {
    "test 2016": "multi30k/test_2016_flickr",
    "test 2017": "multi30k/test_2017_flickr",
    "test 2018": "multi30k/test_2018_flickr",
    "MSCOCO 2017": "multi30k/test_2017_mscoco",
}
LANGUAGES = ("de", "en")

Pairs = tuple[Sequence[str], Sequence[str]]


def translation(data_dir: Path | None = None) -> Task:
    """German to English, task 1 of Multi30k (Elliott et al. 2016); an item is a sentence, the metrics BLEU and chrF.

    Both metrics are sacrebleu's on lower-cased text, BLEU with the tokenizer 13a, against the one reference there is:
    sentences are tokenised and lower-cased in the same way before anything is learnt of them.

    Trained on the 29,000 pairs of train. Test sets are test 2016, 2017 and 2018 (1,000, 1,000 and 1,071 sentences on
    pictures of the same source, from other years) and MSCOCO 2017 (461 on pictures of another source, chosen for
    ambiguous verbs). They are in a fixed mixed order, so that every initial segment is a random sample. An item's id is
    file and line.

    An InputError is raised where two files have not as many lines, or a line has no words.
    """
    files = [f"{name}.{language}.gz" for name in (TRAIN, *TEST_SETS.values()) for language in LANGUAGES]
    at = fetch_each(files, data_dir)
    pairs = {name: read_pairs(at, file) for name, file in {"train": TRAIN, **TEST_SETS}.items()}
    train = pairs.pop("train")
    ids = {name: Path(file).name for name, file in TEST_SETS.items()}
    hashes = {file: registry()[file].sha256 for file in files}
    return translation_task("translation", train, pairs, ids=ids, files=hashes)


def base_systems() -> dict[str, BaseSystem]:
    """Three translators: of phrases, of sequences of small units, and by looking similar sentences up."""
    return {"phrase-based": PhraseBased(), "bilingual n-grams": BilingualNgrams(), "memory": TranslationMemory()}


def read_pairs(at: Mapping[str, Path], name: str) -> Pairs:
    """The lines of the German and the English file of a name.

    An InputError names the files where they have not as many lines, and file and line where one is empty.
    """
    paths = [at[f"{name}.{language}.gz"] for language in LANGUAGES]
    german, english = (read_lines(path) for path in paths)
    if len(german) != len(english):
        raise InputError(f"{paths[0]} and {paths[1]} must have as many lines: {len(german):,} and {len(english):,}")
    for path, lines in zip(paths, (german, english), strict=True):
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                raise InputError("a sentence must have words", at=f"{path}, line {number}")
    return german, english


def translation_task(
    name: str,
    train: Pairs,
    test_sets: Mapping[str, Pairs],
    *,
    ids: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
    systems: Mapping[str, BaseSystem] | None = None,
) -> Task:
    """A task of translation. An InputError is raised where a sentence has no words.

    Test sets are put into a fixed order, and `ids` says what the ids of their items begin with (their names by
    default). Decoders translate sentences of more than 62 words in pieces; a note says how many there are. `files` are
    public files that the sentences are from, with their SHA-256.
    """
    sentences: list[Sequence[str]] = [*train]
    orders = {test_set: mixed_order([""] * len(source)) for test_set, (source, _) in test_sets.items()}
    for test_set, sides in test_sets.items():
        sentences += [[side[i] for i in orders[test_set]] for side in sides]
    texts = index_texts(sentences)
    tests = {}
    for k, (test_set, order) in enumerate(orders.items(), start=1):
        begin = (ids or {}).get(test_set, test_set)
        items = pd.DataFrame({"id": [f"{begin}-{i + 1}" for i in order]})
        if n_long := int((texts[2 * k].lengths > MOST_WORDS).sum()):
            note("long sentences", test_set=test_set, n=n_long, most=MOST_WORDS)
        tests[test_set] = Examples(texts[2 * k], texts[2 * k + 1], items)
    return Task(
        name=name,
        train=Examples(texts[0], texts[1]),
        test_sets=tests,
        systems=base_systems() if systems is None else systems,
        statistics={"bleu": count_bleu, "chrf": count_chrf},
        files=files or {},
    )
