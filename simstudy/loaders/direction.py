"""Whether more or less of a score is better: files do not say, but what they call it may."""

from __future__ import annotations

from collections.abc import Iterable

from simstudy.loaders.base import Loaded
from simstudy.metrics.direction import sounds_like_error
from simstudy.metrics.mean import MEAN
from simstudy.notes import note


def all_errors(names: Iterable[str]) -> tuple[str, ...]:
    """Names that all sound like errors, else none: one system of many may be called after its loss.

    Examples
    --------
    >>> all_errors(["wer_old", "wer_new"]), all_errors(["focal_loss", "new"])
    (('wer_old', 'wer_new'), ())
    """
    listed = tuple(names)
    return listed if all(map(sounds_like_error, listed)) else ()


def doubt(loaded: Loaded) -> str:
    """Why lower may be better of these scores, although higher is taken to be so; empty where nothing suggests it."""
    metric = loaded.outputs.metric
    suspects = [name for name in (*loaded.scored_by, metric.name) if sounds_like_error(name)]
    if not suspects or not metric.higher_is_better:
        return ""
    means = "" if metric.name == MEAN else f"metric='{MEAN}' with "
    return (
        f"scores are called '{suspects[0]}' and higher is taken to be better, so that the system with more of it wins: "
        f"{means}lower_is_better=True turns that round, lower_is_better=False says that it is right"
    )


def note_doubt(loaded: Loaded, lower_is_better: bool | None) -> None:
    """Note that lower may be better, where the caller did not say and the names of the scores suggest it."""
    if lower_is_better is None and (said := doubt(loaded)):
        note(said)
