"""Forward mode: derivatives along a direction, computed beside the values, by the same rules.

There is no second table of derivatives.  An elementwise op has a diagonal Jacobian, so its
rule serves in both directions; a linear op is its own derivative; and any other rule, being
linear in the gradient it is given, is transposed: called with a zero gradient that needs a
gradient itself, and differentiated by that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autograd_core.autograd.backward import grad
from autograd_core.autograd.call import without_interceptor
from autograd_core.autograd.double_backward import saved_tensor
from autograd_core.autograd.dual import (
    as_primals,
    broadcast_tangent,
    current_level,
    make_dual,
    tangent_of,
)
from autograd_core.autograd.grad_mode import builds_graph, enable_grad, is_inference_mode_enabled
from autograd_core.autograd.node import GENERAL, Port, notes_of, resolve
from autograd_core.autograd.reduce import reduce_gradient
from autograd_core.op.record import OPS, Op
from autograd_core.tensor import Tensor


def forward(op: Op, values: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
    """Call ``op`` on values some of which are duals; what has a derivative comes out dual."""
    names = (op.variadic,) * len(values) if op.variadic else op.values
    tangents = [
        tangent_of(v) if name in op.edges else None for name, v in zip(names, values, strict=True)
    ]
    with as_primals(values):
        if is_inference_mode_enabled() or not any(t is not None for t in tangents):
            return _call(op, values, attributes)
        application = Application(op, values, {**op.attributes, **attributes}, tangents)
        of_results = application.tangents()
    outputs = application.outputs
    for name, t in zip(application.output_names, outputs, strict=True):
        tangent = of_results.get(name)
        if tangent is not None and t.dtype.is_floating_point:
            make_dual(t, tangent)
    application.remember(of_results)
    return application.result


def _call(op: Op, values: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
    return op.call(values, **attributes) if op.variadic else op.call(*values, **attributes)


class Application:
    """An op applied to plain values, and the tangents that some of these have."""

    def __init__(
        self,
        op: Op,
        values: tuple[Any, ...],
        attributes: dict[str, Any],
        tangents: Sequence[Tensor | None],
    ) -> None:
        self.op, self.values, self.attributes = op, values, attributes
        self.given = tangents
        self.hidden: dict[str, Tensor] = {}
        self.result = self._call_for_hidden() if op.hidden else _call(op, values, attributes)
        self.outputs = self.result if isinstance(self.result, tuple) else (self.result,)
        several = op.view == "each"
        # the outputs of an op with as many as there are have no names of their own
        self.output_names = range(len(self.outputs)) if several else op.visible_outputs

    def _call_for_hidden(self) -> Any:
        """Call an op such that its node exists, which alone knows the hidden outputs."""
        op, added_leaves, builds = self.op, [], builds_graph()
        for v, tangent in zip(self.values, self.given, strict=True):
            if tangent is not None and v.edge is None:
                leaf = Tensor.from_array(v.array, requires_grad=True)
                v.edge = leaf.edge
                added_leaves.append((v, leaf.edge))
        try:
            with enable_grad():
                result = _call(op, self.values, self.attributes)
        finally:
            for v, _ in added_leaves:
                v.edge = None
        outputs = result if isinstance(result, tuple) else (result,)
        node: Any = next(resolve(t.edge)[0] for t in outputs if t.edge is not None)
        added = {edge for _, edge in added_leaves}
        edges = tuple(None if edge in added else edge for edge in node.edges)
        in_graph = builds and any(edge is not None for edge in edges)
        for name in op.hidden:
            if name in op.saved:
                self.hidden[name] = self._hidden(node, name, in_graph)
        if not in_graph:
            for t in outputs:
                t.edge = None
        elif node.kind == GENERAL:
            node.all_edges = edges
        else:
            for number, edge in enumerate(edges):
                setattr(node, f"i{number}", edge)
        return result

    def _hidden(self, node: Any, name: str, in_graph: bool) -> Tensor:
        t = Tensor.from_array(saved_tensor(node, name).array)
        differentiable = self.op.differentiable_outputs
        if in_graph and name in differentiable:
            t.edge = Port(node, differentiable.index(name)) if len(differentiable) > 1 else node
        return t

    def remember(self, found: Mapping[Any, Tensor]) -> None:
        """Keep the tangents of results for the node that saved these as arrays."""
        saved = {name: found[name] for name in self.op.saved if name in found}
        level = current_level.get()
        node = next((resolve(t.edge)[0] for t in self.outputs if t.edge is not None), None)
        if saved and level is not None and node is not None:
            level.results[notes_of(node)] = saved

    def tangents(self) -> dict[Any, Tensor]:
        """Return the tangents of the outputs, by the outputs' names."""
        op = self.op
        if op.pointwise:
            (name,) = self.output_names
            return {name: self._elementwise()} if self.result.dtype.is_floating_point else {}
        if op.linear and (len(op.outputs) == 1 or op.view == "each"):
            results = self._linear()
            listed = results if isinstance(results, tuple) else (results,)
            return dict(zip(self.output_names, listed, strict=True))
        return self.transposed()

    def _elementwise(self) -> Tensor:
        """Apply each rule to the tangent instead of a gradient: the Jacobian is diagonal."""
        op, result = self.op, self.result
        total: Any = None
        for name, tangent in zip(op.values, self.given, strict=True):
            if tangent is not None:
                g = broadcast_tangent(tangent, result)
                part = op.on_tensors(name)(*self._arguments(op.rules[name].names, g))
                total = part if total is None else OPS["add"].call(total, part)
        total = broadcast_tangent(total, result)
        aliased = any(
            t is not None and np.may_share_memory(t.array, total.array) for t in self.given
        )
        return OPS["clone"].call(total) if aliased else total  # type: ignore[no-any-return]

    def _linear(self) -> Any:
        """Apply the op itself to the tangents: where no rule names an input it is linear in all of
        them together, else in each with the others as they are (a product)."""
        op = self.op
        if op.variadic or not any(name in op.rule(e).names for e in op.edges for name in op.edges):
            return self._with_tangents(range(len(self.values)))
        total: Any = None
        for place, tangent in enumerate(self.given):
            if tangent is not None:
                part = self._with_tangents((place,))
                total = part if total is None else OPS["add"].call(total, part)
        return total

    def _with_tangents(self, places: Sequence[int]) -> Any:
        """Call the op with tangents, or zeros, for the differentiable inputs among ``places``."""
        op, values = self.op, list(self.values)
        for place in places:
            value, tangent = values[place], self.given[place]
            name = op.variadic or op.values[place]
            if value is None or name not in op.edges:
                continue
            if tangent is None:
                tangent = Tensor.from_array(np.zeros_like(value.array))
            elif op.view and tangent.array.strides != value.array.strides:
                # what can be viewed so depends on the layout, if it is not contiguous
                tangent = OPS["clone"].call(tangent)
            values[place] = tangent
        return _call(op, tuple(values), self.attributes)

    def transposed(self) -> dict[Any, Tensor]:
        """Return the derivative along the tangents of rules' results, by the gradient they take."""
        op = self.op
        graph = builds_graph() and any(
            t is not None and t.edge is not None for t in (*self.values, *self.given)
        )
        if not graph:
            self.values = tuple(None if v is None else v.detach() for v in self.values)
        named = dict(zip(self.output_names, self.outputs, strict=True)) | self.hidden
        names = self.output_names if op.view == "each" else op.differentiable_outputs
        with enable_grad():
            zeros = [
                Tensor.from_array(np.zeros_like(named[name].array), requires_grad=True)
                for name in names
            ]
            several = len(zeros) > 1 or op.view == "each"
            pulled = self._pulled(zeros if several else zeros[0])
        reached = [(p, t) for p, t in pulled if p is not None and p.edge is not None]
        if not reached:
            return {}
        rows, tangents = zip(*reached, strict=True)
        with without_interceptor():
            products = grad(rows, zeros, tangents, create_graph=graph, allow_unused=True)
        return {
            name: Tensor.from_array(zero.array) if t is None else t
            for name, zero, t in zip(names, zeros, products, strict=True)
        }

    def _pulled(self, g: Any) -> list[tuple[Any, Tensor]]:
        """Apply the rules to ``g``, for each input with a tangent; return it with that tangent."""
        op = self.op
        given = {
            name: (v, t)
            for name, v, t in zip(op.values, self.values, self.given, strict=True)
            if t is not None
        }
        if op.joint is not None:
            needs = tuple(edge in given for edge in op.edges)
            results = op.joint.function(*self._arguments(op.joint.names, g, needs))
            pulled = dict(zip(op.edges, results, strict=True))
        else:
            pulled = {
                name: op.on_tensors(name)(*self._arguments(op.rules[name].names, g))
                for name in given
            }
        return [
            (reduce_gradient(pulled[name], (v._shape, v.dtype)), t)
            for name, (v, t) in given.items()
        ]

    def _arguments(self, names: Sequence[str], g: Any, needs: tuple[bool, ...] = ()) -> list[Any]:
        """Find what a rule asks for."""
        known: dict[Any, Any] = {"g": g, "needs": needs, **self.attributes, **self.hidden}
        known.update(zip(self.op.values, self.values, strict=True))
        known.update(zip(self.output_names, self.outputs, strict=True))
        for name, v in zip(self.op.values, self.values, strict=True):
            known[f"{name}_shape"] = None if v is None else v._shape
        return [known[name] for name in names]
