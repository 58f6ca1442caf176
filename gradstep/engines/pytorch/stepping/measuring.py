"""Norms of many tensors, measured together; and whether what a call made is finite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from math import hypot, isfinite
from typing import Any, Final

import torch

from gradstep.engines.pytorch.calls import TorchCall
from gradstep.engines.pytorch.private import (
    TensorBase,
    flattened,
    functions,
    grad_enabled,
    norms,
    unobserved,
    vector_norm,
)
from gradstep.engines.pytorch.tensors import elements_of, here, is_plain, is_small

_LONG: Final = 1 << 20
"""Elements of which a CPU adds the squares in double precision: in float32 a sum of so many may
stand still."""


def is_finite(call: TorchCall, result: Any, grads: Iterable[Any]) -> bool:
    """Return whether the roots of a call, which has run, and what it made are finite; False where
    it is in doubt. ``grads`` are those of its leaves."""
    with unobserved(), grad_enabled(False):
        told = (*call.arguments.outputs, *(result if call.is_grad else grads))
        return _are_finite([each for each in told if isinstance(each, torch.Tensor)])


def _are_finite(tensors: Sequence[torch.Tensor]) -> bool:
    """Return whether no element is NaN or infinite; False, too, where the sum of the squares is."""
    small: dict[torch.dtype, list[torch.Tensor]] = {}
    large: list[torch.Tensor] = []
    others: list[torch.Tensor] = []
    for tensor in tensors:
        if is_small(tensor):
            small.setdefault(tensor.dtype, []).append(tensor)
        else:
            (large if is_plain(tensor) else others).append(tensor)
    rows = chain(map(flattened, small.values()), [TensorBase.view(tensor, -1) for tensor in large])
    for row in rows:
        if not isfinite(TensorBase.item(TensorBase.dot(row, row))):
            return False
    return all(norm is not None and isfinite(norm) for norm in measured(others))


def measured(tensors: Sequence[Any], *, precisely: bool = False) -> list[float | None]:
    """Return the norm of each of some tensors, None of one that has no numbers, or whose memory is
    freed; infinite where it overflows.

    Those of one dtype on one device are measured together, and each device is waited for once.
    """
    norms: list[float | None] = [None] * len(tensors)
    alike: dict[Any, tuple[list[int], list[torch.Tensor]]] = {}
    if not tensors:
        return norms
    with unobserved(), grad_enabled(False):
        for at, tensor in enumerate(tensors):
            if tensor is None or (tensor := here(tensor)) is None:
                continue
            long = precisely and TensorBase.numel(tensor) > _LONG
            key = type(tensor), tensor.dtype, tensor.layout, at if long else tensor.device
            if (together := alike.get(key)) is None:
                together = alike[key] = [], []
            together[0].append(at)
            together[1].append(tensor)
        started: dict[torch.device, list[tuple[list[int], torch.Tensor]]] = {}
        for (kind, dtype, layout, _), (places, chosen) in alike.items():
            together = _started(chosen, kind, dtype, layout)
            if together is not None:
                started.setdefault(together.device, []).append((places, together))
                continue
            for at, tensor in zip(places, chosen, strict=True):
                norms[at] = _norm(tensor, precisely)
        for of_device in started.values():
            alone = len(of_device) == 1  # as nearly always
            given = of_device[0][1] if alone else functions.cat([tensor for _, tensor in of_device])
            lengths = TensorBase.tolist(given)
            found_at = chain(*[places for places, _ in of_device])
            for at, length in zip(found_at, lengths, strict=True):
                norms[at] = length
    return norms


def _started(
    tensors: list[torch.Tensor], kind: type, dtype: torch.dtype, layout: torch.layout
) -> torch.Tensor | None:
    """Return the norms of tensors that are alike, None where they have to be measured one by
    one."""
    if kind is not torch.Tensor or layout is not torch.strided or not dtype.is_floating_point:
        return None
    if TensorBase.numel(tensors[0]) > _LONG and tensors[0].is_cpu:
        return None
    try:
        return functions.stack(norms(tensors))
    except (RuntimeError, NotImplementedError):  # nested ones, or a backend without this
        return None


def _norm(tensor: torch.Tensor, precisely: bool) -> float | None:
    """Return the norm of a tensor of any kind; that of the elements which a sparse one stores, some
    of them in parts, unless it is to be precise."""
    try:
        if precisely and tensor.layout is not torch.strided:
            return None
        parts = [
            TensorBase.abs(part) if TensorBase.is_complex(part) else part
            for part in elements_of(tensor)
        ]
        return hypot(*[TensorBase.item(vector_norm(x, dtype=torch.float64)) for x in parts])
    except (RuntimeError, NotImplementedError):  # a subclass that cannot do this
        return None
