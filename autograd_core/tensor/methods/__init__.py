"""Operators and methods of a Tensor that are not a function's: those are bound where the function
is declared (``autograd_core.op.public``).

Bound in one place, so that tensors need not know ops, which are made of tensors.
"""

from __future__ import annotations

from autograd_core.op import inplace
from autograd_core.tensor import Tensor
from autograd_core.tensor.methods import fill, operators, overloads


def bind() -> None:
    """Give :class:`Tensor` its operators, and the methods that are no function's."""
    for name, function in {**operators.BINARY, **overloads.OVERLOADS}.items():
        setattr(Tensor, name, function)
    for name, call in fill.FILLS.items():
        setattr(Tensor, f"{name}_", inplace(call, f"{name}_", converts=True))
    for name, method in operators.AUGMENTED.items():
        setattr(Tensor, name, operators.left_to_python(getattr(Tensor, method)))
