"""What a Tensor can do: operators and methods, bound from the op table and the engine.

Bound in one place, so that tensors need not know ops, which are made of tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_core import functions
from autograd_core.linalg import older
from autograd_core.methods import filling, forms, operators, questions
from autograd_core.methods.names import DECISIONS, IN_PLACE, IN_PLACE_VIEWS, LINALG, NAMED
from autograd_core.op import inplace, inplace_view
from autograd_core.tensor import Tensor


def bind() -> None:
    """Give :class:`Tensor` its operators and methods."""
    for name, function in {**operators.BINARY, **forms.FORMS}.items():
        setattr(Tensor, name, function)
    for source, names in ((functions, NAMED), (older, LINALG)):
        for name in names:
            setattr(Tensor, name, _without_keywords(getattr(source, name)))
    computed = {name: getattr(Tensor, name) for name in IN_PLACE}
    computed |= {name: filling.of_own_dtype(computed[name]) for name in ("cumprod", "cumsum")}
    computed |= {name: filling.decided(getattr(Tensor, name)) for name in DECISIONS}
    for name, call in computed.items():
        setattr(Tensor, f"{name}_", inplace(call, f"{name}_"))
    for name, call in filling.FILLINGS.items():
        setattr(Tensor, f"{name}_", inplace(call, f"{name}_", converts=True))
    for name in IN_PLACE_VIEWS:
        setattr(Tensor, f"{name}_", inplace_view(getattr(Tensor, name), f"{name}_"))
    for name, method in questions.METHODS.items():
        setattr(Tensor, name, method)
    for name, method in operators.AUGMENTED.items():
        setattr(Tensor, name, operators.left_to_python(getattr(Tensor, method)))


def _without_keywords(function: Callable[..., Any]) -> Callable[..., Any]:
    """The entry itself where it takes nothing but the tensor, and so no keyword either; what is
    not pointwise may be told of a memory format."""
    op = getattr(function, "op", None)
    if op is None or len(op.values) != 1 or op.attributes or not op.pointwise:
        return function
    call: Callable[..., Any] = op.call
    return call
