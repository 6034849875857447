"""What is said where data files are not there."""

from __future__ import annotations

from pathlib import Path

# So many files are named.
_NAMED = 5


class DataError(ValueError):
    """A data file is missing, unknown or not the one that was published."""


class NotPublicError(DataError):
    """Files that have no public address are in no folder at hand.

    Parameters
    ----------
    names
        ``<data set>/<file>`` each.
    folder
        Where they were looked for; None: nowhere.

    Examples
    --------
    >>> str(NotPublicError(["a/b", "a/c"]))
    'a/b and a/c have no public address: data_dir (--data-dir) or SIMSTUDY_DATA_DIR must name a folder that holds them'
    """

    def __init__(self, names: list[str], folder: Path | None = None) -> None:
        self.names, self.folder = names, folder
        one = len(names) == 1
        shown = [*names[:_NAMED], *([f"{len(names) - _NAMED} more"] if len(names) > _NAMED else [])]
        listed = names[0] if one else f"{', '.join(shown[:-1])} and {shown[-1]}"
        looked = ""
        if folder and not folder.is_dir():
            looked = f"there is no folder {folder}, and "
        elif folder:
            looked = f"{folder / listed} is missing, and " if one else f"{folder} lacks files, and "
        must = "data_dir (--data-dir) or SIMSTUDY_DATA_DIR must name a folder that holds"
        super().__init__(
            f"{looked}{listed} {'has' if one else 'have'} no public address: {must} {'it' if one else 'them'}"
        )


def lacking(names: list[str], folder: Path) -> DataError:
    """Which public files a folder lacks, and the commands that fetch them."""
    run = " and ".join(f"`simstudy data fetch {name}`" for name in dict.fromkeys(n.split("/")[0] for n in names))
    where = "which data_dir (--data-dir) or SIMSTUDY_DATA_DIR must hold"
    if not folder.is_dir():
        where = "which data_dir (--data-dir) or SIMSTUDY_DATA_DIR must name"
        return DataError(f"there is no folder {folder}, {where}; without either, {run} will do")
    return DataError(f"{folder} lacks {', '.join(names)}, {where}; without either, {run} will do")
