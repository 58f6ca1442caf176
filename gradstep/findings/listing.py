"""What ``check`` and ``lint`` return: lines at a prompt, a table in a notebook, and a tuple."""

from __future__ import annotations

from html import escape
from typing import Protocol, TypeVar


class Row(Protocol):
    """What can stand in a line."""

    @property
    def cells(self) -> tuple[str, ...]:
        """What it says of itself, in columns."""


T = TypeVar("T", bound=Row, covariant=True)


class Listing(tuple[T, ...]):
    """Results, as a tuple of them.

    >>> from gradstep.findings.finding import Finding
    >>> from gradstep.findings.rules.graph.untraced import Untraced
    >>> Listing([Finding(Untraced())])  # doctest: +ELLIPSIS
    info [untraced]  the forward pass was not traced, so it is unknown ...
    >>> Listing()
    nothing was found
    """

    __slots__ = ()

    def __repr__(self) -> str:
        lines = ["  ".join(filter(None, row.cells)) for row in self]
        return "\n".join(lines) or "nothing was found"

    def _repr_html_(self) -> str:
        if not self:
            return f"<p>{self!r}</p>"
        left = '<td style="text-align: left">'  # notebooks have tables of numbers in mind
        rows = ("".join(f"{left}{escape(cell)}</td>" for cell in row.cells) for row in self)
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"
