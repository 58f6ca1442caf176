"""The options of a picture in a document: those of :func:`gradstep_viz.render`, read from text.

Sphinx and Markdown hand over text.  What it becomes follows from :class:`viz.RenderOptions`, so
that an option which is added there can be used in documents at once.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import gradstep_viz
from gradstep_viz.options import Option, pixels_of, render_options

Value = str | bool | int | float | tuple[str, ...]

_TRUTH = {"": True, "yes": True, "true": True, "no": False, "false": False}


def steps(text: str) -> int:
    """Read the option ``step``: a number of nodes that have run; ``all`` is -1.

    >>> steps("3"), steps("all")
    (3, -1)
    """
    return -1 if text.strip() == "all" else _whole(text)


def truth(text: str) -> bool:
    """Read a flag; standing there alone, it means yes.

    >>> truth(""), truth("no")
    (True, False)
    """
    return _TRUTH[_one_of(tuple(_TRUTH), text.strip().lower())]


@cache
def drawing_options(film: bool = False) -> Mapping[str, Callable[[str], Value]]:
    """List the options of :func:`gradstep.render`, or of :func:`gradstep.film`, by the name a
    document gives them (``max-boxes``), each with its reader.

    >>> drawing_options()["view"]("both"), drawing_options()["leaves"]("")
    ('both', True)
    """
    known: dict[str, Callable[[str], Value]] = {
        option.name: partial(_read, option) for option in render_options()
    }
    if film:
        of_films = inspect.signature(gradstep_viz.film).parameters
        known = {name: reader for name, reader in known.items() if name in of_films}
        known["seconds"] = float
    return {name.replace("_", "-"): reader for name, reader in known.items()}


def of_drawing(options: Mapping[str, Any], film: bool) -> dict[str, Any]:
    """Return those of the options in a document that are about the drawing, as keywords.

    >>> of_drawing({"max-boxes": 8, "width": "80%", "alt": "a net"}, film=False)
    {'max_boxes': 8}
    """
    known = drawing_options(film)
    return {
        name.replace("-", "_"): value
        for name, value in options.items()
        if name in known and (name != "width" or pixels_of(value))  # else a part of the page's
    }


def _read(option: Option, text: str) -> Value:
    """Read the value of an option; raises ValueError, which names the possible ones, where it
    cannot have it."""
    match option.kind:
        case "flag" | "switch":
            return truth(text)
        case "number":
            return _whole(text)
        case "choice":
            return _one_of(option.choices, text.strip())
        case "texts" if option.name == "label":
            return tuple(line.strip() for line in text.splitlines() if line.strip())
        case "texts":
            return tuple(re.split(r"[,\s]+", text.strip()))
        case "text":
            return text.strip()


def _whole(text: str) -> int:
    if not text.strip().isdecimal():
        raise ValueError(f"{text!r} is not an integer")
    return int(text)


def _one_of(values: tuple[str, ...], text: str) -> str:
    if text not in values:
        known = ", ".join(value for value in values if value)
        raise ValueError(f"{text!r} is not one of {known}")
    return text
