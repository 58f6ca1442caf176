"""What ``forward`` of a custom Function returned: its place in the graph, and its tangents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.dual import check_tangent, make_dual
from autograd_core.autograd.function.ctx import KeptTensor
from autograd_core.autograd.function.node import FunctionNode, Output
from autograd_core.autograd.grad_mode import current_mode
from autograd_core.autograd.node import Nowhere, Port
from autograd_core.op.record import OPS
from autograd_core.own_files import warn
from autograd_core.tensor import Tensor
from autograd_core.tensor.stale_views import edge_of
from autograd_core.tensor.views import check_view, rebase_history, regenerate_views, root_of, view

_VIEW_AND_MORE = (
    "If your Function modifies inplace an input that is a view of another Tensor, your Function "
    "cannot return more than one Tensor. This is not supported by the current autograd engine. You "
    "should either make sure the input is not a view (using .clone() for example) or make your "
    "Function only return one Tensor (potentially splitting it into two Functions: one doing the "
    "inplace that returns a single Tensor and a second one that does the other operations). You "
    "can ask on the forum https://discuss.pytorch.org/ if you need help to do this change."
)


def attach(
    node: FunctionNode, returned: tuple[Any, ...], arguments: tuple[Any, ...], needed: bool
) -> tuple[Any, ...]:
    """Point what ``forward`` returned to ``node``, if that is ``needed``, and save what it asked
    for; gives the results, where an input that came back unchanged is a view of itself.

    Raises:
        RuntimeError: an input that was changed in place may not be, or was not returned.
    """
    ctx = node.ctx
    dirty = ctx._dirty
    if dirty and not dirty <= {id(t) for t in returned}:
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. "
            "The inputs that are modified inplace must all be outputs of the Function."
        )
    inputs = [id(a) for a in arguments if isinstance(a, Tensor)]
    outputs = [_output(node, t, needed) for t in returned]
    if needed:
        node.describe(outputs)
    results = list(returned)
    views = []
    for number, output in enumerate(outputs):
        t = returned[number]
        if output is None:
            continue
        if id(t) in dirty:
            _change(node, t, number, output.differentiable, id(t) in inputs)
            continue
        if id(t) in inputs:
            detached = t.requires_grad and not output.differentiable
            t = results[number] = t.detach() if detached else _view_of_itself(t)
        if output.differentiable:
            t.edge = _place(node, number)
        elif needed and t.view_of is None:
            t.edge = None
        if t.view_of is not None:
            views.append(t)
    if views:
        _mark_views(views, outputs)
    if needed:
        _keep(node, _own(returned, outputs, set(inputs) - dirty) if ctx._to_save else {})
    return tuple(results)


def _output(node: FunctionNode, t: Any, needed: bool) -> Output | None:
    if not isinstance(t, Tensor):
        return None
    can = t.dtype.is_floating_point and id(t) not in node.ctx._non_differentiable
    return Output(t._shape, t.dtype, needed and can)


def _place(node: FunctionNode, number: int) -> FunctionNode | Port:
    return Port(node, number) if node.ported else node


def _view_of_itself(t: Tensor) -> Tensor:
    alias = view(t, t.array, OPS["alias"], {})
    alias.edge = None
    return alias


def _change(
    node: FunctionNode, t: Tensor, number: int, differentiable: bool, is_input: bool
) -> None:
    """Let ``t``, which ``forward`` has changed in place, come out of ``node``."""
    if not differentiable:
        t.bump()
        regenerate_views(t)
        return
    if isinstance(edge_of(t), (AccumulateGrad, Nowhere)):
        raise RuntimeError(
            "a leaf Variable that requires grad has been used in an in-place operation."
        )
    if not is_input:
        warn(
            "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that "
            "have been mutated should be passed to ctx.mark_dirty()."
        )
    if t.view_of is not None and type(root_of(t).edge) is AccumulateGrad:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation."
        )
    if t.view_of is not None and node.ported:
        raise RuntimeError(_VIEW_AND_MORE)
    check_view(t)
    t.bump()
    rebase_history(t, _place(node, number))


def _mark_views(views: Sequence[Tensor], outputs: Sequence[Output | None]) -> None:
    """Say of ``views`` that no change in place may reach them."""
    several = sum(output is not None and output.differentiable for output in outputs) > 1
    for t in views:
        t.view_of = t.view_of._replace(creation="several" if several else "function")


def _own(
    returned: Sequence[Any], outputs: Sequence[Output | None], unchanged: set[int]
) -> dict[int, int]:
    """Return the numbers of outputs that come out of the node, by their ids."""
    return {
        id(returned[number]): number
        for number, output in enumerate(outputs)
        if output is not None and output.differentiable and id(returned[number]) not in unchanged
    }


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
                    kept.pack(mode.saved_hooks, node)
        if mode.anomaly is not None:
            mode.anomaly.keep_traceback(node)


def tangents_of(
    node: FunctionNode,
    arguments: tuple[Any, ...],
    tangents: Sequence[Tensor | None],
    returned: tuple[Any, ...],
    results: tuple[Any, ...],
) -> Sequence[Any]:
    """Return what the function's ``jvp`` makes of the tangents of its arguments, one for each
    output.

    Raises:
        RuntimeError: that is not so, or an output and its tangent do not share memory with an
            argument and its tangent in the same way.
    """
    given = [
        Tensor.from_array(np.zeros_like(a.array))
        if tangent is None and isinstance(a, Tensor) and node.ctx._materialize
        else tangent
        for a, tangent in zip(arguments, tangents, strict=True)
    ]
    known = [(a, t, t._version) for a, t in zip(arguments, tangents, strict=True) if t is not None]
    result = node._function.jvp(node.ctx, *given)
    outputs: Sequence[Any] = result if isinstance(result, tuple) else (result,)
    if len(outputs) != len(results):
        raise RuntimeError(
            "Function's jvp returned an invalid number of forward gradients "
            f"(expected {len(results)} but got {len(outputs)})"
        )
    for number, g in enumerate(outputs):
        if g is not None and not isinstance(g, Tensor):
            raise RuntimeError(
                f"expected Variable or None (got {type(g).__name__}) for grad output {number}."
            )
    for before, after, g in zip(returned, results, outputs, strict=True):
        for argument, tangent, version in known:
            if before is argument and id(before) in node.ctx._dirty:
                _check_changed(g, tangent, version)
            elif g is not None and isinstance(after, Tensor) and after.view_of is not None:
                _check_view(g, tangent, root_of(after) is root_of(argument))
    return outputs


def _check_changed(g: Tensor | None, tangent: Tensor, version: int) -> None:
    """Hold ``g`` to the ``tangent`` of an argument, then of that ``version``, that ``forward`` has
    changed in place."""
    if g is None or g._version == version:
        raise RuntimeError(
            "An inplace custom Function is not modifying the forward mode gradients inplace. If "
            "the forward is modifying an input inplace, then the jvp function must modify the "
            "corresponding gradient inplace."
        )
    if g is not tangent:
        raise RuntimeError(
            "An inplace custom Function is not returning the forward mode gradients as-is. If the "
            "forward is modifying an input inplace, then the jvp function must modify the "
            "gradient inplace and return it as-is."
        )


def _check_view(g: Tensor, tangent: Tensor, expected: bool) -> None:
    """Hold ``g``, the tangent of a view, to the ``tangent`` of an argument: it has to be a view of
    that where a view of the argument is ``expected``."""
    if expected and (g.view_of is None or root_of(g) is not root_of(tangent)):
        raise RuntimeError(
            "A custom Function's forward is returning a view (or an input as-is) but the jvp is "
            "not returning a view."
        )


def give_tangents(
    node: FunctionNode, returned: tuple[Any, ...], results: tuple[Any, ...], found: Sequence[Any]
) -> None:
    """Let the results of ``node`` be duals."""
    for number, (before, after, tangent) in enumerate(zip(returned, results, found, strict=True)):
        if tangent is None:
            continue
        output = _output(node, before, True)
        if output is None or not output.differentiable:
            raise RuntimeError(
                f"Function's jvp returned a gradient at position {number}, but  the corresponding "
                "forward output is not a differentiable Tensor.You should return None at that "
                "position instead."
            )
        check_tangent(after, tangent)
        make_dual(after, tangent)
