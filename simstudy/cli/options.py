"""How a subcommand reads its options: a dataclass is a group of them, and nothing is passed over in silence."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, field, fields, is_dataclass
from functools import wraps
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperCommand

from simstudy.validation import InputError

# typer has a copy of click inside, or click beside it, as its version goes.
UsageError: Any = typer.BadParameter.__mro__[1]
ClickException: Any = typer.BadParameter.__mro__[2]

#: Class.field, as messages of the library name it, and what the option is called.
OPTIONS: dict[str, str] = {}

# Options that take two names and may be repeated; typer knows no lists of pairs.
_PAIRS: set[str] = set()

# Between the two names of a pair while they are one argument: no argument has it.
_BETWEEN = "\0"

#: Folder of data files, as several subcommands take it.
DataDir = Annotated[
    Path | None, typer.Option(help="Folder with data files that you already have (default: SIMSTUDY_DATA_DIR).")
]


class StrictCommand(TyperCommand):
    """A command that refuses an option that is given twice, where the last would win, and empty values."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        args = _joined(ctx, args, [one.opts[0] for one in self.params if one.name in _PAIRS])
        if not ctx.resilient_parsing:
            try:
                values, _, order = self.make_parser(ctx).parse_args(args=list(args))
            except UsageError as error:
                # The parser does not say of which command it is.
                error.ctx = ctx
                raise
            if not any(param.name == "help" for param in order):
                _check(ctx, values, order)
        rest = super().parse_args(ctx, args)
        for name in _PAIRS & ctx.params.keys():
            ctx.params[name] = [tuple(pair.split(_BETWEEN)) for pair in ctx.params[name] or ()] or None
        return rest


def _joined(ctx: Any, args: Sequence[str], pairs: Sequence[str]) -> list[str]:
    """The arguments with the two names of each of these options as one."""
    found, left = [], list(args)
    while left:
        one = left.pop(0)
        option, equals, value = one.partition("=")
        names = ([value] if equals else []) + left[: 1 if equals else 2]
        if option not in pairs:
            found.append(one)
            if one == "--":
                return found + left
        elif len(names) < 2:
            raise UsageError(f"Option '{option}' requires 2 arguments.", ctx=ctx)
        else:
            del left[: 1 if equals else 2]
            found += [option, _BETWEEN.join(names)]
    return found


def _check(ctx: Any, values: dict[str, Any], order: list[Any]) -> None:
    for i, param in enumerate(order):
        if param.param_type_name == "option" and not param.multiple and param in order[:i]:
            raise typer.BadParameter("it is given twice", ctx=ctx, param=param)
        if "" in _parts(values.get(param.name)):
            raise typer.BadParameter("it must not be empty", ctx=ctx, param=param)


def _parts(value: Any) -> list[Any]:
    """A value, or all values in a list of them or of pairs."""
    values = value if isinstance(value, list | tuple) else [value]
    return [part for one in values for part in (one.split(_BETWEEN) if isinstance(one, str) else [one])]


def mapping(columns: Sequence[str] | None) -> dict[str, str]:
    """What --columns says, once or several times: our names of columns and the files'."""
    typed = ",".join(columns or ())
    pairs = [part.partition("=") for part in typed.split(",") if part]
    if len({name.strip() for name, _, _ in pairs}) < len(pairs):
        raise InputError("columns", "must name each of ours once", typed)
    for name, equals, column in pairs:
        if not (name and equals and column):
            raise InputError("columns", "must be like item=instance_id,score=resolved", typed)
    return {name.strip(): column.strip() for name, _, column in pairs}


def listed(texts: Sequence[str] | None) -> list[str]:
    """The names in an option that is given several times, or once with commas."""
    return [part.strip() for text in texts or () for part in text.split(",")]


def _value_or_range(option: str, text: str) -> float | tuple[float, float]:
    """A number, or the two ends of a range, 0.5:0.7."""
    try:
        parts = [float(part) for part in text.split(":")]
    except ValueError:
        parts = []
    if len(parts) not in (1, 2) or not all(map(isfinite, parts)):
        raise InputError(f"--{option.replace('_', '-')}", "must be a number, or a range like 0.5:0.7", text)
    return parts[0] if len(parts) == 1 else (parts[0], parts[1])


def settings_of(context: Any) -> dict[str, Any]:
    """The command's options as JSON has them, in the order of --help; None for lists that were not given."""
    given = {str(one.name): context.params[one.name] for one in context.command.params if one.name in context.params}
    return {name: None if value in ([], ()) else _plain(value) for name, value in given.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


def grouped(function: Callable[..., None]) -> Callable[..., None]:
    """A command that has, for each parameter that is a dataclass, the options of its fields under a heading of --help.

    The class is the one place of an option; ``Annotated[Class, "heading"]`` is the parameter's annotation. A field's
    metadata have ``help``, and ``option`` where it is not called as the field is; or its type is
    ``Annotated[…, typer.Option(…)]``. A field that may have a range takes one as 0.5:0.7.
    """
    hints = get_type_hints(function, include_extras=True)
    taken: list[inspect.Parameter] = []
    groups: dict[str, tuple[type, dict[str, str]]] = {}
    for parameter in inspect.signature(function).parameters.values():
        kind = hints[parameter.name]
        heading = getattr(kind, "__metadata__", (None,))[0]
        if isinstance(heading, str):
            kind = kind.__origin__
        if not is_dataclass(kind):
            taken.append(parameter.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        assert isinstance(kind, type)
        groups[parameter.name] = kind, name_options(kind)
        types = get_type_hints(kind, include_extras=True)
        taken += [_option(heading, one, types[one.name]) for one in fields(kind) if one.init]

    @wraps(function)
    def command(**values: Any) -> None:
        for name, (kind, names) in groups.items():
            values[name] = kind(**{own: _read(values.pop(option), option, kind, own) for own, option in names.items()})
        function(**values)

    command.__signature__ = inspect.Signature(taken)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in taken}
    return command


def name_options(group: type) -> dict[str, str]:
    """The option of each field, by the field's name; from now on messages name the options instead of the fields."""
    names = {one.name: str(one.metadata.get("option", one.name)) for one in fields(group) if one.init}
    OPTIONS.update({f"{group.__name__}.{own}": option for own, option in names.items()})
    return names


def with_default(group: type, name: str, default: Any) -> Any:
    """A field of a group again, with another default: for a class that inherits from the group."""
    return field(default=default, metadata=group.__dataclass_fields__[name].metadata)  # type: ignore[attr-defined]


def _option(heading: str | None, one: Field[Any], hint: Any) -> inspect.Parameter:
    """The command's parameter for a field of a group."""
    name = str(one.metadata.get("option", one.name))
    if not hasattr(hint, "__metadata__"):
        kind = str | None if _may_be_range(hint) else hint
        hint = Annotated[kind, typer.Option(help=one.metadata["help"])]
    if get_args(hint)[0] == list[tuple[str, str]] | None:
        _PAIRS.add(name)
        hint = Annotated[list[str] | None, *hint.__metadata__]
    for known in hint.__metadata__:
        known.rich_help_panel = heading
    default = inspect.Parameter.empty if one.default is MISSING else one.default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _may_be_range(hint: Any) -> bool:
    return any(getattr(kind, "__origin__", None) is tuple for kind in get_args(hint))


def _read(value: Any, option: str, group: type, field: str) -> Any:
    """The value of a field from what was typed."""
    ranges = isinstance(value, str) and _may_be_range(get_type_hints(group)[field])
    return _value_or_range(option, value) if ranges else value
