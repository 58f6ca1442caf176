"""The gradients of convolutions by themselves, under the names of ``torch.nn.grad``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_core.autograd.backward import grad
from autograd_core.autograd.grad_mode import enable_grad
from autograd_core.fallback import answer_missing_names
from autograd_core.functions import zeros
from autograd_core.nn.functional import convolution
from autograd_core.tensor import Tensor

__all__ = [
    "conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input",
    "conv3d_weight",
]  # fmt: skip


def _gradient(dims: int, of: int, given: list[Any], g: Tensor, options: tuple[Any, ...]) -> Tensor:
    """Return the gradient of the input (0) or the weight (1), of which only the size is given."""
    leaves = [
        zeros(tuple(each), dtype=g.dtype) if number == of else each.detach()
        for number, each in enumerate(given)
    ]
    leaves[of].requires_grad_()
    with enable_grad():
        result = getattr(convolution, f"conv{dims}d")(*leaves, None, *options)
        return grad(result, leaves[of], g)[0]


def _input(dims: int) -> Any:
    def of_input(
        input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: Any = 1,
        padding: Any = 0, dilation: Any = 1, groups: int = 1,
    ) -> Tensor:  # fmt: skip
        options = stride, padding, dilation, groups
        return _gradient(dims, 0, [input_size, weight], grad_output, options)

    of_input.__name__ = of_input.__qualname__ = f"conv{dims}d_input"
    of_input.__doc__ = f"The gradient of the input of a ``conv{dims}d``, given that of its result."
    return of_input


def _weight(dims: int) -> Any:
    def of_weight(
        input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: Any = 1,
        padding: Any = 0, dilation: Any = 1, groups: int = 1,
    ) -> Tensor:  # fmt: skip
        options = stride, padding, dilation, groups
        return _gradient(dims, 1, [input, weight_size], grad_output, options)

    of_weight.__name__ = of_weight.__qualname__ = f"conv{dims}d_weight"
    of_weight.__doc__ = f"The gradient of the weight of a ``conv{dims}d``, given its result's."
    return of_weight


conv1d_input, conv2d_input, conv3d_input = (_input(dims) for dims in (1, 2, 3))
conv1d_weight, conv2d_weight, conv3d_weight = (_weight(dims) for dims in (1, 2, 3))

answer_missing_names(__name__)
