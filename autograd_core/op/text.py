"""Pieces of Python text."""

from __future__ import annotations


def indented(lines: list[str]) -> str:
    """Return a definition: its head, and its body one step in."""
    head, *body = lines
    return "\n".join([head, *(f"    {line}" for line in body)]) + "\n"


def names_tuple(names: tuple[str, ...]) -> str:
    """Return a tuple of these names."""
    return f"({', '.join(names)},)"
