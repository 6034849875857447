"""A metric of the user's own, named on the command line as module:function."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path

from simstudy.cli.errors import is_closed
from simstudy.metrics import Metric, find_metric
from simstudy.metrics.made import metric as make_metric


def metric_named(text: str, lower_is_better: bool | None) -> str | Metric:
    """The metric that module:name means, a function of summed statistics or a Metric; other names as they are.

    The module is a program of the user's and is run: it is looked for in the working directory, then where Python
    looks.

    Raises
    ------
    ValueError
        Where there is no such module, or nothing of that name in it, and as `simstudy.metric`.
    """
    module, colon, name = text.partition(":")
    if not colon:
        if find_metric(text) is None and Path(f"{text}.py").is_file():
            raise ValueError(f"metric '{text}' must name a function of {text}.py: --metric {text}:function")
        return text
    if not name.isidentifier() or module.endswith(".py") or not all(part.isidentifier() for part in module.split(".")):
        raise ValueError(f"metric '{text}' must be module:function, the module as Python imports it (without .py)")
    # Last: a file here that is called as one of Python's own modules must not stand in for it.
    sys.path.append("")
    try:
        # What the module prints is no part of our output, which may be JSON.
        with redirect_stdout(sys.stderr):
            program = import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0] and error.name != module:
            raise ValueError(f"metric '{text}': module '{module}' needs '{error.name}', which is not there") from None
        raise ValueError(f"metric '{text}': there is no module '{module}' here or among Python's own") from None
    except (Exception, SystemExit) as error:
        # The module is the user's: what it raises is no bug of ours, and its exit code is not the comparison's.
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise ValueError(f"metric '{text}': module '{module}' cannot be imported: {said}") from None
    finally:
        sys.path.remove("")
    if is_closed(sys.__stdout__) or is_closed(sys.stderr):
        # What it takes for standard output is standard error here.
        raise ValueError(f"metric '{text}': module '{module}' closes standard output")
    if not hasattr(program, name):
        where = getattr(program, "__file__", None) or "built in"
        raise ValueError(f"metric '{text}': module '{module}' ({where}) has no '{name}'")
    found = getattr(program, name)
    if isinstance(found, Metric):
        return found
    try:
        return make_metric(name, found, lower_is_better=bool(lower_is_better))
    except ValueError as error:
        hint = "; simstudy.metric(…, columns=…) makes a metric that can be named" if "columns" in str(error) else ""
        raise ValueError(f"metric '{text}': {error}{hint}") from None
