# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Sphinx's settings; scripts/docs.sh builds. Nothing here needs the network, and neither do the pages."""

import sys
from pathlib import Path

import openmmconstraints

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "openmm-constraints"
author = "the openmm-constraints developers"
copyright = "2026, the openmm-constraints developers"
version = release = openmmconstraints.__version__

extensions = [
    "myst_nb",  # myst_parser, and notebooks
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    # in docs/extensions
    "docstrings",
    "examples",
    "includes",
    "mathml",
]
templates_path = ["templates"]
exclude_patterns = ["extensions", "templates"]
default_role = "code"
highlight_language = "none"

myst_enable_extensions = ["deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300  # s, a cell
nb_merge_streams = True

autoclass_content = "both"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "undoc-members": True, "show-inheritance": True}
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"openmm-constraints {version}"
html_static_path = ["static"]
html_css_files = ["style.css"]
html_show_sourcelink = False
html_show_search_summary = False  # a page that was opened from a file may not fetch others to quote them
html_copy_source = False
