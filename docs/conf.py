"""How Sphinx builds the documentation: `make docs`. It needs no network."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]
# Figures are drawn into files, and examples find the files that they read.
os.environ["MPLBACKEND"] = "agg"
os.environ["SIMSTUDY_DOCS_EXAMPLES"] = str(HERE / "examples")

import simstudy  # noqa: E402

project, author = "simstudy", "the simstudy authors"
version = release = simstudy.__version__
extensions = [
    "generated_pages",
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_ext", "examples", "figures", "gallery/*.ipynb", "**/sg_execution_times.rst"]
suppress_warnings = ["config.cache"]

# Headings are anchors, as forges make them, so that links to them work here and there.
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block", "colon_fence", "dollarmath"]
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_cache_path = str(HERE / "_build" / "executed")
nb_execution_timeout = 120

autodoc_typehints = "none"
autosummary_generate = True
napoleon_google_docstring = False
napoleon_use_rtype = False
default_role = "code"

sphinx_gallery_conf = {
    "examples_dirs": "figures",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "show_memory": False,
    "download_all_examples": False,
    # The page of times loads scripts from elsewhere.
    "write_computation_times": False,
    "remove_config_comments": True,
    "show_signature": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "simstudy"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["comparison.schema.json"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "navigation_with_keys": False,
    "search_as_you_type": False,
}
