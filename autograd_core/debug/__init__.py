"""The headless debugger: :class:`Session`, and the records it hands out."""

from autograd_core.debug.checking import InputCheck, NodeCheck, check, check_current, check_node
from autograd_core.debug.linting import Finding, lint
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
    "Finding",
    "Incoming",
    "InputCheck",
    "LeafGradient",
    "NodeCheck",
    "NodeDetail",
    "Outgoing",
    "Pending",
    "Reply",
    "Saved",
    "Session",
    "Snapshot",
    "UnknownLocation",
    "Value",
    "check",
    "check_current",
    "check_node",
    "lint",
]
