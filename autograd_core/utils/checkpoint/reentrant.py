"""The re-entrant kind: a function hidden in one node, whose backward runs the function again and a
backward pass of its own through it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from autograd_core.autograd.call import carry_out, make_call
from autograd_core.autograd.engine import evaluating
from autograd_core.autograd.function import Function
from autograd_core.autograd.grad_mode import enable_grad, no_grad
from autograd_core.random import random_numbers_from, random_state
from autograd_core.tensor import Tensor


class CheckpointFunction(Function):
    """A function as one node, which differentiates it by a backward pass of its own."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], preserve: bool, *args: Any) -> Any:
        if not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            warnings.warn(
                "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=4
            )
        ctx.run_function = function
        ctx.random_state = random_state() if preserve else None
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        with no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        around = evaluating.get()
        if around is not None and around.task.restricted:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the `inputs` "
                "argument."
            )
        inputs = list(ctx.others)
        for i, t in zip(ctx.places, ctx.saved_tensors, strict=True):
            inputs[i] = t.detach()
            inputs[i].requires_grad = t.requires_grad
        with random_numbers_from(ctx.random_state), enable_grad():
            result = ctx.run_function(*inputs)
        outputs = result if isinstance(result, tuple) else (result,)
        pairs = [
            (t, g)
            for t, g in zip(outputs, gradients, strict=True)
            if isinstance(t, Tensor) and t.requires_grad
        ]
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        carry_out(make_call([t for t, _ in pairs], [g for _, g in pairs], None, False))
        return None, None, *(t.grad if isinstance(t, Tensor) else None for t in inputs)
