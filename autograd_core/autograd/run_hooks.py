"""Run the hooks around a node, and check what they return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograd_core.autograd.node import LEAF, Node
from autograd_core.autograd.reduce import Gradient
from autograd_core.tensor import Tensor

Hook = Callable[..., Any]


def run_pre_hooks(node: Node, incoming: tuple[Gradient, ...], graph: bool) -> tuple[Gradient, ...]:
    """Run the hooks that come before ``node``; they may replace what it gets."""
    hooks = node.hooks
    if hooks is None:
        return incoming
    incoming = run_tensor_hooks(node, incoming, graph)
    if not hooks.pre:
        return incoming
    gradients = _as_tensors(incoming, graph)
    for prehook in tuple(hooks.pre.values()):
        replaced = prehook(gradients)
        if replaced is not None:
            gradients = _replace_all(prehook, gradients, replaced)
    return tuple(_as_gradient(g, graph) for g in gradients)


def run_tensor_hooks(
    node: Node, incoming: tuple[Gradient, ...], graph: bool
) -> tuple[Gradient, ...]:
    """Run the hooks of the tensors that ``node`` made; they may replace their gradients."""
    hooks = node.hooks
    if hooks is None or not (hooks.tensor or hooks.retain):
        return incoming
    gradients = list(_as_tensors(incoming, graph))
    for nr, hook in tuple(hooks.tensor.values()):
        gradients[nr] = _replace(hook, gradients[nr], hook(gradients[nr]))
    for nr, kept in tuple(hooks.retain.items()):
        g, tensor = gradients[nr], kept()
        if g is not None and tensor is not None:
            tensor.grad = g.clone() if tensor.grad is None else tensor.grad + g
    return tuple(_as_gradient(g, graph) for g in gradients)


def run_post_hooks(
    node: Node, outgoing: Sequence[Gradient], incoming: tuple[Gradient, ...], graph: bool
) -> Sequence[Gradient]:
    """Run the hooks that come after ``node``; they may replace what it sends.

    Raises:
        RuntimeError: a post-accumulate hook returned something; in PyTorch's words.
    """
    hooks = node.hooks
    if hooks is None:
        return outgoing
    if node.kind == LEAF:
        for hook in tuple(hooks.accumulated.values()):
            leaf = node.variable  # type: ignore[attr-defined]  # it is an AccumulateGrad
            if _replace(hook, leaf, hook(leaf)) is not leaf:
                raise RuntimeError("Tensor post accumulate grad hooks should return None.")
    if not hooks.post:
        return outgoing
    sent, received = _as_tensors(outgoing, graph), _as_tensors(incoming, graph)
    for hook in tuple(hooks.post.values()):
        replaced = hook(sent, received)
        if replaced is not None:
            sent = _replace_all(hook, sent, replaced)
    return [_as_gradient(g, graph) for g in sent]


def _as_tensors(gradients: Sequence[Gradient], graph: bool) -> tuple[Any, ...]:
    """Wrap the gradients of a pass that builds no graph, which are arrays, for user code."""
    if graph:
        return tuple(gradients)
    return tuple(None if g is None else Tensor.from_array(g) for g in gradients)


def _as_gradient(value: Any, graph: bool) -> Gradient:
    return value if graph or value is None else value.array


def _replace_all(hook: Hook, before: Sequence[Any], after: Any) -> tuple[Any, ...]:
    """Check what ``hook`` returned for all gradients, and let it take their place.

    Raises:
        TypeError: it returned no tuple.
        RuntimeError: not as many as it got, or one that does not fit; in PyTorch's words.
    """
    if not isinstance(after, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(after).__name__}'")
    if len(after) != len(before):
        raise RuntimeError(
            f"hook '{_name(hook)}' has returned an incorrect number of values (got {len(after)}, "
            f"but expected {len(before)})"
        )
    return tuple(
        None if new is None else _replace(hook, old, new)
        for old, new in zip(before, after, strict=True)
    )


def _replace(hook: Hook, before: Any, after: Any) -> Any:
    """Return ``after``, if it may take the place of ``before``; None leaves it as it was."""
    if after is None:
        return before
    if before is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(after, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(after).__name__}'")
    if after.dtype is not before.dtype:
        raise RuntimeError(
            f"hook '{_name(hook)}' has changed the type of value (was "
            f"torch.{before.dtype.scalar_name}Tensor got torch.{after.dtype.scalar_name}Tensor)"
        )
    if after.shape != before.shape:
        raise RuntimeError(f"hook '{_name(hook)}' has changed the size of value")
    return after


def _name(hook: Hook) -> str:
    return getattr(hook, "__name__", "<unknown>")
