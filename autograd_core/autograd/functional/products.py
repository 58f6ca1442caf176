"""Products of a vector with a Jacobian or a Hessian: one or two backward passes each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_core.autograd.functional.checks import (
    OUTPUTS,
    check_depend,
    completed,
    for_hessian,
    gradients_of,
    is_scalar,
    points_of,
    returned,
    tensors_in,
    vector_of,
    zeros_of,
)
from autograd_core.autograd.grad_mode import enable_grad, is_grad_enabled, set_grad_enabled


def vjp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the outputs of ``func``, and the product of ``v`` with its Jacobian, ``v^T J``.

    >>> from autograd_core import autograd, tensor
    >>> autograd.functional.vjp(lambda x: x * x, tensor([1.0, 2.0]), tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))

    Args:
        func: a function of the inputs that returns a tensor or a tuple of tensors.
        inputs: a tensor, or a tuple of them.
        v: a vector with the shapes of the outputs; optional for a single output of one element.
        create_graph: make the results differentiable.
        strict: raise an error if an output or a derivative does not depend on an input, instead of
            returning zeros.

    Raises:
        RuntimeError: ``v`` does not fit, or ``strict`` finds an independent input.
        TypeError: inputs or outputs are not tensors.
    """
    with enable_grad():
        single, points = points_of(inputs, create_graph, "vjp")
        single_output, outputs = tensors_in(func(*points), OUTPUTS, "vjp")
        check_depend(outputs, "outputs", strict)
        if v is None and not is_scalar(outputs):
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single "
                "Tensor with a single element."
            )
        vector = vector_of(v, outputs, single_output, create_graph, "vjp")
    with set_grad_enabled(create_graph or is_grad_enabled()):
        gradients = gradients_of(outputs, points, vector, create_graph)
        product = completed(gradients, points, strict, create_graph, "back")
    return returned(outputs, single_output, create_graph), returned(product, single, create_graph)


def jvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the outputs of ``func``, and the product of its Jacobian with ``v``, ``J v``.

    >>> from autograd_core import autograd, tensor
    >>> autograd.functional.jvp(lambda x: x * x, tensor([1.0, 2.0]), tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))

    As in PyTorch it takes two backward passes, so that it works for custom Functions without a
    ``jvp`` too; :mod:`autograd_core.autograd.forward_ad` takes none.  Arguments and errors as
    :func:`vjp`, with ``v`` shaped like the inputs.
    """
    with enable_grad():
        single, points = points_of(inputs, create_graph, "jvp")
        if v is None and not is_scalar(points):
            raise RuntimeError(
                "The vector v can only be None if the input to the user-provided function is a "
                "single Tensor with a single element."
            )
        vector = vector_of(v, points, single, create_graph, "jvp")
        single_output, outputs = tensors_in(func(*points), OUTPUTS, "jvp")
        check_depend(outputs, "outputs", strict)
        # The product v^T J is linear in v, so that its derivative by v is J at any v.
        zeros = zeros_of(outputs)
        pulled = gradients_of(outputs, points, zeros, True)
        check_depend(pulled, "gradients", strict)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        gradients = gradients_of(pulled, zeros, vector, create_graph)
        product = completed(gradients, outputs, strict, create_graph, "back of back")
    return returned(outputs, single_output, create_graph), returned(
        product, single_output, create_graph
    )


def vhp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the output of ``func``, one element, and the product of ``v`` with its Hessian.

    >>> from autograd_core import autograd, tensor
    >>> autograd.functional.vhp(lambda x: (x**3).sum(), tensor([1.0, 2.0]), tensor([1.0, 10.0]))
    (tensor(9.), tensor([  6., 120.]))

    Arguments and errors as :func:`vjp`, with ``v`` shaped like the inputs.
    """
    with enable_grad():
        single, points, vector, outputs = for_hessian(func, inputs, v, create_graph, strict, "vhp")
        gradient = gradients_of(outputs, points, None, True)
        check_depend(gradient, "jacobian", strict)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        gradients = gradients_of(gradient, points, vector, create_graph)
        product = completed(gradients, points, strict, create_graph, "double")
    return returned(outputs, True, create_graph), returned(product, single, create_graph)


def hvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the output of ``func``, one element, and the product of its Hessian with ``v``.

    >>> from autograd_core import autograd, tensor
    >>> autograd.functional.hvp(lambda x: (x**3).sum(), tensor([1.0, 2.0]), tensor([1.0, 10.0]))
    (tensor(9.), tensor([  6., 120.]))

    As the Hessian is symmetric this equals :func:`vhp`, which is cheaper.
    """
    with enable_grad():
        single, points, vector, outputs = for_hessian(func, inputs, v, create_graph, strict, "hvp")
        gradient = gradients_of(outputs, points, None, True)
        check_depend(gradient, "jacobian", strict)
        zeros = zeros_of(points)
        twice = gradients_of(gradient, points, zeros, True)
        check_depend(gradient, "hessian", strict)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        gradients = gradients_of(twice, zeros, vector, create_graph)
        product = completed(gradients, points, strict, create_graph, "double of back")
    return returned(outputs, True, create_graph), returned(product, single, create_graph)
