"""How a subcommand reads its arguments: nothing that was asked for is passed over in silence."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand

# typer has a copy of click inside, or click beside it, as its version goes.
UsageError: Any = typer.BadParameter.__mro__[1]
ClickException: Any = typer.BadParameter.__mro__[2]


class StrictCommand(TyperCommand):
    """A command that refuses an option that is given twice, where the last would win, and empty values."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        if not ctx.resilient_parsing:
            try:
                values, _, order = self.make_parser(ctx).parse_args(args=list(args))
            except UsageError as error:
                # The parser does not say of which command it is.
                error.ctx = ctx
                raise
            if not any(param.name == "help" for param in order):
                _check(ctx, values, order)
        return super().parse_args(ctx, args)


def _check(ctx: Any, values: dict[str, Any], order: list[Any]) -> None:
    for i, param in enumerate(order):
        if param.param_type_name == "option" and not param.multiple and param in order[:i]:
            raise typer.BadParameter("it is given twice", ctx=ctx, param=param)
        if "" in _texts(values.get(param.name)):
            raise typer.BadParameter("it must not be empty", ctx=ctx, param=param)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)


def mapping(columns: str | None) -> dict[str, str]:
    """What --columns says: our names of columns and the files'."""
    pairs = [part.partition("=") for part in (columns or "").split(",") if part]
    if len({name.strip() for name, _, _ in pairs}) < len(pairs):
        raise ValueError(f"columns must name each of ours once, not '{columns}'")
    for name, equals, column in pairs:
        if not (name and equals and column):
            raise ValueError(f"columns must be like item=instance_id,score=resolved, not '{columns}'")
    return {name.strip(): column.strip() for name, _, column in pairs}


def value_or_range(option: str, text: str | None) -> float | tuple[float, float] | None:
    """A number, or the two ends of a range, 0.5:0.7."""
    if text is None:
        return None
    try:
        parts = [float(part) for part in text.split(":")]
    except ValueError:
        parts = []
    if len(parts) not in (1, 2) or not all(map(isfinite, parts)):
        raise ValueError(f"{option} must be a number, or a range like 0.5:0.7, not '{text}'")
    return parts[0] if len(parts) == 1 else (parts[0], parts[1])


def settings_of(context: Any) -> dict[str, Any]:
    """The command's options as JSON has them, in the order of --help; None for lists that were not given."""
    given = {str(one.name): context.params[one.name] for one in context.command.params if one.name in context.params}
    return {name: None if value in ([], ()) else plain(value) for name, value in given.items()}


def plain(value: Any) -> Any:
    """What an option has, as JSON has it."""
    if isinstance(value, Path):
        return str(value)
    return [plain(part) for part in value] if isinstance(value, list | tuple) else value
