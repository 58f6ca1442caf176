"""The exceptions of viz.

VizError                  what, where, remedy
├── UnknownFormat         no such format, view, layout or theme
├── UnknownNode           no node, scope or path goes by that name
├── FormatMismatch        the file name says one format, the option another
├── NothingToDraw         the object has no graph, or none of it is in this view
├── RendererUnavailable   nobody here can make this format (the command ends with code 4)
├── RenderingFailed       a renderer failed, crashed or ran out of time
├── CannotWrite           the file cannot be written
└── CodeFailed            code in a document raised, or leaves nothing to draw
"""

from __future__ import annotations

from gradstep.text import printable, printable_lines


class VizError(Exception):
    """An error that the user can act on.

    >>> from gradstep_viz import VizError
    >>> print(VizError("cannot draw 'x'", where="train.py", remedy="pass a tensor"))
    train.py: cannot draw 'x'; pass a tensor
    """

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what = printable_lines(what)
        self.where = printable(where)
        self.remedy = printable_lines(remedy)
        located = f"{self.where}: {self.what}" if where else self.what
        super().__init__(f"{located}; {self.remedy}" if remedy else located)


class UnknownFormat(VizError):
    """An option has a value that does not exist."""


class UnknownNode(VizError):
    """An option names something that is not in the graph."""


class FormatMismatch(VizError):
    """The suffix of the file and the format asked for contradict each other."""


class NothingToDraw(VizError):
    """There is no graph to draw."""


class RendererUnavailable(VizError):
    """No renderer on this machine produces this format."""


class RenderingFailed(VizError):
    """A renderer exists, but could not draw this graph."""


class CannotWrite(VizError):
    """The picture could not be written to its file."""


class CodeFailed(VizError):
    """The code in a document raised an error, or leaves nothing to draw.

    ``line`` is the line in the document, or in the file that it names, if known.
    """

    def __init__(self, what: str, *, where: str = "", line: int = 0, remedy: str = "") -> None:
        super().__init__(what, where=f"{where}:{line}" if where and line else where, remedy=remedy)
        self.line = line
