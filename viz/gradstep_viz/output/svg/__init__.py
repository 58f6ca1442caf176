"""Our SVG: a picture, its style and its legend, written into a document of their own."""

from gradstep_viz.output.svg.document import finish, title_of, with_title, write_svg
from gradstep_viz.output.svg.elements import escape, rectangle, text_at
from gradstep_viz.output.svg.lines import arrow, draw_ports, hook_mark, label_text, line_classes

__all__ = [
    "arrow",
    "draw_ports",
    "escape",
    "finish",
    "hook_mark",
    "label_text",
    "line_classes",
    "rectangle",
    "text_at",
    "title_of",
    "with_title",
    "write_svg",
]
