"""Automatic differentiation, under the names of ``torch.autograd``."""

# First: it imports modules of this package one by one, whose imports of `op.record` would otherwise
# begin all of `op` before they are complete.
from autograd_core import op as _op  # noqa: F401
from autograd_core.autograd import forward_ad, functional, graph, profiler
from autograd_core.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from autograd_core.autograd.backward import backward, grad
from autograd_core.autograd.custom_gradient import custom_gradient
from autograd_core.autograd.function import Function
from autograd_core.autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from autograd_core.autograd.gradcheck import gradcheck, gradgradcheck
from autograd_core.autograd.variable import Variable
from autograd_core.fallback import answer_missing_names

__all__ = [
    "Function",
    "Variable",
    "backward",
    "custom_gradient",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "profiler",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

answer_missing_names(__name__)
