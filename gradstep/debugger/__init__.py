"""The headless debugger: the session of one call, and the records it hands out.

Each of these reads only what stands below it; the commands of a session are in
:mod:`gradstep.console`::

    pass_session  the debugger of one call: it moves (stop_search goes on to the next stop), tells
                  and changes, in the innermost of the passes that are open (pass_stack)
    breakpoints   where to stop: places, expressions, and what triggers a stop
    passes        one pass: where it stands (cursor), what is to be seen of it (inspector, terms,
                  scopes), what can be changed (editor); recorded_pass holds them together
    history       the nodes run one by one (driver), their steps kept, and the account of every sum
                  (ledger); what hooks and other code of the program did in them
    snapshot      what is handed out: frozen, and good for any front end

What the program's own code did is never done again to be looked at: ``history`` keeps it,
``driver`` undoes and redoes it, ``ledger`` reads it; what it changes is in an undo log
(:mod:`autograd_core.autograd.undo_log`).  Other nodes may run again, on sums that ``history`` kept.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradstep.debugger.breakpoints import Breakpoints
    from gradstep.debugger.errors import EditError
    from gradstep.debugger.passes.difference import LeafDifference
    from gradstep.debugger.passes.editor import Edited
    from gradstep.debugger.snapshot import (
        Breakpoint,
        Contribution,
        EditRecord,
        Incoming,
        LeafGradient,
        LedgerEntry,
        NodeDetail,
        Outgoing,
        PassFrame,
        Pending,
        Phase,
        Reply,
        Saved,
        Snapshot,
        Term,
        Usage,
        Value,
    )
    from gradstep.debugger.snapshot.timeline import CallRecord, LeafCall, Timeline

__all__ = [
    "Breakpoint",
    "Breakpoints",
    "CallRecord",
    "Contribution",
    "EditError",
    "EditRecord",
    "Edited",
    "Incoming",
    "LeafCall",
    "LeafDifference",
    "LeafGradient",
    "LedgerEntry",
    "NodeDetail",
    "Outgoing",
    "PassFrame",
    "Pending",
    "Phase",
    "Reply",
    "Saved",
    "Snapshot",
    "Term",
    "Timeline",
    "Usage",
    "Value",
]

_HOMES = {
    "errors": ("EditError",),
    "passes.difference": ("LeafDifference",),
    "passes.editor": ("Edited",),
    "breakpoints": ("Breakpoints",),
    "snapshot.timeline": ("CallRecord", "LeafCall", "Timeline"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import what is asked for; pictures need the driver only."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF.get(name, 'snapshot')}"), name)
