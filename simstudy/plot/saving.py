"""How a figure becomes files: the same bytes in every run, whole or not at all."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from PIL import Image

from simstudy.files.whole import atomic_path
from simstudy.plot.style import check_figure, in_a_paper, styled
from simstudy.plot.svg import smaller
from simstudy.validation import check_choice, check_path, check_texts

#: Formats that a figure may be saved in.
FORMATS = ("png", "svg", "pdf")

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
        raise ValueError(f"path must name a file, not '{path}'")
    check_texts("formats", formats, "names of formats")
    for name in formats:
        check_choice("formats", name, FORMATS)
    # Where everything goes is found once for all files, which `savefig` would do twice each.
    figure.set_dpi(_PAPER_DPI if in_a_paper() else _DPI)
    FigureCanvasAgg(figure)
    if (layout := figure.get_layout_engine()) is not None:
        layout.execute(figure)
        figure.set_layout_engine("none")
    written = []
    for name in formats:
        target = Path(path).with_name(f"{Path(path).name}.{name}")
        with atomic_path(target) as temporary, warnings.catch_warnings():
            # Names in scripts that the font lacks are drawn as boxes; that is seen in the figure.
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")
            {"png": _png, "svg": _svg, "pdf": _pdf}[name](figure, temporary)
        written.append(target)
    plt.close(figure)
    return written


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
    path.write_text(smaller(written.getvalue()), encoding="utf-8")


def _pdf(figure: Figure, path: Path) -> None:
    FigureCanvasPdf(figure).print_pdf(path, metadata={"CreationDate": None})  # type: ignore[no-untyped-call]
