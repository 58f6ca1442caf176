"""Where the time goes, under the names of ``torch.autograd.profiler``."""

from autograd_core.autograd.profiler.events import (
    EventList,
    FunctionEvent,
    FunctionEventAvg,
    Interval,
)
from autograd_core.autograd.profiler.recording import (
    Spent,
    profile,
    record_function,
    running_profile,
)
from autograd_core.fallback import answer_missing_names

__all__ = [
    "EventList", "FunctionEvent", "FunctionEventAvg", "Interval", "Spent", "profile",
    "record_function", "running_profile",
]  # fmt: skip

answer_missing_names(__name__)
