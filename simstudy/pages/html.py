"""A page as one HTML file that loads nothing: its tables and charts as data, the scripts that show them, and pictures.

Without scripts the page has the pictures and the first rows of each table. With them its tables sort, filter and copy,
and charts take the places of the pictures. A Content-Security-Policy allows the scripts and styles of this file only.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from simstudy.pages.html_data import chart_data, json_of, table_data
from simstudy.pages.report import Page
from simstudy.pages.sections import Figure, Section
from simstudy.text.plain_text import printable, shown

#: How a page begins, by which simstudy knows its own files.
GENERATOR = '<meta name="generator" content="simstudy'

# In the order in which they run. The libraries are needed where something is drawn.
LIBRARIES = ("d3.min.js", "plot.umd.min.js")
SCRIPTS = ("page.js", "tables.js", "charts.js")
STYLES = ("page.css",)

# The one style that Observable Plot adds to a page, for class "plot".
PLOT_STYLE = (
    ":where(.plot) {\n  --plot-background: white;\n  display: block;\n  height: auto;\n  height: intrinsic;\n  "
    "max-width: 100%;\n}\n:where(.plot text),\n:where(.plot tspan) {\n  white-space: pre;\n}"
)

# Rows of a table that are there without scripts.
_STATIC_ROWS = 50
# Bytes from which on a picture is one of pixels if that is smaller.
_LARGE = 120_000


def html(page: Page, pictures: Mapping[str, tuple[str, bytes]] | None = None) -> str:
    """The page as the text of an HTML file.

    Parameters
    ----------
    page
        What it shows.
    pictures
        Type and bytes of figures that are drawn already, by name; the others are drawn.
    """
    data: dict[str, Any] = {"tables": {}, "charts": {}}
    sections = [_section(f"s{k}", section, data, dict(pictures or {})) for k, section in enumerate(page.sections)]
    names = (*(LIBRARIES if data["charts"] else ()), *SCRIPTS)
    scripts, styles = [Markup(_asset(name)) for name in names], [Markup(_asset(name)) for name in STYLES]
    content = {
        "page": page,
        "answer": [_words(text) for text in page.answer],
        "limits": [_words(text) for text in page.limits],
        "facts": [(name, value, isinstance(value, str)) for name, value in page.facts.items()],
        "sections": sections,
        "closing": _paragraphs(page.closing),
        "version": version("simstudy"),
        "policy": policy(scripts, [*styles, PLOT_STYLE] if data["charts"] else styles),
        "scripts": scripts,
        "styles": styles,
        "data": Markup(json_of(data)),
        "libraries": bool(data["charts"]),
    }
    return _environment().get_template("page.html.jinja").render(content)


def policy(scripts: list[Markup], styles: list[Any]) -> str:
    """The Content-Security-Policy of a page with these scripts and styles: nothing else runs, and nothing is loaded."""
    runs, looks = (" ".join(f"'sha256-{digest(text)}'" for text in texts) for texts in (scripts, styles))
    return (
        f"default-src 'none'; script-src {runs}; style-src {looks}; img-src data:; base-uri 'none'; form-action 'none'"
    )


def digest(text: str) -> str:
    """The hash of a script or style as a policy names it."""
    return b64encode(sha256(text.encode()).digest()).decode()


def _section(key: str, section: Section, data: dict[str, Any], pictures: dict[str, Any]) -> dict[str, Any]:
    """What the template shows of a section; its table and chart are added to the data."""
    shows = {"key": key, "heading": _words(section.heading), "text": _paragraphs(section.text)}
    figure, table = None, None
    if section.figure:
        figure = _picture(section.figure, section, pictures)
        if section.figure.chart is not None:
            data["charts"][key] = chart_data(section.figure.chart())
    if section.table is not None:
        every = section.longer() if section.longer else section.table
        found = table_data(every)
        data["tables"][key] = found
        texts = every.text().head(_STATIC_ROWS).map(_words).to_numpy().tolist()
        table = {
            "head": [_words(name) for name in found["head"]],
            "numeric": found["numeric"],
            "rows": texts,
            "n": len(every.text()),
        }
    return {**shows, "figure": figure, "table": table}


def _picture(figure: Figure, section: Section, pictures: dict[str, Any]) -> dict[str, Any]:
    # Matplotlib waits until something is drawn.
    from simstudy.plot.style import picture

    kind, content = pictures.get(figure.name) or picture(figure.draw().figure, most=_LARGE)
    first = section.text.split(". ")[0].rstrip(".")
    alt = figure.alt or f"{section.heading}. {first}."
    return {"src": f"data:{kind};base64,{b64encode(content).decode()}", "alt": _words(alt)}


def _paragraphs(text: str) -> list[str]:
    return [_words(part) for part in text.split("\n") if part.strip()]


def _words(text: object) -> str:
    """Text as a page shows it: nothing in it turns the direction of writing or is invisible."""
    return printable(text)


@cache
def _asset(name: str) -> str:
    text = (files("simstudy.pages") / "assets" / name).read_text("utf-8")
    # What a hash is of is what a browser reads: no end of the element, and line ends that stay as they are.
    assert not any(ending in text.lower() for ending in ("\r", "</script", "</style")), name
    return text


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("simstudy.pages"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {"shown": shown, "printable": printable}
    return environment
