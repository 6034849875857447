"""Pages that are written from definitions at each build, and links that work in the site as they do in the repository.

Public names come from their docstrings, options from the commands, keys of study.toml from the models that check them,
columns from the schema, and a page a study from its README and its results.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType, UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

import simstudy as ss
from simstudy import schema
from simstudy.cli.command import app as command
from simstudy.running.program_files import shipped_studies
from simstudy.studies.natural.definition import NaturalStudy
from simstudy.studies.resampling.overlay import OverlaidStudy
from simstudy.studies.simulation.definition import Simulation

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
NAMESPACES = {"": ss} | {name: getattr(ss, name) for name in ("comparisons", "plot", "rankings", "training", "truth")}
#: Public names that are no function and no class.
TABLES = ("TESTS", "MODELS", "Count")


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("config-inited", lambda app, config: write_pages())
    app.connect("source-read", lambda app, name, source: source.__setitem__(0, as_built(name, source[0])))
    return {"parallel_read_safe": True}


def write_pages() -> None:
    """Write every page that has changed."""
    pages = {
        "reference/index.md": reference_index(),
        "reference/commands.md": commands(),
        "reference/study_toml.md": study_keys(),
        "reference/columns.md": columns(),
        "studies/index.md": studies_index(),
        **{f"studies/{name}.md": study(name) for name in shipped_studies()},
        **{f"reference/{full}.rst": api(full) for full in public_names()},
    }
    for name, text in pages.items():
        path = DOCS / name
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for folder in ("reference", "studies"):
        for path in (DOCS / folder).iterdir():
            if f"{folder}/{path.name}" not in pages:
                path.unlink()


# Public names.


def public_names() -> list[str]:
    """All of them, such as simstudy.plot.curve."""
    return [f"simstudy.{prefix}{'.' * bool(prefix)}{name}" for prefix in NAMESPACES for name in names_of(prefix)]


def names_of(prefix: str) -> list[str]:
    """The public names of a namespace, but for its namespaces."""
    module = NAMESPACES[prefix]
    known = {name: getattr(module, name) for name in getattr(module, "__all__", dir(module))}
    return sorted((name for name, value in known.items() if not isinstance(value, ModuleType)), key=str.lower)


def api(full: str) -> str:
    """A page of one public name."""
    owner, _, name = full.rpartition(".")
    value = getattr(NAMESPACES[owner.removeprefix("simstudy").removeprefix(".")], name)
    title = f"{full}\n{'=' * len(full)}\n\n.. currentmodule:: {owner}\n\n"
    if name in TABLES:
        return title + constant(name, value)
    if inspect.isclass(value):
        return f"{title}.. autoclass:: {name}\n   :members:\n   :inherited-members:\n"
    return f"{title}.. autofunction:: {name}\n"


def constant(name: str, value: Any) -> str:
    """What is neither function nor class: a type, or a table by name."""
    if name == "Count":
        return (
            ".. data:: Count\n\n   The type of functions that count a metric's statistics, an array (n items, S),\n"
            "   from `Examples` and the answers of a system.\n"
        )
    called = f"ss.{'truth.' * (name == 'MODELS')}{name}"
    example = f"   >>> import simstudy as ss\n   >>> sorted({called})[0]\n   '{min(value)}'\n"
    rows = "".join(f"   * - {key}\n     - {_told(one)}\n" for key, one in value.items())
    return f".. data:: {name}\n\n{example}\n.. list-table::\n\n{rows}"


def _told(one: Any) -> str:
    return getattr(one, "null", None) or (inspect.getdoc(one) or "").split("\n\n")[0].replace("\n", " ")


def reference_index() -> str:
    """Lists of everything in the reference."""
    parts = ["# Reference\n\n- [Commands and their options](commands.md)\n- [Keys of study.toml](study_toml.md)\n"
             "- [Columns of Comparisons](columns.md)\n- [Formats of files](../formats.md)\n\n"]  # fmt: skip
    for prefix, module in NAMESPACES.items():
        space = f"simstudy.{prefix}".rstrip(".")
        rows = [(f"[{name}]({space}.{name}.rst)", _first(getattr(module, name), name)) for name in names_of(prefix)]
        parts.append(f"## {space}\n\n{_table(('name', 'what it is'), rows)}")
    names = _lines(["commands", "study_toml", "columns", *public_names()])
    return "".join(parts) + f"```{{toctree}}\n:hidden:\n\n{names}```\n"


def _first(value: Any, name: str) -> str:
    if name in TABLES:
        return {"TESTS": "the tests by name", "MODELS": "models of known truth by name"}.get(name, "a type")
    return " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split()).replace("|", r"\|").replace("`", "")


# Commands.


def commands() -> str:
    """Every command with its arguments and options, as --help has them."""
    group = typer.main.get_command(command)
    return "# Commands and their options\n\n" + "".join(_commands(group, "simstudy"))


def _commands(group: Any, prefix: str) -> Iterator[str]:
    for name, one in group.commands.items():
        called = f"{prefix} {name}"
        if hasattr(one, "commands"):
            yield from _commands(one, called)
            continue
        text = inspect.cleandoc(one.help or "").replace("\n\n    ", "\n\n")
        yield f"## {called}\n\n{text}\n\n"
        if rows := [_option(param) for param in one.params if param.name != "help"]:
            yield _table(("option", "default", "what it does"), rows)


def _option(param: Any) -> tuple[str, str, str]:
    is_argument = param.param_type_name == "argument"
    names = [param.name.upper()] if is_argument else [*param.opts, *param.secondary_opts]
    default = "" if param.default in (None, []) or callable(param.default) else f"`{param.default}`"
    return ", ".join(f"`{name}`" for name in names), "required" if param.required else default, _cell(param.help)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + "\n"


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", r"\|")


# Keys of study.toml.


def study_keys() -> str:
    """Every key of the three kinds of studies that need no program."""
    parts = ["# Keys of study.toml\n\nEvery key is checked before anything runs. An unknown key is an error.\n\n"]
    seen: list[type[BaseModel]] = []
    for title, model in (("resampling", OverlaidStudy), ("natural", NaturalStudy), ("simulation", Simulation)):
        parts.append(f'## kind = "{title}"\n\n{_cell(inspect.getdoc(model))}\n\n')
        parts += _keys(model, "", seen)
    return "".join(parts)


def _keys(model: type[BaseModel], prefix: str, seen: list[type[BaseModel]]) -> Iterator[str]:
    meanings = _docstrings(model)
    rows, parts = [], []
    for name, field in model.model_fields.items():
        if name in ("name", "kind"):
            continue
        inner = _models(field.annotation)
        told = meanings.get(name, "") or "".join(_cell(inspect.getdoc(one)) for one in inner[:1])
        # Without it a study is of resampling alone.
        default = "" if (model, name) == (OverlaidStudy, "natural") else _default(field)
        rows.append((f"`{name}`", _type_of(field.annotation), default, _cell(told)))
        parts += [(f"{prefix}{name}", one) for one in inner if one not in seen]
    yield _table(("key", "value", "default", "meaning"), rows)
    for key, one in parts:
        if one not in seen:
            seen.append(one)
            yield f"### [{key}]\n\n{_cell(inspect.getdoc(one))}\n\n"
            yield from _keys(one, f"{key}.", seen)


def _docstrings(model: type[BaseModel]) -> dict[str, str]:
    """Name of a field -> the string below it."""
    found: dict[str, str] = {}
    for owner in reversed(model.__mro__):
        if not (issubclass(owner, BaseModel) and owner.__module__.startswith("simstudy")):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(owner))).body[0].body  # type: ignore[attr-defined]
        for field, after in zip(body, body[1:], strict=False):
            match field, after:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                    found[name] = text
    return found


def _models(annotation: Any) -> list[type[BaseModel]]:
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]


def _type_of(annotation: Any) -> str:
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type_of(parts[0])
    if origin is Literal:
        return " or ".join(f'"{one}"' for one in parts)
    if origin in (list, tuple):
        return f"list of {_type_of(parts[0])}" if parts else "list"
    if origin is dict:
        return f"table of {_type_of(parts[1])}"
    if origin is UnionType or parts:
        return " or ".join(_type_of(one) for one in parts if one is not type(None))
    if _models(annotation):
        return "table"
    return {str: "text", int: "whole number", float: "number", bool: "true or false"}.get(annotation, str(annotation))


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.default if field.default is not PydanticUndefined else field.default_factory()  # type: ignore[misc,call-arg]
    return "" if value is None or isinstance(value, BaseModel) else f"`{value}`"


# Columns of Comparisons.


def columns() -> str:
    """The columns of Comparisons."""
    units = {"score": "metric's scale", "": "–"}
    rows = [(f"`{one.name}`", one.kind, units.get(one.unit, one.unit), one.meaning) for one in schema.COLUMNS]
    return f"# Columns of Comparisons\n\n{_table(('column', 'type', 'unit', 'meaning'), rows)}"


# Studies.


def study(name: str) -> str:
    """The README of a study, and below it the figures of its results with what their page says of them."""
    text = (ROOT / "experiments" / name / "README.md").read_text("utf-8").rstrip()
    results = ROOT / "results" / name / "README.md"
    if not results.exists():
        return f"{text}\n"
    # Links to the page of results lead here.
    return (
        f"{text}\n\n## Figures\n\n{_figures(results, text) or 'The results have no other figures than those above.'}\n"
    )


def _figures(page: Path, readme: str) -> str:
    """The figures of a page of results that the README does not show."""
    parts = []
    for section in re.split(r"^## ", page.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        title, _, rest = section.partition("\n")
        files = re.findall(r"!\[[^]]*\]\(figures/([^)]+)\)", rest)
        pictures = [file for file in files if f"figures/{file}" not in readme]
        if pictures:
            caption = next((part for part in rest.split("\n\n") if part.strip() and part.lstrip()[0] not in "!|-"), "")
            shown = "\n\n".join(f"![{title}](../../results/{page.parent.name}/figures/{file})" for file in pictures)
            parts.append(f"### {title}\n\n{shown}\n\n{caption.strip()}\n")
    return "\n".join(parts)


def studies_index() -> str:
    """All studies with their questions."""
    names = shipped_studies()
    titles = [(ROOT / "experiments" / name / "README.md").read_text("utf-8").split("\n", 1)[0][2:] for name in names]
    listed = "".join(f"- [{title}]({name}.md)\n" for name, title in zip(names, titles, strict=True))
    return (
        "# The shipped studies\n\n[The four papers](../papers.md) sets our numbers beside theirs. [How to run and "
        f"write a study](../studies.md) has more.\n\n{listed}\n```{{toctree}}\n:hidden:\n\n{_lines(names)}```\n"
    )


def _lines(names: Iterable[str]) -> str:
    return "".join(f"{name}\n" for name in names)


# Links and code.


def as_built(name: str, text: str) -> str:
    """A page as the site has it: with links of the site, and with code that is executed."""
    return executed(with_links_of_the_site(name, text))


#: Code sees the example files, and writes none of its own among them.
_FIRST = """---
file_format: mystnb
kernelspec:
  name: python3
---

```{code-cell} python
:tags: [remove-cell]
import os, shutil, tempfile
os.chdir(shutil.copytree(os.environ["SIMSTUDY_DOCS_EXAMPLES"], tempfile.mkdtemp() + "/examples"))
```

"""


def executed(text: str) -> str:
    """The page as a notebook, if it has Python code: its blocks are run at the build, and their outputs shown."""
    if "\n```python\n" not in text:
        return text
    return _FIRST + text.replace("\n```python\n", "\n```{code-cell} python\n")


def with_links_of_the_site(name: str, text: str) -> str:
    """The text of a page with links to READMEs of studies and results made links to their pages of the site.

    Links to other files of the repository, which the site does not have, become plain text.
    """
    page = DOCS / name
    folder = ROOT / "experiments" / page.name if page.parent.name == "studies" else page.parent

    def link(match: re.Match[str]) -> str:
        shown, (address, hash_, anchor) = match[1], match[2].partition("#")
        if "://" in address or not address or address.startswith("mailto:"):
            return match[0]
        target = (folder / address).resolve()
        if not target.exists():
            target = (page.parent / address).resolve()
        parts = target.relative_to(ROOT).parts
        if len(parts) == 3 and parts[0] in ("experiments", "results") and parts[2] == "README.md":
            target = DOCS / "studies" / f"{parts[1]}.md"
            if parts[0] == "results":
                hash_, anchor = "#", "figures"
        elif not (shown.startswith("!") or (parts[0] == "docs" and target.suffix in (".md", ".rst"))):
            return shown[1:-1]
        return f"{shown}({os.path.relpath(target, page.parent)}{hash_}{anchor})"

    return re.sub(r"(!?\[(?:[^][]|\[[^]]*\])*\])\(([^)\s]+)\)", link, text)
