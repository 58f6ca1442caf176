"""The headless debugger: :class:`Session`, and the records it hands out."""

from autograd_core.debug.checking import InputCheck, NodeCheck, check, check_current, check_node
from autograd_core.debug.editing import Edited
from autograd_core.debug.edits import EditError, LeafDifference
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
    "Timeline",
    "UnknownLocation",
    "Usage",
    "Value",
    "check",
    "check_current",
    "check_node",
    "lint",
]
