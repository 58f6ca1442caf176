"""The directives that an author writes: ``.. autograd-graph::`` and ``.. autograd-film::``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from gradstep_viz.embedding import (
    Drawing,
    Request,
    Snippet,
    Store,
    draw,
    drawing_options,
    of_drawing,
    snippet_of,
    steps,
    truth,
)
from gradstep_viz.errors import CodeFailed, VizError
from gradstep_viz.sphinx.resolving import drawing_node

logger = logging.getLogger(__name__)

Reader = Callable[[str], Any]
_CONTEXT = "gradstep_viz.sphinx.context"


def _reading(read: Reader) -> Reader:
    """Read an option that stands alone as "": docutils hands over None for it."""
    return lambda text: read(text or "")


def _align(text: str) -> str:
    return str(directives.choice(text, ("left", "center", "right")))


def _context(text: str | None) -> str:
    return str(directives.choice(text or "", ("", "reset")))


_OF_THE_PAGE: dict[str, Reader] = {
    "alt": directives.unchanged_required,
    "caption": directives.unchanged_required,
    "name": directives.unchanged_required,
    "align": _align,
    "width": directives.length_or_percentage_or_unitless,
    "class": directives.class_option,
    "include-source": _reading(truth),
    "context": _context,
}


class _Embedding(SphinxDirective):
    """Runs code, and puts what it made into the document."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    film: ClassVar[bool]

    def run(self) -> list[nodes.Node]:
        try:
            snippets = self._snippets()
            drawing = draw(self._request(snippets), self._store())
        except VizError as error:
            return [self._failed(error)]
        for file in drawing.files:
            self.env.note_dependency(file)
        for note in drawing.notes:
            logger.info("%s", note, location=self.get_location())
        return [*self._source(snippets[-1]), self._placed(drawing)]

    def _snippets(self) -> tuple[Snippet, ...]:
        """Collect the code to run: with ``:context:``, that of the directives before it as well."""
        if bool(self.arguments) == bool(self.content):
            raise CodeFailed(
                "there is neither a file nor code to draw"
                if not self.arguments
                else "there are both a file and code",
                remedy="name one as file.py:name, or put code inside",
            )
        document = Path(self.env.doc2path(self.env.docname))
        if self.arguments:
            new = snippet_of(self.arguments[0], document.parent)
            self.env.note_dependency(new.file)
        else:
            # MyST counts from the directive on, docutils from the beginning of the file
            above = self.content.offset(0) or self.lineno + self.content_offset
            new = Snippet("\n".join(self.content), str(document.parent), line=above + 1)
        if "context" not in self.options:
            return (new,)
        before = () if self.options["context"] == "reset" else self.env.temp_data.get(_CONTEXT, ())
        self.env.temp_data[_CONTEXT] = (*before, new)
        return (*before, new)

    def _request(self, snippets: tuple[Snippet, ...]) -> Request:
        config = self.config
        options = {"view": config.autograd_graph_view, "theme": config.autograd_graph_theme}
        options |= of_drawing(self.options, self.film)
        return Request(
            snippets,
            options,
            film=self.film,
            step=self.options.get("step"),
            values=self.options.get("values", False),
        )

    def _store(self) -> Store:
        folder = self.config.autograd_graph_cache
        return Store(Path(self.env.srcdir, folder or Path(self.env.doctreedir, "gradstep")))

    def _failed(self, error: VizError) -> nodes.Node:
        """Warn at the line that is to blame, and say the same in the document."""
        location: Any = self.get_location()
        if isinstance(error, CodeFailed) and error.line and not error.where:
            location = f"{self.content.source(0)}:{error.line}"
        logger.warning(
            "%s: %s", self.name, error, location=location, type="gradstep", subtype=self.name
        )
        return nodes.literal_block(self.block_text, f"{self.name}: {error}", language="none")

    def _source(self, snippet: Snippet) -> list[nodes.Node]:
        if not self.options.get("include-source"):
            return []
        block = nodes.literal_block(snippet.code, snippet.code.strip("\n"), language="python")
        self.set_source_info(block)
        return [block]

    def _placed(self, drawing: Drawing) -> nodes.Node:
        """Place the drawing; as a figure, when it has a caption."""
        classes = self.options.get("class", [])
        align = self.options.get("align", "")
        captioned = "caption" in self.options
        node: nodes.Element = drawing_node(
            drawing=drawing._asdict(),
            alt=self.options.get("alt", drawing.alt),
            width=self.options.get("width", ""),
            align=align or ("center" if captioned else ""),
            classes=[self.name, *classes],
        )
        self.set_source_info(node)
        if not captioned:
            self.add_name(node)
            return node
        figure = nodes.figure("", node, align=align or "default")
        self.set_source_info(figure)
        inline, messages = self.parse_inline(self.options["caption"])
        figure += [nodes.caption(self.options["caption"], "", *inline), *messages]
        self.add_name(figure)
        return figure


class AutogradGraph(_Embedding):
    """Draws the graph behind a tensor, in one picture."""

    film = False
    option_spec: ClassVar[dict[str, Reader]] = {
        **_OF_THE_PAGE,
        "step": steps,
        "values": _reading(truth),
        **{name: _reading(read) for name, read in drawing_options().items()},
    }


class AutogradFilm(_Embedding):
    """Films the backward pass of a tensor."""

    film = True
    option_spec: ClassVar[dict[str, Reader]] = {
        **_OF_THE_PAGE,
        **{name: _reading(read) for name, read in drawing_options(film=True).items()},
    }
