"""The documentation as a site: it is built without a warning and without a network, and has a page for every name."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer

import simstudy as ss
from simstudy import schema
from simstudy.cli.command import app
from simstudy.studies.natural.definition import NaturalStudy
from simstudy.studies.resampling.overlay import OverlaidStudy
from tests.documentation import NAMESPACES, ROOT, names_of

#: Connections to anything but this machine fail.
OFFLINE = """
import socket
connect = socket.socket.connect
def local(self, address):
    if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
        raise OSError(f"the build asks for {address}")
    return connect(self, address)
socket.socket.connect = local
"""
NAMES = [("simstudy", ss), *((f"simstudy.{name}", getattr(ss, name)) for name in NAMESPACES)]


def test_every_public_docstring_has_an_example() -> None:
    """Doctests run them; what is no function and no class has an example on its page."""
    for prefix, module in NAMES:
        for name in names_of(module):
            value = getattr(module, name)
            if inspect.isfunction(value) or (inspect.isclass(value) and value.__module__.startswith("simstudy")):
                assert ">>> " in (inspect.getdoc(value) or ""), f"{prefix}.{name}"


def test_every_figure_is_in_the_gallery() -> None:
    scripts = "".join(path.read_text("utf-8") for path in (ROOT / "docs" / "figures").glob("plot_*.py"))
    drawn = [name for name in names_of(ss.plot) if name not in ("save", "styled", "share_legend")]
    assert [name for name in drawn if f"ss.plot.{name}(" not in scripts] == []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_spec("sphinx_gallery") is None:
        pytest.skip("the extra 'docs' is not installed")
    folder = tmp_path_factory.mktemp("site")
    (folder / "sitecustomize.py").write_text(OFFLINE, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    line = [
        sys.executable,
        "-m",
        "sphinx",
        "--quiet",
        "--fail-on-warning",
        "--keep-going",
        "docs",
        str(folder / "html"),
    ]
    done = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in re.sub(r"\[IPKernelApp\] WARNING", "", done.stderr)
    return folder / "html"


@pytest.mark.slow
def test_the_site_is_built_offline_without_a_warning_and_has_every_name_option_key_and_column(site: Path) -> None:
    for prefix, module in NAMES:
        for name in names_of(module):
            page = (site / "reference" / f"{prefix}.{name}.html").read_text("utf-8")
            assert "&gt;&gt;&gt; " in page or name == "Count", f"{prefix}.{name}"
    commands = (site / "reference" / "commands.html").read_text("utf-8")
    group = typer.main.get_command(app)
    for command in group.commands.values():  # type: ignore[attr-defined]
        options = [option for param in command.params for option in param.opts if option.startswith("--")]
        assert [option for option in options if option not in commands and option != "--help"] == [], command.name
    keys = (site / "reference" / "study_toml.html").read_text("utf-8")
    for model in (OverlaidStudy, NaturalStudy):
        assert [key for key in model.model_fields if f">{key}<" not in keys and key not in ("name", "kind")] == []
    columns = (site / "reference" / "columns.html").read_text("utf-8")
    assert [one.name for one in schema.COLUMNS if f">{one.name}<" not in columns] == []


@pytest.mark.slow
def test_no_page_of_the_site_asks_for_a_file_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|img|link)[^>]*?(?:src|href)="(https?://[^"]+)"', page.read_text("utf-8"))
        assert loaded == [], page
