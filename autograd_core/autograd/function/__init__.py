"""Custom functions with their own derivative: ``class Square(Function)``.

The ``ctx`` of ``forward`` and ``backward`` belongs to the node, so everything stored on it lives as
long as the graph.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from inspect import signature
from time import perf_counter
from typing import Any, ClassVar

from autograd_core.autograd.dual import as_primals, tangent_of
from autograd_core.autograd.function.ctx import FunctionCtx
from autograd_core.autograd.function.node import FunctionNode
from autograd_core.autograd.function.outputs import attach, give_tangents, tangents_of
from autograd_core.autograd.grad_mode import (
    Mode,
    builds_graph,
    current_mode,
    is_grad_enabled,
    no_grad,
)
from autograd_core.tensor import Tensor


class Function:
    """The base class of functions whose derivative you write yourself.

    >>> import autograd_core as torch
    >>> class Square(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return 2 * x * g
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> Square.apply(x).backward()
    >>> x.grad
    tensor(6.)
    """

    _ctx_class: ClassVar[type[FunctionCtx]]
    _node_class: ClassVar[type[FunctionNode]]

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        name, module = f"{cls.__name__}Backward", cls.__module__
        cls._ctx_class = type(name, (FunctionCtx,), {"__module__": module})
        cls._node_class = type(
            name, (FunctionNode,), {"_function": cls, "__module__": module, "__slots__": ()}
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd "
            "function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result from ``(ctx, *arguments)`` or, with :meth:`setup_context`, from the
        arguments alone."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save what ``backward`` needs, if ``forward`` takes no ``ctx``."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Return the gradients of the arguments, with None for those without a gradient."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    vjp = backward  # the same under another name; a class defines one of the two

    @classmethod
    def _derivative(cls) -> Callable[..., Any]:
        """Return the one of ``backward`` and ``vjp`` that the class defines."""
        if cls.vjp is Function.vjp:
            return cls.backward
        if cls.backward is Function.backward:
            return cls.vjp
        raise RuntimeError(
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
            "should only implement one of them."
        )

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """Return the tangents of the outputs, from those of the arguments: forward mode."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    @classmethod
    def apply(cls, *arguments: Any, **named: Any) -> Any:
        """Run ``forward``, and add its results to the graph."""
        apart = cls.setup_context is not Function.setup_context
        if named or apart:
            arguments = _in_place(cls, arguments, named)
        node = cls._node_class()
        ctx = node.ctx
        ctx.needs_input_grad = tuple(
            isinstance(a, Tensor) and a.edge is not None for a in arguments
        )
        places = tuple(number for number, a in enumerate(arguments) if isinstance(a, Tensor))
        node.tensor_arguments = places
        node.all_edges = tuple(arguments[number].edge for number in places)
        needed = builds_graph() and any(ctx.needs_input_grad)
        tangents = [tangent_of(a) for a in arguments]
        mode = current_mode()
        if needed and mode is not None and mode.tracer is not None:
            mode.tracer.function(node, cls, arguments)
        began = 0.0 if mode is None else perf_counter()
        with as_primals(arguments), no_grad():
            if apart:
                result = cls.forward(*arguments)
                cls.setup_context(ctx, arguments, result)
            else:
                result = cls.forward(ctx, *arguments)
        outputs = result if isinstance(result, tuple) else (result,)
        if needed and apart:
            _check_saved(ctx, arguments, outputs)
        for_jvp, ctx._for_jvp = ctx._for_jvp or (), None
        tensors = attach(node, outputs, arguments, needed)
        if any(tangent is not None for tangent in tangents):
            ctx._for_jvp = for_jvp
            with as_primals(arguments):
                given_tangents = tangents_of(node, arguments, tangents, outputs, tensors)
            ctx._for_jvp = None
            give_tangents(node, outputs, tensors, given_tangents)
        if mode is not None:
            _tell(mode, node if needed else None, cls, arguments, tensors, began)
        return tensors if isinstance(result, tuple) else tensors[0]


Function.__init_subclass__()  # so that Function.apply says that it has no forward


def _tell(
    mode: Mode, node: Any, cls: type[Function], arguments: Any, tensors: Any, began: float
) -> None:
    """Tell a profiler and a tracer what came of ``forward``."""
    values, results = (
        tuple(t for t in given if isinstance(t, Tensor)) for given in (arguments, tensors)
    )
    if mode.profiler is not None:
        mode.profiler.made(results, node, began)
    if mode.tracer is not None:
        mode.tracer.op(cls.__name__, values, {}, results, node)


def _in_place(function: type[Function], arguments: Any, named: dict[str, Any]) -> tuple[Any, ...]:
    """Return ``arguments`` with those that were given by name where ``forward`` takes them."""
    if not named and not getattr(function.forward, "__defaults__", None):
        return tuple(arguments)
    takes = signature(function.forward)
    if function.setup_context is Function.setup_context:
        return takes.bind(None, *arguments, **named).args[1:]
    bound = takes.bind(*arguments, **named)
    bound.apply_defaults()  # which setup_context is told of
    return bound.args


def _check_saved(ctx: FunctionCtx, arguments: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """Refuse to save, in ``setup_context``, an input that was returned unchanged: what was given to
    it is not what will be in the graph."""
    unchanged = {id(a) for a in arguments} - ctx._dirty - ctx._non_differentiable
    returned = unchanged & {id(t) for t in outputs}
    if any(t is not None and id(t) in returned for t in ctx._to_save):
        raise RuntimeError(
            "An input that has been returned as-is as output is being saved for backward. This is "
            "not supported if you override setup_context. You should return and save a view of the "
            "input instead, e.g. with x.view_as(x) or setup ctx inside the forward function itself."
        )


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a ``backward`` whose result cannot be differentiated again: that is an error."""

    @wraps(backward)
    def wrapper(ctx: Any, *gradients: Any) -> Any:
        with no_grad():
            result = backward(ctx, *gradients)
        if not is_grad_enabled() or not any(
            isinstance(g, Tensor) and g.requires_grad for g in gradients
        ):
            return result
        # as in PyTorch, the node that raises leads to leaves of its own, and to no argument
        return _Refuse.apply(
            *(
                g.detach().requires_grad_() if isinstance(g, Tensor) else g
                for g in (result if isinstance(result, tuple) else (result,))
            )
        )

    return wrapper


class _Refuse(Function):
    """Passes its arguments through, and raises when differentiated."""

    @staticmethod
    def forward(ctx: Any, *gradients: Any) -> Any:
        return gradients if len(gradients) > 1 else gradients[0]

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )


_Refuse._node_class.__name__ = "torch::autograd::Error"
