"""The gradient of an op as an op of its own, for graphs of gradients (see :class:`.Second`)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from autograd_core.op.generate import prepare
from autograd_core.op.record import OPS, Op, Rule, parameters_of


def zeros_of(g: Any) -> Any:
    """Return zeros in the place of ``g``."""
    return OPS["zeros_of"].call(g)


def gradient_arguments(op: Op) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the edge whose rule is differentiated as a whole, and what that rule names besides
    ``g``: inputs and outputs, and the rest."""
    edge = op.edges[0]
    names = [name for name in op.rules[edge].names if name != "g"]
    tensors = tuple(name for name in names if name in op.values or name in op.outputs)
    return edge, tensors, tuple(name for name in names if name not in tensors)


def gradient_of(op: Op) -> Callable[..., Any]:
    """Return a function with the arguments of the first rule of ``op``, by position, which builds
    the graph of its result as :attr:`Op.second` says."""
    second = op.second
    assert second is not None
    edge, tensors, plain = gradient_arguments(op)
    kernel = op.rules[edge].function
    differentiable = {*op.edges, *op.differentiable_outputs}
    functions: dict[str, Callable[..., Any]] = {"grad": second.grad or kernel}
    for name in tensors:
        if name in differentiable:
            functions[name] = second.others.get(name, lambda g: zeros_of(g))
    name = _name(second.node)
    derived = Op(
        name=name,
        public_name=name,
        node_name=second.node,
        kernel=kernel,
        function=kernel,
        values=("grad", *tensors),
        attributes=dict.fromkeys(plain),
        edges=tuple(functions),
        rules={edge: Rule(rule, parameters_of(rule)) for edge, rule in functions.items()},
        outputs=("slope",),
        optional=op.optional.intersection(tensors),
        pointwise=op.pointwise,
        keeps=op.keeps.intersection(tensors),
    )
    prepare(derived)
    derived.make_gradient = gradient_of
    derived.call.__name__ = derived.call.__qualname__ = name
    derived.call.__doc__ = f"The gradient of :func:`{op.public_name}`, from that of its result."
    count = len(tensors) + 1

    def gradient(*arguments: Any) -> Any:
        return derived.call(*arguments[:count], **dict(zip(plain, arguments[count:], strict=True)))

    return gradient


def _name(node: str) -> str:
    """Return ``max_pool2d_backward`` for ``MaxPool2DBackwardBackward0``."""
    words = re.sub(r"(\d)D", r"\1d", re.sub(r"Backward\d$", "", node))
    return re.sub(r"(?<!^)(?=[A-Z])", "_", words).lower()
