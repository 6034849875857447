"""The candidates of the paper's figures: German preposition-verb pairs that Krenn annotated, with stored scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from simstudy.datasets import fetch
from simstudy.rankings.candidates import Candidates
from simstudy.studies.definition import StudyError

if TYPE_CHECKING:
    import pandas as pd

#: The data file.
KRENN = "colloc_krenn/KrennPPV.rda"

# The file's columns -> our names of the same association measures.
_MEASURES = {
    "log.like": "log_likelihood",
    "chisq": "chi_squared",
    "chisq.corr": "chi_squared_yates",
    "t.score": "t_score",
    "z.score": "z_score",
    "MI": "mi",
    "Dice": "dice",
    "Fisher": "fisher",
    "freq": "frequency",
}


def krenn_candidates(data_dir: str | Path | None = None, seed: int = 0) -> Candidates:
    """The candidates of section 1: PP-verb pairs with f >= 30 in the Frankfurter Rundschau Corpus.

    Krenn (2000) says which of them are collocations. The scores are those that Evert stored with the candidates (his R
    package corpora), rounded: chi-squared to whole numbers, so that candidates tie which did not tie in the paper.
    Names are those of `simstudy.rankings.association.MEASURES`. Log-likelihood and the chi-squareds are negative
    where a pair is rarer than by chance, mi and fisher are base-10 logarithms, fisher of 1 / p: of every measure
    higher is better.

    Parameters
    ----------
    data_dir
        As for `simstudy.datasets.fetch`.
    seed
        Of the jitter that breaks ties.

    Returns
    -------
    candidates
        5,102 candidates, nine measures; ids such as "in:Jahr abbauen".

    Raises
    ------
    StudyError
        Where pyreadr, which reads R's format, is not installed.
    DataError
        As `simstudy.datasets.fetch`.
    """
    frame = _read(data_dir)
    scores = frame[list(_MEASURES)].rename(columns=_MEASURES)
    scores.index = frame["PP"].astype(str) + " " + frame["verb"].astype(str)
    return Candidates.from_scores(scores, frame["is.colloc"].to_numpy(), seed=seed, test_set="PP-verb pairs")


def _read(data_dir: str | Path | None) -> pd.DataFrame:
    try:
        import pyreadr
    except ImportError:
        raise StudyError("the study of Evert 2004 needs pyreadr to read R's data: pip install 'simstudy[r]'") from None
    frame: pd.DataFrame = pyreadr.read_r(str(fetch(KRENN, data_dir)))["KrennPPV"]
    return frame
