"""``gradcheck`` and ``gradgradcheck``: derivatives held to finite differences.

>>> from autograd_core import float64, tensor
>>> x = tensor([1.0, 2.0], dtype=float64, requires_grad=True)
>>> gradcheck(lambda x: x * x.sin(), x)
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_core.autograd.backward import grad
from autograd_core.autograd.gradcheck.jacobians import GradcheckError, as_tuple, differentiable
from autograd_core.tensor import Tensor

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Return whether the derivatives of ``func`` are those that central differences find.

    Args:
        func: takes the inputs, returns a tensor or a tuple; called twice per input element.
        inputs: a tensor or a tuple; those that require a gradient are checked, and should be
            float64, as differences in float32 have three digits.
        eps: the step of the differences.
        atol: how far derivatives may be apart.
        rtol: the same, in relation to their size.
        raise_exception: raise where they disagree, instead of returning False.
        nondet_tol: how far two backward passes may be apart.
        check_undefined_grad: also let outputs get no gradient at all.
        check_grad_dtypes: also hold gradients to the dtype of their inputs.
        check_batched_grad: accepted for compatibility with PyTorch; batches are loops here, and
            need no check.
        check_batched_forward_grad: as ``check_batched_grad``.
        check_forward_ad: also check forward mode.
        check_backward_ad: check reverse mode.
        fast_mode: compare along one random direction, and look closer only if that fails.
        masked: accepted for compatibility with PyTorch; there are no sparse tensors.

    Raises:
        GradcheckError: they disagree; says for which op, output, input and position, and gives
            both values.
        ValueError: no input requires a gradient.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError(
            "Expected at least one of check_forward_ad or check_backward_ad to be True"
        )
    if check_batched_grad and not check_backward_ad:
        raise AssertionError(
            "Setting check_batched_grad=True requires check_backward_ad to be True"
        )
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError(
            "Setting check_batched_forward_grad=True requires check_forward_ad to be True"
        )
    from autograd_core.autograd.gradcheck.point import Check, Tolerance  # few programs need it

    check = Check(func, as_tuple(inputs), eps, Tolerance(atol, rtol))
    try:
        if check_backward_ad:
            check.reverse(nondet_tol, fast_mode, check_grad_dtypes)
            check.scales()
            if check_undefined_grad:
                check.undefined()
        if check_forward_ad:
            check.forward(fast_mode)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Return whether the second derivatives of ``func`` are those that differences of its gradients
    find.

    The gradients are taken as functions of the inputs and of ``grad_outputs``, the gradients of
    the outputs: random numbers, always the same, where they are not given.  All else as
    :func:`gradcheck`.
    """
    points = as_tuple(inputs)
    outputs = differentiable(func(*points))
    if grad_outputs is None:
        rng = np.random.default_rng(0)
        seeds = tuple(_random_like(t, rng, gen_non_contig_grad_outputs) for t in outputs)
    else:
        seeds = as_tuple(grad_outputs)

    def gradients(*arguments: Any) -> tuple[Tensor, ...]:
        at, given = arguments[: len(points)], arguments[len(points) :]
        watched = [x for x in at if isinstance(x, Tensor) and x.requires_grad]
        outputs = differentiable(func(*at))
        results = grad(outputs, watched, given, create_graph=True, allow_unused=True)
        return tuple(g for g in results if g is not None)

    return gradcheck(
        gradients,
        (*points, *seeds),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
    )


def _random_like(t: Tensor, rng: np.random.Generator, gaps: bool) -> Tensor:
    shape = (*t._shape, 2) if gaps else t._shape
    numbers = rng.standard_normal(shape).astype(t.array.dtype)
    return Tensor.from_array(numbers[..., 0] if gaps else numbers, requires_grad=True)
