"""The keys of study.toml."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simstudy.studies import EACH_ONCE, Keys, Study, one_of

MUC_METRICS = ("muc_recall", "muc_precision", "muc_f", "muc_f_2p", "muc_f_2r")


Fraction = Annotated[float, Field(gt=0, lt=1)]


class MucLike(Keys):
    """The synthetic test set; see `muc_like`."""

    n_systems: Annotated[int, Field(ge=2, le=100)]
    n_messages: Annotated[int, Field(ge=2, le=500)]
    """Exact p-values of F take time that grows with the third power of this."""
    metrics: Annotated[list[Annotated[str, one_of(MUC_METRICS)]], EACH_ONCE] = Field(min_length=1)


class Settings(Study):
    """The keys of study.toml."""

    alpha: Fraction = 0.1
    certainty: Fraction = 0.99
    muc: MucLike
