"""A linear-chain conditional random field (Lafferty et al. 2001), trained by CRFsuite."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simstudy.training import Examples, Rows
from simstudy.validation import check_number, check_whole


@dataclass(frozen=True)
class ConditionalRandomField:
    """A base system of `Rows` that are tokens: a CRF, by penalised maximum likelihood.

    Nothing in it is random. CRFsuite knows no weights: an item of weight w is there w times.

    Attributes
    ----------
    iterations
        After how many iterations of L-BFGS training stops, if it does not converge before.
    penalty
        The coefficient of the squared weights (CRFsuite's c2).
    view
        The rows' view of numbered features, 0 for none (see `token_features.numbered`).

    Raises
    ------
    ValueError
        Where python-crfsuite is not installed.
    """

    iterations: int = 40
    penalty: float = 0.1
    view: str = "numbered"

    def __post_init__(self) -> None:
        check_whole("iterations", self.iterations, 1)
        check_number("penalty", self.penalty)
        if not 0 <= self.penalty < np.inf:
            raise ValueError(f"penalty must be at least 0 and finite, not {self.penalty}")
        _crfsuite()

    def train(self, examples: Examples, weights: NDArray[np.int64], seed: int) -> Callable[[Examples], NDArray[Any]]:
        """Train on the sentences; the model is kept as CRFsuite's own bytes."""
        parameters = {"max_iterations": self.iterations, "c2": self.penalty, "c1": 0.0}
        trainer = _crfsuite().Trainer("lbfgs", parameters, verbose=False)
        names = examples.gold.tolist()
        bounds = examples.inputs.first_rows().tolist()
        used = np.flatnonzero(weights)
        for item, sentence in zip(used, _sentences(examples.inputs, self.view, used), strict=True):
            labels = names[bounds[item] : bounds[item + 1]]
            for _ in range(weights[item]):
                trainer.append(sentence, labels)
        with tempfile.TemporaryDirectory() as folder:
            trainer.train(str(Path(folder, "model")))
            model = Path(folder, "model").read_bytes()

        def label(other: Examples) -> NDArray[Any]:
            tagger = _crfsuite().Tagger()
            tagger.open_inmemory(model)
            return np.array([
                label
                for sentence in _sentences(other.inputs, self.view, np.arange(len(other.inputs)))
                for label in tagger.tag(sentence)
            ])  # fmt: skip

        return label


def _sentences(rows: Rows, view: str, items: NDArray[np.int64]) -> Any:
    """The items' tokens as CRFsuite reads them: the names of their features."""
    make, numbers, bounds = _crfsuite().ItemSequence, rows.features[view], rows.first_rows()
    # One name for each number: there are many more tokens.
    names = [str(number) for number in range(int(numbers.max()) + 1)]
    for item in items:
        tokens = numbers[bounds[item] : bounds[item + 1]].tolist()
        yield make([[names[number] for number in token if number] for token in tokens])


def _crfsuite() -> Any:
    try:
        import pycrfsuite
    except ImportError:
        raise ValueError("the CRF needs the package python-crfsuite: pip install python-crfsuite") from None
    return pycrfsuite
