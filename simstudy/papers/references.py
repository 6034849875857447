"""What papers should cite: entries of BibTeX by their keys, and the same as Markdown has them.

The entries are in ``references.bib``, and the one of simstudy itself is made from CITATION.cff. Tests and conventions
name theirs (`simstudy.engines.registry`, `simstudy.statistics.pvalues`); these are the keys of all other methods.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

SIMSTUDY, HOLM, RANKS = "simstudy", "holm1979", "mogstad2024"
SCORE_OF_GAINS, SCORE_OF_SHARES, BOOTSTRAP = "tango1998", "wilson1927", "efron1993"
RESAMPLED, SUM_OF_VARIANCES, TYPE_M, SIGNATURES = "phipson2010", "satterthwaite1946", "gelman2014", "post2018"

#: The keys that are no test's and no convention's.
OF_METHODS = (SIMSTUDY, HOLM, RANKS, SCORE_OF_GAINS, SCORE_OF_SHARES, BOOTSTRAP, RESAMPLED, SUM_OF_VARIANCES, TYPE_M)

_ENTRY = re.compile(r"^@(\w+)\{(\w+),\n(.*?)^\}$", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"^  (\w+) = \{(.*)\},$", re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """An entry of BibTeX."""

    key: str
    kind: str
    fields: Mapping[str, str]

    @property
    def bibtex(self) -> str:
        """As a .bib file has it."""
        lines = "".join(f"  {name} = {{{value}}},\n" for name, value in self.fields.items())
        return f"@{self.kind}{{{self.key},\n{lines}}}"

    @property
    def short(self) -> str:
        """Authors and year: "Phipson and Smyth, 2010"."""
        names = [_plain(name.partition(",")[0]) for name in self.fields["author"].split(" and ")]
        authors = (
            names[0] if len(names) == 1 else f"{names[0]} and {names[1]}" if len(names) == 2 else f"{names[0]} et al."
        )
        return ", ".join(filter(None, (authors, self.fields.get("year"))))

    @property
    def whole(self) -> str:
        """As a list of references has it."""
        known = {name: _plain(value) for name, value in self.fields.items()}
        authors = known["author"].replace(" and ", "; ")
        year = f" ({known['year']})" if "year" in known else ""
        place = known.get("journal") or known.get("booktitle") or known.get("publisher") or ""
        if "volume" in known:
            place += f" {known['volume']}" + (f"({known['number']})" if "number" in known else "")
        pages = known.get("pages", "").replace("--", "–")
        ending = ", ".join(filter(None, (place, pages))) or known.get("note", "")
        return f"{authors}{year}. {known['title']}. {ending}."


def bibtex(keys: Iterable[str]) -> str:
    """Entries by their keys, as a .bib file has them."""
    return "\n\n".join(entry(key).bibtex for key in keys) + "\n"


def entry(key: str) -> Entry:
    """The entry of a key."""
    return _of_simstudy() if key == SIMSTUDY else entries()[key]


@cache
def entries() -> dict[str, Entry]:
    """All entries of ``references.bib`` by their keys."""
    text = Path(__file__).with_name("references.bib").read_text(encoding="utf-8")
    return {key: Entry(key, kind, dict(_FIELD.findall(fields))) for kind, key, fields in _ENTRY.findall(text)}


@cache
def _of_simstudy() -> Entry:
    """What CITATION.cff says, with the version that runs: a wheel has it inside the package, a checkout beside it."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "CITATION.cff"
    text = (inside if inside.is_file() else package.with_name("CITATION.cff")).read_text(encoding="utf-8")
    said = dict(re.findall(r"^([\w-]+): *(\S.*?) *$", text, flags=re.MULTILINE))
    authors = re.findall(r"^  - name: *(.*?) *$", text.partition("\nreferences:")[0], flags=re.MULTILINE)
    fields = {
        "author": " and ".join(f"{{{name}}}" for name in authors),
        "title": said["title"],
        # Nothing was released: "no date", as styles of references write it.
        "year": said.get("date-released", "n.d.")[:4],
        "note": f"Version {version('simstudy')}",
        "url": said.get("repository-code") or said.get("url", ""),
    }
    return Entry(SIMSTUDY, "misc", {name: value for name, value in fields.items() if value})


def _plain(value: str) -> str:
    return re.sub(r"[{}]", "", value)
