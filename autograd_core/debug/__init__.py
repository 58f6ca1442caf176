"""The headless debugger: :class:`Session`, and the records it hands out."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograd_core.debug.changes import EditError
    from autograd_core.debug.checking import InputCheck, NodeCheck, check, check_current, check_node
    from autograd_core.debug.difference import LeafDifference
    from autograd_core.debug.editing import Edited
    from autograd_core.debug.linting import Finding, lint
    from autograd_core.debug.locations import UnknownLocation
    from autograd_core.debug.session import Session
    from autograd_core.debug.snapshot import (
        Breakpoint,
        Contribution,
        EditRecord,
        Entry,
        Frame,
        Incoming,
        LeafGradient,
        NodeDetail,
        Outgoing,
        Pending,
        Phase,
        Reply,
        Saved,
        Snapshot,
        Term,
        Usage,
        Value,
    )
    from autograd_core.debug.stops import Stops
    from autograd_core.debug.timeline import CallRecord, LeafCall, Timeline

__all__ = [
    "Breakpoint",
    "CallRecord",
    "Contribution",
    "EditError",
    "EditRecord",
    "Edited",
    "Entry",
    "Finding",
    "Frame",
    "Incoming",
    "InputCheck",
    "LeafCall",
    "LeafDifference",
    "LeafGradient",
    "NodeCheck",
    "NodeDetail",
    "Outgoing",
    "Pending",
    "Phase",
    "Reply",
    "Saved",
    "Session",
    "Snapshot",
    "Stops",
    "Term",
    "Timeline",
    "UnknownLocation",
    "Usage",
    "Value",
    "check",
    "check_current",
    "check_node",
    "lint",
]

_HOMES = {
    "changes": ("EditError",),
    "checking": ("InputCheck", "NodeCheck", "check", "check_current", "check_node"),
    "difference": ("LeafDifference",),
    "editing": ("Edited",),
    "linting": ("Finding", "lint"),
    "locations": ("UnknownLocation",),
    "session": ("Session",),
    "stops": ("Stops",),
    "timeline": ("CallRecord", "LeafCall", "Timeline"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Pictures need the driver only, and should not wait for the debugger's commands."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF.get(name, 'snapshot')}"), name)
