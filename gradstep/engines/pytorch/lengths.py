"""How long tensors are as vectors, and how far one is from another: of leaves, at each step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from gradstep.engines.pytorch.private import unobserved
from gradstep.engines.pytorch.stepping.kept_run import measured
from gradstep.engines.pytorch.tensors import has_memory, is_plain, view_of
from gradstep.graph.statistics import length


def lengths(tensors: Sequence[Any]) -> list[float | None]:
    """Return the norm of each tensor, None of one that has no numbers."""
    with unobserved(), torch.no_grad():
        lengths = [length(view_of(each.detach())) if is_plain(each) else None for each in tensors]
    others = [at for at, each in enumerate(tensors) if lengths[at] is None and each is not None]
    for at, norm in zip(others, measured([tensors[at] for at in others]), strict=True):
        lengths[at] = norm
    return lengths


def distances(ones: Sequence[Any], others: Sequence[Any]) -> list[float | None]:
    """Return the norm of the difference of each pair of tensors, None of two that have none."""
    apart: list[Any] = []
    with unobserved(), torch.no_grad():
        for one, other in zip(ones, others, strict=True):
            try:
                apart.append(one.detach() - other if has_memory(one) else None)
            except (RuntimeError, NotImplementedError):  # of other shapes
                apart.append(None)
    return lengths(apart)
