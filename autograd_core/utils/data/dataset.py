"""Data sets, with items by index or by iteration."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Generic, TypeVar

from autograd_core.tensor import Tensor
from autograd_core.utils.data.sampler import permutation

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """The base of data sets with items by index: they define ``__getitem__`` and ``__len__``."""

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co]):
    """The base class of data sets that are iterated over. Subclasses define ``__iter__``."""

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Item ``i`` is the ``i``-th row of each of ``tensors``."""

    def __init__(self, *tensors: Tensor) -> None:
        if any(len(t) != len(tensors[0]) for t in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


@dataclass(eq=False, repr=False)
class Subset(Dataset[Any]):
    """The items of ``dataset`` under ``indices``."""

    dataset: Any
    indices: Sequence[int]

    def __getitem__(self, index: Any) -> Any:
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


class ConcatDataset(Dataset[Any]):
    """Data sets one after another."""

    def __init__(self, datasets: Sequence[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        self.cumulative_sizes = list(accumulate(len(dataset) for dataset in self.datasets))

    def __getitem__(self, index: int) -> Any:
        if index < -len(self):
            raise ValueError("absolute value of index should not exceed dataset length")
        index %= len(self) if index < 0 else max(index + 1, 1)
        which = bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which else 0)]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]


def random_split(
    dataset: Any, lengths: Sequence[int | float], generator: Any = None
) -> list[Subset]:
    """Split ``dataset`` randomly into parts of these ``lengths`` or fractions.

    Raises:
        ValueError: the lengths do not add up to that of ``dataset``, or the fractions to 1.
    """
    sizes = list(lengths)
    if math.isclose(sum(sizes), 1) and sum(sizes) <= 1:
        fractions, sizes = sizes, [math.floor(len(dataset) * size) for size in sizes]
        for number in range(len(dataset) - sum(int(size) for size in sizes)):
            sizes[number % len(fractions)] += 1
    if sum(sizes) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = permutation(len(dataset), generator)
    ends = [0, *accumulate(int(size) for size in sizes)]
    return [Subset(dataset, order[start:end]) for start, end in pairwise(ends)]
