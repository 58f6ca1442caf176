"""``Variable``, the wrapper of PyTorch before version 0.4, which old programs still call."""

from __future__ import annotations

from typing import Any

from autograd_core.tensor import Tensor


class _AnyTensor(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_AnyTensor):
    """Today every tensor is one; calling it gives a leaf that shares the data.

    >>> import autograd_core as torch
    >>> x = Variable(torch.tensor([1.0]), requires_grad=True)
    >>> x, isinstance(x, Variable)
    (tensor([1.], requires_grad=True), True)
    """

    def __new__(cls, data: Tensor, requires_grad: bool = False, volatile: bool = False) -> Any:
        return data.detach().requires_grad_(requires_grad)
