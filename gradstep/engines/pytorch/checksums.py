"""Checksums of PyTorch's tensors, each on its device, which is waited for once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch

from gradstep.engines.pytorch.private import (
    TensorBase,
    functions,
    grad_enabled,
    unobserved,
    view_of,
)
from gradstep.engines.pytorch.tensors import here, is_plain, resolved
from gradstep.graph import checksums as on_cpu


def checksums(tensors: Sequence[Any]) -> list[int | None]:
    """Return what :func:`gradstep.graph.checksums.checksums` does for each of some tensors, None of
    one whose bytes cannot be read."""
    sums: list[int | None] = [None] * len(tensors)
    places, arrays = [], []
    elsewhere: dict[torch.device, list[tuple[int, torch.Tensor]]] = {}
    with unobserved(), grad_enabled(False):
        for at, tensor in enumerate(tensors):
            if is_plain(tensor):
                places.append(at)
                arrays.append(view_of(TensorBase.detach(tensor)))
                continue
            flat = _bytes_of(tensor)
            if flat is None:
                continue
            if flat.device.type == "cpu":
                places.append(at)
                arrays.append(view_of(flat))
            else:
                elsewhere.setdefault(flat.device, []).append((at, _on_device(flat)))
        for on_device in elsewhere.values():
            totals = TensorBase.tolist(functions.stack([total for _, total in on_device]))
            for (at, _), total in zip(on_device, totals, strict=True):
                sums[at] = total & 0xFFFFFFFFFFFFFFFF
    for at, total in zip(places, on_cpu.checksums(arrays), strict=True):
        sums[at] = total
    return sums


def _bytes_of(tensor: Any) -> torch.Tensor | None:
    """Return the bytes of a tensor, flat; None where these are not all there."""
    try:
        if tensor is None or tensor.layout is not torch.strided or tensor.is_nested:
            return None
        if hasattr(type(tensor), "__tensor_flatten__") or here(tensor) is None:
            return None
        plain = TensorBase.contiguous(resolved(tensor))
        return TensorBase.view(TensorBase.reshape(plain, -1), torch.uint8)
    except (RuntimeError, NotImplementedError):  # a subclass that cannot do this
        return None


def _on_device(flat: torch.Tensor) -> torch.Tensor:
    if rest := TensorBase.numel(flat) % 8:
        flat = functions.constant_pad_nd(flat, (0, 8 - rest))
    if TensorBase.storage_offset(flat) % 8:
        flat = TensorBase.clone(flat)
    words = TensorBase.view(flat, torch.int64)
    mixed = TensorBase.mul(words, _signed(on_cpu.MIX))
    high = TensorBase.bitwise_and(TensorBase.bitwise_right_shift(mixed, 32), 0xFFFFFFFF)
    mixed = TensorBase.bitwise_xor(mixed, high)
    count = TensorBase.numel(words)
    return TensorBase.add(
        TensorBase.sum(TensorBase.mul(mixed, _weights(count, flat.device))), count
    )


@lru_cache(maxsize=8)
def _weights(length: int, device: torch.device) -> torch.Tensor:
    places = functions.arange(length, dtype=torch.int64, device=device)
    return TensorBase.bitwise_or(TensorBase.mul(places, _signed(on_cpu.STEP)), 1)


def _signed(word: int) -> int:
    """Return the number that a word is with a sign."""
    return word - (1 << 64) if word >> 63 else word
