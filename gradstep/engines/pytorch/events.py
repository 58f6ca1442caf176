"""Where PyTorch has what the objects of a program do: optimizers, schedulers, modules."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import torch
import torch.nn.utils.clip_grad
from torch.compiler import is_dynamo_compiling
from torch.optim import lr_scheduler
from torch.optim.optimizer import register_optimizer_step_post_hook

from gradstep.capturing.events import Library, note_step, noting
from gradstep.contract.events import Events
from gradstep.engines.pytorch.private import (
    memory_of,
    own_attributes,
    own_handles,
    skip_code,
    unobserved,
)

_SCHEDULERS: Final = tuple([
    kind for kind in own_attributes(lr_scheduler).values()
    if isinstance(kind, type) and issubclass(kind, lr_scheduler.LRScheduler)
])  # fmt: skip
LIBRARY: Final = Library(
    torch.optim.Optimizer, torch.nn.Module, _SCHEDULERS,
    (torch.nn.utils, torch.nn.utils.clip_grad), unobserved, is_dynamo_compiling, skip_code,
    memory_of,
)  # fmt: skip


@contextmanager
def noting_torch(events: Events) -> Iterator[None]:
    """Within it, what this thread's program does with PyTorch's objects is noted."""

    def stepped(optimizer: Any, args: Any, named: Any) -> None:
        if not is_dynamo_compiling():
            note_step(LIBRARY, events, optimizer)

    with noting(LIBRARY, events):
        handle = register_optimizer_step_post_hook(stepped)
        own_handles.add(handle.id)
        try:
            yield
        finally:
            handle.remove()
