"""The exceptions of the graph: what it is made of, or asked for, is wrong."""

from __future__ import annotations

from gradstep.text import printable


class NotInGraph(ValueError):
    """Something has no graph: it is no tensor, or nothing it was made from requires a gradient."""


class UnknownAddress(ValueError):
    """Nothing goes by that name; ``remedy`` says what does."""

    def __init__(self, what: str, remedy: str) -> None:
        self.what = printable(what)  # names of the program are in it, whatever they are made of
        self.remedy = printable(remedy)
        super().__init__(f"{self.what}; {self.remedy}")
