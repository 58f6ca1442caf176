"""Loads what an extra brings, or tells how to install it."""

from __future__ import annotations

import importlib
from types import ModuleType

from gradstep.extras import how_to_install
from gradstep_viz.errors import RendererUnavailable


def load_extra(module: str) -> ModuleType:
    """Return a module that an extra brings.

    Raises:
        RendererUnavailable: it is not installed, or lacks something itself.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        because = "" if error.name == module else f" ({error})"
        raise RendererUnavailable(
            f"{module} is not installed{because}", remedy=how_to_install(module)
        ) from None
