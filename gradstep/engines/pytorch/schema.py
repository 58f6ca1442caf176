"""The tensors that an op is given, gives, and changes, as its schema tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

import torch

from gradstep.engines.pytorch.private import (
    TensorBase,
    schema_of,
)


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Return a tensor, or those in lists of them."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for element in value:
            yield from tensors_in(element)


def written(op: Any, args: Sequence[Any], kwargs: Any) -> Iterator[torch.Tensor]:
    """Return the tensors that ``op`` changes in place."""
    for at, argument in enumerate(schema_of(op).arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            yield from tensors_in(args[at] if at < len(args) else kwargs.get(argument.name))


@lru_cache(maxsize=4096)
def is_mutable(op: Any) -> bool:
    """Return whether ``op`` changes what it is given; to ask PyTorch takes as long as a small
    op."""
    return bool(schema_of(op).is_mutable)


@lru_cache(maxsize=4096)
def is_question(op: Any) -> bool:
    """Return whether ``op`` makes no tensor, nor changes one, as those that read a size.

    PyTorch asks such while it makes a node, and holds locks that reading the graph needs.
    """
    schema = schema_of(op)
    return not schema.is_mutable and not any("Tensor" in str(part.type) for part in schema.returns)


_COLLECTIVES: Final = (
    "c10d", "c10d_functional", "_c10d_functional", "_c10d_functional_autograd",
)  # fmt: skip


def is_collective(op: Any) -> bool:
    """Return whether other processes take part in what ``op`` does, or it waits for them: what it
    is given may be written by them until it is over, and it cannot run again."""
    return op.namespace in _COLLECTIVES


@lru_cache(maxsize=4096)
def is_begun(op: Any) -> bool:
    """Return whether ``op`` only begins what other processes take part in: its results are written
    until somebody has waited for them, and not to be read before."""
    return is_collective(op) and not schema_of(op).name.endswith("::wait_tensor")


def is_captured() -> bool:
    """Return whether ops are captured in a CUDA graph: nobody may wait for a GPU meanwhile."""
    return bool(torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing())


def gives_new_memory(op: Any) -> bool:
    """Return whether the results of ``op`` share no memory with what it is given."""
    return not any(result.alias_info for result in schema_of(op).returns)


def memory_of(tensor: torch.Tensor) -> int:
    """Return where the memory of a tensor begins, 0 of one that has none of its own."""
    try:
        memory = TensorBase.untyped_storage(tensor)
        # that of a fake tensor, which says that it is elsewhere, may not be asked where it is
        return 0 if memory.device.type == "meta" else int(memory.data_ptr())
    except (RuntimeError, NotImplementedError):
        return 0
