"""The fonts of figures: one that matplotlib brings, and for other letters whichever of some others is installed."""

from __future__ import annotations

from matplotlib.font_manager import fontManager

_FIRST = "DejaVu Sans"

# Fonts with letters that the first one lacks, those of Chinese, Japanese and Korean among them. First come TrueType
# fonts, which a PDF can hold whole.
_OTHERS = """
    WenQuanYi Micro Hei, WenQuanYi Zen Hei, Noto Sans SC, Microsoft YaHei, SimHei, Malgun Gothic, Arial Unicode MS,
    Noto Sans, Noto Sans Arabic, Noto Sans Hebrew, Noto Sans Devanagari, Noto Sans Thai, PingFang SC, Hiragino Sans,
    Yu Gothic, Apple SD Gothic Neo, Noto Sans CJK SC, Noto Sans CJK JP, Source Han Sans SC, Source Han Sans, Unifont
"""


def families() -> list[str]:
    """The fonts for the letters of names, the first one first."""
    installed = {*fontManager.get_font_names()}
    names = [" ".join(name.split()) for name in _OTHERS.split(",")]
    return [_FIRST, *(name for name in names if name in installed)]


def without_own_fonts(svg: str) -> str:
    """An SVG without the names of fonts that only this machine has: who shows it has others for the same letters."""
    others = "".join(f", '{name}'" for name in families()[1:])
    return svg.replace(others, "") if others else svg
