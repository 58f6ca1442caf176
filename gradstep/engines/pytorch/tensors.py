"""Tensors of PyTorch as readers of a graph see them, and the numbers in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, ClassVar, Final, NamedTuple

import torch
from numpy.typing import NDArray

from gradstep.engines.pytorch.private import (
    TensorBase,
    are_added_here,
    flattened,
    functions,
    functions_disabled,
    grad_enabled,
    is_copied,
    is_whole_here,
    part_of_process,
    parts_of_sparse,
    set_grad,
    set_version,
    unobserved,
    vector_norm,
    version_counter,
    view_of,
    with_part,
)
from gradstep.graph.statistics import HUGE, TINY, Statistics, statistics
from gradstep.graph.statistics_table import StatisticsTable, statistics_of_each, statistics_of_parts
from gradstep.records import Extent, resolve

UNREAD: Final = object()
"""In the place of an edge that has not been asked for."""


class DType(NamedTuple):
    """A dtype: its name, and bytes per element."""

    name: str
    itemsize: int


@lru_cache(maxsize=128)
def dtype_of(dtype: torch.dtype) -> DType:
    """Return what is told of a dtype."""
    return DType(str(dtype).removeprefix("torch."), dtype.itemsize)


class SeenTensor:
    """A root or a leaf of a graph; ``origin`` is the program's own tensor, or a GradientEdge, and
    ``graph`` the :class:`~gradstep.engines.pytorch.nodes.TorchGraph` that it lies in; ``number`` is
    a copy of one of one element, where the program may have changed that since."""

    __slots__ = ("_edge", "_shape", "dtype", "graph", "number", "origin")

    gradstep_library: ClassVar[str] = "torch"

    def __init__(self, origin: Any, like: Any, edge: Any, graph: Any) -> None:
        self.origin, self.number = origin, None
        self._shape = shape_of(like)
        self.dtype = dtype_of(like.dtype)
        self._edge = edge
        self.graph = graph

    @property
    def edge(self) -> Any:
        """Where its gradients go; the graph behind it is read when this is first asked."""
        if self._edge is UNREAD:
            self._edge = self.graph.edge_behind(self.origin)
        return self._edge

    @edge.setter
    def edge(self, edge: Any) -> None:
        self._edge = edge

    @property
    def gradstep_identity(self) -> int:
        """The identity of the program's own tensor, by which names are found."""
        return id(self.origin)

    @property
    def record(self) -> Any:
        """The op that made it, or the module and the line of its node, and the number of the
        output."""
        recorded = self.graph is not None and self.graph.origins.recorder is not None
        if recorded and isinstance(self.origin, torch.Tensor):
            with functions_disabled():
                origin = self.graph.origins.origin(self.origin)
            if origin is not None:
                return origin
        node, nr = resolve(self.edge)
        place = None if node is None else node.record
        return None if place is None else (place, nr)

    @property
    def is_parameter(self) -> bool:
        return isinstance(self.origin, torch.nn.Parameter)

    @property
    def requires_grad(self) -> bool:
        return self._edge is not None


class SavedTensor(NamedTuple):
    """A value that a node keeps, as it was when the graph was read; it holds no tensor.

    ``number`` is that of a constant of one element and no dimension, as ``0.5`` in ``0.5 * x``;
    ``called`` is what ``forward`` of a module calls a constant that it was given.
    """

    extent: Extent
    edge: Any
    gradstep_identity: int
    is_result: bool
    record: Any = None
    number: float | None = None
    called: str = ""


def shape_of(tensor: Any) -> tuple[int, ...] | None:
    """Return the shape of a tensor; None of a nested one, whose parts have one each."""
    try:
        return _plain(tuple(tensor.shape))
    except (RuntimeError, TypeError):
        return None


@lru_cache(maxsize=4096)
def _plain(shape: tuple[Any, ...]) -> tuple[int, ...] | None:
    """Return a shape, one tuple for all tensors that have it; None of one with symbols."""
    return shape if {*map(type, shape)} <= {int} else None


def nbytes_of(tensor: torch.Tensor) -> int:
    """Return the bytes that the elements of a tensor take."""
    try:
        if is_part(tensor):
            part = part_of_process(tensor)
            return 0 if part is None else nbytes_of(part)
        if tensor.layout is torch.strided:
            return int(tensor.nbytes)
        return sum(map(nbytes_of, _parts_of(tensor)))
    except (RuntimeError, NotImplementedError):  # a subclass without memory of its own
        return 0


def is_passed_on(given: Any, sent: torch.Tensor) -> bool:
    """Return whether ``sent`` takes no memory of its own: it is ``given``, or a view of it."""
    if sent is given or given is None:
        return sent is given
    try:
        return bool(TensorBase.data_ptr(sent) == TensorBase.data_ptr(given) != 0)
    except (RuntimeError, NotImplementedError):  # a subclass without memory of its own
        return False


def version_of(tensor: torch.Tensor) -> int:
    """Return how often a tensor was changed in place, 0 where PyTorch does not count."""
    try:
        with functions_disabled():
            return int(version_counter(tensor))
    except RuntimeError:  # made in inference mode
        return 0


def extent_of(tensor: torch.Tensor) -> Extent:
    """Return shape, dtype, bytes and memory of a tensor."""
    try:
        storage = TensorBase.data_ptr(tensor) or None
    except (RuntimeError, NotImplementedError):
        storage = None
    facts = (
        shape_of(tensor), dtype_of(tensor.dtype).name, nbytes_of(tensor), storage,
        _memory_of(tensor),
    )  # fmt: skip
    return tuple.__new__(Extent, facts)  # in a third of the time that its own constructor takes


def _memory_of(tensor: torch.Tensor) -> tuple[int, int] | None:
    """Return where the memory begins that a tensor is a part of, and its bytes, or the part of it
    that this process has; None of one that has none of its own, or is in several pieces."""
    if type(tensor) not in _KINDS and is_part(tensor):
        part = part_of_process(tensor)
        return None if part is None else _memory_of(part)
    try:
        memory = TensorBase.untyped_storage(tensor)
        if memory.device.type == "meta":
            return None
        begin, nbytes = memory.data_ptr(), memory.nbytes()
    except (RuntimeError, NotImplementedError):
        return None
    if begin or (not nbytes and type(tensor) in _KINDS):  # without any where the program freed it
        return begin, nbytes
    return None


def here(tensor: torch.Tensor) -> torch.Tensor | None:
    """Return the tensor whose numbers can be read of another one: nearly always itself; the part
    that this process has, where several processes have one each.

    None of one without data, of one that stands for several in a vectorized function, of one whose
    memory the program has freed, as FSDP frees whole parameters, and of what other processes have
    not sent yet.  Whatever reads numbers reads those of this tensor: an op on the other one may
    wait for other processes, or read what is not there.
    """
    kind = type(tensor)
    if kind not in _KINDS and (alone := _part_here(tensor, kind)) is not tensor:
        return None if alone is None else here(alone)
    return tensor if _has_memory(tensor) else None


def _part_here(tensor: torch.Tensor, kind: type) -> torch.Tensor | None:
    """Return a tensor itself where ops on it concern this process only, else its part, or None."""
    if not is_whole_here(kind):
        part: torch.Tensor | None = part_of_process(tensor)
        return part
    if _runs_no_code(kind):
        return tensor
    # its ops run code of whoever wrote the class, which may refuse ours, or wait for others
    if not kind.__module__.startswith(_ALONE):
        return None
    return tensor if all(part is here(part) for part in _inner(tensor)) else None


def _runs_no_code(kind: Any) -> bool:
    return kind.__torch_dispatch__ is torch.Tensor.__torch_dispatch__


_ALONE: Final = ("torch.nested.", "torch.sparse.")
"""Modules of PyTorch whose tensors are of one process, and take the ops of any other."""


def _inner(tensor: Any) -> Iterator[torch.Tensor]:
    """Yield the tensors that one of a subclass is made of."""
    if hasattr(type(tensor), "__tensor_flatten__"):
        names, _ = tensor.__tensor_flatten__()
        parts = (getattr(tensor, name) for name in names)
        yield from (part for part in parts if isinstance(part, torch.Tensor))


def is_part(tensor: Any) -> bool:
    """Return whether a tensor is one of several processes, of which this one has a part."""
    return isinstance(tensor, torch.Tensor) and not is_whole_here(type(tensor))


def part_shape(tensor: Any) -> tuple[int, ...] | None:
    """Return the shape of that part; None of a tensor that is whole here, also as a copy that each
    process has."""
    if not is_part(tensor) or is_copied(tensor):
        return None
    part = part_of_process(tensor)
    return shape_of(tensor if part is None else part)


def is_single(tensor: torch.Tensor) -> bool:
    """Return whether a tensor has one element."""
    with unobserved():
        return bool(TensorBase.numel(tensor) == 1)


def has_memory(tensor: torch.Tensor) -> bool:
    """Return whether numbers of a tensor can be read: whether :func:`here` has some."""
    return here(tensor) is not None


def _has_memory(tensor: torch.Tensor) -> bool:
    if tensor.is_meta:
        return False
    is_usual = type(tensor) in _KINDS
    if not is_usual and hasattr(type(tensor), "__tensor_flatten__"):  # it stands for others
        return all(map(has_memory, _inner(tensor)))
    if tensor.layout is not torch.strided:
        return all(map(has_memory, _parts_of(tensor)))
    try:
        if not is_usual and TensorBase.untyped_storage(tensor).device.type == "meta":
            return False  # of a fake tensor, which says that it is elsewhere
        return _has_elements(tensor)
    except (RuntimeError, NotImplementedError):
        return False


def _has_elements(tensor: torch.Tensor) -> bool:
    """Return whether the memory of a strided tensor holds its elements, and is not freed."""
    size = TensorBase.numel(tensor)
    if size and not tensor.is_nested and not TensorBase.is_contiguous(tensor):
        size = _span_of(tensor)
    there = TensorBase.untyped_storage(tensor).nbytes()
    return not size or bool(there >= (TensorBase.storage_offset(tensor) + size) * tensor.itemsize)


def is_plain(tensor: Any) -> bool:
    """Return whether a tensor is, as nearly always, one that NumPy reads as it is: its elements in
    their order."""
    return _is_array(tensor) and bool(TensorBase.is_contiguous(tensor))


_KINDS: Final = (torch.Tensor, torch.nn.Parameter)
_OF_NUMPY: Final = (torch.float32, torch.float64)
_STRIDED: Final = torch.strided


def _is_array(tensor: Any) -> bool:
    """Return whether NumPy can read a tensor as an array."""
    try:
        return (
            type(tensor) in _KINDS
            and tensor.dtype in _OF_NUMPY
            and tensor.is_cpu
            and tensor.layout is _STRIDED
            and not tensor.is_nested
            and not TensorBase.is_neg(tensor)
            and _has_elements(tensor)
        )
    except (RuntimeError, NotImplementedError):  # it stands for several
        return False


def is_small(tensor: Any) -> bool:
    """Return whether a tensor is best looked at together with others of its dtype: a plain one on
    the CPU, of few elements."""
    return _is_array(tensor) and 0 < TensorBase.numel(tensor) <= _SMALL


def _span_of(tensor: torch.Tensor) -> int:
    """Return how many elements lie between the first and the last one that a view shows."""
    steps = zip(tensor.shape, TensorBase.stride(tensor), strict=True)
    return 1 + sum([int((size - 1) * step) for size, step in steps])


def _parts_of(tensor: torch.Tensor) -> Sequence[torch.Tensor]:
    """Return the tensors that hold what a sparse one has; nothing of other layouts."""
    with unobserved():
        if tensor.layout is torch.sparse_coo:
            return tuple([part(tensor) for part in parts_of_sparse])
        if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
            return (
                TensorBase.crow_indices(tensor),
                TensorBase.col_indices(tensor),
                TensorBase.values(tensor),
            )
        if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
            return (
                TensorBase.ccol_indices(tensor),
                TensorBase.row_indices(tensor),
                TensorBase.values(tensor),
            )
    return ()


def elements_of(tensor: torch.Tensor) -> Sequence[torch.Tensor]:
    """Return dense tensors that together have the elements of one: of a sparse tensor those that it
    stores, of a nested one its parts."""
    if tensor.is_nested:
        return list(TensorBase.unbind(tensor))
    return _parts_of(tensor)[-1:] if tensor.layout is not torch.strided else (tensor,)


def dense(tensor: torch.Tensor) -> torch.Tensor | None:
    """Return the real numbers of a tensor, dense, on its device: of a complex one the absolute
    values; None of one without memory."""
    if (t := here(tensor)) is None:
        return None
    t = TensorBase.detach(t)
    if t.is_nested:
        parts = [TensorBase.reshape(part, -1) for part in TensorBase.unbind(t)]
        t = functions.cat(parts) if parts else functions.zeros(0)
    if t.layout is not torch.strided:
        t = TensorBase.to_dense(t)
    if TensorBase.is_complex(t):
        t = TensorBase.abs(TensorBase.resolve_conj(t))
    return TensorBase.resolve_neg(t)


def resolved(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor without a graph, whose memory has its numbers as they are."""
    t: torch.Tensor = TensorBase.detach(tensor)
    return TensorBase.resolve_neg(TensorBase.resolve_conj(t))


def copy_of(tensor: torch.Tensor) -> torch.Tensor | None:
    """Return a copy of a tensor as it is now, without a graph; None of one whose numbers cannot be
    read."""
    with unobserved(), grad_enabled(False):
        if (known := here(tensor)) is None:
            return None
        copy = TensorBase.clone(TensorBase.detach(known))
        return copy if known is tensor else with_part(tensor, copy)


def copied(gradient: Any) -> Any:
    """Return a copy of a gradient, or itself where none can be made; None of None."""
    if gradient is None or (copy := copy_of(gradient)) is not None:
        return None if gradient is None else copy
    if type(gradient) not in _KINDS:
        return gradient
    with unobserved(), grad_enabled(False):
        return TensorBase.clone(gradient)  # of one that is shape alone


class Copies:
    """Copies of tensors as they are now, by the identity that each has now: small ones of one kind
    are made together, and told apart when one is asked for."""

    def __init__(self, tensors: Iterable[torch.Tensor | None]) -> None:
        self._apart: dict[int, Any] = {id(None): None}
        self._together: list[tuple[list[tuple[int, Any]], torch.Tensor]] = []
        alike: dict[torch.dtype, dict[int, torch.Tensor]] = {}
        for tensor in tensors:
            if tensor is None or (at := id(tensor)) in self._apart:
                continue
            if (
                type(tensor) in _KINDS
                and tensor.is_cpu
                and tensor.layout is torch.strided
                and not tensor.is_nested
                and TensorBase.numel(tensor) <= _SMALL
                and has_memory(tensor)
            ):
                dtype = tensor.dtype
                if dtype not in alike:
                    alike[dtype] = {}
                alike[dtype][at] = tensor
            else:
                copy = copy_of(tensor)
                self._apart[at] = tensor if copy is None else copy
        for given in alike.values():
            shapes = [(at, tensor.shape) for at, tensor in given.items()]
            self._together.append((shapes, flattened([*given.values()])))

    def of(self, identity: int) -> Any:
        """Return the copy of the tensor that had this identity; None of None."""
        while self._together:
            shapes, flat = self._together.pop()
            parts = TensorBase.split_with_sizes(flat, [shape.numel() for _, shape in shapes])
            for (at, shape), part in zip(shapes, parts, strict=True):
                self._apart[at] = TensorBase.view(part, shape)
        return self._apart.get(identity)


def describe(tensor: torch.Tensor) -> Statistics | None:
    """Describe a tensor as :func:`gradstep.graph.statistics.statistics` does, on its device."""
    try:
        with unobserved():
            t = dense(tensor)
            return None if t is None else _describe(t)
    except (RuntimeError, NotImplementedError):  # a subclass that cannot do this
        return None


_SMALL: Final = 4096
_TOGETHER: Final = 1 << 15
"""Elements of a tensor that is described with others, and of all of them: they fit into a cache."""


def describe_all(tensors: Sequence[Any]) -> StatisticsTable:
    """Describe tensors as :func:`describe` does each; small ones together, of which each alone
    would take fifty times as long as its numbers."""
    return describe_later(tensors)()


def describe_later(tensors: Sequence[Any]) -> Callable[[], StatisticsTable]:
    """Describe tensors as :func:`describe_all` does, as they are now, when what is returned is
    called: until then, small ones are kept as copies."""
    together: dict[torch.dtype, list[int]] = {}
    copies: list[tuple[list[int], list[int], torch.Tensor]] = []
    table = StatisticsTable(len(tensors))
    elements, larger = 0, []
    with unobserved(), grad_enabled(False):
        for at, tensor in enumerate(tensors):
            if not _is_array(tensor):
                continue
            count = TensorBase.numel(tensor)
            if not 0 < count <= _SMALL:
                larger.append(at)
                continue
            together.setdefault(tensor.dtype, []).append(at)
            elements += count
            if elements > _TOGETHER:
                copies += _copied_together(tensors, together)
                elements = 0
        copies += _copied_together(tensors, together)
        given = [tensors[at] for at in larger]
        statistics = statistics_of_each(
            [view_of(TensorBase.detach(t) if t.requires_grad else t) for t in given]
        )
        table.columns[:, larger] = statistics.columns
    known = {at for places, _, _ in copies for at in places}
    if len(known) + len(larger) < len(tensors):
        _describe_on_devices(tensors, table)
        for at in table.unknown().tolist():
            if at not in known and isinstance(tensors[at], torch.Tensor):
                table[at] = describe(tensors[at])

    def described() -> StatisticsTable:
        with unobserved(), grad_enabled(False):
            while copies:
                places, sizes, numbers = copies.pop()
                parts = statistics_of_parts(view_of(TensorBase.double(numbers)), sizes)
                table.columns[:, places] = parts.columns
                if len(odd := parts.unknown()):
                    arrays = TensorBase.split_with_sizes(numbers, sizes)
                    for number in odd.tolist():
                        table[places[number]] = describe(arrays[number])
        return table

    return described


def _copied_together(
    tensors: Sequence[torch.Tensor], together: dict[torch.dtype, list[int]]
) -> list[tuple[list[int], list[int], torch.Tensor]]:
    """Copy the tensors at the places in ``together``, and forget the places; returns, by dtype,
    the places, how many elements each has, and all of them."""
    copies = []
    for places in together.values():
        chosen = [tensors[at] for at in places]
        copies.append((places, [TensorBase.numel(tensor) for tensor in chosen], flattened(chosen)))
    together.clear()
    return copies


def _describe_on_devices(tensors: Sequence[Any], table: StatisticsTable) -> None:
    """Describe what is not on the CPU, waiting for each device once."""
    summaries: dict[torch.device, list[tuple[int, torch.Tensor, torch.Tensor]]] = {}
    with unobserved(), grad_enabled(False):
        for at, tensor in enumerate(tensors):
            if isinstance(tensor, torch.Tensor) and _is_elsewhere(tensor):
                # some subclasses cannot do this
                with suppress(RuntimeError, NotImplementedError):
                    t = dense(tensor)
                    if t is not None and _has_summary(t):
                        summaries.setdefault(t.device, []).append((at, t, _summary(t)))
        for of_device in summaries.values():
            rows = TensorBase.tolist(functions.stack([summary for *_, summary in of_device]))
            for (at, t, _), row in zip(of_device, rows, strict=True):
                table[at] = _from_summary(t, row)


def _is_elsewhere(tensor: torch.Tensor) -> bool:
    kind: str = tensor.device.type
    return kind not in ("cpu", "meta")


def _describe(t: torch.Tensor) -> Statistics:
    if t.device.type == "cpu" and t.dtype != torch.bfloat16 and _is_wide(t):
        return statistics(view_of(t))
    if not _has_summary(t):
        return statistics(view_of(TensorBase.to(t, "cpu", torch.float64)))
    return _from_summary(t, TensorBase.tolist(_summary(t)))


def _is_wide(t: torch.Tensor) -> bool:
    return TensorBase.is_floating_point(t) and bool(t.dtype.itemsize > 1)


def _has_summary(t: torch.Tensor) -> bool:
    return TensorBase.numel(t) > 0 and _is_wide(t)


def _summary(t: torch.Tensor) -> torch.Tensor:
    """Return minimum, maximum, norm and the number of elements that are not 0, on the device."""
    low, high = (
        TensorBase.aminmax(t)
        if t.dtype != torch.bfloat16
        else TensorBase.aminmax(TensorBase.float(t))
    )
    norm = vector_norm(t, dtype=torch.float64)
    count = TensorBase.count_nonzero(t)
    return functions.stack(
        [TensorBase.double(low), TensorBase.double(high), norm, TensorBase.double(count)]
    )


def _from_summary(t: torch.Tensor, summary: Sequence[float]) -> Statistics:
    size = TensorBase.numel(t)
    minimum, maximum, length, nonzero = summary
    largest = max(abs(minimum), abs(maximum))
    if not math.isfinite(length) or not (TINY < largest < HUGE or largest == 0):
        return statistics(view_of(TensorBase.to(t, "cpu", torch.float64)))
    rms = length / math.sqrt(size)
    return Statistics(size, rms, minimum, maximum, size - int(nonzero), 0, 0)


def array_of(tensor: torch.Tensor) -> NDArray[Any] | None:
    """Return the numbers of a tensor as an array: dense, on the CPU, in the nearest dtype that
    NumPy has."""
    with unobserved(), grad_enabled(False):
        return _array_of(tensor)


def _array_of(tensor: torch.Tensor) -> NDArray[Any] | None:
    t = dense(tensor)
    if t is None:
        return None
    if t.dtype == torch.bfloat16 or (TensorBase.is_floating_point(t) and t.dtype.itemsize == 1):
        t = TensorBase.float(t)
    return view_of(TensorBase.cpu(t))


def numbers_of(tensor: torch.Tensor) -> NDArray[Any]:
    """Return the numbers of a tensor as they are, complex ones too, on the CPU; of bfloat16 and
    smaller ones in float32."""
    with unobserved(), grad_enabled(False):
        if (t := here(tensor)) is None:
            raise RuntimeError("the numbers of this tensor cannot be read here")
        t = TensorBase.cpu(TensorBase.detach(t))
        t = TensorBase.to_dense(t) if t.layout is not torch.strided else t
        if t.dtype == torch.bfloat16 or (TensorBase.is_floating_point(t) and t.dtype.itemsize == 1):
            t = TensorBase.float(t)
        return view_of(TensorBase.resolve_neg(TensorBase.resolve_conj(t)))


def same_bits(one: Any, other: Any) -> bool:
    """Return whether two gradients agree bit for bit, NaN included; sums of sparse ones, which have
    no order, whether they have the same shape; of what several processes have, this one's parts."""
    if one is other:
        return True
    if one is None or other is None or one.dtype is not other.dtype:
        return False
    try:
        with unobserved(), grad_enabled(False):
            mine, theirs = here(one), here(other)
            if mine is None or theirs is None:
                return False
            return _same(TensorBase.detach(mine), TensorBase.detach(theirs))
    except (RuntimeError, NotImplementedError):  # a subclass that cannot do this
        return False


def differ(one: Any, other: Any) -> bool:
    """Return whether it is known of two gradients that they do not agree: not where numbers of one
    cannot be read."""
    both = one is not None and other is not None
    return not same_bits(one, other) and not (both and (here(one) is None or here(other) is None))


def added(one: Any, other: Any) -> Any:
    """Return the sum of two gradients as the engine makes it; without numbers where other processes
    would be needed for it, or where one of the two has none."""
    if type(one) in _KINDS and type(other) in _KINDS:
        return TensorBase.add(one, other)
    mine, theirs = here(one), here(other)
    if mine is not None and theirs is not None:
        if not (is_part(one) or is_part(other)):
            return TensorBase.add(one, other)
        if are_added_here(one, other):
            return with_part(one, TensorBase.add(mine, theirs))
    return functions.empty(one.shape, dtype=one.dtype, device="meta")


_BITS: Final = {
    torch.float16: torch.int16, torch.bfloat16: torch.int16, torch.float32: torch.int32,
    torch.float64: torch.int64,
}  # fmt: skip


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.is_nested or other.is_nested:
        together = (
            one.is_nested
            and other.is_nested
            and TensorBase.size(one, 0) == TensorBase.size(other, 0)
        )
        return together and all(map(same_bits, TensorBase.unbind(one), TensorBase.unbind(other)))
    if one.shape != other.shape:
        return False
    if one.layout is not torch.strided or other.layout is not torch.strided:
        return True
    if _is_one_view(one, other):
        return True
    if TensorBase.is_complex(one):
        one, other = (
            functions.view_as_real(TensorBase.resolve_conj(tensor)) for tensor in (one, other)
        )
    bits = _BITS.get(one.dtype)
    if bits is not None:
        one, other = (
            TensorBase.view(TensorBase.resolve_neg(one), bits),
            TensorBase.view(TensorBase.resolve_neg(other), bits),
        )
    return bool(TensorBase.equal(one, other))


def _is_one_view(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether both have the same numbers in the same memory, as half of the nodes of a model
    send it: those of views. This takes a tenth of the time of a comparison."""
    return bool(
        TensorBase.data_ptr(one) == TensorBase.data_ptr(other) != 0
        and TensorBase.stride(one) == TensorBase.stride(other)
        and TensorBase.is_neg(one) == TensorBase.is_neg(other)
        and TensorBase.is_conj(one) == TensorBase.is_conj(other)
    )


def put_gradient(leaf: torch.Tensor, held: Any, numbers: Any, version: int | None = None) -> None:
    """Make ``held`` the ``.grad`` of a leaf, with these numbers; others may share its memory.
    With the ``version`` that it had, nodes that saved it find it unchanged."""
    with unobserved(), grad_enabled(False):
        if held is not None and numbers is not None and not same_bits(held, numbers):
            mine, theirs = here(held), here(numbers)
            if mine is None or theirs is None or mine.layout is not torch.strided:
                held = numbers
            else:
                TensorBase.copy_(mine, theirs)
        if leaf.grad is not held:  # which PyTorch refuses for a nested one
            set_grad(leaf, held)
        if held is not None and version not in (None, version_of(held)):
            set_version(held, version)
