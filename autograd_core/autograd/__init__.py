"""Automatic differentiation, under the names of ``torch.autograd``."""

from __future__ import annotations

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING

# First: it imports modules of this package one by one, whose imports of `op.record` would otherwise
# begin all of `op` before they are complete.
from autograd_core import op as _op  # noqa: F401
from autograd_core.autograd import forward_ad, graph
from autograd_core.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from autograd_core.autograd.backward import backward, grad
from autograd_core.autograd.custom_gradient import custom_gradient
from autograd_core.autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from autograd_core.autograd.gradcheck import gradcheck, gradgradcheck
from autograd_core.fallback import refuse as _refuse

if _TYPE_CHECKING:
    from typing import Any as _Any

    from autograd_core.autograd import functional, profiler
    from autograd_core.autograd.function import Function

# Together a tenth of the time that an import takes, and few programs use them.
_MODULES_WHEN_ASKED_FOR = ("function", "functional", "profiler")


def __getattr__(name: str) -> _Any:
    if name in _MODULES_WHEN_ASKED_FOR:
        return _importlib.import_module(f"autograd_core.autograd.{name}")
    if name == "Function":
        return __getattr__("function").Function
    return _refuse(__name__, name)


__all__ = [
    "Function", "backward", "custom_gradient", "detect_anomaly", "enable_grad",
    "forward_ad", "functional", "grad", "gradcheck", "gradgradcheck", "graph", "inference_mode",
    "is_grad_enabled", "no_grad", "profiler", "set_detect_anomaly", "set_grad_enabled",
    "set_multithreading_enabled",
]  # fmt: skip
