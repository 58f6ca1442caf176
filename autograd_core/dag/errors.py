"""The exceptions of the graph: what it is made of, or asked for, is wrong."""

from __future__ import annotations


class NotInGraph(ValueError):
    """Something has no graph: it is no tensor, or nothing it was made from requires a gradient."""


class UnknownAddress(ValueError):
    """Nothing goes by that name; ``remedy`` says what does."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}; {remedy}")
        self.what = what
        self.remedy = remedy
