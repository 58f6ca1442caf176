"""What can go wrong while a picture is made.

VizError                  what, where, remedy
├── UnknownFormat         no such format, view, layout or theme
├── FormatMismatch        the file name says one format, the option another
├── NothingToDraw         the object has no graph, or none of it is in this view
├── RendererUnavailable   nobody here can make this format (the command ends with code 4)
├── RenderingFailed       a renderer gave up, crashed or ran out of time
└── CannotWrite           the file cannot be written
"""

from __future__ import annotations


class VizError(Exception):
    """A failure that a person can act on.

    >>> print(VizError("cannot draw 'x'", where="train.py", remedy="pass a tensor"))
    train.py: cannot draw 'x'; pass a tensor
    """

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what = what
        self.where = where
        self.remedy = remedy
        located = f"{where}: {what}" if where else what
        super().__init__(f"{located}; {remedy}" if remedy else located)


class UnknownFormat(VizError):
    """An option has a value that does not exist."""


class FormatMismatch(VizError):
    """The suffix of the file and the format asked for contradict each other."""


class NothingToDraw(VizError):
    """There is no graph to draw."""


class RendererUnavailable(VizError):
    """No renderer on this machine makes this format."""


class RenderingFailed(VizError):
    """A renderer is there, but could not draw this graph."""


class CannotWrite(VizError):
    """The picture could not be written where it was asked for."""
