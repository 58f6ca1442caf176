"""Notes what a program runs on PyTorch: its modules and lines and, if asked for, every op."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from torch.utils.hooks import RemovableHandle

from gradstep.capturing.budget import BUDGET
from gradstep.capturing.hook_lines import noting_hooks
from gradstep.capturing.rounds import Rounds
from gradstep.engines.pytorch.inputs import noting_functions
from gradstep.engines.pytorch.methods import backward_passed_over, hooks_noted, passed_over
from gradstep.engines.pytorch.ops import Ops
from gradstep.engines.pytorch.origins import Lines, Modules, Origins, current
from gradstep.engines.pytorch.private import sequence_nr, skip_code


@contextmanager
def noting(
    *, lines: bool = True, values: bool = False, budget: int = BUDGET, loops: bool = True
) -> Iterator[Origins]:
    """Note modules, ``lines``, and the rounds of ``loops``, of what this thread runs inside; with
    ``values``, also every op, what it was given and what came out; copies of the former take
    ``budget`` bytes at most."""
    outer = current.get()
    if outer is not None and outer.noting and (outer.ops is not None or not values):
        yield outer
        return
    origins = Origins()
    if loops:
        origins.loops = Rounds()
    current.set(origins)
    with ExitStack() as stack:
        stack.callback(origins.end, outer)
        if sequence_nr is not None:
            mode = origins.lines = Lines(origins) if lines else None
            watched = Modules(origins, mode)
            origins.named = watched.named
            stack.enter_context(noting_hooks(RemovableHandle, skip_code))
            stack.enter_context(hooks_noted(origins))
            stack.enter_context(watched.noting())
            if mode is not None:
                stack.enter_context(mode.acting())
                stack.enter_context(passed_over(mode, "zero_grad", "step"))
                stack.enter_context(backward_passed_over(mode))
                stack.enter_context(noting_functions(origins.function))
            if values:
                origins.recorder = origins.ops = Ops(origins, budget)
                stack.enter_context(origins.ops.acting())
                stack.enter_context(noting_functions(origins.ops.function))
                stack.enter_context(passed_over(origins.ops, "step"))
        origins.first_handle = RemovableHandle.next_id
        yield origins
