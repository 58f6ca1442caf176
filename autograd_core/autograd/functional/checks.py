"""What the functions of :mod:`autograd_core.autograd.functional` share: the arguments looked at,
and derivatives that may be missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np

from autograd_core.autograd.backward import grad
from autograd_core.autograd.call import Gradients
from autograd_core.ops.indices.index import alias
from autograd_core.tensor import Tensor

Tensors = tuple[Tensor, ...]
OptionalTensors = Sequence[Tensor | None]
OUTPUTS: Final = "outputs of the user-provided function"


def tensors_in(value: Any, what: str, function: str) -> tuple[bool, Tensors]:
    """Return ``value`` as a tuple of tensors, and whether it was a single one."""
    single = not isinstance(value, tuple)
    listed = (value,) if single else value
    for number, item in enumerate(listed):
        if not isinstance(item, Tensor):
            which = f"given {what}" if single else f"value at index {number}"
            raise TypeError(
                f"The {what} given to {function} must be either a Tensor or a tuple of Tensors but "
                f"the {which} has type {type(item)}."
            )
    return single, listed


def points_of(inputs: Any, create_graph: bool, function: str) -> tuple[bool, Tensors]:
    """Return the inputs as tensors to differentiate by, which leave the user's own alone."""
    single, listed = tensors_in(inputs, "inputs", function)
    return single, tuple(
        alias(x) if create_graph and x.requires_grad else x.detach().requires_grad_()
        for x in listed
    )


def vector_of(
    v: Any, like: Tensors, single: bool, create_graph: bool, function: str
) -> Tensors | None:
    """Return ``v`` as tensors shaped like those of ``like``; None where it was left out.

    Raises:
        RuntimeError: it has other shapes, or another number of tensors.
    """
    if v is None:
        return None
    _, listed = tensors_in(v, "v", function)
    if len(listed) != len(like):
        raise RuntimeError(
            "The given v should contain a single Tensor."
            if single
            else f"v is a tuple of invalid length: should be {len(like)} but got {len(listed)}."
        )
    for number, (gradient, other) in enumerate(zip(listed, like, strict=True)):
        if gradient._shape != other._shape:
            entry = "" if single else f"Entry {number} in "
            raise RuntimeError(
                f"{entry}v has invalid size: should be {other.shape} but got {gradient.shape}."
            )
    return listed if create_graph else tuple(gradient.detach() for gradient in listed)


def for_hessian(
    func: Callable[..., Any], inputs: Any, v: Any, create_graph: bool, strict: bool, function: str
) -> tuple[bool, Tensors, Tensors | None, Tensors]:
    """Return whether there is a single input; the inputs, the vector, and the one output."""
    single, points = points_of(inputs, create_graph, function)
    if v is None and not is_scalar(points):
        raise RuntimeError(
            "The vector v can only be None if the input to the user-provided function is a single "
            "Tensor with a single element."
        )
    vector = vector_of(v, points, single, create_graph, function)
    result = func(*points)
    _, outputs = tensors_in(result, OUTPUTS, function)
    check_depend(outputs, "outputs", strict)
    check_scalar(result, outputs, function)
    return single, points, vector, outputs


def is_scalar(tensors: Tensors) -> bool:
    """Return whether this is one tensor of one element."""
    return len(tensors) == 1 and tensors[0].numel() == 1


def check_scalar(result: Any, outputs: Tensors, function: str) -> None:
    """Raise RuntimeError unless ``func`` returned a single tensor of one element."""
    if isinstance(result, tuple):
        raise RuntimeError(f"The function given to {function} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {function} should contain a single "
            "element"
        )


def returned(tensors: Iterable[Tensor], single: bool, create_graph: bool) -> Any:
    """Return what the user gets: with a graph if there should be one, alone if it came so."""
    results = tuple(t if create_graph else t.detach() for t in tensors)
    return results[0] if single else results


def gradients_of(
    outputs: OptionalTensors,
    inputs: OptionalTensors,
    seeds: OptionalTensors | None,
    create_graph: bool,
    keep: bool | None = None,
) -> Gradients:
    """As ``grad``, with None where nothing depends on anything."""
    pairs = [
        (output, seed)
        for output, seed in zip(outputs, seeds or (None,) * len(outputs), strict=True)
        if output is not None and output.requires_grad
    ]
    if not pairs:
        return (None,) * len(inputs)
    reached, given = zip(*pairs, strict=True)
    requested: Any = inputs
    gradients: Gradients = grad(
        reached, requested, given, retain_graph=keep, create_graph=create_graph, allow_unused=True
    )
    return gradients


def zeros_of(like: Tensors) -> Tensors:
    """Return zeros that need a gradient."""
    return tuple(zeros_like(t).requires_grad_() for t in like)


def zeros_like(t: Tensor) -> Tensor:
    """Return zeros of the shape and dtype of ``t``."""
    return Tensor.from_array(np.zeros(t._shape, t.dtype.dtype))


_INDEPENDENT: Final = {
    "back": "The output of the user-provided function is independent of input {}. This is not "
    "allowed in strict mode.",
    "back of back": "The gradient with respect to the input is independent of entry {} in the "
    "grad_outputs when using the double backward trick to compute forward mode gradients. This is "
    "not allowed in strict mode.",
    "double": "The jacobian of the user-provided function is independent of input {}. This is not "
    "allowed in strict mode.",
    "double of back": "The hessian of the user-provided function is independent of entry {} in the "
    "grad_jacobian. This is not allowed in strict mode as it prevents from using the double "
    "backward trick to replace forward mode AD.",
    "outputs": "Output {} of the user-provided function does not require gradients. The outputs "
    "must be computed in a differentiable manner from the input when running in strict mode.",
    "gradients": "The gradient with respect to input {} is independent of the inputs of the "
    "user-provided function. This is not allowed in strict mode.",
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided "
    "function with respect to input {} is independent of the input. This is not allowed in strict "
    "mode. You should ensure that your function is twice differentiable and that the jacobian "
    "depends on the inputs (this would be violated by a linear function for example).",
    "hessian": "The hessian of the user-provided function with respect to input {} is independent "
    "of the input. This is not allowed in strict mode. You should ensure that your function is "
    "thrice differentiable and that the hessian depends on the inputs.",
}


def check_depend(tensors: OptionalTensors, what: str, strict: bool) -> None:
    """In strict mode, raise for what does not depend on the inputs."""
    if not strict:
        return
    for number, t in enumerate(tensors):
        if t is None:
            raise RuntimeError(_INDEPENDENT["back"].format(number))
        if not t.requires_grad:
            raise RuntimeError(_INDEPENDENT[what].format(number))


def completed(
    found: OptionalTensors, like: Tensors, strict: bool, create_graph: bool, stage: str
) -> Tensors:
    """Return ``found`` with zeros for what is missing; in strict mode an error instead."""
    for number, g in enumerate(found):
        if strict and g is None:
            raise RuntimeError(_INDEPENDENT[stage].format(number))
        if strict and create_graph and g is not None and not g.requires_grad:
            what = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(
                f"The {what} of the user-provided function is independent of input {number}. This "
                "is not allowed in strict mode when create_graph=True."
            )
    return tuple(zeros_like(t) if g is None else g for g, t in zip(found, like, strict=True))
