"""Firing the hooks around a node, and holding what they return to what they were given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograd_core.autograd.deliver import Gradient, lent
from autograd_core.autograd.node import Node

Hook = Callable[..., Any]


def _boxed(gradients: Sequence[Gradient], graph: bool) -> tuple[Any, ...]:
    if graph:
        return tuple(gradients)
    box = lent("tensor")
    return tuple(None if g is None else box(g) for g in gradients)


def _unboxed(value: Any, graph: bool) -> Gradient:
    return value if graph or value is None else value.array


def before_node(node: Node, incoming: tuple[Gradient, ...], graph: bool) -> tuple[Gradient, ...]:
    """Fire the hooks that come before ``node``; they may replace what it gets."""
    hooks = node.hooks
    if hooks is None:
        return incoming
    incoming = tensor_hooks(node, incoming, graph)
    if not hooks.pre:
        return incoming
    gradients = _boxed(incoming, graph)
    for prehook in tuple(hooks.pre.values()):
        replaced = prehook(gradients)
        if replaced is not None:
            gradients = _replaced_all(prehook, gradients, replaced)
    return tuple(_unboxed(g, graph) for g in gradients)


def tensor_hooks(node: Node, incoming: tuple[Gradient, ...], graph: bool) -> tuple[Gradient, ...]:
    """Fire the hooks of the tensors that ``node`` made; they may replace their gradients."""
    hooks = node.hooks
    if hooks is None or not (hooks.tensor or hooks.retain):
        return incoming
    gradients = list(_boxed(incoming, graph))
    for nr, hook in tuple(hooks.tensor.values()):
        gradients[nr] = _replaced(hook, gradients[nr], hook(gradients[nr]))
    for nr, kept in tuple(hooks.retain.items()):
        g, tensor = gradients[nr], kept()
        if g is not None and tensor is not None:
            tensor.grad = g.clone() if tensor.grad is None else tensor.grad + g
    return tuple(_unboxed(g, graph) for g in gradients)


def after_node(
    node: Node, outgoing: Sequence[Gradient], incoming: tuple[Gradient, ...], graph: bool
) -> Sequence[Gradient]:
    """Fire the hooks that come after ``node``; they may replace what it sends."""
    hooks = node.hooks
    if hooks is None or not hooks.post:
        return outgoing
    sent, received = _boxed(outgoing, graph), _boxed(incoming, graph)
    for hook in tuple(hooks.post.values()):
        replaced = hook(sent, received)
        if replaced is not None:
            sent = _replaced_all(hook, sent, replaced)
    return [_unboxed(g, graph) for g in sent]


def leaf_accumulated(node: Any, g: Gradient, graph: bool) -> None:
    """Fire a leaf's post-accumulate hooks and the post hooks of its node, to which ``g`` has come.

    Raises:
        RuntimeError: one of the former returned something; in PyTorch's words.
    """
    if node.hooks is None:
        return
    for hook in tuple(node.hooks.accumulated.values()):
        leaf = node.variable
        if _replaced(hook, leaf, hook(leaf)) is not leaf:
            raise RuntimeError("Tensor post accumulate grad hooks should return None.")
    after_node(node, (), (g,), graph)


def _replaced_all(hook: Hook, before: Sequence[Any], after: Any) -> tuple[Any, ...]:
    """What ``hook`` made of all gradients.

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
        None if new is None else _replaced(hook, old, new)
        for old, new in zip(before, after, strict=True)
    )


def _replaced(hook: Hook, before: Any, after: Any) -> Any:
    """``after`` in the place of ``before``, unless it is None."""
    if after is None:
        return before
    if before is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not hasattr(after, "edge"):  # what a tensor is, is known above only
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
