"""Checksums of PyTorch's tensors, each on its device, which is waited for once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch
from torch.nn.functional import pad

from gradstep.engines.pytorch.private import unobserved
from gradstep.engines.pytorch.tensors import here, is_plain, view_of
from gradstep.graph import checksums as on_cpu


def checksums(tensors: Sequence[Any]) -> list[int | None]:
    """Return what :func:`gradstep.graph.checksums.checksums` does for each of some tensors, None of
    one whose bytes cannot be read."""
    sums: list[int | None] = [None] * len(tensors)
    places, arrays = [], []
    elsewhere: dict[torch.device, list[tuple[int, torch.Tensor]]] = {}
    with unobserved(), torch.no_grad():
        for at, tensor in enumerate(tensors):
            if is_plain(tensor):
                places.append(at)
                arrays.append(view_of(tensor.detach()))
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
            totals = torch.stack([total for _, total in on_device]).tolist()
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
        plain = tensor.detach().resolve_conj().resolve_neg().contiguous()
        return plain.reshape(-1).view(torch.uint8)
    except (RuntimeError, NotImplementedError):  # a subclass that cannot do this
        return None


def _on_device(flat: torch.Tensor) -> torch.Tensor:
    if rest := flat.numel() % 8:
        flat = pad(flat, (0, 8 - rest))
    if flat.storage_offset() % 8:
        flat = flat.clone()
    words = flat.view(torch.int64)
    mixed = words * _signed(on_cpu.MIX)
    mixed ^= (mixed >> 32) & 0xFFFFFFFF
    total = (mixed * _weights(words.numel(), flat.device)).sum()
    return total + words.numel()


@lru_cache(maxsize=8)
def _weights(length: int, device: torch.device) -> torch.Tensor:
    places = torch.arange(length, dtype=torch.int64, device=device)
    return (places * _signed(on_cpu.STEP)) | 1


def _signed(word: int) -> int:
    """Return the number that a word is with a sign."""
    return word - (1 << 64) if word >> 63 else word
