"""Checkpoints: less memory for more time, by computing saved values again in the backward pass.

The re-entrant kind hides a function in one node, whose backward runs the function again and
a backward pass of its own through it.  The other kind leaves the graph as it is, takes the
saved values out of it, and puts them back from a second run when the first node asks.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import ref

from autograd_core.autograd.backward import make_call, run
from autograd_core.autograd.function import Function
from autograd_core.autograd.function_node import FunctionNode
from autograd_core.autograd.grad_mode import enable_grad, is_grad_enabled, no_grad
from autograd_core.autograd.node import LEAF, Node, next_sequence_nr, resolve
from autograd_core.functions import generator
from autograd_core.op.saved import SavedNode
from autograd_core.tensor import Tensor


class CheckpointError(RuntimeError):
    """The second run of a function did not do what the first one did."""


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """``function(*args, **kwargs)``, of which the graph keeps no intermediate values.

    The backward pass runs ``function`` again, and so must find it unchanged.

    Args:
        use_reentrant: whether the second run has a backward pass of its own, within the
            node that stands for the whole function (True is PyTorch's default, with a
            warning), or gives its saved values to the graph of the first one (recommended).
        preserve_rng_state: give the second run the random numbers of the first.

    >>> import autograd_core as torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False).sum().backward()
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. "
            "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an "
            "exception. use_reentrant=False is recommended, but if you need to preserve the "
            "current default behavior, you can pass use_reentrant=True. Refer to docs for more "
            "details on the differences between the two variants.",
            stacklevel=2,
        )
        use_reentrant = True
    if not use_reentrant:
        return _run_and_strip(function, preserve_rng_state, args, kwargs)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    return CheckpointFunction.apply(function, preserve_rng_state, *args)


def checkpoint_sequential(
    functions: Any,
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
) -> Any:
    """``functions`` one after the other, in ``segments`` checkpoints; the last segment is none."""
    chain = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(chain) // segments
    for start in range(0, size * (segments - 1), size):
        part = chain[start : start + size]
        input = checkpoint(
            _composed(part),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve_rng_state,
        )
    return _composed(chain[size * (segments - 1) :])(input)


def _composed(functions: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def run_all(input: Any) -> Any:
        for function in functions:
            input = function(input)
        return input

    return run_all


@contextmanager
def _random_numbers_from(state: Any) -> Iterator[None]:
    """Random numbers start from ``state``, unless that is None, and go on as before after it."""
    now = generator().bit_generator.state
    if state is not None:
        generator().bit_generator.state = state
    try:
        yield
    finally:
        if state is not None:
            generator().bit_generator.state = now


# The re-entrant kind


class CheckpointFunction(Function):
    """A function as one node, which differentiates it by a backward pass of its own."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], preserve: bool, *args: Any) -> Any:
        if not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            warnings.warn(
                "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=4
            )
        ctx.run_function = function
        ctx.random_state = generator().bit_generator.state if preserve else None
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        with no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        inputs = list(ctx.others)
        for i, t in zip(ctx.places, ctx.saved_tensors, strict=True):
            inputs[i] = t.detach()
            inputs[i].requires_grad = t.requires_grad
        with _random_numbers_from(ctx.random_state), enable_grad():
            result = ctx.run_function(*inputs)
        outputs = result if isinstance(result, tuple) else (result,)
        pairs = [
            (t, g)
            for t, g in zip(outputs, gradients, strict=True)
            if isinstance(t, Tensor) and t.requires_grad
        ]
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        run(make_call([t for t, _ in pairs], [g for _, g in pairs], None, False))
        return None, None, *(t.grad if isinstance(t, Tensor) else None for t in inputs)


# The other kind


def _run_and_strip(
    function: Callable[..., Any], preserve: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    state = generator().bit_generator.state if preserve else None
    first = next_sequence_nr()
    result = function(*args, **kwargs)
    if is_grad_enabled():
        frame = _Frame(function, args, kwargs, state)
        frame.strip(_nodes_since(first, result))
    return result


class _Frame:
    """One run of a function, and all it takes to have its saved values again.

    The nodes know the frame, by a hook each, and the frame knows them weakly: as with any
    other graph, the last tensor that goes takes all with it.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        random_state: Any,
    ) -> None:
        self.function: Callable[..., Any] | None = function
        self.args = args
        self.kwargs = kwargs
        self.random_state = random_state
        self.nodes: list[ref[Node]] = []

    def strip(self, nodes: list[Node]) -> None:
        """Take the saved values out of ``nodes``, to be had again when one of them runs."""
        for node in nodes:
            node.release()
            node.register_prehook(self._refill)
        self.nodes = [ref(node) for node in nodes]

    def _refill(self, _: Any) -> None:
        """Run the function again, unless that was done, and fill all nodes."""
        function, self.function = self.function, None
        if function is None:
            return
        first = next_sequence_nr()
        with _random_numbers_from(self.random_state), enable_grad():
            result = function(*self.args, **self.kwargs)
        twins = _nodes_since(first, result)
        if len(twins) != len(self.nodes):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(self.nodes)}\n"
                f"Number of tensors saved during recomputation: {len(twins)}."
            )
        for known, twin in zip(self.nodes, twins, strict=True):
            node = known()
            if node is not None:
                _copy_saved(node, twin)
        self.args, self.kwargs = (), {}


def _nodes_since(first: int, result: Any) -> list[Node]:
    """The nodes with saved values that were made since ``first`` and lead to ``result``, in the
    order of their making."""
    stack = [resolve(t.edge)[0] for t in _tensors(result)]
    seen: set[Node] = set()
    while stack:
        node = stack.pop()
        if node is None or node in seen or node.kind == LEAF or node.sequence_nr < first:
            continue
        seen.add(node)
        stack += [below for below, _ in node.next_functions]
    keeping = [node for node in seen if isinstance(node, (SavedNode, FunctionNode))]
    return sorted(keeping, key=lambda node: node.sequence_nr)


def _tensors(value: Any) -> Iterator[Tensor]:
    stack = [value]
    while stack:
        found = stack.pop()
        if isinstance(found, Tensor):
            yield found
        elif isinstance(found, (list, tuple)):
            stack += found
        elif isinstance(found, dict):
            stack += found.values()


def _copy_saved(node: Any, twin: Any) -> None:
    """Give ``node`` what ``twin``, made by the same op on the same values, has saved."""
    if type(node) is not type(twin) or node.output_shape != twin.output_shape:
        raise CheckpointError(
            "torch.utils.checkpoint: Recomputed values for the following tensors have different "
            f"metadata than during the forward pass.\n{node.name()}: saved {node.output_shape}, "
            f"recomputed {twin.name()} {twin.output_shape}"
        )
    if isinstance(node, FunctionNode):
        node.ctx._saved = twin.ctx._saved
        return
    for name in node.op.saved:
        for attribute in (name, f"{name}_version"):
            if hasattr(twin, attribute):
                setattr(node, attribute, getattr(twin, attribute))
