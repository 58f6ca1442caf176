"""Pictures inside documents: run an author's code, draw what it made, remember the drawing.

Sphinx, MyST and Markdown all come here: a :class:`Request` says what is to be drawn and how,
and :func:`draw` answers with a :class:`Drawing`, the same picture as SVG, as text and in a
sentence.
"""

from gradstep_viz.embedding.drawing import Drawing, Request, draw
from gradstep_viz.embedding.inline import inline_svg, is_wide
from gradstep_viz.embedding.options import drawing_options, of_drawing, steps, truth
from gradstep_viz.embedding.snippet import Snippet, snippet_of
from gradstep_viz.embedding.store import Store, gradstep_version

__all__ = [
    "Drawing",
    "Request",
    "Snippet",
    "Store",
    "draw",
    "drawing_options",
    "gradstep_version",
    "inline_svg",
    "is_wide",
    "of_drawing",
    "snippet_of",
    "steps",
    "truth",
]
