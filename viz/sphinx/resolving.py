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


class _Resolving(SphinxPostTransform):
    """Replaces each drawing by what :meth:`shown` makes of it."""

    def run(self, **keywords: Any) -> None:
        for node in list(self.document.findall(drawing_node)):
            new = self.shown(node, Drawing(**node["drawing"]))
            if node["ids"] and isinstance(new, nodes.raw):
                new = nodes.container("", new)  # raw text has no place for the id of a reference
            new["ids"], new["names"] = node["ids"], node["names"]
            node.parent.replace(node, new)

    def shown(self, node: drawing_node, drawing: Drawing) -> nodes.Element:
        """The drawing as text, which is what any builder can show."""
        text = drawing.text.rstrip("\n")
        block = nodes.literal_block(text, text, language="none", classes=node["classes"])
        block.source, block.line = node.source, node.line
        return block


class TextForEpub(_Resolving):
    """An EPUB has to declare the pages that hold SVG, and Sphinx does not."""

    default_priority = 10
    builders = ("epub",)


class SvgForHtml(_Resolving):
    """The picture itself, in the page."""

    default_priority = 11
    formats = ("html",)

    def run(self, **keywords: Any) -> None:
        self.taken: set[str] = set()
        super().run(**keywords)

    def shown(self, node: drawing_node, drawing: Drawing) -> nodes.Element:
        markup = inline_svg(
            drawing.svg, title=node["alt"], width=node["width"], align=node["align"],
            classes=node["classes"], taken=self.taken,
        )  # fmt: skip
        return nodes.raw("", markup, format="html")


class ImageForLatex(_Resolving):
    """A PDF, which LaTeX includes."""

    default_priority = 11
    formats = ("latex",)

    def shown(self, node: drawing_node, drawing: Drawing) -> nodes.Element:
        try:
            path = str(print_into(Path(self.env.doctreedir) / "gradstep", drawing))
        except VizError as error:
            logger.warning(
                "%s; the picture is printed as text", error,
                location=node, type="gradstep", subtype="print",
            )  # fmt: skip
            return super().shown(node, drawing)
        self.env.images.add_file(self.env.docname, path)
        image = nodes.image(
            uri=path, candidates={"*": path}, alt=node["alt"], classes=node["classes"]
        )
        for attribute in ("width", "align"):
            if node[attribute]:
                image[attribute] = node[attribute]
        return image


class TextElsewhere(_Resolving):
    """Whatever is left when the others have had their turn."""

    default_priority = 12
