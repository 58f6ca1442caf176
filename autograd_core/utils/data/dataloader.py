"""Iteration over batches of a data set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from autograd_core.dtype import float64
from autograd_core.ops.creation.creation import from_numpy, tensor
from autograd_core.ops.shaping.joining import stack
from autograd_core.tensor import Tensor
from autograd_core.utils.data.dataset import IterableDataset
from autograd_core.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler


class DataLoader:
    """The items of ``dataset`` in batches, which ``collate_fn`` makes.

    >>> import autograd_core as torch
    >>> for batch in torch.utils.data.DataLoader(torch.arange(5), batch_size=2):
    ...     print(batch)
    tensor([0, 1])
    tensor([2, 3])
    tensor([4])

    Args:
        dataset: an object with a length and items by index, or an :class:`IterableDataset`.
        batch_size: the size of a batch; None for single items.
        shuffle: use a new random order each time.
        sampler: yields the indices of items, instead of ``shuffle``.
        batch_sampler: yields lists of indices, instead of ``batch_size``, ``shuffle``, ``sampler``
            and ``drop_last``.
        num_workers: accepted for compatibility with PyTorch, like the options below; everything
            runs in this process.
        collate_fn: makes a batch from a list of items; by default :func:`default_collate`.
        drop_last: omit an incomplete last batch.

    Raises:
        ValueError: options exclude each other.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[Sequence[int]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Any = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        if isinstance(dataset, IterableDataset) and shuffle:
            raise ValueError(
                "DataLoader with IterableDataset: expected unspecified shuffle option, but got "
                f"shuffle={shuffle}"
            )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler or drop_last):
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
                "drop_last"
            )
        self.dataset = dataset
        self.num_workers = num_workers
        self.drop_last = drop_last
        self.generator = generator
        self._in_turn = isinstance(dataset, IterableDataset)
        if sampler is None and not self._in_turn:
            sampler = (
                RandomSampler(dataset, generator=generator)
                if shuffle
                else SequentialSampler(dataset)
            )
        self.sampler = sampler
        if batch_sampler is None and batch_size is not None and sampler is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn or (default_convert if batch_size is None else default_collate)

    def __iter__(self) -> Iterator[Any]:
        if self._in_turn:
            yield from map(self.collate_fn, self._chunks(iter(self.dataset)))
        elif self.batch_sampler is None:
            assert self.sampler is not None
            yield from (self.collate_fn(self.dataset[index]) for index in self.sampler)
        else:
            for numbers in self.batch_sampler:
                yield self.collate_fn([self.dataset[index] for index in numbers])

    def _chunks(self, items: Iterator[Any]) -> Iterator[Any]:
        if self.batch_size is None:
            yield from items
            return
        while batch := list(islice(items, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        counted: Any = self.batch_sampler or self.sampler
        if counted is not None:
            return len(counted)
        return -(-len(self.dataset) // (self.batch_size or 1))


def default_convert(item: Any) -> Any:
    """Convert the arrays in ``item`` to tensors."""
    if isinstance(item, np.ndarray) and item.dtype.kind in "bifu":
        return from_numpy(item)
    return item


def default_collate(batch: Sequence[Any]) -> Any:
    """Make a batch from a list of items: stack tensors, convert numbers to tensors, and recurse
    into tuples, lists and dictionaries.

    Raises:
        RuntimeError: lists have different lengths.
        TypeError: items cannot be combined.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(list(batch), 0)
    if isinstance(first, np.ndarray) and first.dtype.kind in "bifu":
        return stack([from_numpy(array) for array in batch], 0)
    if isinstance(first, np.generic):
        return from_numpy(np.array(batch))
    if isinstance(first, float):
        return tensor(list(batch), dtype=float64)
    if isinstance(first, int):
        return tensor(list(batch))
    if isinstance(first, (str, bytes)):
        return list(batch)
    if isinstance(first, Mapping):
        return {key: default_collate([sample[key] for sample in batch]) for key in first}
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [default_collate(column) for column in zip(*batch, strict=True)]
        return type(first)(*columns) if hasattr(first, "_fields") else columns
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
        f"{type(first)}"
    )
