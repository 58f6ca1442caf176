"""Why the engine refused a backward pass of the program's: the lines that are to be changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from traceback import walk_tb
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from gradstep.capturing.names import names_in_traceback
from gradstep.capturing.sources import portable
from gradstep.contract.lookup import engine_of, is_tensor
from gradstep.contract.op_records import (
    LeafRecord,
    OpRecord,
    Record,
    frozen_among,
    is_frozen,
    reachable,
)
from gradstep.graph.model import Source
from gradstep.guest.fence import fenced

if TYPE_CHECKING:
    from gradstep.findings.finding import Finding

_MESSAGE: Final = "does not require grad and does not have a grad_fn"
_CHECK: Final = "gradstep check names the line that took the loss out of the graph"


def note_of(error: BaseException) -> str:
    """Say which line took the loss out of the graph, or how to find it where the forward pass was
    not traced; "" for other errors."""
    if not isinstance(error, RuntimeError) or _MESSAGE not in str(error):
        return ""
    roots = _roots_in(error.__traceback__)
    if not roots:
        return ""
    origin = engine_of(roots).reading.tensors(roots)[0].record
    record = origin[0] if isinstance(origin, tuple) else None
    if not isinstance(record, OpRecord | LeafRecord):
        return _CHECK
    records = reachable([record])
    texts = (text for cut in records if (text := _cut_at(cut)))
    frozen = frozen_among(records)
    cut = next(
        texts,
        f"requires_grad is False for {frozen}"
        if frozen
        else "nothing that it was computed from requires one",
    )
    return f"the loss requires no gradient: {cut}"


@fenced("why the pass was refused", ())
def findings_of(error: BaseException) -> tuple[Finding, ...]:
    """Find what the pass that raised ``error`` missed, and where that was freed or changed; nothing
    where the error is of another kind.  Files are named as seen from the current directory."""
    roots = _roots_in(error.__traceback__) if isinstance(error, RuntimeError) else []
    if not roots:
        return ()
    # slow to load, and few programs fail so
    from gradstep.findings.linting import refusals
    from gradstep.findings.rules.graph.lost_graph import lost_graph

    if _MESSAGE in str(error):
        record = engine_of(roots).reading.tensors(roots)[0].record
        lost = lost_graph(record[0]) if isinstance(record, tuple) else ()
        return tuple(map(_seen_from_here, lost))
    findings = refusals(roots, names_in_traceback(error.__traceback__), str(error))
    return tuple(map(_seen_from_here, findings))


def _seen_from_here(finding: Finding) -> Finding:
    source, other = _portable(finding.source), _portable(finding.other)
    return replace(finding, reason=replace(finding.reason, source=source, other=other))


def _portable(source: Source | None) -> Source | None:
    return source and Source(portable(source.file, Path.cwd()), source.line)


def _roots_in(traceback: TracebackType | None) -> list[Any]:
    """Return the tensors from which the pass began: what the outermost function called
    ``backward()`` or ``grad()`` was given."""
    for frame, _ in walk_tb(traceback):
        for parameter in _PARAMETERS.get(frame.f_code.co_name, ()):
            given = frame.f_locals.get(parameter)
            roots = list(given) if isinstance(given, list | tuple) else [given]
            if roots and all(map(is_tensor, roots)):
                return roots
    return []


_PARAMETERS: Final = {"backward": ("self", "tensors"), "grad": ("outputs",)}


def _cut_at(record: Record) -> str:
    """Say how ``record`` left the graph, "" where it did not."""
    if isinstance(record, LeafRecord):
        cut = record.cut
        if cut is None or not cut.leaves:
            return ""
        return f"{cut.how} took a value out of the graph{_at(cut.source)}"
    inputs = [value for value in record.inputs if isinstance(value, tuple)]
    if record.requires_grad or not any(
        maker.requires_grad and not is_frozen(maker) for maker, _ in inputs
    ):
        return ""
    if record.name == "detach":
        return f"detach() or .data took a value out of the graph{_at(record.source)}"
    if not record.grad_mode:
        return f"{record.name} ran with gradients switched off{_at(record.source)}"
    return f"{record.name} gives numbers of dtype {record.dtype}{_at(record.source)}"


def _at(source: Source | None) -> str:
    return "" if source is None else f" at {source.place}"
