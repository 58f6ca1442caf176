"""Graphs that were kept for going back, though the program's call frees them.

PyTorch frees what a node kept right after it has run.  A pass that is stepped through keeps it up
to its end, and lets go of it then: a later call of the program's fails as it does plainly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from inspect import getattr_static
from typing import Any, Final

import torch
from torch.compiler import is_dynamo_compiling

from gradstep.engines.pytorch.calls import TorchCall
from gradstep.engines.pytorch.nodes import Freed, Packed, raw_saved, refusal, unpacked
from gradstep.engines.pytorch.origins import current
from gradstep.engines.pytorch.private import (
    TensorBase,
    functions,
    plain_run_backward,
    push_saved_tensor_hooks,
    sequence_nr_of,
    shows_packed,
    skip_code,
    top_saved_tensor_hooks,
    uncounted,
    unobserved,
    unpack_hook,
)
from gradstep.graph.model import Source
from gradstep.guest.replaced import replaced


def free(
    call: TorchCall,
    nodes: Iterable[Any],
    saved: Iterable[Iterable[Any]] | None = None,
    *,
    whole: bool,
) -> None:
    """Let go of what these nodes of PyTorch kept, as ``call`` would have: of what the program's own
    hooks have packed where that was not watched, only later calls are refused.  ``saved`` is what
    each keeps, where that was read.  The line of a ``whole`` pass, one that did not raise, is
    remembered."""
    origins = current.get()
    if origins is not None:
        origins.modules.clear()  # what runs from here on is of the next pass
    # that of a leaf keeps nothing, and may live on
    if saved is None:
        nodes = [node for node in nodes if not hasattr(node, "variable")]
        saved = map(raw_saved, nodes)
    if not (nodes := list(nodes)):
        return
    if origins is not None and origins.recorder is not None:
        origins.recorder.inputs.forget(nodes)
    line = Source(*call.line) if whole and call.line is not None else None
    if line is not None and origins is not None:
        origins.freed(max(map(sequence_nr_of, nodes)), line)
    freed = Freed(_WORDS, line)
    with unobserved():
        left = [
            node for node, kept in zip(nodes, saved, strict=True) if not _free(node, kept, freed)
        ]
    for node in left:
        if refusal(node) is None:
            node.register_prehook(freed)


def _free(node: Any, kept: Iterable[Any], freed: Freed) -> bool:
    """Let go of what a node ``kept``; returns whether that could be done."""
    done = type(node).__name__ != "CopySlices"  # which keeps a node, and shows it to nobody
    for raw in kept:
        hook = unpack_hook(raw)
        if hook is None:
            if getattr(raw, "data", raw) is None:  # an error takes as long as all the others
                continue
            try:
                raw.register_hooks(id, freed)  # which keeps nothing of a value, and is no frame
            except RuntimeError as error:
                done = done and "value None" in str(error)
        elif hook is unpacked:
            raw.data.free(freed)
        else:
            done = done and isinstance(hook, Freed)
    return done


class _Packing:
    """Packs what is saved by a hook of the program's, as long as that is in force: PyTorch holds
    what packs as long as what is packed."""

    __slots__ = ("pack", "unpack")

    def __init__(self, hooks: Any) -> None:
        self.pack, self.unpack = hooks.pack_hook, hooks.unpack_hook

    def __call__(self, tensor: torch.Tensor) -> Packed:
        return Packed(self.unpack, self.pack(tensor))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.pack, name)  # by which PyTorch's checkpoints know hooks of their own

    def end(self) -> None:
        self.pack = self.unpack = None


@contextmanager
def packing_watched() -> Iterator[None]:
    """Within it, what saved-tensor hooks of the program's pack is kept so that it can be freed."""
    kind = torch.autograd.graph.saved_tensors_hooks
    enter: Any = getattr_static(kind, "__enter__")
    leave: Any = getattr_static(kind, "__exit__")

    @wraps(enter)
    def entered(hooks: Any) -> None:
        # what is compiled is inlined; and what unpacks here comes from another thread
        if (
            is_dynamo_compiling()
            or isinstance(hooks.pack_hook, torch.nn.Module)
            or hooks.unpack_hook is unpacked
        ):
            enter(hooks)
        else:
            push_saved_tensor_hooks(_Packing(hooks), unpacked)

    @wraps(leave)
    def left(hooks: Any, *error: Any) -> None:
        inner = None if is_dynamo_compiling() else top_saved_tensor_hooks(False)
        leave(hooks, *error)
        if inner is not None and type(inner[0]) is _Packing and hooks.unpack_hook is not unpacked:
            inner[0].end()

    with ExitStack() as stack:
        if shows_packed and push_saved_tensor_hooks and top_saved_tensor_hooks:
            for each in (entered, left, _Packing.__call__, unpacked):
                skip_code(each)
            stack.enter_context(replaced(kind, "__enter__", entered))
            stack.enter_context(replaced(kind, "__exit__", left))
        yield


def _words() -> str:
    """Return what PyTorch says of a graph that is freed."""
    freed = TensorBase.exp(functions.zeros((), device="cpu", requires_grad=True))
    engine = plain_run_backward()
    seed = functions.ones((), device="cpu")
    for _ in range(2):
        try:
            engine((freed,), (seed,), False, False, (), True, accumulate_grad=True)
        except RuntimeError as error:
            return str(error)
    raise AssertionError("PyTorch frees graphs")


_WORDS: Final = uncounted(
    _words
)  # asked before calls are intercepted: this is none of the program's
