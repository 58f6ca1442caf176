"""Rules over one graph, and over a whole run, each in a file that ends with ``RULES``."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from gradstep.findings.finding import Rule


def rules_in(folder: str, path: list[str]) -> tuple[Rule[Any], ...]:
    """Return the rules in the files of a folder, by the names of these."""
    names = sorted(module.name for module in iter_modules(path))
    modules = [import_module(f"{folder}.{name}") for name in names]
    return tuple(rule for module in modules for rule in getattr(module, "RULES", ()))
