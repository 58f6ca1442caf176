"""From a drawing in a document to what the builder at work can show.

The document holds a neutral node.  Just before it is written, the node becomes one that every
writer knows: inline SVG in HTML, a vector image in LaTeX, and text everywhere else.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from viz.embedding import Drawing, inline_svg
from viz.embedding.printing import print_into
from viz.errors import VizError

logger = logging.getLogger(__name__)


class drawing_node(nodes.General, nodes.Inline, nodes.Element):  # a name as docutils has them
    """A drawing: the attribute ``drawing`` has the fields of :class:`viz.embedding.Drawing`."""


class ResolveDrawings(SphinxPostTransform):
    """Replaces each :class:`drawing_node` by what the builder can show."""

    default_priority = 10

    def run(self, **keywords: Any) -> None:
        taken: set[str] = set()
        builder = self.app.builder
        for node in list(self.document.findall(drawing_node)):
            drawing = Drawing(**node["drawing"])
            if builder.format == "html" and builder.name != "epub":
                new: nodes.Element = _html(node, drawing, taken)
            elif builder.format == "latex":
                new = self._image(node, drawing)
            else:
                new = _text(node, drawing)
            new["ids"], new["names"] = node["ids"], node["names"]
            node.replace_self(new)

    def _image(self, node: drawing_node, drawing: Drawing) -> nodes.Element:
        try:
            path = str(print_into(Path(self.env.doctreedir) / "gradstep", drawing))
        except VizError as error:
            logger.warning(
                "%s; the picture is printed as text", error,
                location=node, type="gradstep", subtype="print",
            )  # fmt: skip
            return _text(node, drawing)
        self.env.images.add_file(self.env.docname, path)
        image = nodes.image(
            uri=path, candidates={"*": path}, alt=node["alt"], classes=node["classes"]
        )
        for attribute in ("width", "align"):
            if node[attribute]:
                image[attribute] = node[attribute]
        return image


def _html(node: drawing_node, drawing: Drawing, taken: set[str]) -> nodes.Element:
    markup = inline_svg(
        drawing.svg, title=node["alt"], width=node["width"], align=node["align"],
        classes=node["classes"], taken=taken,
    )  # fmt: skip
    block = nodes.container()  # carries the ids that references lead to
    block += nodes.raw("", markup, format="html")
    return block


def _text(node: drawing_node, drawing: Drawing) -> nodes.Element:
    text = drawing.text.rstrip("\n")
    block = nodes.literal_block(text, text, language="none", classes=node["classes"])
    block.source, block.line = node.source, node.line
    return block
