"""Smaller SVG files: matplotlib writes each style out at every mark, and places to a millionth of a point."""

from __future__ import annotations

import re
from hashlib import sha256

_TAG = re.compile(r"<\w[^>]*>")
_PLACES = re.compile(r' (?:d|x|y|width|height)="[^"]*"')
_STYLE = re.compile(r' style="([^"]*)"')
_FINE = re.compile(r"-?\d+\.\d{3,}")
_UNTURNED = re.compile(r' transform="rotate\(-?0 [^"]*"')
_GROUP = re.compile(r"(</?g(?: [^>]*)?>)\n?")
_BARE_GROUP = re.compile(r'<g(?: id="[^"]*")?>')


def smaller(svg: str) -> str:
    """The same picture with places to a hundredth of a point, each style once, and lines of one style as one path.

    Only tags are changed; text between them stays as it is. Groups that say nothing but a number are dropped.
    """
    styles: dict[str, str] = {}

    def place(tag: re.Match[str]) -> str:
        # Places stand in one line: matplotlib breaks it at every point of a path.
        return _FINE.sub(lambda number: f"{float(number.group()):.2f}".rstrip("0").rstrip("."), tag.group()).replace(
            " \n", " "
        )

    def named(style: re.Match[str]) -> str:
        # A name by content: of several figures in one page none changes the look of another.
        name = f"s{sha256(style.group(1).encode()).hexdigest()[:8]}"
        styles[name] = style.group(1)
        return f' class="{name}"'

    svg = _TAG.sub(lambda tag: _STYLE.sub(named, _PLACES.sub(place, tag.group())), svg)
    svg = _without_bare_groups(re.sub(r">\n\s+<", ">\n<", _TAG.sub(lambda tag: _UNTURNED.sub("", tag.group()), svg)))
    # Where lines cross, one path looks as two do, but for filled and for transparent ones.
    lines = [name for name, style in styles.items() if "fill: none" in style and "opacity" not in style]
    if lines:
        line = rf'<path d="[^"]*"((?: clip-path="[^"]*")? class="(?:{"|".join(lines)})"/>)'
        svg = re.sub(rf'{line}(?:\n<path d="[^"]*"\1)+', _joined, svg)
    rules = "".join(f".{name}{{{style}}}\n" for name, style in sorted(styles.items()))
    return svg.replace("</style>", f"{rules}</style>", 1)


def _without_bare_groups(svg: str) -> str:
    # Whether each group that is open is one of those.
    bare: list[bool] = []

    def kept(tag: re.Match[str]) -> str:
        if tag.group(1).endswith("/>"):
            return ""
        if tag.group(1).startswith("<g"):
            bare.append(_BARE_GROUP.fullmatch(tag.group(1)) is not None)
            return "" if bare[-1] else tag.group()
        return "" if bare.pop() else tag.group()

    return _GROUP.sub(kept, svg)


def _joined(lines: re.Match[str]) -> str:
    places = "".join(re.findall(r' d="([^"]*)"', lines.group()))
    return f'<path d="{places}"{lines.group(1)}'
