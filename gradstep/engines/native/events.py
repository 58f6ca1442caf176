"""Where the core has what the objects of a program do: optimizers, schedulers, modules."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Final

from autograd_core import nn
from autograd_core.nn.utils import clip_grad
from autograd_core.optim import Optimizer, lr_scheduler
from autograd_core.optim.optimizer import register_optimizer_step_post_hook
from autograd_core.tensor import Tensor
from gradstep.capturing.events import Library, note_step, noting
from gradstep.contract.events import Events

_SCHEDULERS: Final = tuple([
    kind for kind in vars(lr_scheduler).values()
    if isinstance(kind, type) and issubclass(kind, lr_scheduler.LRScheduler)
])  # fmt: skip


def _memory(tensor: Tensor) -> int:
    address: int = tensor.array.__array_interface__["data"][0]
    return address


LIBRARY: Final = Library(
    Optimizer, nn.Module, _SCHEDULERS, (nn.utils, clip_grad), nullcontext,
    lambda: False, lambda function: None, _memory,
)  # fmt: skip


@contextmanager
def noting_core_events(events: Events) -> Iterator[None]:
    """Within it, what this thread's program does with objects of the core is put into
    ``events``."""

    def stepped(optimizer: Any, args: Any, named: Any) -> None:
        note_step(LIBRARY, events, optimizer)

    with noting(LIBRARY, events):
        handle = register_optimizer_step_post_hook(stepped)
        try:
            yield
        finally:
            handle.remove()
