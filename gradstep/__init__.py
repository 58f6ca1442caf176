"""Draw computation graphs and step through backward passes.

This module has the names that programs need. ``python -m gradstep`` runs the ``gradstep`` command.
"""

from __future__ import annotations

from gradstep.contract.registry import EVENTS, PAGES, WHOLE_PARAMETERS, register

register(
    "autograd_core", "gradstep.engines.native:NATIVE",
    tracing="gradstep.engines.native.trace:tracing", insides="gradstep.engines.native:INSIDES",
)  # fmt: skip
register(
    "torch",
    "gradstep.engines.pytorch.engine:PYTORCH",
    tracing="gradstep.engines.pytorch.attach:attached",
    insides="gradstep.engines.pytorch.engine:INSIDES",
)
register("gradstep.recording", "gradstep.engines.recorded.engine:RECORDED")
register("numpy", "gradstep.engines.native:NATIVE")  # the core has arrays for gradients
WHOLE_PARAMETERS["torch.distributed.fsdp"] = "gradstep.engines.pytorch.private:gathered_parameters"
EVENTS["autograd_core.optim"] = "gradstep.engines.native.events:noting_core_events"
EVENTS["torch"] = "gradstep.engines.pytorch.attach:noting_torch_events"
PAGES["report"] = "gradstep_viz.report:PAGES"

# Each name is imported when it is first used, so typing is named rather than imported.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gradstep.capturing import capture
    from gradstep.console.session import Session
    from gradstep.contract.tracing import scope, trace
    from gradstep.findings import why
    from gradstep.graph import Graph
    from gradstep.program.recording import record
    from gradstep.program.watching import check, watch
    from gradstep_tui import debug
    from gradstep_viz import film, render, to_graphviz
    from gradstep_viz.plots import plot

__all__ = [
    "Graph",
    "Session",
    "capture",
    "check",
    "debug",
    "film",
    "plot",
    "record",
    "render",
    "scope",
    "to_graphviz",
    "trace",
    "watch",
    "why",
]

_HOMES = {
    "Graph": "gradstep.graph",
    "Session": "gradstep.console.session",
    "capture": "gradstep.capturing",
    "check": "gradstep.program.watching",
    "debug": "gradstep_tui",
    "film": "gradstep_viz",
    "load_ipython_extension": "gradstep_tui.notebook",
    "plot": "gradstep_viz.plots",
    "record": "gradstep.program.recording",
    "render": "gradstep_viz",
    "scope": "gradstep.contract.tracing",
    "to_graphviz": "gradstep_viz",
    "trace": "gradstep.contract.tracing",
    "unload_ipython_extension": "gradstep_tui.notebook",
    "watch": "gradstep.program.watching",
    "why": "gradstep.findings",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for; pictures and the screen take a moment to load."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # late, see above
    import gc
    from importlib import import_module

    # modules are no garbage, and PyTorch's objects, of which there are half a million, would all be
    # looked at again: that takes as long as a third of the import
    is_on = gc.isenabled()
    gc.disable()
    try:
        return getattr(import_module(_HOMES[name]), name)
    finally:
        if is_on:
            gc.enable()


def __dir__() -> list[str]:
    return [*globals(), *__all__]
