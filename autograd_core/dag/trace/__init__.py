"""Tracing: what each op leaves behind, while it is on, for pictures and debuggers.

A record hangs on the node and the tensors that an op made, and dies with them.  Records
lead to the records of their inputs, never to tensors or nodes, so that tracing keeps no
data alive and closes no cycle.  Asked to, it also keeps the inputs of every op with a node,
on that node (see :mod:`.kept`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from inspect import CO_OPTIMIZED
from types import FrameType
from typing import Any, Literal

from autograd_core.autograd.grad_mode import (
    USUAL,
    current_mode,
    enter_mode,
    leave_mode,
)
from autograd_core.autograd.node import Node
from autograd_core.autograd.saved import SavedNode
from autograd_core.dag.model import Source
from autograd_core.dag.statistics import statistics
from autograd_core.dag.trace.cut import Cut, Departure, leaves_behind
from autograd_core.dag.trace.inputs import BUDGET, InputRecorder
from autograd_core.dag.trace.records import (
    LeafRecord,
    OpRecord,
    leaf_record,
    next_number,
    origin,
    scalar_statistics,
)
from autograd_core.engines.attach import attached
from autograd_core.op.record import OPS
from autograd_core.own_files import is_user_file
from autograd_core.tensor import Tensor


class GraphTracer:
    """Records every op; the scope and the source line are those of the moment it ran."""

    def __init__(self, values: bool = False, budget: int = BUDGET) -> None:
        self._values = values
        self._recorder = InputRecorder(budget) if values else None
        self._departure: Departure | None = None
        self._scopes: list[str] = []
        self._module_names: list[dict[int, str]] = []

    def op(
        self,
        name: str,
        values: tuple[Any, ...],
        attributes: Mapping[str, Any],
        outputs: tuple[Tensor, ...],
        node: Node | None,
    ) -> None:
        given = [v for v in values if v is not None]
        inputs = tuple(map(origin, given))
        for tensor, found in zip(given, inputs, strict=True):
            if isinstance(found, tuple) and isinstance(found[0], LeafRecord):
                leaf = found[0]
                if leaf.called is None:
                    leaf.called = "" if leaf.requires_grad else called(tensor, sys._getframe(2))
        record = OpRecord(name, inputs, attributes)
        record.scope = ".".join(scope for scope in self._scopes if scope)
        record.source = user_source(sys._getframe(2))
        record.pointwise = name in OPS and OPS[name].pointwise
        record.shapes = (*(output._shape for output in outputs), *_hidden_shapes(node))
        record.dtype = outputs[0].dtype.name if outputs else ""
        record.requires_grad = node is not None
        if outputs:
            record.statistics = (
                statistics(outputs[0].array) if self._values else scalar_statistics(outputs[0])
            )
        for number, output in enumerate(outputs):
            output.record = (record, number)
        if node is not None:
            node.record = record
            if self._recorder is not None and isinstance(node, SavedNode):
                node.ran_on = self._recorder.keep(node.op, values, attributes)

    def in_place(self, tensor: Tensor) -> None:
        """Mark the op whose result ``tensor`` is as one that changed it in place."""
        if isinstance(tensor.record, tuple) and isinstance(tensor.record[0], OpRecord):
            record = tensor.record[0]
            record.attributes = {"in place": True, **record.attributes}

    def through_view(self, base: Tensor, view: Tensor, node: Node) -> None:
        """Record that the op which changed ``view`` in place changed ``base``, of which that is a
        part: from now on ``base`` comes out of it."""
        if not (isinstance(view.record, tuple) and isinstance(view.record[0], OpRecord)):
            return
        part = view.record[0]
        attributes = {"in place through a view": True, **part.attributes, "in place": False}
        record = OpRecord(part.name, (origin(base), *part.inputs[1:]), attributes)
        record.scope, record.source = part.scope, part.source
        record.shapes, record.dtype = (base._shape,), base.dtype.name
        record.requires_grad = True
        record.statistics = scalar_statistics(base)
        base.record, node.record = (record, 0), record

    def function(self, node: Node, function: Any, arguments: tuple[Any, ...]) -> None:
        """Keep what a custom Function runs on, before it can change it."""
        if self._recorder is not None:
            for argument in arguments:
                if isinstance(argument, Tensor):
                    origin(argument)
            node.ran_on = self._recorder.keep(function, arguments, {})

    def cut(self, how: str, before: Tensor, after: Tensor) -> None:
        """Remember on ``after`` where the graph of ``before`` ended, if it had one."""
        if isinstance(before.record, Cut):
            after.record = before.record
        elif leaves := leaves_behind(before):
            after.record = Cut(how, user_source(sys._getframe(2)), leaves)

    def taken_out(self, how: str, tensor: Tensor) -> None:
        """Remember where a value with a graph, or just cut off from one, became a NumPy array or a
        number; also with the leaves that it was computed from."""
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

    @contextmanager
    def module(self, module: Any) -> Iterator[None]:
        """Ops inside belong to ``module``, by the name it has in the outermost one."""
        if self._module_names:
            names = self._module_names[-1]
            name = names.get(id(module), type(module).__name__)
            # names are paths from the outermost module; scopes nest, so only the last part
            # of it that is new is added
            known = ".".join(scope for scope in self._scopes if scope)
            name = name.removeprefix(f"{known}.") if known else name
        else:
            names = {id(child): path for path, child in module.named_modules()}
            name = ""
        self._module_names.append(names)
        try:
            with self.scope(name):
                yield
        finally:
            self._module_names.pop()

    @contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """Ops inside belong to ``name``, within the scopes around it."""
        self._scopes.append(name)
        try:
            yield
        finally:
            self._scopes.pop()


def _hidden_shapes(node: Node | None) -> Iterator[tuple[int, ...]]:
    """Yield the shapes of results that callers do not see: they are saved, and rules compute with
    them where a derivative is differentiated."""
    if isinstance(node, SavedNode):
        for name in node.op.outputs:
            if name in node.op.hidden:
                yield getattr(getattr(node, name, None), "shape", ())


Values = bool | Literal["core"]


@contextmanager
def trace(values: Values = False, budget: int = BUDGET) -> Iterator[GraphTracer]:
    """Record scope and source line of each op that runs inside, for pictures and debuggers.

    Args:
        values: also describe every result (root mean square, extrema, NaN), and keep a copy of
            every input of an op with a gradient, so that its rule can be checked; otherwise
            only single numbers are kept.  "core" does so for the ops of this package only: to see
            PyTorch's, a dispatch mode is needed, under which ``torch.compile`` compiles nothing.
        budget: how many bytes these copies may take at a time; 1 GiB by default.
    """
    mode = current_mode() or USUAL
    tracer = GraphTracer(bool(values), budget)
    with attached(values=values is True, budget=budget):
        token = enter_mode(replace(mode, tracer=tracer))
        try:
            yield tracer
        finally:
            leave_mode(token)


@contextmanager
def scope(name: str) -> Iterator[None]:
    """Give the ops inside a name of their own in pictures and addresses; free when nobody
    traces."""
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


_SHARE_LOCALS = frozenset(("dir", "eval", "exec", "locals", "vars"))


def _name_in(frame: FrameType, tensor: Tensor) -> str:
    """Return the local variable of ``frame`` that is ``tensor``; "" where there is none."""
    kept = sys.version_info < (3, 13)
    # Before 3.13 a frame keeps the dictionary of its variables: asked for, that changes under a
    # program or a debugger that has it, too, and it would hold what the program deletes.
    if kept and (sys.gettrace() is not None or not _SHARE_LOCALS.isdisjoint(frame.f_code.co_names)):
        return ""
    variables = frame.f_locals
    name = next((name for name, value in variables.items() if value is tensor), "")
    if kept:
        variables.clear()
    return name


def user_source(frame: FrameType | None) -> Source | None:
    """Return the innermost line on the stack that is not our own."""
    while frame is not None:
        file = frame.f_code.co_filename
        if is_user_file(file):
            return _source(file, frame.f_lineno)
        frame = frame.f_back
    return None


@lru_cache(maxsize=1 << 16)
def _source(file: str, line: int) -> Source:
    return Source(file, line)  # one for all ops of a line
