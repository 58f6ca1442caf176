"""From a drawing in a document to what the builder at work can show.

The document holds a neutral node.  Just before it is written, the node becomes one that every
writer knows: SVG inside the pages of HTML, an image in LaTeX and EPUB, and text everywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.osutil import relative_uri

from gradstep_viz.embedding import Drawing, inline_svg, is_wide
from gradstep_viz.embedding.printing import print_into, write_into, write_plain_into
from gradstep_viz.errors import VizError
from gradstep_viz.output.svg import with_title

logger = logging.getLogger(__name__)


class drawing_node(nodes.General, nodes.Inline, nodes.Element):  # a name as docutils has them
    """A drawing: its attribute ``drawing`` is a :class:`~gradstep_viz.embedding.Drawing`."""


class Page(NamedTuple):
    """The page that is being written; ``taken`` are the prefixes of ids that it has already."""

    app: Sphinx
    name: str
    taken: set[str]

    @property
    def files(self) -> Path:
        """The folder for pictures that the builder copies from."""
        return Path(self.app.doctreedir) / "gradstep"


Show = Callable[[Page, drawing_node, Drawing], nodes.Element]


def resolve_drawings(app: Sphinx, document: nodes.document, docname: str) -> None:
    """Replace each drawing of ``document`` by what the builder can show."""
    show = _SHOWN_BY.get(app.builder.name) or _SHOWN_BY.get(app.builder.format, _as_text)
    page = Page(app, docname, set())
    for node in list(document.findall(drawing_node)):
        new = show(page, node, Drawing(**node["drawing"]))
        if node["ids"] and isinstance(new, nodes.raw):
            new = nodes.container("", new)  # raw text has no place for the id of a reference
        new["ids"], new["names"] = node["ids"], node["names"]
        node.parent.replace(node, new)


def _as_text(page: Page, node: drawing_node, drawing: Drawing) -> nodes.Element:
    """Put the drawing in words, which is what any builder can show."""
    text = drawing.text.rstrip("\n")
    block = nodes.literal_block(text, text, language="none", classes=node["classes"])
    block.source, block.line = node.source, node.line
    return block


def _in_html(page: Page, node: drawing_node, drawing: Drawing) -> nodes.Element:
    """Put the picture itself in the page; a wide one is also to be had in full size."""
    link = ""
    if is_wide(drawing.svg):
        builder = page.app.builder
        folder = Path(builder.outdir) / builder.imagedir
        file = write_into(folder, with_title(drawing.svg, node["alt"]).encode(), "svg")
        link = relative_uri(builder.get_target_uri(page.name), f"{builder.imagedir}/{file.name}")
    markup = inline_svg(
        drawing.svg, title=node["alt"], width=node["width"], align=node["align"],
        classes=node["classes"], taken=page.taken, link=link,
    )  # fmt: skip
    return nodes.raw("", markup, format="html")


def _in_epub(page: Page, node: drawing_node, drawing: Drawing) -> nodes.Element:
    """Write a file of its own: an EPUB would have to declare the pages that hold SVG."""
    return _image(page, node, write_plain_into(page.files, drawing))


def _in_latex(page: Page, node: drawing_node, drawing: Drawing) -> nodes.Element:
    """Write a PDF, which LaTeX includes."""
    try:
        path = print_into(page.files, drawing)
    except VizError as error:
        logger.warning(
            "%s; the picture is printed as text", error,
            location=node, type="gradstep", subtype="print",
        )  # fmt: skip
        return _as_text(page, node, drawing._replace(text=drawing.text.translate(_TYPEWRITTEN)))
    if isinstance(node.parent, nodes.figure):
        node.parent.insert(0, nodes.raw("", _ROOM_FOR_CAPTION, format="latex"))
    return _image(page, node, path)


# pdflatex stops at these
_TYPEWRITTEN: Final = str.maketrans(
    {"∂": "d", "−": "-", "⁻": "^-", "←": "<-", "→": "->", "↑": "^", "↓": "v", "⋯": "..."}
)
# Sphinx makes a picture as high as the page at most, and the caption then ends below it
_ROOM_FOR_CAPTION: Final = (
    r"\makeatletter\ifdefined\spx@image@maxheight\spx@image@maxheight=.85\textheight\fi"
    r"\makeatother"
)


def _image(page: Page, node: drawing_node, path: Path) -> nodes.Element:
    page.app.env.images.add_file(page.name, str(path))
    image = nodes.image(
        uri=str(path), candidates={"*": str(path)}, alt=node["alt"], classes=node["classes"]
    )
    for attribute in ("width", "align"):
        if node[attribute]:
            image[attribute] = node[attribute]
    return image


# by name of the builder, or else by the format that it writes
_SHOWN_BY: Final[Mapping[str, Show]] = {"html": _in_html, "epub": _in_epub, "latex": _in_latex}
