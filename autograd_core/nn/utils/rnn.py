"""Sequences of different lengths, padded or packed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograd_core.functions import full, index_select
from autograd_core.ops.indices.index import slice_
from autograd_core.ops.shaping.joining import cat, split_with_sizes, stack
from autograd_core.ops.shaping.rearrange import constant_pad_nd
from autograd_core.ops.shaping.shape import transpose
from autograd_core.tensor import Tensor

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence",
    "pad_packed_sequence", "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip


class PackedSequence(NamedTuple):
    """Sequences without padding, sorted by decreasing length.

    ``data`` (sum of lengths, ...) holds the first steps of all sequences, then the second steps,
    and so on; ``batch_sizes`` is the number of each. ``sorted_indices`` are the original positions
    of the sorted sequences, and ``unsorted_indices`` restore the original order.
    """

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None

    def to(self, *target: Any, **options: Any) -> PackedSequence:
        """Return the same with its data converted."""
        return self._replace(data=self.data.to(*target, **options))


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Return the inverse of ``permutation``."""
    return None if permutation is None else Tensor.from_array(np.argsort(permutation.array))


def pack_padded_sequence(
    input: Tensor,
    lengths: Tensor | Sequence[int],
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """Pack padded sequences (T, N, ...).

    Raises:
        RuntimeError: a length is 0, or lengths are not in decreasing order with ``enforce_sorted``.
    """
    sizes = np.asarray(lengths.array if isinstance(lengths, Tensor) else lengths, np.int64)
    order = None
    if not enforce_sorted:
        places = np.argsort(-sizes, kind="stable")
        order = Tensor.from_array(places)
        sizes = sizes[places]
        input = index_select(input, 0 if batch_first else 1, order)
    if (np.diff(sizes) > 0).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
            "You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to "
            "sidestep this requirement if you do not need ONNX exportability."
        )
    if not sizes.size or sizes[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0"
        )
    steps = transpose(input, 0, 1) if batch_first else input
    counts = [int((sizes > time).sum()) for time in range(int(sizes[0]))]
    parts = [slice_(steps[time], 0, 0, count, 1) for time, count in enumerate(counts)]
    return PackedSequence(
        cat(parts), Tensor.from_array(np.array(counts)), order, invert_permutation(order)
    )


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Invert :func:`pack_padded_sequence`: return padded sequences (T, N, ...) and lengths."""
    counts = sequence.batch_sizes.array
    longest, batch = len(counts), int(counts[0])
    if total_length is not None and total_length < longest:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, "
            f"but got total_length={total_length} and max sequence length being {longest}"
        )
    rank = len(sequence.data._shape)
    steps = [
        constant_pad_nd(part, (*(0,) * (2 * rank - 1), batch - len(part)), padding_value)
        for part in split_with_sizes(sequence.data, tuple(counts.tolist()), 0)
    ]
    steps += [
        full(steps[0]._shape, padding_value, dtype=sequence.data.dtype)
        for _ in range((total_length or longest) - longest)
    ]
    padded = stack(steps)
    lengths = Tensor.from_array((counts[:, None] > np.arange(batch)).sum(0))
    if sequence.unsorted_indices is not None:
        padded = index_select(padded, 1, sequence.unsorted_indices)
        lengths = index_select(lengths, 0, sequence.unsorted_indices)
    return transpose(padded, 0, 1) if batch_first else padded, lengths


def pad_sequence(
    sequences: Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Stack sequences (L, ...) to (T, N, ...), padding the shorter ones."""
    given = list(sequences)
    longest = max(len(tensor) for tensor in given)
    padded = []
    for tensor in given:
        missing = longest - len(tensor)
        width = (0, missing) if padding_side == "right" else (missing, 0)
        around = (*(0,) * (2 * tensor.ndim - 2), *width)
        padded.append(constant_pad_nd(tensor, around, padding_value))
    return stack(padded, dim=0 if batch_first else 1)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """Invert :func:`pad_sequence`."""
    rows = padded_sequences if batch_first else transpose(padded_sequences, 0, 1)
    return [
        slice_(row, 0, 0, length, 1) for row, length in zip(rows, lengths.tolist(), strict=True)
    ]


def pack_sequence(sequences: Iterable[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences (L, ...)."""
    given = list(sequences)
    lengths = [len(tensor) for tensor in given]
    return pack_padded_sequence(pad_sequence(given), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Invert :func:`pack_sequence`."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
