"""Tracing: records that ops leave for pictures and debuggers while it is on.

A record is attached to the node and the tensors that an op created, and dies with them. Records
refer to the records of their inputs, never to tensors or nodes, so tracing keeps no data alive and
creates no cycles. On request, it also keeps the inputs of every op with a node, on that node (see
:mod:`.inputs`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from types import CodeType
from typing import Any, Final
from weakref import ref

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.grad_mode import (
    USUAL,
    Line,
    current_mode,
    enter_mode,
    is_grad_enabled,
    leave_mode,
    tracer,
)
from autograd_core.autograd.hooks import RemovableHandle
from autograd_core.autograd.node import Node, notes_of, resolve
from autograd_core.autograd.saved import SavedNode
from autograd_core.autograd.version import INFERENCE
from autograd_core.op.record import OPS
from autograd_core.tensor import Tensor
from gradstep.capturing.frames import called, calling_source, user_frame, user_source
from gradstep.capturing.hook_lines import noting_hook
from gradstep.capturing.rounds import Rounds
from gradstep.capturing.scopes import Scope, Scopes
from gradstep.contract.budget import BUDGET, Budget, Share
from gradstep.contract.loops import LoopRound
from gradstep.contract.module_paths import OUTSIDE
from gradstep.contract.op_records import (
    FOR_EACH_GRADIENT,
    MOST_WITHOUT_GRADIENT,
    Cut,
    Departure,
    LeafRecord,
    OpRecord,
    next_number,
)
from gradstep.contract.tracing import Values
from gradstep.engines.native.trace.cut import Behind
from gradstep.engines.native.trace.deferred import NOTE, Deferred, Instruction
from gradstep.engines.native.trace.inputs import InputRecorder
from gradstep.engines.native.trace.origins import leaf_record, origin, refer, scalar_statistics
from gradstep.graph.model import Source
from gradstep.graph.statistics import statistics
from gradstep.guest.collector import collector_slowed_by_ops
from gradstep.guest.fence import fenced, not_shown

_FORWARD: Final = "an op of the forward pass"
_MOST_PLACES: Final = 1 << 12
_SMALL: Final = 1 << 12  # bytes; less is bounded by the number of records, which take as much


class GraphTracer:
    """Records every op; the scope and the source line are those of the moment it ran.

    What it keeps of values is said at :func:`gradstep.trace`.
    """

    def __init__(
        self, values: Values = False, budget: int | Budget = BUDGET, *, defers: bool = False
    ) -> None:
        self._budget = Budget(budget) if isinstance(budget, int) else budget
        self._deferred = Deferred(self._budget.limit) if defers else None
        self._values, self._copies = values, values is True
        self._refers = values == "core"
        self._recorder = InputRecorder(self._budget) if values else None
        self._departure: Departure | None = None
        self._behind = Behind()
        self._scopes = Scopes()
        self._rounds = Rounds()
        self._left = MOST_WITHOUT_GRADIENT
        self.is_paused = False  # ops are not recorded, for a while
        self._shapes: tuple[Any] = (None,)  # of the last op, which many in a row share
        self._places: dict[int, Instruction] = {}

    def describe(self, *, on: bool) -> None:
        """Describe and copy values at once, where that was asked for; or else defer records, which
        only refer to them, for whoever asks."""
        if self._values is True:
            self.settle()
            self._copies, self._refers = on, not on
            self._deferred = None if on else Deferred(self._budget.limit)

    def op(
        self,
        name: str,
        values: tuple[Any, ...],
        attributes: Mapping[str, Any],
        outputs: tuple[Tensor, ...],
        node: Node | None,
    ) -> None:
        if self.is_paused:
            return
        if node is not None:
            self._left = min(self._left + FOR_EACH_GRADIENT, MOST_WITHOUT_GRADIENT)
        elif self._left:
            self._left -= 1
        else:
            for output in outputs:
                output._record = None
            return
        try:
            caller = sys._getframe(2)
            frame = user_frame(caller)
            place = None if frame is None else self._place(frame.f_code, frame.f_lasti)
            scope, grads = self._scopes.now, node is not None or is_grad_enabled()
            note = (name, values, attributes, outputs, node, place, scope, grads)
            deferred = self._deferred
            if deferred is None:
                self._record(*note, self._rounds.at(caller, frame))
                return
            deferred.notes.append(note)
            nbytes = NOTE
            for output in outputs:
                nbytes += output.array.nbytes
            for value in values:  # constants: of all others, the graph knows, or they were results
                if value is not None and value.edge is None:
                    nbytes += value.array.nbytes
            deferred.nbytes += nbytes
            if deferred.nbytes > deferred.most:
                self.settle()
        except Exception as error:
            not_shown(_FORWARD, error)

    def _place(self, code: CodeType, at: int) -> Instruction:
        """Return one pair for all ops at an instruction."""
        key = id(code) + at
        place = self._places.get(key)
        if place is None or place[0] is not code or place[1] != at:
            if len(self._places) > _MOST_PLACES:
                self._places.clear()
            place = self._places[key] = code, at
        return place

    @fenced(_FORWARD)
    def settle(self) -> None:
        """Make the records that were deferred."""
        if self._deferred is not None and self._deferred.notes:
            for note in self._deferred.take_all():
                self._record(*note)

    @fenced(_FORWARD)
    def passed(self, line: Line) -> None:
        """Make those records that were deferred and may be needed after the backward pass begun at
        ``line``."""
        self._scopes.run.clear()
        if self._deferred is not None:
            for note in self._deferred.take_rest(line):
                self._record(*note)

    def _record(
        self,
        name: str,
        values: tuple[Any, ...],
        attributes: Mapping[str, Any],
        outputs: tuple[Tensor, ...],
        node: Node | None,
        place: Instruction | None,
        scope: Scope | None,
        grads: bool,
        round: LoopRound | None = None,
    ) -> None:
        inputs = []
        for value in values:
            if value is not None:
                try:  # not by the property: 0.2 us
                    origin: Any = value._record
                except AttributeError:
                    origin = None
                edge = value.edge
                maker = origin[0] if type(origin) is tuple else None
                # most inputs are results, numbers, or leaves that have not changed; all else
                # takes 2 us
                known = type(origin) is float
                if type(maker) is OpRecord:
                    known = type(edge) is not AccumulateGrad
                elif type(maker) is LeafRecord and (kept := maker.kept) is not None:
                    known = (
                        kept[0] is value.array
                        and kept[1][0] == kept[2]
                        and (edge is None or getattr(edge, "record", None) is maker)
                    )
                inputs.append(origin if known else self._begin(value))
        record = OpRecord(
            name,
            tuple(inputs),
            attributes,
            OUTSIDE if scope is None else scope.place,
            place,
            node is not None,
            grads,
        )
        if round is not None:
            record.round = round
        op = OPS.get(name)
        record.pointwise = op is not None and op.pointwise
        if len(inputs) < len(values):
            record.gaps = tuple(at for at, value in enumerate(values) if value is None)
        if node is not None:
            notes_of(node).record = record
        if len(outputs) == 1:
            (first,) = outputs
            first._record = (record, 0)
            if self._shapes[0] is not first._shape:
                self._shapes = (first._shape,)
            record.shapes = self._shapes
            record.dtype = first.dtype.name
            if self._refers and first.array.nbytes <= _SMALL and first.version is not INFERENCE:
                versions = first.version
                if versions is None:
                    versions = first.version = [0]
                record.kept = ((first.array, versions, versions[0]),)
            else:
                self._describe(record, outputs)
        elif outputs:
            for number, output in enumerate(outputs):
                output.record = (record, number)
            record.shapes = tuple(output._shape for output in outputs)
            record.dtype = outputs[0].dtype.name
            self._describe(record, outputs)
        if isinstance(node, SavedNode):
            if node.op.hidden:
                record.shapes += tuple(_hidden_shapes(node))
            if self._copies and self._recorder is not None:
                notes_of(node).ran_on = self._recorder.keep(node.op, values, attributes)

    def _begin(self, tensor: Tensor) -> Any:
        """Return what ``tensor``, an input, came from, where no op is known to have made it."""
        made_by = origin(tensor)
        if isinstance(made_by, tuple) and isinstance(made_by[0], LeafRecord):
            leaf = made_by[0]
            if leaf.called is None:
                leaf.called = "" if leaf.requires_grad else called(tensor, sys._getframe(1))
            if self._refers and not _is_freed(tensor):
                leaf.kept = refer(tensor)
        return made_by

    def _describe(self, record: OpRecord, outputs: tuple[Tensor, ...]) -> None:
        """Keep of the results of an op what is asked for."""
        if self._refers:
            self._refer(record, outputs)
        else:
            first = outputs[0]
            record.statistics = (
                statistics(first.array) if self._copies else scalar_statistics(first)
            )

    def _refer(self, record: OpRecord, outputs: tuple[Tensor, ...]) -> None:
        """Keep references to the results of an op, within the budget."""
        nbytes = 0
        for output in outputs:
            nbytes += output.array.nbytes
        if nbytes > _SMALL:
            if self._budget.used + nbytes > self._budget.limit:
                record.statistics = statistics(outputs[0].array)
                return
            record.bytes_kept = Share(nbytes, self._budget)
        record.kept = tuple(map(refer, outputs))

    @fenced(_FORWARD)
    def changing(self, tensor: Tensor) -> Source | None:
        """Keep what ``tensor``, which is about to be changed in place, was when an op made it;
        return the line that runs now."""
        self.settle()
        if self._refers:
            self._keep(tensor)
        return user_source(sys._getframe(2))

    def _keep(self, tensor: Tensor | None) -> None:
        """Keep a copy of what ``tensor``, and what it shares its memory with, was when an op made
        it."""
        while tensor is not None:
            maker = tensor.record
            if isinstance(maker, Cut) and maker.maker is not None:
                maker = maker.maker(), 0
            if (
                isinstance(maker, tuple)
                and isinstance(maker[0], OpRecord)
                and maker[0].requires_grad
            ):
                maker[0].copy(maker[1])
            view = tensor.view_of
            tensor = None if view is None else view.base

    @fenced(_FORWARD)
    def in_place(self, tensor: Tensor) -> None:
        """Mark the op whose result ``tensor`` is as one that changed it in place."""
        if isinstance(tensor.record, tuple) and isinstance(tensor.record[0], OpRecord):
            record = tensor.record[0]
            record.attributes = {"in place": True, **record.attributes}
            if record.kept:
                record.kept = (refer(tensor),)  # where the result was copied to

    @fenced(_FORWARD)
    def through_view(self, base: Tensor, view: Tensor, node: Node) -> None:
        """Record that the op which changed ``view`` in place changed ``base``, of which that is a
        part: from now on ``base`` comes out of it."""
        if not (isinstance(view.record, tuple) and isinstance(view.record[0], OpRecord)):
            return
        part = view.record[0]
        attributes = {"in place through a view": True, **part.attributes, "in place": False}
        inputs = (origin(base), *part.inputs[1:])
        record = OpRecord(part.name, inputs, attributes, grad_mode=is_grad_enabled())
        record.scope, record.place, record.round = part.scope, part.place, part.round
        record.pointwise = part.pointwise
        record.shapes, record.dtype = (base._shape,), base.dtype.name
        record.requires_grad = True
        self._describe(record, (base,))
        base.record, notes_of(node).record = (record, 0), record

    @fenced(_FORWARD)
    def function(self, node: Node, function: Any, arguments: tuple[Any, ...]) -> None:
        """Keep what a custom Function runs on, before it can change it."""
        self.settle()
        if self._recorder is not None:
            for argument in arguments:
                if isinstance(argument, Tensor):
                    origin(argument)
                    if self._refers:
                        self._keep(argument)
            notes_of(node).ran_on = self._recorder.keep(function, arguments, {})

    @fenced(_FORWARD)
    def cut(self, how: str, before: Tensor, after: Tensor) -> None:
        """Remember on ``after`` where the graph of ``before`` ended, if it had one."""
        if isinstance(before.record, Cut):
            after.record = before.record
        elif leaves := self._behind.tensor(before):
            origin = before.record
            maker = ref(origin[0]) if isinstance(origin, tuple) and not origin[1] else None
            after.record = Cut(how, user_source(sys._getframe(2)), leaves, maker=maker)

    @fenced(_FORWARD)
    def taken_out(self, how: str, tensor: Tensor) -> None:
        """Remember where a value with a graph, or just cut off from one, became a NumPy array or a
        number; also with the leaves that it was computed from."""
        if how == "numpy()":  # changes of the array will not be counted
            self.settle()
            if self._refers:
                self._keep(tensor)
        leaves = self._behind.tensor(tensor)
        if not leaves:
            return
        departure = Departure(next_number(), how, user_source(sys._getframe(2)), leaves)
        if how == "numpy()":
            self._departure = departure
        for reference in leaves:
            leaf = reference()
            record = None if leaf is None else leaf_record(leaf)
            if record is not None:
                record.departure = departure

    @fenced(_FORWARD)
    def from_numpy(self, how: str, tensor: Tensor) -> None:
        """Remember on a tensor made from an array what went to NumPy last: it may be made of it."""
        gone = self._departure
        if gone is not None:
            tensor.record = Cut(how, user_source(sys._getframe(2)), gone.leaves, gone)

    @fenced(_FORWARD)
    def line(self) -> Source | None:
        return calling_source(sys._getframe(1))

    @fenced("modules", nullcontext())
    def module(self, module: Any) -> Scope:
        """Ops inside belong to ``module``, by the name it has in the outermost one."""
        return self._scopes.of(module, sys._getframe(1))

    def has_run(self, module: Any) -> bool:
        """Return whether the forward pass that is going on has called a module."""
        return module in self._scopes.run

    def scope(self, name: str) -> Scope:
        """Ops inside belong to ``name``, within the scopes around it."""
        return self._scopes.named(name)


def _is_freed(tensor: Tensor) -> bool:
    """Return whether a backward pass has freed what made ``tensor``, whose value nobody needs
    then."""
    maker, _ = resolve(tensor.edge)
    return maker is not None and maker.freed_at is not None


def _hidden_shapes(node: SavedNode) -> Iterator[tuple[int, ...]]:
    """Yield the shapes of results that callers do not see: they are saved, and rules compute with
    them where a derivative is differentiated."""
    for name in node.op.outputs:
        if name in node.op.hidden:
            yield getattr(getattr(node, name, None), "shape", ())


@contextmanager
def tracing(
    values: Values = False,
    budget: int | Budget = BUDGET,
    *,
    defers: bool = False,
    lines: bool = True,
) -> Iterator[GraphTracer]:
    """Record each op of the core that runs inside; see :func:`gradstep.trace`."""
    mode = current_mode() or USUAL
    tracer = GraphTracer(values, budget, defers=defers)
    with _noting_hooks(), collector_slowed_by_ops() if values else nullcontext():
        token = enter_mode(replace(mode, tracer=tracer))
        try:
            yield tracer
        finally:
            tracer.settle()
            with suppress(ValueError):  # the core was imported in another context, a task or thread
                leave_mode(token)


@contextmanager
def _noting_hooks() -> Iterator[None]:
    """Within it, the lines that register hooks are noted: each makes a handle."""
    begin: Any = RemovableHandle.__init__
    noted = noting_hook(begin)
    RemovableHandle.__init__ = noted  # type: ignore[method-assign]
    try:
        yield
    finally:
        if RemovableHandle.__init__ is noted:  # else who has put another there calls this one
            RemovableHandle.__init__ = begin  # type: ignore[method-assign]


def scope(name: str) -> AbstractContextManager[None]:
    """Name the ops of the core inside; see :func:`gradstep.scope`."""
    traces = tracer()
    return traces.scope(name) if isinstance(traces, GraphTracer) else nullcontext()
