"""How Sphinx builds the documentation; every picture in it is made by the program itself."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

project = "gradstep"
author = "The gradstep authors"
copyright = "The gradstep authors"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
    "sphinx.ext.viewcode",
    "viz.sphinx",
]
exclude_patterns = ["_build"]
nitpicky = False
numfig = True

html_theme = "furo"
html_title = "gradstep"
html_copy_source = False
html_show_sphinx = False

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_class_signature = "separated"
doctest_global_setup = ""
