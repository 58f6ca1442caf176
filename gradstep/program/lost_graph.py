"""Why a loss has no graph, where ``backward()`` fails because of that."""

from __future__ import annotations

from pathlib import PurePath
from types import TracebackType
from typing import Any, Final

from gradstep.capturing.op_records import LeafRecord, OpRecord, Record, reachable
from gradstep.engines.lookup import engine_of, is_tensor
from gradstep.graph.model import Source

_MESSAGE: Final = "does not require grad and does not have a grad_fn"
_CHECK: Final = (
    "gradstep check --lint --call all names the line that took the loss out of the graph"
)


def note_of(error: BaseException) -> str:
    """Say which line took the loss out of the graph, or how to find it where the forward pass was
    not traced; "" for other errors."""
    if not isinstance(error, RuntimeError) or _MESSAGE not in str(error):
        return ""
    loss = _loss_in(error.__traceback__)
    if loss is None:
        return ""
    found = engine_of((loss,)).tensors((loss,))[0].record
    record = found[0] if isinstance(found, tuple) else None
    if not isinstance(record, OpRecord | LeafRecord):
        return _CHECK
    said = (text for each in reachable([record]) if (text := _cut_at(each)))
    cut = next(said, "nothing that it was computed from requires one")
    return f"the loss requires no gradient: {cut}"


def _loss_in(traceback: TracebackType | None) -> Any:
    """Return the tensor whose ``backward()`` raised: what the function of that name was called
    with."""
    while traceback is not None:
        frame, traceback = traceback.tb_frame, traceback.tb_next
        if frame.f_code.co_name == "backward":
            given = frame.f_locals.get("self", frame.f_locals.get("tensors"))
            one = given[0] if isinstance(given, list | tuple) and given else given
            if is_tensor(one):
                return one
    return None


def _cut_at(record: Record) -> str:
    """Say how ``record`` left the graph, "" where it did not."""
    if isinstance(record, LeafRecord):
        cut = record.cut
        if cut is None or not cut.leaves:
            return ""
        return f"{cut.how} took a value out of the graph{_at(cut.source)}"
    inputs = [each for each in record.inputs if isinstance(each, tuple)]
    if record.requires_grad or not any(each.requires_grad for each, _ in inputs):
        return ""
    if record.name == "detach":
        return f"detach() or .data took a value out of the graph{_at(record.source)}"
    if not record.grad_mode:
        return f"{record.name} ran with gradients switched off{_at(record.source)}"
    return f"{record.name} gives numbers of dtype {record.dtype}{_at(record.source)}"


def _at(source: Source | None) -> str:
    return "" if source is None else f" at {PurePath(source.file).name}:{source.line}"
