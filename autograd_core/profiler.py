"""The profiler under the names of ``torch.profiler``: another face of
:mod:`autograd_core.autograd.profiler`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

from autograd_core.autograd.profiler import EventList, record_function
from autograd_core.autograd.profiler import profile as recording
from autograd_core.fallback import answer_missing_names

__all__ = ["ProfilerActivity", "profile", "record_function", "supported_activities"]


class ProfilerActivity(Enum):
    """What may be recorded; of these there is only the CPU."""

    CPU = 0
    CUDA = 2


def supported_activities() -> set[ProfilerActivity]:
    """Return the CPU alone."""
    return {ProfilerActivity.CPU}


class profile(recording):  # lower case, as PyTorch spells it
    """Record the ops and backward nodes that run inside.

    Args:
        activities: accepted for compatibility with PyTorch.
        on_trace_ready: called with this profile at the end.
        record_shapes, profile_memory: as :class:`autograd_core.autograd.profiler.profile` has them.
        with_stack, with_flops, with_modules: accepted for compatibility with PyTorch; they have no
            effect.
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
    ) -> None:
        super().__init__(record_shapes=record_shapes, profile_memory=profile_memory)
        self.on_trace_ready = on_trace_ready

    def start(self) -> None:
        """Begin to record, as entering does."""
        self.__enter__()

    def stop(self) -> None:
        """Record no more."""
        self.__exit__(None, None, None)

    def step(self) -> None:
        """Say that the next step begins; everything is recorded, whatever the step."""

    def events(self) -> EventList:
        """Return the events, in the order in which they began."""
        return self.function_events

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)


answer_missing_names(__name__)
