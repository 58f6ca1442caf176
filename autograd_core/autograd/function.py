"""Functions with a derivative of the user's own: ``class Square(Function)``.

The object that ``forward`` and ``backward`` get as ``ctx`` is the node of the graph itself,
as in PyTorch, so that what is stored on it lives as long as the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any, ClassVar

import numpy as np

from autograd_core.autograd.grad_mode import (
    current_mode,
    enable_grad,
    is_grad_enabled,
    no_grad,
)
from autograd_core.autograd.node import GENERAL, Node, Port, SavedState, next_sequence_nr
from autograd_core.dtype import dtype
from autograd_core.op.dual import check_tangent, make_dual, tangent_of, undressed
from autograd_core.op.packed import Hooks, Packed
from autograd_core.op.saved import freed
from autograd_core.tensor import Tensor


class FunctionNode(Node):
    """One application of a :class:`Function`: the ``ctx`` of its forward and backward.

    Attributes:
        needs_input_grad: per argument of ``forward``, whether a gradient is wanted.
    """

    kind: ClassVar[int] = GENERAL
    runs_undefined: ClassVar[bool] = True
    function: ClassVar[type[Function]]
    needs_input_grad: tuple[bool, ...]
    tensor_arguments: tuple[int, ...]  # positions of the arguments that are tensors
    output_shapes: list[tuple[int, ...]]
    output_dtypes: list[dtype]

    def __init__(self) -> None:
        self.sequence_nr = next_sequence_nr()
        self.hooks = None
        self.output_count = 1
        self._saved: list[_Saved | None] | None = []
        self._to_save: tuple[Tensor | None, ...] = ()
        self._materialize = True
        self._non_differentiable: tuple[int, ...] = ()
        self._dirty: tuple[int, ...] = ()
        self._for_jvp: tuple[Tensor | None, ...] | None = None

    # what forward may call

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep inputs or outputs for ``backward``; found there as ``ctx.saved_tensors``."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(
                    "save_for_backward can only save variables, but argument "
                    f"{tensors.index(tensor)} is of type {type(tensor).__name__}"
                )
        self._to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep inputs or outputs for ``jvp``; found there as ``ctx.saved_tensors``."""
        self._for_jvp = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say which inputs ``forward`` changed in place; they must be returned."""
        self._dirty = tuple(id(tensor) for tensor in tensors)

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say which outputs carry no gradient."""
        self._non_differentiable = tuple(id(tensor) for tensor in tensors)

    def set_materialize_grads(self, value: bool) -> None:
        """Whether ``backward`` gets zeros (the default) or None for an undefined gradient."""
        self._materialize = value

    # what backward may read

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """What was saved, as tensors of the graph.

        Raises:
            RuntimeError: it was freed, or changed in place since.
        """
        if self._for_jvp is not None:
            return self._for_jvp
        if self._saved is None:
            raise freed(self)
        return tuple(None if kept is None else kept.unpack(self) for kept in self._saved)

    saved_variables = saved_tensors

    # the node's part

    def saved(self) -> Iterator[tuple[str, Any, SavedState]]:
        if self._saved is None:
            yield "saved_tensors", None, "freed"
            return
        for number, kept in enumerate(self._saved):
            if kept is not None:
                yield f"saved_tensors[{number}]", kept.value, kept.state

    def formulas(self) -> tuple[tuple[str, str], ...]:
        return (("inputs", f"{self.function.__name__}.backward(ctx, g)"),)

    def release(self) -> None:
        self._saved = None

    def backward(self, g: Any, keep: bool) -> list[Any]:
        with no_grad():
            gradients = self._call(
                [
                    None if each is None else Tensor.from_array(each)
                    for each in (g if self.output_count > 1 else [g])
                ]
            )
        if not keep:
            self.release()
        return [None if each is None else each.array for each in gradients]

    def backward_graph(self, g: Any) -> list[Any]:
        with enable_grad():
            return self._call(list(g) if self.output_count > 1 else [g])

    def __call__(self, *gradients: Any) -> Any:
        """Run ``backward`` on gradients, as tensors."""
        return tuple(self._call(list(gradients)))

    apply = __call__

    def _call(self, incoming: list[Any]) -> list[Any]:
        if self._materialize:
            incoming = [
                Tensor.from_array(np.zeros(shape, kind.dtype)) if g is None else g
                for g, shape, kind in zip(
                    incoming, self.output_shapes, self.output_dtypes, strict=True
                )
            ]
        result = self.function.backward(self, *incoming)
        return self._checked(result if isinstance(result, (tuple, list)) else (result,))

    def _checked(self, gradients: Sequence[Any]) -> list[Any]:
        """One gradient per edge, from one per argument of ``forward``."""
        expected = len(self.needs_input_grad)
        given = list(gradients)
        while len(given) > expected and given[-1] is None:
            given.pop()
        if len(given) != expected:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients "
                f"(expected {expected}, got {len(gradients)})"
            )
        chosen = []
        for number, edge in zip(self.tensor_arguments, self.all_edges, strict=True):
            g = given[number]
            if g is not None and not isinstance(g, Tensor):
                raise TypeError(f"expected Variable or None (got {type(g).__name__})")
            chosen.append(None if edge is None else g)
        for number, g in enumerate(given):
            if g is not None and number not in self.tensor_arguments:
                raise RuntimeError(
                    f"function {self.name()} returned a gradient different from None at position "
                    f"{number + 1}, but the corresponding forward input was not a Variable"
                )
        return chosen


class _Saved:
    """A tensor as a node may keep it: a result only as an array, lest both hold each other."""

    __slots__ = ("output_nr", "value", "version", "versions")

    def __init__(self, tensor: Tensor, output_nr: int | None) -> None:
        self.output_nr = output_nr
        self.value: Any = tensor if output_nr is None else tensor.array
        if tensor.version is None:
            tensor.version = [0]
        self.versions = tensor.version
        self.version = tensor.version[0]

    @property
    def state(self) -> SavedState:
        return "kept" if self.versions[0] == self.version else "changed"

    def pack(self, hooks: Hooks) -> None:
        """Hand the value to ``hooks``."""
        value = self.value
        tensor = value if isinstance(value, Tensor) else Tensor.from_array(value)
        self.value, self.versions = Packed(tensor, hooks), [self.version]

    def unpack(self, node: FunctionNode) -> Tensor:
        if self.state == "changed":
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an "
                f"inplace operation: [torch.{self.value.dtype} {list(self.value.shape)}] is at "
                f"version {self.versions[0]}; expected version {self.version} instead."
            )
        value = self.value.tensor() if isinstance(self.value, Packed) else self.value
        if self.output_nr is None:
            kept: Tensor = value
            return kept
        tensor = Tensor.from_array(value.array if isinstance(value, Tensor) else value)
        tensor.edge = Port(node, self.output_nr) if node.output_count > 1 else node
        return tensor


class Function:
    """Base of functions whose derivative you write yourself.

    >>> class Square(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return 2 * x * g
    >>> import autograd_core as torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> Square.apply(x).backward()
    >>> x.grad
    tensor(6.)
    """

    _node_class: ClassVar[type[FunctionNode]]

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls._node_class = type(
            f"{cls.__name__}Backward", (FunctionNode,),
            {"function": cls, "__module__": cls.__module__},
        )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd "
            "function will raise an error in a future version of PyTorch."
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result from ``(ctx, *arguments)``; or, beside :meth:`setup_context`, from
        the arguments alone."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save what ``backward`` needs, where ``forward`` takes no ``ctx``."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """The gradients of the arguments, None for those that have none."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """The tangents of the outputs, from those of the arguments: forward mode."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    @classmethod
    def apply(cls, *arguments: Any) -> Any:
        """Run ``forward``, and give what it returns a place in the graph."""
        node = cls._node_class()
        edges = tuple(a.edge for a in arguments if isinstance(a, Tensor))
        node.needs_input_grad = tuple(
            isinstance(a, Tensor) and a.edge is not None for a in arguments
        )
        node.tensor_arguments = tuple(
            number for number, a in enumerate(arguments) if isinstance(a, Tensor)
        )
        node.all_edges = edges
        needed = is_grad_enabled() and any(edge is not None for edge in edges)
        tangents = [tangent_of(a) for a in arguments]
        with undressed(arguments), no_grad():
            if cls.setup_context is Function.setup_context:
                result = cls.forward(node, *arguments)
            else:
                result = cls.forward(*arguments)
                cls.setup_context(node, arguments, result)
        outputs = result if isinstance(result, tuple) else (result,)
        for_jvp = node._to_save if node._for_jvp is None else node._for_jvp
        node._for_jvp = None
        tensors = _attach(node, outputs, arguments, needed)
        if any(tangent is not None for tangent in tangents):
            node._for_jvp = for_jvp
            with undressed(arguments):
                found = _jvp(node, arguments, tangents, len(tensors))
            node._for_jvp = None
            _give_tangents(node, outputs, tensors, found)
        mode = current_mode()
        if mode is not None and mode.tracer is not None:
            values = tuple(a for a in arguments if isinstance(a, Tensor))
            results = tuple(t for t in tensors if isinstance(t, Tensor))
            mode.tracer.op(cls.__name__, values, {}, results, node if needed else None)
        return tensors if isinstance(result, tuple) else tensors[0]


def _attach(
    node: FunctionNode, outputs: tuple[Any, ...], arguments: tuple[Any, ...], needed: bool
) -> tuple[Any, ...]:
    """Point the outputs to ``node``, and save what it asked for."""
    inputs = {id(a) for a in arguments if isinstance(a, Tensor)}
    marked = {id(t): t for t in outputs if isinstance(t, Tensor)}
    results = tuple(
        # an input that is returned as it came becomes a result of its own
        _alias(t) if id(t) in inputs and id(t) not in node._dirty and isinstance(t, Tensor) else t
        for t in outputs
    )
    tensors = [t for t in results if isinstance(t, Tensor)]
    node.output_count = max(len(tensors), 1)
    node.output_shapes = [t._shape for t in tensors]
    node.output_dtypes = [t.dtype for t in tensors]
    if tensors:
        node.output_shape, node.output_dtype = tensors[0]._shape, tensors[0].dtype
    if not needed:
        return results
    numbers: dict[int, int] = {}
    originals = [t for t in outputs if isinstance(t, Tensor)]
    for number, (original, t) in enumerate(zip(originals, tensors, strict=True)):
        if id(original) in node._dirty:
            t.bump()
        numbers[id(original)] = numbers[id(t)] = number
        if id(original) in node._non_differentiable or not t.dtype.is_floating_point:
            t.edge = None
        else:
            t.edge = Port(node, number) if len(tensors) > 1 else node
    node._saved = [
        None
        if t is None
        else _Saved(t, numbers.get(id(t)) if id(t) in marked and id(t) not in inputs else None)
        for t in node._to_save
    ]
    node._to_save = ()
    mode = current_mode()
    if mode is not None:
        if mode.saved_hooks is not None:
            for kept in node._saved:
                if kept is not None:
                    kept.pack(mode.saved_hooks)
        if mode.anomaly is not None:
            mode.anomaly.keep_traceback(node)
    return results


def _jvp(
    node: FunctionNode, arguments: tuple[Any, ...], tangents: Sequence[Tensor | None], count: int
) -> Sequence[Any]:
    """What the function's ``jvp`` makes of the tangents, one for each of ``count`` outputs."""
    given = [
        Tensor.from_array(np.zeros_like(a.array))
        if tangent is None and isinstance(a, Tensor) and node._materialize
        else tangent
        for a, tangent in zip(arguments, tangents, strict=True)
    ]
    result = node.function.jvp(node, *given)
    found: Sequence[Any] = result if isinstance(result, (tuple, list)) else (result,)
    if len(found) != count:
        raise RuntimeError(
            "Function's jvp returned an invalid number of forward gradients "
            f"(expected {count} but got {len(found)})"
        )
    if node._dirty and not all(any(t is own for own in given) for t in found):
        raise RuntimeError(
            "An inplace custom Function is not returning the forward mode gradients as-is. If the "
            "forward is modifying an input inplace, then the jvp function must modify the "
            "gradient inplace and return it as-is."
        )
    return found


def _give_tangents(
    node: FunctionNode, outputs: tuple[Any, ...], results: tuple[Any, ...], found: Sequence[Any]
) -> None:
    """Let the results of ``node`` be duals."""
    for number, (output, t, tangent) in enumerate(zip(outputs, results, found, strict=True)):
        if tangent is None or id(output) in node._non_differentiable:
            continue
        if not isinstance(tangent, Tensor):
            raise TypeError(
                f"expected Variable or None (got {type(tangent).__name__}) for grad output "
                f"{number}."
            )
        if isinstance(t, Tensor) and t.dtype.is_floating_point:
            check_tangent(t, tangent)
            make_dual(t, tangent)


def _alias(t: Tensor) -> Tensor:
    return t.detach()


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a ``backward`` whose result cannot be differentiated again; doing so raises."""

    @wraps(backward)
    def wrapper(ctx: Any, *gradients: Any) -> Any:
        with no_grad():
            result = backward(ctx, *gradients)
        if not is_grad_enabled() or not any(
            isinstance(g, Tensor) and g.requires_grad for g in gradients
        ):
            return result
        several = isinstance(result, tuple)
        wrapped = tuple(
            _Refuse.apply(g, *gradients) if isinstance(g, Tensor) else g
            for g in (result if several else (result,))
        )
        return wrapped if several else wrapped[0]

    return wrapper


class _Refuse(Function):
    """Passes its first argument through, and raises when differentiated."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, *others: Tensor) -> Tensor:
        return x

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )
