"""Options in groups: a dataclass is a group, and each of its fields an option of the command."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, field, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_args, get_type_hints

import typer

from simstudy.cli.usage import value_or_range

#: Class.field, as messages of the library name it, and what the option is called.
OPTIONS: dict[str, str] = {}


def grouped(function: Callable[..., None]) -> Callable[..., None]:
    """A command that has, for each parameter that is a dataclass, the options of its fields under a heading of --help.

    The class is the one place of an option. The heading is the parameter's annotation, ``Annotated[Class, "heading"]``.
    A field's metadata have ``help``, and ``option`` where it is not called as the field is; or its type is
    ``Annotated[…, typer.Option(…)]``. A field that may have a range takes one as 0.5:0.7. The function is called with
    objects of the classes.

    Examples
    --------
    >>> from dataclasses import dataclass, field
    >>> from typer.testing import CliRunner
    >>> @dataclass
    ... class Clusters:
    ...     size: float | None = field(default=None, metadata={"option": "cluster_size", "help": "Items of a cluster."})
    >>> app = typer.Typer()
    >>> @app.command()
    ... @grouped
    ... def plan(clusters: Annotated[Clusters, "Clusters"]) -> None:
    ...     print(clusters)
    >>> print(CliRunner().invoke(app, ["--cluster-size", "4"]).output.strip())
    Clusters(size=4.0)
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
    for known in hint.__metadata__:
        known.rich_help_panel = heading
    default = one.default_factory() if one.default_factory is not MISSING else one.default
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if default is MISSING else default,
        annotation=hint,
    )


def _may_be_range(hint: Any) -> bool:
    return any(getattr(kind, "__origin__", None) is tuple for kind in get_args(hint))


def _read(value: Any, option: str, group: type, field: str) -> Any:
    """The value of a field from what was typed."""
    if isinstance(value, str) and _may_be_range(get_type_hints(group)[field]):
        return value_or_range(f"--{option.replace('_', '-')}", value)
    return value
