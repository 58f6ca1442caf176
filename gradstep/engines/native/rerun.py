"""A node's function, run again: on copies, in float64, as often as it takes; see
:class:`~gradstep.contract.protocol.Rerun`.

The rule is not asked of the node at hand but of a new one that the same call makes, so that it
works in float64 throughout, whatever was freed or changed meanwhile.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_core.autograd.function import Function
from autograd_core.autograd.function.node import FunctionNode
from autograd_core.autograd.grad_mode import USUAL, enter_mode, leave_mode
from autograd_core.autograd.node import ONE_EDGE, Node, resolve
from autograd_core.autograd.reduce import reduce_gradient
from autograd_core.autograd.saved import SavedNode
from autograd_core.autograd.undo_log import UndoLog
from autograd_core.op.record import OPS, Op
from autograd_core.tensor import Tensor
from gradstep.capturing.sources import definition
from gradstep.contract.budget import Copy
from gradstep.contract.op_records import IN_PLACE, OpRecord
from gradstep.contract.protocol import CannotRerun
from gradstep.engines.native.trace.inputs import Known, SavedInputs
from gradstep.graph.model import Source
from gradstep.graph.statistics import format_bytes
from gradstep.guest.silence import silence

Array = NDArray[Any]
_UNTRACED = (
    "its inputs were not kept; run the forward pass inside `with gradstep.trace(values=True):`"
)
_WITHOUT_VALUES = "its inputs were not kept; trace with gradstep.trace(values=True)"


class Rerun:
    """The computation of ``node``, as a function of those of its inputs that need a gradient."""

    def __init__(self, node: Node, wide: bool = True) -> None:
        """``wide``: in float64; otherwise in the dtypes of the original call.

        Raises:
            CannotRerun: its inputs were not kept.
            Exception: whatever the function raises.
        """
        ran_on = node.ran_on or _referred(node)
        if ran_on is None:
            raise CannotRerun(_UNTRACED if node.record is None else _WITHOUT_VALUES)
        if ran_on.arguments is None:
            raise CannotRerun(
                "its inputs were not kept: the copies reached their limit of "
                f"{format_bytes(ran_on.limit)}; raise it with "
                "gradstep.trace(values=True, budget=...)"
            )
        self._function = ran_on.function
        self._attributes = ran_on.attributes
        self._arguments = ran_on.arguments
        self._arrays = {
            at: _widened(argument.array) if wide else argument.array
            for at, argument in enumerate(ran_on.arguments)
            if isinstance(argument, Copy | Known)
        }
        self.custom = not isinstance(ran_on.function, Op)
        self.places = _differentiable(node, self._function, list(self._arrays))
        self.names = _names(self._function, self.places)
        self.symmetric = not self.custom and _reads_half(self._function, self._attributes)
        self._normalized = not self.custom and self._function.normalized
        self._padding = -1
        if isinstance(ran_on.function, Op) and ran_on.function.name == "embedding":
            self._padding = int(self._attributes.get("padding_idx", -1))
        self.points = [self.direction(self._arrays[at]) for at in self.places]
        with _undisturbed(self.custom):
            outputs = self._outputs(self._call(self.points))
            self._shapes = [t._shape for t in outputs]
        kinds = [t.array.dtype for t in outputs] + [point.dtype for point in self.points]
        self.eps = max((float(np.finfo(kind).eps) for kind in kinds), default=0.0)

    def direction(self, v: Array) -> Array:
        """Return ``v``, as far as an input may be moved along it: an op that reads one half of a
        matrix only has a derivative along symmetric ones, and a row for padding gets none."""
        if self._padding >= 0:
            v = v.copy()
            v[self._padding] = 0
        return (v + v.swapaxes(-2, -1)) / 2 if self.symmetric else v

    @property
    def size(self) -> int:
        """The number of elements that the outputs have together."""
        return sum(int(np.prod(shape, dtype=np.int64)) for shape in self._shapes)

    def values(self, points: Sequence[Array]) -> Array:
        """Return the outputs there, flat and one behind the other, in float64."""
        with _undisturbed(self.custom):
            return _flat([t.array for t in self._beside(points)])

    def gradients(self, points: Sequence[Array], weights: Array) -> list[Array | None]:
        """Apply the rule to the gradient ``weights``, given for all outputs in one row: a
        gradient for each input, None for one that it leaves out."""
        with _undisturbed(self.custom):
            outputs = self._beside(points)
            node: Any = resolve(outputs[0].edge)[0]
            seeds: list[Any] = [None] * node.output_count
            taken = 0
            for t in outputs:
                part = weights[taken : taken + t.array.size].reshape(t._shape)
                seeds[resolve(t.edge)[1]] = part.astype(t.array.dtype)
                taken += t.array.size
            sent = node.backward(seeds if node.ported else seeds[0], True)
            listed = [sent] if node.kind == ONE_EDGE else list(sent)
            if node.to is not None:
                listed = [reduce_gradient(g, to) for g, to in zip(listed, node.to, strict=True)]
            wanted = [g for g, edge in zip(listed, node.edges, strict=True) if edge is not None]
            return [None if g is None else np.array(g) for g in wanted]

    def _beside(self, points: Sequence[Array]) -> list[Tensor]:
        try:
            return self._outputs(self._call(points))
        except Exception as error:  # it may not be defined near the inputs that it had
            reason = str(error).strip().partition("\n")[0].removesuffix(".")
            raise CannotRerun(f"next to these inputs, its forward raises: {reason}") from None

    def _call(self, points: Sequence[Array]) -> tuple[Any, ...]:
        inputs: list[Any] = list(self._arguments)
        for at, array in self._arrays.items():
            inputs[at] = Tensor.from_array(array.copy())
        for at, point in zip(self.places, points, strict=True):
            if self._normalized:
                point = point - np.log(np.sum(np.exp(point), axis=-1, keepdims=True))
            leaf = Tensor.from_array(point.astype(self._arrays[at].dtype), True)
            # a custom Function may change its inputs in place, which leaves do not allow
            inputs[at] = OPS["clone"].call(leaf) if self.custom else leaf
        if self.custom:
            result = self._function.apply(*inputs)
        elif self._function.variadic:
            result = self._function.call(inputs, **self._attributes)
        else:
            result = self._function.call(*inputs, **self._attributes)
        return result if isinstance(result, tuple) else (result,)

    @staticmethod
    def _outputs(results: tuple[Any, ...]) -> list[Tensor]:
        return [t for t in results if isinstance(t, Tensor) and t.edge is not None]


def _referred(node: Node) -> SavedInputs | None:
    """Return the inputs of the op of ``node``, as far as tracing has kept references to them.

    Raises:
        CannotRerun: one was changed in place since.
    """
    record = node.record
    if not isinstance(node, SavedNode) or not isinstance(record, OpRecord) or not record.kept:
        return None
    arguments: list[Any] = []
    for value in record.inputs:
        if not isinstance(value, tuple):
            arguments.append(value)
            continue
        array = value[0].value(value[1])
        if array is None:
            raise CannotRerun(
                "one of its inputs was changed in place since, or was not kept: the values of the "
                "forward pass had reached their limit"
            )
        arguments.append(Known(array))
    for at in record.gaps:
        arguments.insert(at, None)
    named = {key: attribute for key, attribute in record.attributes.items() if key not in IN_PLACE}
    return SavedInputs(node.op, tuple(arguments), named, 0)


def _reads_half(op: Op, attributes: Mapping[str, Any]) -> bool:
    """Return whether ``op``, so called, takes its inputs for symmetric matrices."""
    return bool(attributes.get(op.symmetric) if isinstance(op.symmetric, str) else op.symmetric)


def _widened(array: Array) -> Array:
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def _differentiable(node: Node, function: Any, tensors: Sequence[int]) -> list[int]:
    """List the arguments that the node sends a gradient to; ``tensors`` are those that are
    tensors."""
    if isinstance(function, Op) and not function.variadic:
        tensors = [function.values.index(edge) for edge in function.edges]
    return [at for at, edge in zip(tensors, node.edges, strict=True) if edge is not None]


def _names(function: Any, places: Sequence[int]) -> list[str]:
    """Name the inputs at ``places`` as the function's definition does."""
    if isinstance(function, Op):
        if function.variadic:
            return [f"{function.variadic}[{at}]" for at in places]
        return [function.values[at] for at in places]
    parameters = list(inspect.signature(function.forward).parameters.values())
    if function.setup_context is Function.setup_context:
        parameters = parameters[1:]  # without ctx
    plain = [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "input")
    return [plain[at] if at < len(plain) else f"{rest}[{at - len(plain)}]" for at in places]


def _flat(arrays: Sequence[Array]) -> Array:
    if not arrays:
        return np.zeros(0)
    return np.concatenate([np.asarray(a, np.float64).reshape(-1) for a in arrays])


@contextmanager
def _undisturbed(custom: bool) -> Iterator[None]:
    """Gradients on, nobody watching, NumPy silent.  What user code changes is undone, so
    that each run finds the same and draws the same random numbers; its prints and warnings are
    swallowed."""
    log = UndoLog() if custom else None
    token = enter_mode(replace(USUAL, undo_log=log))
    try:
        with np.errstate(all="ignore"):
            if log is None:
                yield
            else:
                log.keep_random_state()
                with silence():
                    yield
    finally:
        leave_mode(token)
        if log is not None:
            log.go(0)


def rule_of(node: Node) -> Source | None:
    """Find where the rule of ``node`` is written."""
    function: Any = None
    if isinstance(node, FunctionNode):
        function = inspect.unwrap(node._function.backward)
    elif isinstance(node, SavedNode):
        function = node.op.rule(node.op.edges[0]).function
    code = getattr(function, "__code__", None)
    return None if code is None else definition(code)
