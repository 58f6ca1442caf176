"""Follows a program that has imported torch."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import cast

from gradstep.contract.budget import BUDGET, Budget
from gradstep.contract.events import Events
from gradstep.contract.lookup import unreadable
from gradstep.guest.fence import fenced_context, tell, within_fence


@contextmanager
def attached(
    *,
    values: bool | str = False,
    budget: int | Budget = BUDGET,
    defers: bool = False,
    lines: bool = True,
) -> Iterator[None]:
    """While it lasts, backward calls are intercepted, and modules, lines, and rounds of loops
    noted; with ``values`` of True, also every op; see :func:`gradstep.trace`."""
    if problem := unreadable():
        tell(problem)
        yield
        return
    # one that cannot be read may lack what these need
    from gradstep.engines.pytorch.entry import intercepted
    from gradstep.engines.pytorch.noting import noting
    from gradstep.engines.pytorch.private import complaint

    with within_fence("what PyTorch lacks"):
        if problem := complaint():
            tell(problem)
    copies = Budget(budget) if isinstance(budget, int) else budget
    noted = noting(lines=lines, values=values is True, budget=copies, loops=not defers)
    with (
        fenced_context("calls of backward()", intercepted()),
        fenced_context("modules and lines", noted),
    ):
        yield


@contextmanager
def noting_torch_events(events: Events) -> Iterator[None]:
    """While it lasts, what the program does with PyTorch's optimizers, schedulers and modules is
    put into ``events``."""
    if unreadable():
        yield
        return
    # see above
    from gradstep.engines.pytorch.events import noting_torch

    with noting_torch(events):
        yield


def scope(name: str) -> AbstractContextManager[None]:
    """Name the ops of PyTorch inside; see :func:`gradstep.scope`."""
    # one that cannot be read may lack what this needs, and then nothing is noted
    origins_module = sys.modules.get("gradstep.engines.pytorch.origins")
    origins = None if origins_module is None else origins_module.current.get()
    if origins is None or origins.named is None or not origins.noting:
        return nullcontext()
    return cast("AbstractContextManager[None]", origins.named(name))
