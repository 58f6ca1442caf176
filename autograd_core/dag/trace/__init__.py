"""Tracing: records that ops leave for pictures and debuggers while it is on.

A record is attached to the node and the tensors that an op created, and dies with them. Records
refer to the records of their inputs, never to tensors or nodes, so tracing keeps no data alive and
creates no cycles. On request, it also keeps the inputs of every op with a node, on that node (see
:mod:`.inputs`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from inspect import CO_OPTIMIZED
from types import CodeType, FrameType
from typing import Any, Final, Literal
from weakref import ref

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.grad_mode import (
    USUAL,
    current_mode,
    enter_mode,
    leave_mode,
)
from autograd_core.autograd.node import Node, notes_of
from autograd_core.autograd.saved import SavedNode
from autograd_core.autograd.version import INFERENCE
from autograd_core.dag.model import Source
from autograd_core.dag.statistics import statistics
from autograd_core.dag.trace.cut import Cut, Departure, leaves_behind
from autograd_core.dag.trace.inputs import BUDGET, Budget, InputRecorder, Share
from autograd_core.dag.trace.records import (
    LeafRecord,
    OpRecord,
    leaf_record,
    next_number,
    origin,
    refer,
    scalar_statistics,
    source_at,
)
from autograd_core.engines.attach import attached
from autograd_core.own_files import is_user_file
from autograd_core.tensor import Tensor

Values = bool | Literal["core"]
_SMALL: Final = 1 << 12  # bytes; less is bounded by the number of records, which take as much


class GraphTracer:
    """Records every op; the scope and the source line are those of the moment it ran.

    What it keeps of values is said at :func:`trace`.
    """

    def __init__(self, values: Values = False, budget: int | Budget = BUDGET) -> None:
        self._budget = Budget(budget) if isinstance(budget, int) else budget
        self._copies = values is True
        self._refers = values == "core"
        self._recorder = InputRecorder(self._budget) if values else None
        self._departure: Departure | None = None
        self._scope = ""
        self._outermost: list[Any] = []  # of each module that computes, the one around all
        self._names = _ModuleNames()

    def op(
        self,
        name: str,
        values: tuple[Any, ...],
        attributes: Mapping[str, Any],
        outputs: tuple[Tensor, ...],
        node: Node | None,
    ) -> None:
        frame = user_frame(sys._getframe(2))
        inputs = []
        for value in values:
            if value is not None:
                try:  # not by the property: 0.2 us
                    found: Any = value._record
                except AttributeError:
                    found = None
                edge = value.edge
                maker = found[0] if type(found) is tuple else None
                # most inputs are results, numbers, or leaves that have not changed; all else
                # takes 2 us
                known = type(found) is float
                if type(maker) is OpRecord:
                    known = type(edge) is not AccumulateGrad
                elif type(maker) is LeafRecord and (kept := maker.kept) is not None:
                    known = (
                        kept[0] is value.array
                        and kept[1][0] == kept[2]
                        and (edge is None or getattr(edge, "record", None) is maker)
                    )
                inputs.append(found if known else self._begin(value))
        record = OpRecord(
            name,
            tuple(inputs),
            attributes,
            self._scope,
            None if frame is None else (frame.f_code, frame.f_lasti),
            node is not None,
        )
        if len(inputs) < len(values):
            record.gaps = tuple(at for at, value in enumerate(values) if value is None)
        if node is not None:
            notes_of(node).record = record
        if len(outputs) == 1:
            (first,) = outputs
            first._record = (record, 0)
            record.shapes = (first._shape,)
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
        found = origin(tensor)
        if isinstance(found, tuple) and isinstance(found[0], LeafRecord):
            leaf = found[0]
            if leaf.called is None:
                leaf.called = "" if leaf.requires_grad else called(tensor, sys._getframe(3))
            if self._refers:
                leaf.kept = refer(tensor)
        return found

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

    def changing(self, tensor: Tensor) -> Source | None:
        """Keep what ``tensor``, which is about to be changed in place, was when an op made it;
        return the line that runs now."""
        if self._refers:
            self._keep(tensor)
        return user_source(sys._getframe(2))

    def _keep(self, tensor: Tensor | None) -> None:
        """Keep a copy of what ``tensor``, and what it shares its memory with, was when an op made
        it."""
        while tensor is not None:
            made = tensor.record
            if isinstance(made, Cut) and made.maker is not None:
                made = made.maker(), 0
            if isinstance(made, tuple) and isinstance(made[0], OpRecord) and made[0].requires_grad:
                made[0].copy(made[1])
            view = tensor.view_of
            tensor = None if view is None else view.base

    def in_place(self, tensor: Tensor) -> None:
        """Mark the op whose result ``tensor`` is as one that changed it in place."""
        if isinstance(tensor.record, tuple) and isinstance(tensor.record[0], OpRecord):
            record = tensor.record[0]
            record.attributes = {"in place": True, **record.attributes}
            if record.kept:
                record.kept = (refer(tensor),)  # where the result was copied to

    def through_view(self, base: Tensor, view: Tensor, node: Node) -> None:
        """Record that the op which changed ``view`` in place changed ``base``, of which that is a
        part: from now on ``base`` comes out of it."""
        if not (isinstance(view.record, tuple) and isinstance(view.record[0], OpRecord)):
            return
        part = view.record[0]
        attributes = {"in place through a view": True, **part.attributes, "in place": False}
        record = OpRecord(part.name, (origin(base), *part.inputs[1:]), attributes)
        record.scope, record.place = part.scope, part.place
        record.shapes, record.dtype = (base._shape,), base.dtype.name
        record.requires_grad = True
        self._describe(record, (base,))
        base.record, notes_of(node).record = (record, 0), record

    def function(self, node: Node, function: Any, arguments: tuple[Any, ...]) -> None:
        """Keep what a custom Function runs on, before it can change it."""
        if self._recorder is not None:
            for argument in arguments:
                if isinstance(argument, Tensor):
                    origin(argument)
                    if self._refers:
                        self._keep(argument)
            notes_of(node).ran_on = self._recorder.keep(function, arguments, {})

    def cut(self, how: str, before: Tensor, after: Tensor) -> None:
        """Remember on ``after`` where the graph of ``before`` ended, if it had one."""
        if isinstance(before.record, Cut):
            after.record = before.record
        elif leaves := leaves_behind(before):
            made = before.record
            maker = ref(made[0]) if isinstance(made, tuple) and not made[1] else None
            after.record = Cut(how, user_source(sys._getframe(2)), leaves, maker=maker)

    def taken_out(self, how: str, tensor: Tensor) -> None:
        """Remember where a value with a graph, or just cut off from one, became a NumPy array or a
        number; also with the leaves that it was computed from."""
        if self._refers and how == "numpy()":
            self._keep(tensor)  # changes of the array will not be counted
        leaves = leaves_behind(tensor)
        if not leaves:
            return
        departure = Departure(next_number(), how, user_source(sys._getframe(2)), leaves)
        if how == "numpy()":
            self._departure = departure
        for each in leaves:
            leaf = each()
            record = None if leaf is None else leaf_record(leaf)
            if record is not None:
                record.departure = departure

    def from_numpy(self, how: str, tensor: Tensor) -> None:
        """Remember on a tensor made from an array what went to NumPy last: it may be made of it."""
        gone = self._departure
        if gone is not None:
            tensor.record = Cut(how, user_source(sys._getframe(2)), gone.leaves, gone)

    def line(self) -> Source | None:
        return user_source(sys._getframe(1))

    def module(self, module: Any) -> _Scope:
        """Ops inside belong to ``module``, by the name it has in the outermost one."""
        if not self._outermost:
            outermost = outermost_of(module, sys._getframe(1))
            name = "" if outermost is module else self._names.of(module, outermost)
            return _Scope(self, name, outermost)
        name = self._names.of(module, self._outermost[-1]) or type(module).__name__
        # names are paths from the outermost module; scopes nest, so only the last part of it that
        # is new is added
        known = self._scope
        return _Scope(self, name.removeprefix(f"{known}.") if known else name, module)

    def scope(self, name: str) -> _Scope:
        """Ops inside belong to ``name``, within the scopes around it."""
        return _Scope(self, name)


class _Scope:
    """A scope, as a context manager: a generator would take 2 us more for each module."""

    __slots__ = ("_before", "_module", "_name", "_tracer")

    def __init__(self, tracer: GraphTracer, name: str, module: Any = None) -> None:
        self._tracer, self._name, self._module = tracer, name, module

    def __enter__(self) -> None:
        tracer = self._tracer
        self._before = tracer._scope
        if self._name:
            tracer._scope = f"{self._before}.{self._name}" if self._before else self._name
        if self._module is not None:
            tracer._outermost.append(tracer._outermost[-1] if tracer._outermost else self._module)

    def __exit__(self, *error: object) -> None:
        self._tracer._scope = self._before
        if self._module is not None:
            self._tracer._outermost.pop()


class _ModuleNames:
    """The paths of modules in the outermost one, which take long to list."""

    def __init__(self) -> None:
        self._paths: dict[int, tuple[ref[Any], dict[int, str]]] = {}

    def of(self, module: Any, outermost: Any) -> str:
        """Return the path of ``module`` in ``outermost``, "" where it has none."""
        known = self._paths.get(id(outermost))
        if known is not None and known[0]() is outermost:
            path = known[1].get(id(module))
            if path is not None and _leads_to(path, outermost) is module:
                return path
        paths = {id(child): path for path, child in outermost.named_modules()}
        if len(self._paths) > _MOST:
            self._paths.clear()
        self._paths[id(outermost)] = ref(outermost), paths
        found: str = paths.get(id(module), "")
        return found


def _leads_to(path: str, module: Any) -> Any:
    for name in path.split(".") if path else ():
        module = None if module is None else module._modules.get(name)
    return module


def _hidden_shapes(node: SavedNode) -> Iterator[tuple[int, ...]]:
    """Yield the shapes of results that callers do not see: they are saved, and rules compute with
    them where a derivative is differentiated."""
    for name in node.op.outputs:
        if name in node.op.hidden:
            yield getattr(getattr(node, name, None), "shape", ())


@contextmanager
def trace(values: Values = False, budget: int | Budget = BUDGET) -> Iterator[GraphTracer]:
    """Record the scope and source line of each op that runs inside, for pictures and debuggers.

    Args:
        values: also describe every result (root mean square, extrema, NaN), and copy every input of
            an op with a gradient, so that its rule can be checked; otherwise only single numbers
            are kept. "core" does this for the ops of this package only. It keeps references to
            results, describes them on demand, and copies only values that are changed in place. Ops
            of PyTorch need a dispatch mode, under which ``torch.compile`` compiles nothing.
        budget: the memory limit of the copies in bytes; 1 GiB by default.
    """
    mode = current_mode() or USUAL
    tracer = GraphTracer(values, budget)
    limit = budget if isinstance(budget, int) else budget.limit
    with attached(values=values is True, budget=limit):
        token = enter_mode(replace(mode, tracer=tracer))
        try:
            yield tracer
        finally:
            leave_mode(token)


@contextmanager
def scope(name: str) -> Iterator[None]:
    """Name the ops inside in pictures and addresses. Without tracing, this costs nothing."""
    mode = current_mode()
    if mode is None or not isinstance(mode.tracer, GraphTracer):
        yield
        return
    with mode.tracer.scope(name):
        yield


def called(tensor: Tensor, frame: FrameType | None) -> str:
    """Return the name of ``tensor`` in the outermost call in which a local variable, or a
    parameter, is that tensor; "" where there is none."""
    found = ""
    while frame is not None:
        code = frame.f_code
        if code.co_flags & CO_OPTIMIZED and is_user_file(code.co_filename):
            found = _name_in(frame, tensor) or found
        frame = frame.f_back
    return found


def outermost_of(module: Any, frame: FrameType | None) -> Any:
    """Return the module of which ``module`` is a part, and in a method of which, such as
    ``training_step``, it is called; ``module`` itself where it is called elsewhere."""
    frame = user_frame(frame)
    if frame is None or frame.f_code.co_varnames[:1] != ("self",):
        return module
    with variables_of(frame) as variables:
        caller = variables.get("self")
    named = getattr(type(caller), "named_modules", None)
    if named is not None and any(part is module for _, part in named(caller)):
        return caller
    return module


_SHARE_LOCALS = frozenset(("dir", "eval", "exec", "locals", "vars"))


def _name_in(frame: FrameType, tensor: Tensor) -> str:
    """Return the local variable of ``frame`` that is ``tensor``; "" where there is none."""
    with variables_of(frame) as variables:
        return next((name for name, value in variables.items() if value is tensor), "")


@contextmanager
def variables_of(frame: FrameType) -> Iterator[Mapping[str, Any]]:
    """Give the local variables of a function; none where asking for them would be seen.

    Before Python 3.13 a frame keeps the dictionary of its variables: asked for, that changes under
    a program or a debugger that has it, too, and it would hold what the program deletes.
    """
    if sys.version_info >= (3, 13):
        yield frame.f_locals
    elif sys.gettrace() is not None or not _SHARE_LOCALS.isdisjoint(frame.f_code.co_names):
        yield {}
    else:
        try:
            yield frame.f_locals
        finally:
            frame.f_locals.clear()


def user_source(frame: FrameType | None) -> Source | None:
    """Return the innermost line on the stack that is not our own."""
    found = user_frame(frame)
    return None if found is None else source_at(found.f_code, found.f_lasti)


def user_frame(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame on the stack that is not our own."""
    while frame is not None:
        code = frame.f_code
        number = id(code)
        if number not in _ours:
            if number in _users:
                return frame
            if len(_codes) > _MOST:
                for known in (_ours, _users, _codes):
                    known.clear()
            _codes.append(code)
            if is_user_file(code.co_filename):
                _users.add(number)
                return frame
            _ours.add(number)
        frame = frame.f_back
    return None


_MOST: Final = 1 << 14
_ours: Final[set[int]] = set()  # by identity, as hashing code takes longer
_users: Final[set[int]] = set()
_codes: Final[list[CodeType]] = []  # which keep their identity
