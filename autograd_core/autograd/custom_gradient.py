"""``custom_gradient``: a function that brings its own derivative, as one decorated function."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from autograd_core.tensor import Tensor

if TYPE_CHECKING:
    from autograd_core.autograd.function import Function


def custom_gradient(function: Callable[..., tuple[Any, Callable[..., Any]]]) -> Callable[..., Any]:
    """Decorate a function that returns its result and the function of the gradients.

    The latter gets one gradient per result and returns one per tensor argument.  What happens
    inside builds no graph: it may be NumPy, SciPy, or anything.

    >>> import autograd_core as torch
    >>> from autograd_core.autograd import custom_gradient
    >>> @custom_gradient
    ... def clipped(x):
    ...     return x * 1, lambda g: torch.clamp(g, -1, 1)
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> (clipped(x) * 100).backward()
    >>> x.grad
    tensor(1.)
    """

    custom = _function_of(function)

    @wraps(function)
    def call(*arguments: Any) -> Any:
        return custom.apply(*arguments)

    return call


def _function_of(function: Callable[..., Any]) -> type[Function]:
    """Return the Function behind it, which bears its name in pictures."""
    from autograd_core.autograd.function import Function  # few programs need it

    def forward(ctx: Any, *arguments: Any) -> Any:
        result, ctx.gradient = function(*arguments)
        ctx.are_tensors = [isinstance(a, Tensor) for a in arguments]
        return tuple(result) if isinstance(result, list) else result

    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        gradient = ctx.gradient(*gradients)
        results = iter(gradient if isinstance(gradient, (tuple, list)) else (gradient,))
        return tuple(next(results) if tensor else None for tensor in ctx.are_tensors)

    body = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type(function.__name__, (Function,), body)
