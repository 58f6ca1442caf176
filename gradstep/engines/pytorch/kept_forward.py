"""What a graph still knows of the forward pass that made it, where that was not traced.

A value that some node saved is known, and so are leaves and roots.  Between these, an op whose
inputs are known runs again, where its node tells all its arguments.  What is unknown stays so.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

import torch

from gradstep.contract.op_records import LeafRecord, OpRecord, Origin
from gradstep.engines.pytorch.formulas import Derivative, entry_of, signed
from gradstep.engines.pytorch.names import stem
from gradstep.engines.pytorch.nodes import TorchLeaf, TorchNode
from gradstep.engines.pytorch.private import (
    TensorBase,
    grad_enabled,
    is_kept,
    schema_of,
    unobserved,
)
from gradstep.engines.pytorch.schema import tensors_in
from gradstep.engines.pytorch.tensors import (
    SeenTensor,
    describe,
    has_memory,
    here,
    is_single,
    same_bits,
    shape_of,
)
from gradstep.records import resolve

_GIVEN: Final = (torch.Tensor, int, float)
_SIZES: Final = ("size", "shape")  # of the result, by whatever name
_PLAIN: Final = ("layout", "device", "pin_memory", "memory_format", "non_blocking", "copy")


class TorchKeptForward:
    """The values of a forward pass, by the records of its ops that it makes of the nodes; each is
    found when it is asked for."""

    def __init__(self, roots: Iterable[SeenTensor], order: Sequence[TorchNode]) -> None:
        self.records: dict[TorchNode, OpRecord] = {}
        self._nodes: dict[Any, TorchNode] = {}
        self._leaves: dict[TorchNode, LeafRecord] = {}
        self._saved: dict[tuple[TorchNode, int], tuple[TorchNode, str]] = {}
        self._readers: dict[tuple[TorchNode, int], list[TorchNode]] = {}
        self._found: dict[tuple[TorchNode, int], torch.Tensor | None] = {}
        for node in reversed(order):  # as they ran in the forward pass
            for name, kept, state in node.saved():
                if state == "kept" and kept.edge is not None:
                    maker, nr = _at(kept.edge)
                    self._saved.setdefault((maker, nr), (node, name))
            if isinstance(node, TorchLeaf):
                self._leaves[node] = _leaf(node.tensor.origin)
            else:
                record = self.records[node] = self._record(node)
                self._nodes[record] = node
        for root in roots:
            node, nr = _at(root.edge)
            if node is not None and isinstance(root.origin, torch.Tensor):
                self._found[node, nr] = root.origin

    def get(self, origin: Origin, default: None = None, /) -> torch.Tensor | None:
        """Return a value, None where it is unknown."""
        node = self._nodes.get(origin[0])
        return default if node is None else self._value(node, origin[1])

    def _record(self, node: TorchNode) -> OpRecord:
        entry = entry_of(node.name())
        given, op = _inputs(node, entry), op_of(entry)
        for tensor in given:
            if tensor is not None and not isinstance(tensor, _GIVEN):
                self._readers.setdefault(_at(tensor), []).append(node)
        inputs = tuple(map(self._input, [*given, *_without_derivative(node, entry, op)]))
        if op is not None and entry is not None:
            # a number, as that of masked_fill, may be anything; what else is not told is finite
            for argument in schema_of(op).arguments:
                if str(argument.type) == "number" and not _is_told(node, entry, argument.name):
                    noted = _noted(node, op, argument.name)
                    inputs += ((_UNKNOWN, 0) if noted is None else noted,)
        record = OpRecord(stem(node.name()), inputs, _told(node, entry), requires_grad=True)
        record.shapes = tuple(shape or () for shape in node.output_shapes)
        record.dtype = node.output_dtype.name
        record.pointwise = op is not None and torch.Tag.pointwise in op.tags
        return record

    def _input(self, value: Any) -> Any:
        """Return where an input came from; a constant of one element and no dimension as a
        number."""
        if isinstance(value, int | float):
            return value
        if isinstance(value, torch.Tensor):
            number = (
                TensorBase.dim(value) == 0
                and not TensorBase.is_complex(value)
                and value.device.type == "cpu"
            )
            return TensorBase.item(value) if number and has_memory(value) else (_leaf(value), 0)
        maker, nr = _at(value)
        if maker in self._leaves:
            return self._leaves[maker], 0
        known = self.records.get(maker)  # of all that the pass reaches
        return (_UNKNOWN, 0) if known is None else (known, nr)

    def _value(self, wanted: TorchNode, nr: int) -> torch.Tensor | None:
        """Find a result of a node; where it has to run again, first those that it needs."""
        stack = [(wanted, nr)]
        with unobserved(), grad_enabled(False):
            while stack:
                at = stack[-1]
                if at in self._found:
                    stack.pop()
                    continue
                if isinstance(at[0], TorchLeaf):
                    self._found[at] = at[0].tensor.origin
                    continue
                if at in self._saved:
                    holder, name = self._saved[at]
                    self._found[at] = holder.value_of(name)
                    continue
                entry = entry_of(at[0].name())
                needed = [
                    _at(tensor)
                    for tensor in _inputs(at[0], entry)
                    if tensor is not None and not isinstance(tensor, _GIVEN)
                ]
                missing = [tensor for tensor in needed if tensor not in self._found]
                if missing and op_of(entry) is not None:
                    stack += missing
                    continue
                results = self._run(at[0], entry) or self._masked(at[0], entry)
                for output in range(at[0].output_count):
                    value = results[output] if output < len(results) else None
                    self._found.setdefault((at[0], output), value)
        return self._found[wanted, nr]

    def _masked(self, node: TorchNode, entry: Derivative | None) -> list[torch.Tensor]:
        """Run a masked_fill again, whose value no node tells, with the usual one: the result is
        right if what its reader makes of it is what that made, to the bit."""
        if entry is None or entry.op != "masked_fill.Scalar":
            return []
        results = self._run(node, entry, value=-math.inf)
        for reader in self._readers.get((node, 0), []):
            known, reading = self._saved.get((reader, 0)), entry_of(reader.name())
            if not results or known is None:
                continue
            self._found[node, 0] = results[0]
            outputs = self._run(reader, reading)
            del self._found[node, 0]
            if outputs and same_bits(outputs[0], known[0].value_of(known[1])):
                return results
        return []

    def _run(self, node: TorchNode, entry: Derivative | None, **given: Any) -> list[torch.Tensor]:
        """Run the op of a node again; [] where not all of its arguments are known, or ``given``."""
        op = op_of(entry)
        if entry is None or op is None or torch.Tag.nondeterministic_seeded in op.tags:
            return []
        try:
            named = {**dict(self._arguments(node, entry, op, given)), **given}
            if not all(here(tensor) is tensor for tensor in tensors_in(list(named.values()))):
                return []
            results = list(tensors_in(op(**named)))
        except Exception:  # an argument that nobody knows, or values that do not go together
            return []
        expected = [(shape, node.output_dtype.name) for shape in node.output_shapes[:1]]
        actual = [(shape_of(result), str(result.dtype)[6:]) for result in results[:1]]
        return results if expected == actual else []

    def _arguments(
        self, node: TorchNode, entry: Derivative, op: Any, given: Collection[str]
    ) -> Iterator[tuple[str, Any]]:
        """List the arguments of an op, as far as its node tells them."""
        edges = iter(_inputs(node, entry))
        for argument in schema_of(op).arguments:
            name = argument.name
            if any(name == rule for rule, _ in entry.rules):
                if "[]" in str(argument.type):
                    yield name, [self._tensor(edge) for edge in edges]
                else:
                    yield name, self._tensor(next(edges))
            elif is_kept(type(node.origin), name):
                yield name, signed(node.saved_argument(name))
            elif name in _SIZES and node.output_shape is not None:
                yield name, list(node.output_shape)
            elif (noted := _noted(node, op, name)) is not None:
                yield name, noted
            elif name == "half_to_float":
                yield name, False  # or the result has another dtype
            elif name == "dtype":
                yield name, getattr(torch, node.output_dtype.name)
            elif name not in _PLAIN and name not in given:
                raise LookupError(name)

    def _tensor(self, value: Any) -> Any:
        if isinstance(value, _GIVEN):
            return value
        if value is None or (tensor := self._found[_at(value)]) is None:
            raise LookupError(value)
        return tensor


def saved_results(order: Sequence[TorchNode]) -> dict[TorchNode, torch.Tensor]:
    """Return the first result of the op of each node, where some node saved it; no op runs again
    for it."""
    results: dict[TorchNode, torch.Tensor] = {}
    with unobserved():
        for node in order:
            for name, kept, state in node.saved():
                if state == "kept" and kept.edge is not None:
                    maker, nr = _at(kept.edge)
                    if nr == 0 and maker not in results:
                        value = node.value_of(name)
                        if value is not None:
                            results[maker] = value
    return results


def kept_constants(order: Sequence[TorchNode]) -> dict[tuple[TorchNode, str], torch.Tensor]:
    """Return the tensors without a gradient that nodes keep, by the node and the name."""
    with unobserved():
        return {
            (node, name): value
            for node in order
            for name, kept, state in node.saved()
            if state == "kept" and kept is not None and kept.edge is None
            if (value := node.value_of(name)) is not None
        }


def _at(edge: Any) -> tuple[Any, int]:
    """Return the node behind an edge, and the number of its output."""
    return resolve(edge)


def _inputs(node: TorchNode, entry: Derivative | None) -> list[Any]:
    """Return what a node was given: where a gradient goes, the place of the op before; else what it
    saved of it, or what was noted, None where that is unknown."""
    if entry is None or len(entry.rules) != len(node.edges):
        return list(node.edges)
    given: list[Any] = list(node.edges)
    for at, (name, _) in enumerate(entry.rules):
        if given[at] is None:
            is_saved = name in node.saved_names
            given[at] = node.value_of(name) if is_saved else _noted(node, op_of(entry), name)
    return given


def _noted(node: TorchNode, op: Any, name: str) -> Any:
    """Return an argument of an op that was noted when it ran, None where none was."""
    names = [] if op is None else [argument.name for argument in schema_of(op).arguments]
    if name not in names:
        return None
    return node.graph.origins.given_to(node.sequence_nr, names.index(name))


def _without_derivative(node: TorchNode, entry: Derivative | None, op: Any) -> list[torch.Tensor]:
    """Return the inputs that a node saved of those that have no gradient, as targets."""
    if entry is None or op is None:
        return []
    rules = {name for name, _ in entry.rules}
    names = [argument.name for argument in schema_of(op).arguments if argument.name not in rules]
    values = [node.value_of(name) for name in names if name in node.saved_names]
    return [value for value in values if value is not None and not value.requires_grad]


def _told(node: TorchNode, entry: Derivative | None) -> dict[str, Any]:
    """Return the arguments of an op that are no tensors."""
    op = op_of(entry)
    named = [] if op is None else [argument.name for argument in schema_of(op).arguments]
    arguments = {name: signed(node.saved_argument(name)) for name in named}
    return {
        name: value for name, value in arguments.items() if isinstance(value, int | float | list)
    }


def _is_told(node: TorchNode, entry: Derivative, name: str) -> bool:
    """Return whether a node has an argument of its op."""
    return is_kept(type(node.origin), name) or any(name == rule for rule, _ in entry.rules)


def op_of(entry: Derivative | None) -> Any:
    """Return the op that makes the nodes of an entry."""
    if entry is None:
        return None
    name, _, overload = entry.op.partition(".")
    return getattr(getattr(torch.ops.aten, name, None), overload or "default", None)


def _leaf(tensor: torch.Tensor) -> LeafRecord:
    seen = SeenTensor(tensor, tensor, None, None)
    one = describe(tensor) if is_single(tensor) else None
    return LeafRecord(lambda: seen, shape_of(tensor) or (), "", tensor.requires_grad, one)


_UNKNOWN: Final = LeafRecord(lambda: None, (), "", False, None)
"""A constant that no node saved."""
