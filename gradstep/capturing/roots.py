"""The tensors that a graph is drawn from, or debugged: its roots."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradstep.contract.lookup import NoEngine, edge_of, engine_of, is_node, is_root
from gradstep.contract.protocol import Engine
from gradstep.graph.errors import NotInGraph


def tensors_in(roots: Any) -> tuple[tuple[Any, ...], Engine]:
    """Return ``roots`` as a tuple of tensors, and their engine. Each is a tensor, a GradientEdge or
    a ``grad_fn``; there may be one or several.

    Raises:
        NotInGraph: there is something else among them, or tensors of two libraries.
    """
    several = isinstance(roots, Iterable) and not is_root(roots)
    given = tuple(roots) if several else (roots,)
    tensors = tuple([edge_of(root) if is_node(root) else root for root in given])
    try:
        engine = engine_of(tensors)
    except NoEngine as error:
        raise NotInGraph(str(error)) from None
    for tensor in tensors:
        if not engine.reading.owns(tensor):
            raise NotInGraph(
                f"{type(tensor).__name__} is not a tensor; pass the tensor that you would call "
                f"backward() on, or several"
            )
    return tensors, engine


def backward_call(roots: Any) -> Any:
    """Return the call ``backward(roots)`` without running it.

    Raises:
        NotInGraph: as :func:`tensors_in`.
        RuntimeError: a root is not scalar, and has no gradient; in PyTorch's words.
    """
    tensors, engine = tensors_in(roots)
    running = engine.running or engine.cannot("call backward()")
    return running.call(tensors, None, None, False)
