"""Writing files so that nobody ever reads a half of one."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """A temporary path beside `path` that takes its name when the block ends well, and goes when it does not.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "table.csv"
    >>> with atomic_path(target) as temporary:
    ...     _ = temporary.write_text("a,b")
    ...     target.exists()
    False
    >>> target.read_text()
    'a,b'
    """
    target = Path(path)
    if not target.name:
        raise ValueError(f"path must name a file, not '{path}'")
    target.parent.mkdir(parents=True, exist_ok=True)
    # The suffix stays last: matplotlib and pandas choose the format by it.
    temporary = target.with_name(f".{target.stem}.{uuid.uuid4().hex}{target.suffix}")
    try:
        yield temporary
        os.replace(temporary, target)
    except OSError as error:
        # A disk that is full does not say what did not fit; and nobody knows the temporary name.
        if error.errno is None or error.filename not in (None, str(temporary), temporary):
            raise
        raise OSError(error.errno, error.strerror or str(error), str(target)) from error
    finally:
        temporary.unlink(missing_ok=True)
