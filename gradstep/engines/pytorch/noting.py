"""Notes what a program runs on PyTorch: its modules and lines and, if asked for, every op."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

from torch.utils.hooks import RemovableHandle

from gradstep.capturing.hook_lines import noting_hook
from gradstep.capturing.rounds import Rounds
from gradstep.contract.budget import BUDGET, Budget
from gradstep.engines.pytorch.aside import stepping_aside
from gradstep.engines.pytorch.inputs import noting_functions
from gradstep.engines.pytorch.kept_graphs import packing_watched
from gradstep.engines.pytorch.methods import backward_passed_over, hooks_noted, passed_over
from gradstep.engines.pytorch.ops import Ops
from gradstep.engines.pytorch.origins import Lines, Modules, Origins, current
from gradstep.engines.pytorch.private import sequence_nr, skip_code
from gradstep.guest.fence import fenced_context
from gradstep.guest.replaced import replaced


@contextmanager
def noting(
    *, lines: bool = True, values: bool = False, budget: Budget | None = None, loops: bool = True
) -> Iterator[Origins]:
    """Note modules, ``lines``, and the rounds of ``loops``, of what this thread runs inside; with
    ``values``, also every op, what it was given and what came out; copies of the former take
    ``budget``."""
    outer = current.get()
    copies = budget or Budget(BUDGET)
    if outer is not None and outer.noting and (outer.ops is not None or not values):
        if values and copies.reruns:
            outer.ops.inputs.budget.reruns = True  # from now on
        yield outer
        return
    origins = Origins()
    if loops:
        origins.loops = Rounds()
    current.set(origins)
    with ExitStack() as stack:

        def enter(what: str, context: AbstractContextManager[object]) -> None:
            stack.enter_context(fenced_context(what, context))

        stack.callback(origins.end, outer)
        enter("what saved-tensor hooks pack", packing_watched())
        if sequence_nr is not None:
            mode = origins.lines = Lines(origins) if lines else None
            watched = Modules(origins, mode)
            origins.named = watched.named
            enter("lines of hooks", _noting_hooks())
            enter("hooks of tensors", hooks_noted(origins))
            enter("modules", watched.noting())
            if mode is not None:
                enter("lines of the program", mode.acting())
                enter("steps of optimizers", passed_over(mode, "zero_grad", "step"))
                enter("calls of backward()", backward_passed_over(mode))
                enter("calls of custom Functions", noting_functions(origins.function))
            if values:
                enter("values", _ops_noted(origins, copies))
        if lines or values:
            enter("code that PyTorch traces", stepping_aside(origins, watched))
        origins.first_handle = RemovableHandle.next_id
        yield origins


@contextmanager
def _noting_hooks() -> Iterator[None]:
    """Within it, the lines that register hooks are noted: each makes a handle."""
    noted = noting_hook(RemovableHandle.__init__)
    skip_code(noted)
    with replaced(RemovableHandle, "__init__", noted):
        yield


@contextmanager
def _ops_noted(origins: Origins, budget: Budget) -> Iterator[None]:
    """Within it, every op is noted, what it was given and what came out."""
    ops = Ops(origins, budget)
    with ops.acting(), noting_functions(ops.function), passed_over(ops, "step"):
        origins.recorder = origins.ops = ops
        yield
