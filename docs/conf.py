"""How Sphinx builds the documentation; every picture in it is made by the program itself."""

import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.inspect import signature, stringify_signature

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS.parent), str(DOCS / "_ext")]

from core_as_pytorch import CoreAsPyTorch  # noqa: E402

if find_spec("torch") is None:
    # The programs of the pages import PyTorch. Where it is missing, the core draws the same.
    sys.meta_path.append(CoreAsPyTorch())

project = "gradstep"
author = "The gradstep authors"
copyright = "The gradstep authors"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinxext.opengraph",
    "gradstep.sphinx",
    "console",
    "debugger",
    "operators",
    "left_out",
    "namespace",
    "packages",
    "releases",
    "exhibit",
]
exclude_patterns = ["_build", "_ext"]
nitpicky = False
numfig = True
smartquotes = False  # of --break they would make a dash

project_file = tomllib.loads((DOCS.parent / "pyproject.toml").read_text("utf-8"))
address = project_file["tool"]["hatch"]["metadata"]["hooks"]["custom"]["address"]

html_theme = "furo"
html_theme_options = {
    "source_edit_link": f"{address}/edit/main/docs/{{filename}}",
    "source_view_link": f"{address}/blob/main/docs/{{filename}}?plain=true",
}
html_logo = html_favicon = "_static/logo.svg"
html_baseurl = f"{address}/docs/"
ogp_site_url = html_baseurl
ogp_image = "_static/card.png"
ogp_image_alt = "gradstep: find out what is wrong with your gradients"
ogp_social_cards = {"enable": False}  # one for all pages
copybutton_prompt_text = r"\$ |>>> |\.\.\. |\(gradstep\) "
copybutton_prompt_is_regexp = True
html_title = "gradstep"
pygments_dark_style = "github-dark"
html_copy_source = False
html_static_path = ["_static"]
html_extra_path = [
    "llms.txt",
    "images/report-dying-units.html",
    "images/page-digits.html",
    "../gradstep/findings/report.schema.json",
    "../gradstep/console/reply.schema.json",
]
html_css_files = ["docs.css"]
html_show_sphinx = False
html_domain_indices = False
# beside a page stand its headings: 500 names there are no help, and half a minute of copying
toc_object_entries = False

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"
# two classes are called Node, as in PyTorch and in any graph; a bare annotation may mean either
suppress_warnings = ["ref.python"]


def skip_bare_fields(
    _app: Any, _what: str, _name: str, member: Any, skip: bool, _options: Any
) -> bool:
    """The signature names the fields of a record; of most, Python says only their number."""
    return skip or str(getattr(member, "__doc__", "")).startswith("Alias for field number")


def keep_colons(
    _app: Any, what: str, _name: str, _obj: Any, _options: Any, lines: list[str]
) -> None:
    """Napoleon takes what stands before a colon in a property's first line for its type: let the
    first line be an empty comment."""
    if what == "property":
        lines[:0] = ["..", ""]


def show_init(
    _app: Any, what: str, _name: str, obj: Any, _options: Any, text: str | None, returns: str
) -> tuple[str, str] | None:
    """Of an optimizer, autodoc shows ``__new__``, which takes anything."""
    if what != "class" or "**keywords" not in (text or ""):
        return None
    init = signature(obj.__init__, bound_method=True)
    parameters = stringify_signature(init, show_return_annotation=False, unqualified_typehints=True)
    return parameters, returns


def let_images_scroll(_app: Any, document: nodes.document) -> None:
    """On a phone, a picture that is shrunk to the page cannot be read: put it into a box."""
    for image in [*document.findall(nodes.image)]:
        if isinstance(image.parent, (nodes.section, nodes.document)):
            box = nodes.container(classes=["picture"])
            image.parent.replace(image, box)
            box += image


def setup(app: Any) -> None:
    """Leave out what says nothing, and let pictures scroll."""
    app.connect("doctree-read", let_images_scroll)
    app.connect("autodoc-skip-member", skip_bare_fields)
    app.connect("autodoc-process-signature", show_init)
    app.connect("autodoc-process-docstring", keep_colons, priority=400)  # before napoleon
