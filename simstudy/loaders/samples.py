"""Several answers to one question: samples of an item, which tests resample together.

Where a system has several rows of an item, something must number them: the epoch of a log, or a column of a table that
is called ``sample`` (``columns={"sample": "k"}`` names it) or has another name in `NAMES`. Each sample is then an item
of its own, called ``<item>#<sample>``, and the item is its ``cluster``, unless items have clusters already. Rows that
nothing numbers are refused: they may as well be scores by several metrics, or a file that was given twice.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from simstudy.loaders.tables import any_spelling
from simstudy.notes import note

#: What columns are called that number the samples of an item.
NAMES = ("sample", "epoch", "repetition", "attempt", "trial")

#: What to say of rows that nothing numbers.
HINT = "samples of an item need a column 'sample' that numbers them (columns={'sample': ...} names it)"

_NAME = any_spelling(NAMES, ("id", "idx", "index", "no", "number"))


def names_samples(column: object) -> bool:
    """Whether a column has a name of samples, in whatever spelling.

    Examples
    --------
    >>> names_samples("sample_idx"), names_samples("Epoch"), names_samples("samples"), names_samples("seed")
    (True, True, False, False)
    """
    return _NAME.fullmatch(str(column)) is not None


def sample_id(item: str, sample: object) -> str:
    """The id of a sample of an item."""
    return f"{item}#{sample}"


def of_samples(items: pd.DataFrame, samples: Mapping[str, str]) -> pd.DataFrame:
    """A row for each sample, with what is known of its item, and a note on what is resampled.

    Parameters
    ----------
    items
        A row for each item, with its ``id``.
    samples
        Id of a sample -> id of its item.

    Examples
    --------
    >>> from simstudy.notes import notes_kept
    >>> items = pd.DataFrame({"id": ["x", "y"], "domain": ["art", "law"]})
    >>> with notes_kept() as notes:
    ...     table = of_samples(items, {"x#1": "x", "x#2": "x", "y#1": "y"})
    >>> table.to_dict("list")
    {'id': ['x#1', 'x#2', 'y#1'], 'domain': ['art', 'art', 'law'], 'cluster': ['x', 'x', 'y']}
    >>> notes
    ['3 samples of 2 items: the samples of an item are resampled together']
    """
    own = list(samples.values())
    note(f"{len(own):,} samples of {len(set(own)):,} items: the samples of an item are resampled together")
    table = items.set_index("id").loc[own].reset_index()
    return table.assign(id=list(samples), **({} if "cluster" in table else {"cluster": own}))
