"""The keys of study.toml."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simstudy.studies import Keys, Study, one_of, shipped_studies


class Natural(Keys):
    """Outputs that others made (section 3.1): one test set of a study, and the figure that it stands beside."""

    study: Annotated[str, one_of(shipped_studies())]
    test_set: str
    metric: str
    like: str


class Synthetic(Keys):
    """A study of training-set resampling (sections 3.2 and 4)."""

    study: Annotated[str, one_of(shipped_studies())]
    task: str
    like: str = ""
    #: The paper's figures, if any, that show the same of its data: of whole test sets, sizes and domains.
    whole: int | None = None
    sizes: int | None = None
    domains: int | None = None

    @property
    def figures(self) -> dict[str, int | None]:
        """Those figures, by what they show."""
        return {"whole": self.whole, "sizes": self.sizes, "domains": self.domains}


class Settings(Study):
    """The keys of study.toml."""

    natural: list[Natural] = Field(min_length=1)
    synthetic: list[Synthetic] = Field(min_length=1)

    @property
    def others(self) -> list[str]:
        """The studies whose tables stand beside the paper."""
        return [*(part.study for part in self.natural), *(part.study for part in self.synthetic)]
