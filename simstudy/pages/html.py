"""A page as one HTML file that loads nothing: its tables and charts as data, the scripts that show them, and pictures.

Without scripts the page has the pictures and the first rows of each table. With them its tables sort, filter and copy,
and charts take the places of the pictures. A Content-Security-Policy allows the scripts and styles of this file only.
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from simstudy import plot
from simstudy.files.whole import INDEX, atomic_path, require_page
from simstudy.pages.html_data import chart_data, json_of, table_data
from simstudy.pages.sections import Figure, Section
from simstudy.running.progress import doing
from simstudy.text.plain_text import printable

if TYPE_CHECKING:
    from jinja2 import Environment

    from simstudy.pages.report import Page

# In the order in which they run. The libraries are needed where something is drawn.
LIBRARIES = ("d3.min.js", "plot.umd.min.js")
SCRIPTS = ("page.js", "tables.js", "drawing.js", "charts.js")
# Kinds of charts and widgets that have a script of their own, which only pages with one of these have.
OWN_SCRIPTS = ("items", "sizes")
STYLES = ("page.css", "widgets.css")

# The one style that Observable Plot adds to a page, for class "plot".
PLOT_STYLE = (
    ":where(.plot) {\n  --plot-background: white;\n  display: block;\n  height: auto;\n  height: intrinsic;\n  "
    "max-width: 100%;\n}\n:where(.plot text),\n:where(.plot tspan) {\n  white-space: pre;\n}"
)

# Rows of a table that are there without scripts.
_STATIC_ROWS = 50
# Bytes of the parts of a page, with which it stays below 6 MB.
_MOST_OF_PARTS = 4_500_000
# Bytes from which on a picture is one of pixels if that is smaller.
_LARGE = 120_000


def write_html(page: Page, path: str | Path) -> None:
    """Write a page as one HTML file, whole or not at all.

    A ValueError is raised where the path has another suffix, or a file is there that simstudy did not write.
    """
    file = require_page(path)
    text = html(page)
    with atomic_path(file) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def html(page: Page, folder: Path | None = None) -> str:
    """The page as the text of an HTML file.

    Parameters
    ----------
    page
        What it shows.
    folder
        The folder of the page's tables and figures; the page then links the tables, and has the figures from there.
        Without a folder figures are drawn, and what is said of files is left out.
    """
    data: dict[str, Any] = {"tables": {}, "charts": {}, "widgets": {}}
    with doing("drawing the page"):
        sections = [_section(f"s{k}", section, data, folder) for k, section in enumerate(page.sections)]
        parts, left_out = _parts(page, data)
    kinds = {one["kind"] for part in ("charts", "widgets") for one in data[part].values()}
    own = [f"{kind}.js" for kind in OWN_SCRIPTS if kind in kinds]
    names = (*(LIBRARIES if data["charts"] else ()), *SCRIPTS, *own)
    scripts, styles = [Markup(_asset(name)) for name in names], [Markup(_asset(name)) for name in STYLES]
    content = {
        "page": page,
        "facts": [
            (name, value, isinstance(value, str))
            for name, value in page.facts.items()
            if not (page.notes and name == "Note")
        ],
        "sections": sections,
        "parts": parts,
        "left_out": left_out,
        "closing": [*_paragraphs(page.closing), *(_paragraphs(page.of_files) if folder else [])],
        "tables": {} if folder is None else page.sizes,
        "links": {} if folder is None else {name: _beside(path) for name, path in page.links.items()},
        "version": version("simstudy"),
        "policy": policy(scripts, [*styles, PLOT_STYLE] if data["charts"] else styles),
        "scripts": scripts,
        "styles": styles,
        "data": Markup(json_of(data)),
        "libraries": bool(data["charts"]),
    }
    return _environment().get_template("page.html.jinja").render(content)


def _parts(page: Page, data: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """What the template shows of the pages inside this one, and the names of those that are left out."""
    found: list[dict[str, Any]] = []
    size = 0
    for k, (name, part) in enumerate(page.parts.items()):
        own: dict[str, Any] = {"tables": {}, "charts": {}, "widgets": {}}
        sections = [_section(f"p{k}s{i}", section, own, None) for i, section in enumerate(part.sections)]
        pictures = sum(len(section["figure"]["src"]) for section in sections if section["figure"])
        size += pictures + len(json_of(own))
        if size > _MOST_OF_PARTS:
            return found, list(page.parts)[k:]
        for kind, content in own.items():
            data[kind] |= content
        limits = [text for text in part.limits if text not in page.limits]
        said = [part.headline, *part.answer]
        found.append({"key": f"p{k}", "name": name, "answer": said, "limits": limits, "sections": sections})
    return found, []


def _beside(path: str) -> str:
    """The HTML page that is in the folder of a page in Markdown."""
    return f"{path.removesuffix('README.md')}{INDEX}" if path.endswith("README.md") else path


def policy(scripts: list[Markup], styles: list[Any]) -> str:
    """The Content-Security-Policy of a page with these scripts and styles: nothing else runs, and nothing is loaded."""
    runs, looks = (" ".join(f"'sha256-{digest(text)}'" for text in texts) for texts in (scripts, styles))
    return (
        f"default-src 'none'; script-src {runs}; style-src {looks}; img-src data:; base-uri 'none'; form-action 'none'"
    )


def digest(text: str) -> str:
    """The hash of a script or style as a policy names it."""
    return b64encode(sha256(text.encode()).digest()).decode()


def _section(key: str, section: Section, data: dict[str, Any], folder: Path | None) -> dict[str, Any]:
    """What the template shows of a section; its table and chart are added to the data."""
    text, every = section.on_screen() if section.on_screen else (section.text, section.table)
    figure, table = None, None
    if section.figure:
        figure = _picture(section.figure, section, folder)
        if section.figure.chart is not None:
            data["charts"][key] = chart_data(section.figure.chart())
    if section.widget is not None:
        widget = section.widget()
        data["widgets"][key] = {"kind": widget.kind, **widget.data}
    if every is not None:
        found = data["tables"][key] = table_data(every)
        texts = every.text()
        table = {
            "head": found["head"],
            "numeric": found["numeric"],
            "rows": texts.head(_STATIC_ROWS).map(printable).to_numpy().tolist(),
            "n": len(texts),
        }
    shown: dict[str, Any] = {"key": key, "heading": printable(section.heading), "text": _paragraphs(text)}
    shown |= {"figure": figure, "table": table, "name": re.sub(r"\W+", "_", section.heading.lower()).strip("_")}
    return shown | {"widget": key in data["widgets"]}


def _picture(figure: Figure, section: Section, folder: Path | None) -> dict[str, Any]:
    kind, content = _drawn(figure) if folder is None else _kept(folder / "figures" / figure.name)
    first = section.text.split(". ")[0].rstrip(".")
    alt = figure.alt or f"{section.heading}. {first}."
    return {"src": f"data:{kind};base64,{b64encode(content).decode()}", "alt": printable(alt)}


def _drawn(figure: Figure) -> tuple[str, bytes]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / figure.name
        plot.save(figure.draw().figure, path)
        return _kept(path)


def _kept(path: Path) -> tuple[str, bytes]:
    """The type and bytes of a figure that is drawn: its SVG, or its PNG if the SVG is large and the PNG is smaller."""
    drawn, pixels = (path.with_suffix(suffix) for suffix in (".svg", ".png"))
    small = drawn.stat().st_size <= max(_LARGE, pixels.stat().st_size)
    return ("image/svg+xml", drawn.read_bytes()) if small else ("image/png", pixels.read_bytes())


def _paragraphs(text: str) -> list[str]:
    return [printable(part) for part in text.split("\n") if part.strip()]


def _breaking(text: object) -> Markup:
    """Text that may break at the bars of a signature."""
    return Markup("|<wbr>").join(printable(text).split("|"))


@cache
def _asset(name: str) -> str:
    text = (files("simstudy.pages") / "assets" / name).read_text("utf-8")
    # What a hash is of is what a browser reads: no end of the element, and line ends that stay as they are.
    assert not any(ending in text.lower() for ending in ("\r", "</script", "</style")), name
    return text


@cache
def _environment() -> Environment:
    # A comparison that is only printed does not wait for what fills templates.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("simstudy.pages"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {"printable": printable, "breaking": _breaking}
    return environment
