"""How a figure becomes files: the same bytes in every run, whole or not at all."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from PIL import Image

from simstudy.files.whole import atomic_path
from simstudy.notes import note
from simstudy.plot.fonts import without_own_fonts
from simstudy.plot.style import check_figure, in_a_paper, styled
from simstudy.plot.svg import smaller
from simstudy.validation import InputError, check_choice, check_path, check_texts

#: Formats that a figure may be saved in.
FORMATS = ("png", "svg", "pdf")

_MISSING = re.compile(r"Glyph (\d+) .*missing from")

# Dots an inch of a PNG, on a page and in a paper.
_DPI, _PAPER_DPI = 112, 600


@styled
def save(figure: Figure, path: str | Path, *, formats: Sequence[str] = ("png", "svg")) -> list[Path]:
    """Write a file of each format (`path` without suffix), whole or not at all; close the figure.

    Parameters
    ----------
    formats
        Some of "png", "svg" and "pdf". A PDF has its fonts embedded as TrueType.

    Raises
    ------
    ValueError
        If the figure is none, the path names no file, or a format is not known.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from simstudy.plot import panels
    >>> figure, (ax,) = panels(["one"])
    >>> with TemporaryDirectory() as folder:
    ...     [path.name for path in save(figure, f"{folder}/one")]
    ['one.png', 'one.svg']
    """
    check_figure(figure)
    check_path("path", path)
    if not Path(path).name:
        raise InputError("path", f"must name a file, not '{path}'")
    check_texts("formats", formats, "names of formats")
    for name in formats:
        check_choice("formats", name, FORMATS)
    figure.set_dpi(_PAPER_DPI if in_a_paper() else _DPI)
    _label_ends(figure)
    written = []
    with _missing_letters_noted():
        # Where everything goes is found once for all files, which `savefig` would do twice each.
        FigureCanvasAgg(figure)
        if (layout := figure.get_layout_engine()) is not None:
            layout.execute(figure)
            figure.set_layout_engine("none")
        for name in formats:
            target = Path(path).with_name(f"{Path(path).name}.{name}")
            with atomic_path(target) as temporary:
                {"png": _png, "svg": _svg, "pdf": _pdf}[name](figure, temporary)
            written.append(target)
    plt.close(figure)
    return written


def _label_ends(figure: Figure) -> None:
    """Of panels that share an axis, label those at the end of a column or row.

    This is found when all panels are drawn: the last row may have fewer panels than the others.
    """
    placed = [(ax, place) for ax in figure.axes if (place := ax.get_subplotspec()) is not None]
    for ax, at in placed:
        across, along = ax.get_shared_x_axes(), ax.get_shared_y_axes()
        others = [(other, place) for other, place in placed if other is not ax]
        column = [
            place.rowspan.start for other, place in others if across.joined(ax, other) and place.colspan == at.colspan
        ]
        row = [
            place.colspan.start for other, place in others if along.joined(ax, other) and place.rowspan == at.rowspan
        ]
        if column:
            ax.tick_params(axis="x", labelbottom=max(column) < at.rowspan.start)
        if column and max(column) > at.rowspan.start:
            ax.set_xlabel("")
        if row:
            ax.tick_params(axis="y", labelleft=min(row) > at.colspan.start)
        if row and min(row) < at.colspan.start:
            ax.set_ylabel("")


@contextmanager
def _missing_letters_noted() -> Iterator[None]:
    """Say once which letters no font has, where matplotlib would warn of each of them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    codes = {int(found[1]) for one in caught if (found := _MISSING.match(str(one.message)))}
    for one in caught:
        if not _MISSING.match(str(one.message)):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    if letters := sorted(code for code in codes if chr(code).isprintable()):
        some = " ".join(map(chr, letters[:5]))
        note("letters without font", letters=some, cache=Path(mpl.get_cachedir()) / "fontlist-*.json")


def _png(figure: Figure, path: Path) -> None:
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    pixels = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
    # Without the fourth channel, where nothing shines through, 256 colours are enough for flat areas, which stay as
    # they are, and edges: the file is a third.
    image = Image.fromarray(pixels)
    if pixels[..., 3].min() == 255:
        image = Image.fromarray(pixels[..., :3]).quantize(256, dither=Image.Dither.NONE)
    image.save(path, "png", dpi=(figure.dpi, figure.dpi), optimize=True)


def _svg(figure: Figure, path: Path) -> None:
    written = StringIO()
    FigureCanvasSVG(figure).print_svg(written, metadata={"Date": None})  # type: ignore[no-untyped-call]
    path.write_text(smaller(without_own_fonts(written.getvalue())), encoding="utf-8")


def _pdf(figure: Figure, path: Path) -> None:
    FigureCanvasPdf(figure).print_pdf(path, metadata={"CreationDate": None})  # type: ignore[no-untyped-call]
