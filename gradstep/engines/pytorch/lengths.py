"""How long tensors are as vectors, and how far one is from another: of leaves, at each step."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import torch

from gradstep.engines.pytorch.private import unobserved
from gradstep.engines.pytorch.stepping.kept_run import measured
from gradstep.engines.pytorch.tensors import has_memory, is_plain, view_of
from gradstep.graph import statistics


def lengths(tensors: Sequence[Any]) -> list[float | None]:
    """Return the norm of each tensor, None of one that has no numbers."""
    with unobserved(), torch.no_grad():
        lengths = [
            statistics.length(view_of(each.detach())) if is_plain(each) else None
            for each in tensors
        ]
    others = [at for at, each in enumerate(tensors) if lengths[at] is None and each is not None]
    for at, norm in zip(others, measured([tensors[at] for at in others]), strict=True):
        lengths[at] = norm
    return lengths


def moved(tensors: Sequence[Any], copies: Sequence[Any]) -> list[float | None]:
    """Return how far each tensor is from its copy, and make that as the tensor is now; None of one
    for which this cannot be done."""
    distances: list[float | None] = [None] * len(tensors)
    apart: dict[int, Any] = {}
    with unobserved(), torch.no_grad():
        for at, (tensor, copy) in enumerate(zip(tensors, copies, strict=True)):
            if is_plain(tensor) and is_plain(copy):
                distances[at] = statistics.moved(view_of(tensor.detach()), view_of(copy))
            elif has_memory(tensor) and tensor.shape == copy.shape:
                # it may be on another device now
                with suppress(RuntimeError, NotImplementedError):
                    difference = tensor.detach() - copy
                    copy.copy_(tensor.detach())
                    apart[at] = difference
    for at, distance in zip(apart, lengths(list(apart.values())), strict=True):
        distances[at] = distance
    return distances
