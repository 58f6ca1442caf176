"""What is wrong with a gradient, and why: rules, reports, and ``why``.

``rules`` has one file for each mistake, ``linting`` looks for those of a graph before its pass,
``checking`` compares derivatives with finite differences, ``reports`` explain stops and gradients.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradstep.findings.checking import InputCheck, NodeCheck, check_derivatives, check_node
    from gradstep.findings.finding import Finding
    from gradstep.findings.report import CheckFailed, Report
    from gradstep.findings.reports.why import Explanation, why

__all__ = [
    "CheckFailed",
    "Explanation",
    "Finding",
    "InputCheck",
    "NodeCheck",
    "Report",
    "check_derivatives",
    "check_node",
    "why",
]

_HOMES = {
    "checking": ("InputCheck", "NodeCheck", "check_derivatives", "check_node"),
    "finding": ("Finding",),
    "report": ("CheckFailed", "Report"),
    "reports.why": ("Explanation", "why"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import what is asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
