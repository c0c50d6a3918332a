"""Sphinx configuration. `make docs` writes pages from runs, the gallery of models among them, and the picture of the architecture first."""

import sys
from pathlib import Path

import simopt

sys.path.insert(0, str(Path(__file__).parent))

project = "simopt"
author = "The simopt developers"
copyright = "The simopt developers"
version = release = simopt.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "typeset", "docstrings", "registered", "drawn"]
myst_enable_extensions = ["dollarmath", "colon_fence", "attrs_inline"]
myst_heading_anchors = 2
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "_drawn"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_ivar = True
html_math_renderer = "mathml"
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["page.css"]
html_title = f"simopt {version}"
