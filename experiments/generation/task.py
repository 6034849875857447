"""Generation of restaurant descriptions from meaning representations: the E2E NLG challenge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from simstudy.files.datasets import fetch_each, registry
from simstudy.metrics.texts import Bleu, Chrf
from simstudy.training import BaseSystem, Examples, Task, mixed_order
from simstudy_learners.generation.beam_search import BeamSearch
from simstudy_learners.generation.counted_texts import CountTexts
from simstudy_learners.generation.meanings import Meaning, read_references
from simstudy_learners.generation.retrieval import Retrieval
from simstudy_learners.generation.templates import Templates

_TRAIN, _TEST = "e2e_nlg/devset.csv", "e2e_nlg/testset_w_refs.csv"


def generation(data_dir: Path | None = None) -> Task:
    """Descriptions of restaurants; an item is a meaning representation, the metrics are BLEU and chrF.

    Trained on the 4,672 references of the challenge's development set (547 meaning representations; Novikova et al.
    2017, "The E2E dataset"), tested on the 630 meaning representations of its test set, each with 1 to 45 references
    (4,693 in all). The larger training set of the challenge is not used. A training item is one reference with its
    meaning representation: what training-set resampling draws, as it draws sentence pairs in translation. The test set
    is sorted by number of slots and name: it is in a fixed mixed order, so that every initial segment is a random
    sample. A test item's id is the number of its meaning representation in the file.

    Both metrics are sacrebleu's with all references, and do not tell capitals from small letters, as the challenge's
    own script has it.

    Three unlike generators: retrieval of the most central text of similar meanings, sentence templates put together by
    a learned plan, and beam search by an n-gram model of words and phrases.

    A ValueError names file and row where a row of the files is malformed.
    """
    paths = fetch_each([_TRAIN, _TEST], data_dir)
    train, test = (read_references(path.read_bytes(), str(path)) for path in (paths[_TRAIN], paths[_TEST]))
    return _task(base_systems(), train, test)


def base_systems() -> dict[str, BaseSystem]:
    """Three generators."""
    return {"retrieval": Retrieval(), "templates": Templates(), "n-grams": BeamSearch()}


def _task(
    systems: dict[str, BaseSystem], train: Sequence[tuple[Meaning, str]], test: Sequence[tuple[Meaning, str]]
) -> Task:
    references: dict[Meaning, list[str]] = {}
    for meaning, text in test:
        references.setdefault(meaning, []).append(text)
    order = mixed_order([""] * len(references))
    meanings = [[*references][number] for number in order]
    examples = Examples(
        meanings, [references[meaning] for meaning in meanings], pd.DataFrame({"id": (1 + order).astype(str)})
    )
    return Task(
        name="generation",
        train=Examples([meaning for meaning, _ in train], [[text] for _, text in train]),
        test_sets={"test": examples},
        systems=systems,
        statistics={metric: CountTexts(metric.name) for metric in (Bleu(), Chrf())},
        files={name: registry()[name].sha256 for name in (_TRAIN, _TEST)},
    )
