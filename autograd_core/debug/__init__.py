"""The headless debugger: :class:`Session`, and the records it hands out."""

from autograd_core.debug.locations import UnknownLocation
from autograd_core.debug.session import Session
from autograd_core.debug.snapshot import (
    Breakpoint,
    Contribution,
    Incoming,
    LeafGradient,
    NodeDetail,
    Outgoing,
    Pending,
    Reply,
    Saved,
    Snapshot,
    Value,
)

__all__ = [
    "Breakpoint",
    "Contribution",
    "Incoming",
    "LeafGradient",
    "NodeDetail",
    "Outgoing",
    "Pending",
    "Reply",
    "Saved",
    "Session",
    "Snapshot",
    "UnknownLocation",
    "Value",
]
