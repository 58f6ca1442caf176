"""What ``forward`` of a custom Function returned: its place in the graph, and its tangents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.function.ctx import KeptTensor
from autograd_core.autograd.function.node import FunctionNode
from autograd_core.autograd.grad_mode import current_mode
from autograd_core.autograd.node import Port
from autograd_core.op.dual import check_tangent, make_dual
from autograd_core.op.views import rebase
from autograd_core.tensor import Tensor


def attach(
    node: FunctionNode, outputs: tuple[Any, ...], arguments: tuple[Any, ...], needed: bool
) -> tuple[Any, ...]:
    """Point the outputs to ``node``, and save what it asked for."""
    inputs = {id(a) for a in arguments if isinstance(a, Tensor)}
    results = tuple(
        # an input that is returned as it came becomes a result of its own
        t.detach()
        if id(t) in inputs and id(t) not in node.ctx._dirty and isinstance(t, Tensor)
        else t
        for t in outputs
    )
    tensors = [t for t in results if isinstance(t, Tensor)]
    _describe(node, tensors)
    dirty = [t for t in tensors if id(t) in node.ctx._dirty]
    for t in dirty:
        if needed and type(t.edge) is AccumulateGrad:
            raise RuntimeError(
                "a leaf Variable that requires grad has been used in an in-place operation."
            )
        t.bump()
    if not needed:
        return results
    originals = [t for t in outputs if isinstance(t, Tensor)]
    for number, (original, t) in enumerate(zip(originals, tensors, strict=True)):
        if id(original) in node.ctx._non_differentiable or not t.dtype.is_floating_point:
            t.edge = None
        elif dirty and len(tensors) == 1:
            rebase(t, node)
        else:
            t.edge = Port(node, number) if len(tensors) > 1 else node
    numbers = {id(t): number for number, t in enumerate(originals) if id(t) not in inputs}
    _keep(node, numbers)
    return results


def _describe(node: FunctionNode, tensors: Sequence[Tensor]) -> None:
    """Tell ``node`` what its outputs are like."""
    node.output_count = max(len(tensors), 1)
    node.ported = len(tensors) > 1
    node.output_shapes = [t._shape for t in tensors]
    node.output_dtypes = [t.dtype for t in tensors]
    if tensors:
        node.output_shape, node.output_dtype = tensors[0]._shape, tensors[0].dtype


def _keep(node: FunctionNode, numbers: Mapping[int, int]) -> None:
    """Keep what was to be saved; ``numbers`` has those of outputs, which are kept without a node,
    by their ids."""
    node.ctx._saved = [
        None if t is None else KeptTensor(t, numbers.get(id(t))) for t in node.ctx._to_save
    ]
    node.ctx._to_save = ()
    mode = current_mode()
    if mode is not None:
        if mode.saved_hooks is not None:
            for kept in node.ctx._saved:
                if kept is not None:
                    kept.pack(mode.saved_hooks)
        if mode.anomaly is not None:
            mode.anomaly.keep_traceback(node)


def tangents_of(
    node: FunctionNode, arguments: tuple[Any, ...], tangents: Sequence[Tensor | None], count: int
) -> Sequence[Any]:
    """What the function's ``jvp`` makes of the tangents, one for each of ``count`` outputs."""
    given = [
        Tensor.from_array(np.zeros_like(a.array))
        if tangent is None and isinstance(a, Tensor) and node.ctx._materialize
        else tangent
        for a, tangent in zip(arguments, tangents, strict=True)
    ]
    result = node._function.jvp(node.ctx, *given)
    found: Sequence[Any] = result if isinstance(result, (tuple, list)) else (result,)
    if len(found) != count:
        raise RuntimeError(
            "Function's jvp returned an invalid number of forward gradients "
            f"(expected {count} but got {len(found)})"
        )
    if node.ctx._dirty and not all(any(t is own for own in given) for t in found):
        raise RuntimeError(
            "An inplace custom Function is not returning the forward mode gradients as-is. If the "
            "forward is modifying an input inplace, then the jvp function must modify the "
            "gradient inplace and return it as-is."
        )
    return found


def give_tangents(
    node: FunctionNode, outputs: tuple[Any, ...], results: tuple[Any, ...], found: Sequence[Any]
) -> None:
    """Let the results of ``node`` be duals."""
    for number, (output, t, tangent) in enumerate(zip(outputs, results, found, strict=True)):
        if tangent is None or id(output) in node.ctx._non_differentiable:
            continue
        if not isinstance(tangent, Tensor):
            raise TypeError(
                f"expected Variable or None (got {type(tangent).__name__}) for grad output "
                f"{number}."
            )
        if isinstance(t, Tensor) and t.dtype.is_floating_point:
            check_tangent(t, tangent)
            make_dual(t, tangent)
