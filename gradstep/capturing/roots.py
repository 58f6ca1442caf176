"""The tensors that a graph is drawn from, or debugged: its roots."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradstep.contract.lookup import NoEngine, edge_of, engine_of, is_node, is_root
from gradstep.contract.protocol import Engine
from gradstep.graph.errors import NotInGraph
from gradstep.records import Tensor, resolve


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


def tensors_with_graph(roots: Any) -> tuple[tuple[Tensor, ...], Engine]:
    """Return ``roots`` as a capture sees them, and their engine.

    Raises:
        NotInGraph: a root requires no gradient, or is no tensor.
    """
    given, engine = tensors_in(roots)
    tensors = engine.reading.tensors(given)
    if any(resolve(tensor.edge)[0] is None for tensor in tensors):
        raise NotInGraph(
            "this tensor has no graph: nothing it was computed from requires a gradient; "
            "set requires_grad=True on a parameter or an input, and check for no_grad() and "
            "detach()"
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
