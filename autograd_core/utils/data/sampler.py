"""Samplers: the order in which a loader takes items, and the batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from autograd_core.ops.creation.creation import tensor
from autograd_core.ops.creation.random import multinomial, randint, randperm
from autograd_core.random import drawing_from

T_co = TypeVar("T_co", covariant=True)


class Sampler(Generic[T_co]):
    """The base class of samplers. Subclasses define ``__iter__``."""

    def __init__(self, data_source: Any = None) -> None: ...

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError


@dataclass(eq=False, repr=False)
class SequentialSampler(Sampler[int]):
    """One after another."""

    data_source: Any

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """In any order; with ``replacement``, each time any of them."""

    def __init__(
        self,
        data_source: Any,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Any = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self.generator = generator
        self._count = num_samples
        if self.num_samples <= 0:
            raise ValueError(
                "num_samples should be a positive integer value, but got "
                f"num_samples={self.num_samples}"
            )

    @property
    def num_samples(self) -> int:
        return len(self.data_source) if self._count is None else self._count

    def __iter__(self) -> Iterator[int]:
        size, count = len(self.data_source), self.num_samples
        if self.replacement:
            for start in range(0, count, 32):  # as PyTorch does: there may be too many
                with drawing_from(self.generator):
                    drawn = randint(size, (min(32, count - start),))
                yield from drawn.tolist()
            return
        for start in range(0, count, size):
            yield from permutation(size, self.generator)[: count - start]

    def __len__(self) -> int:
        return self.num_samples


@dataclass(eq=False, repr=False)
class SubsetRandomSampler(Sampler[int]):
    """``indices`` in any order."""

    indices: Sequence[int]
    generator: Any = None

    def __iter__(self) -> Iterator[int]:
        return (self.indices[i] for i in permutation(len(self.indices), self.generator))

    def __len__(self) -> int:
        return len(self.indices)


@dataclass(eq=False, repr=False)
class WeightedRandomSampler(Sampler[int]):
    """Item ``i`` with a chance in proportion to ``weights[i]``."""

    weights: Any  # a sequence of numbers; as an attribute, a tensor
    num_samples: int
    replacement: bool = True
    generator: Any = None

    def __post_init__(self) -> None:
        self.weights = tensor([float(weight) for weight in self.weights])

    def __iter__(self) -> Iterator[int]:
        with drawing_from(self.generator):
            drawn = multinomial(self.weights, self.num_samples, self.replacement)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


@dataclass(eq=False, repr=False)
class BatchSampler(Sampler[list[int]]):
    """What ``sampler`` gives, in lists of ``batch_size``; the last one may be shorter."""

    sampler: Iterable[int]
    batch_size: int
    drop_last: bool

    def __post_init__(self) -> None:
        size = self.batch_size
        if isinstance(size, bool) or not isinstance(size, int) or size <= 0:
            raise ValueError(
                f"batch_size should be a positive integer value, but got batch_size={size}"
            )

    def __iter__(self) -> Iterator[list[int]]:
        batch: list[int] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]  # of one without a length nobody asks
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


def permutation(n: int, generator: Any) -> list[int]:
    """Return the numbers below ``n`` in random order."""
    with drawing_from(generator):
        order: list[int] = randperm(n).tolist()
    return order
