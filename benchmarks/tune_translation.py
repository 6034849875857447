"""How the weights of the task "translation" came about: BLEU on Multi30k's val, a weight at a time.

Every weight in turn is moved up and down by a step for as long as BLEU rises by at least a little, once. Trained on the
whole of train; val is in no test set. Begun from the weights below. About five minutes of CPU time for both systems.

    python benchmarks/tune_translation.py [folder of data [name of the system]]
        [--texts train.de train.en val.de val.en]
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from simstudy.files.datasets import fetch_each
from simstudy.metrics import get_metric
from simstudy.readers.text_files import read_lines
from simstudy.running.program_files import load_learners, load_program, shipped_folder
from simstudy.training import Examples

load_learners()
task = load_program(shipped_folder() / "machine_translation" / "task.py")

from simstudy_learners.translation import bilingual_ngrams, phrase_based  # noqa: E402
from simstudy_learners.translation.texts import count_bleu, index_texts  # noqa: E402

STEP, LEAST_GAIN = 0.2, 0.03

#: The systems before tuning, and the weight that stays: proportions alone matter.
BEGIN = {
    "phrase-based": (
        phrase_based.PhraseBased(
            weights=phrase_based.PhraseWeights(
                translation=(0.6, 0.4, 0.4, 0.3), phrase=-0.3, word=0.6, language=1.0, distortion=0.2
            )
        ),
        "language",
    ),
    "bilingual n-grams": (
        bilingual_ngrams.BilingualNgrams(
            weights=bilingual_ngrams.UnitWeights(
                units=1.0, language=0.6, lexical=(0.2, 0.2), phrase=0.0, word=1.0, distortion=0.4
            )
        ),
        "units",
    ),
}


class Kept:
    """A base system that is trained once; whose weights are then changed."""

    def __init__(self, system: Any, train: Examples) -> None:
        self.made: tuple[Any, ...] = ()
        found = self

        class Keeping(type(system)):  # type: ignore[misc]
            def translator(self, *made: Any) -> Any:
                found.made = made
                return super().translator(*made)

        keeping = Keeping(**{name: getattr(system, name) for name in system.__dataclass_fields__})
        keeping.train(train, np.ones(train.n_items, np.int64), 0)

    def bleu(self, system: Any, tune: Examples) -> float:
        translations = system.translator(*self.made)(tune)
        return float(get_metric("bleu").score(count_bleu(tune, translations).sum(axis=0)))


def moved(weights: Any, name: str, place: int | None, by: float) -> Any:
    value = getattr(weights, name)
    if place is None:
        return replace(weights, **{name: round(value + by, 3)})
    changed = tuple(round(v + by * (k == place), 3) for k, v in enumerate(value))
    return replace(weights, **{name: changed})


def tune(system: Any, fixed: str, train: Examples, val: Examples) -> None:
    kept = Kept(system, train)
    best = kept.bleu(system, val)
    print(type(system).__name__, f"{best:.2f}", system.weights, flush=True)
    names: list[tuple[str, int | None]] = []
    for name in system.weights.__dataclass_fields__:
        value = getattr(system.weights, name)
        names += [(name, k) for k in range(len(value))] if isinstance(value, tuple) else [(name, None)]
    for name, place in names:
        if name == fixed:
            continue
        for by in (STEP, -STEP):
            risen = False
            while True:
                other = replace(system, weights=moved(system.weights, name, place, by))
                bleu = kept.bleu(other, val)
                if bleu < best + LEAST_GAIN:
                    break
                system, best, risen = other, bleu, True
                print(f"{best:.2f}", system.weights, flush=True)
            if risen:
                break


def multi30k(data_dir: Path | None) -> list[list[str]]:
    """Sentences and translations of train, and those of val."""
    names = [f"{name}.{language}.gz" for name in (task.TRAIN, task.TUNE) for language in task.LANGUAGES]
    at = fetch_each(names, data_dir)
    return [*task.read_pairs(at, task.TRAIN), *task.read_pairs(at, task.TUNE)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path, nargs="?", help="that has multi30k; by default it is fetched")
    parser.add_argument("systems", nargs="*", metavar="system", help=" or ".join(BEGIN))
    parser.add_argument("--texts", type=Path, nargs=4, help="files of sentences, a line each, instead of Multi30k")
    options = parser.parse_args()
    if unknown := [name for name in options.systems if name not in BEGIN]:
        parser.error(f"a system must be {' or '.join(BEGIN)}, not {unknown[0]}")
    lines = [read_lines(path) for path in options.texts] if options.texts else multi30k(options.data_dir)
    texts = index_texts(lines)
    train, val = Examples(texts[0], texts[1]), Examples(texts[2], texts[3])
    for name in options.systems or BEGIN:
        tune(*BEGIN[name], train, val)


if __name__ == "__main__":
    main()
