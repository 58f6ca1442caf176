"""Along which dimension of each value of a forward pass the rows of the batch lie, and the op that
first mixes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Final, Literal, NamedTuple

from gradstep.contract.op_records import LeafRecord, OpRecord, Origin, Record
from gradstep.findings.facts.repeated import past_views, shape_of


class Apart(NamedTuple):
    """The rows are apart: each next one is so many numbers further on, in the order of them."""

    stride: int


class One(NamedTuple):
    """A value is of one row, this one."""

    row: int


class Mixed(NamedTuple):
    """A value of one row depends on others, since an op; or on the place of the row, as that gave
    each row other parameters."""

    since: OpRecord
    by_place: bool = False


Lie = Apart | One | Mixed | Literal["none", "pairs", "unknown"]
"""How the rows lie; "none" where a value does not depend on them, or only on what they have in
common, such as their mean; "pairs" where each number is of two."""
_SAME_ORDER: Final = (
    "view", "reshape", "_unsafe_view", "unsafe_view", "squeeze", "unsqueeze", "flatten", "clone",
    "to", "_to_copy", "detach", "alias", "contiguous",
)  # fmt: skip
_ALONG: Final = ("softmax", "log_softmax", "cumsum", "cumprod", "logcumsumexp")
_REDUCING: Final = (
    "sum", "mean", "amax", "amin", "max", "min", "var", "std", "var_mean", "logsumexp", "prod",
    "norm", "vector_norm", "linalg_vector_norm",
)  # fmt: skip
_PRODUCTS: Final = ("mm", "addmm", "bmm", "baddbmm", "mv", "addmv", "linear")
_OF_ROWS: Final = ("native_batch_norm", "batch_norm", "native_dropout", "dropout")
_ATTENTION: Final = (
    "scaled_dot_product_attention", "scaled_dot_product_flash_attention_for_cpu",
    "scaled_dot_product_efficient_attention",
)  # fmt: skip


def lies(records: Iterable[Record], inputs: Iterable[Origin], rows: int) -> Mapping[Origin, Lie]:
    """Return how the rows of ``inputs``, so many, which come first in them, lie in what ops made of
    these."""
    known: dict[Origin, Lie] = {each: Apart(prod(shape_of(each)[1:])) for each in inputs}
    for record in records:
        if isinstance(record, OpRecord) and (record, 0) not in known:
            given = [each for each in record.inputs if isinstance(each, tuple)]
            try:
                lie = _of(record, given, [known.get(each, "none") for each in given], rows)
            except (KeyError, IndexError, TypeError, ValueError):  # called in a way not known here
                lie = "unknown"
            for nr in range(len(record.shapes)):
                known[record, nr] = lie
            if record.name == "unbind" and isinstance(lie, One):
                known.update(((record, nr), One(nr)) for nr in range(len(record.shapes)))
    return known


def _of(record: OpRecord, given: Sequence[Origin], lie: Sequence[Lie], rows: int) -> Lie:
    if "unknown" in lie:
        return "unknown"
    for each in lie:
        if isinstance(each, Mixed):
            return each
    if "pairs" in lie:
        return _of_pairs(record, given, lie, rows)
    single = {each for each in lie if isinstance(each, One)}
    apart = [
        (shape_of(origin), each.stride)
        for origin, each in zip(given, lie, strict=True)
        if isinstance(each, Apart)
    ]
    if single:
        return _of_single(record, lie, single, rows, is_alone=not apart)
    if not apart:
        return "none"
    return _of_apart(record, given, lie, apart, rows)


def _of_pairs(record: OpRecord, given: Sequence[Origin], lie: Sequence[Lie], rows: int) -> Lie:
    """Of what each row has to do with each other, as in attention: where that weighs rows, and
    they are summed, these are mixed."""
    apart = [(shape_of(one), each.stride) for one, each in zip(given, lie, strict=True)
             if isinstance(each, Apart)]  # fmt: skip
    if apart and record.name in _PRODUCTS:
        shape, stride = apart[0]
        return Mixed(record) if _dim_of(shape, stride, rows)[0] == len(shape) - 2 else "unknown"
    is_one = not apart and all(each in ("pairs", "none") for each in lie)
    is_kept = record.pointwise or record.name in ("expand", *_SAME_ORDER, *_ALONG, *_OF_ROWS)
    return "pairs" if is_one and is_kept else "unknown"


def _of_single(
    record: OpRecord, lie: Sequence[Lie], single: set[One], rows: int, *, is_alone: bool
) -> Lie:
    if not is_alone:
        return "unknown"
    if len(single) == 1:
        return next(iter(single))
    is_joined = record.name in ("stack", "cat") and list(lie) == [One(row) for row in range(rows)]
    if is_joined:
        shape, dim = record.shapes[0], int(record.attributes.get("dim", 0))
        return Apart(prod(shape[dim % len(shape) :]) // rows)
    return "unknown" if record.name in ("stack", "cat") else Mixed(record)


class _Taken(NamedTuple):
    """What an op takes in whose ``rows`` are apart, the first with this ``shape``: they lie in its
    dimension ``dim``, where ``inner`` numbers belong to one of them."""

    record: OpRecord
    given: Sequence[Origin]
    lie: Sequence[Lie]
    apart: Sequence[tuple[tuple[int, ...], int]]
    rows: int
    shape: tuple[int, ...]
    stride: int
    dim: int
    inner: int

    def placed(self, where: int) -> Lie:
        """The rows lie in this dimension of the result, as they did in theirs."""
        return Apart(prod(self.record.shapes[0][where + 1 :]) * self.inner)

    def along(self, name: str, usual: int | None = None) -> int:
        """Return the dimension that an argument of the op names."""
        at = self.record.attributes
        return int(at[name] if usual is None else at.get(name, usual)) % len(self.shape)


def _of_apart(
    record: OpRecord,
    given: Sequence[Origin],
    lie: Sequence[Lie],
    apart: Sequence[tuple[tuple[int, ...], int]],
    rows: int,
) -> Lie:
    (shape, stride), *others = apart
    if record.name in _SAME_ORDER:
        return Apart(stride)
    dim, inner = _dim_of(shape, stride, rows)
    taken = _Taken(record, given, lie, apart, rows, shape, stride, dim, inner)
    if record.pointwise or record.name in ("expand", "where", "masked_fill"):
        return _of_pointwise(taken)
    if record.name in _PRODUCTS:
        return _of_two_factors(taken) if len(apart) == 2 else _of_product(taken)
    if record.name in _ATTENTION:
        return Mixed(record) if dim == len(shape) - 2 else taken.placed(dim)
    work = None if others else _OF_ONE.get(record.name)
    return "unknown" if work is None else work(taken)


def _of_pointwise(taken: _Taken) -> Lie:
    record, made = taken.record, taken.record.shapes[0]
    places = {len(each) - _dim_of(each, far, taken.rows)[0] for each, far in taken.apart}
    if len(places) > 1:
        return "unknown"
    where = len(made) - places.pop()
    own = [
        shape_of(one)
        for one, each in zip(taken.given, taken.lie, strict=True)
        if each == "none" and isinstance(past_views(one)[0], LeafRecord) and one[0].requires_grad
    ]
    if taken.inner == 1 and any(
        len(each) >= len(made) - where and each[where - len(made)] == taken.rows for each in own
    ):
        return Mixed(record, by_place=True)
    return taken.placed(where)


def _of_two_factors(taken: _Taken) -> Lie:
    depth, dim = len(taken.shape), taken.dim
    dims = (dim, _dim_of(*taken.apart[1], taken.rows)[0])
    if dims[0] == dims[1] < depth - 2:
        return taken.placed(dim)
    return "pairs" if dims == (depth - 2, depth - 1) else "unknown"


def _of_product(taken: _Taken) -> Lie:
    """Of a product of matrices: rows that are summed over are mixed."""
    record, given, dim = taken.record, taken.given, taken.dim
    first = len(given) - 2
    at = [place for place, each in enumerate(taken.lie) if isinstance(each, Apart)]
    if len(at) > 1 or at[0] < first or record.name == "linear":
        is_simple = len(at) == 1 and at[0] == 0 and dim < len(shape_of(given[0])) - 1
        return taken.placed(dim) if record.name == "linear" and is_simple else "unknown"
    depth = len(shape_of(given[at[0]]))
    summed = depth - 1 if at[0] == first else max(depth - 2, 0)
    return Mixed(record) if dim == summed else taken.placed(dim)


def _of_permuted(taken: _Taken) -> Lie:
    name, shape = taken.record.name, taken.shape
    if name == "permute":
        order = [each % len(shape) for each in taken.record.attributes["dims"]]
        return taken.placed(order.index(taken.dim))
    order = [*range(len(shape))]
    one, two = (0, -1) if name == "t" else (taken.along("dim0"), taken.along("dim1"))
    order[one], order[two] = order[two], order[one]
    return taken.placed(order.index(taken.dim))


def _of_selected(taken: _Taken) -> Lie:
    cut, dim = taken.along("dim", 0), taken.dim
    if cut != dim:
        return taken.placed(dim - (cut < dim))
    row = int(taken.record.attributes.get("index", 0)) % taken.rows
    return One(row) if taken.shape[dim] == taken.rows else "unknown"


def _of_cut(taken: _Taken) -> Lie:
    return "unknown" if taken.along("dim", 0) == taken.dim else taken.placed(taken.dim)


def _of_normalized(taken: _Taken) -> Lie:
    return Mixed(taken.record) if taken.along("dim") == taken.dim else Apart(taken.stride)


def _of_reduced(taken: _Taken) -> Lie:
    at, depth, dim = taken.record.attributes, len(taken.shape), taken.dim
    summed = at.get("dim")
    dims = [summed] if isinstance(summed, int) else summed or range(depth)
    gone = {each % depth for each in dims}
    if dim in gone:
        return "none"
    return taken.placed(dim if at.get("keepdim") else dim - sum(each < dim for each in gone))


def _of_layer_norm(taken: _Taken) -> Lie:
    own = len(taken.record.attributes["normalized_shape"])
    return "unknown" if taken.dim >= len(taken.shape) - own else Apart(taken.stride)


def _of_first_dim(taken: _Taken) -> Lie:
    return taken.placed(0) if taken.dim == 0 else "unknown"


def _of_convolution(taken: _Taken) -> Lie:
    if taken.dim == 0 or taken.shape[taken.dim] != taken.rows:
        return _of_first_dim(taken)
    return Mixed(taken.record)


def _of_embedding(taken: _Taken) -> Lie:
    return Apart(taken.stride * taken.record.shapes[0][-1])


_CUTS: Final = ("slice", "cat", "split", "chunk", "split_with_sizes", "unsafe_split")
_OF_ONE: Final[Mapping[str, Callable[[_Taken], Lie]]] = {
    **dict.fromkeys(("t", "transpose", "permute"), _of_permuted),
    **dict.fromkeys(("select", "unbind"), _of_selected),
    **dict.fromkeys(_CUTS, _of_cut),
    **dict.fromkeys(_ALONG, _of_normalized),
    **dict.fromkeys(_REDUCING, _of_reduced),
    **dict.fromkeys(("native_layer_norm", "layer_norm"), _of_layer_norm),
    **dict.fromkeys(_OF_ROWS, _of_first_dim),
    "convolution": _of_convolution,
    "embedding": _of_embedding,
}
"""Ops that take one value whose rows are apart."""


def _dim_of(shape: Sequence[int], stride: int, rows: int) -> tuple[int, int]:
    """Return the dimension in which rows with a stride lie, and how many numbers of it belong to
    one row.

    >>> _dim_of((32, 4), 8, 16)
    (0, 2)

    Raises:
        ValueError: they lie in no single one.
    """
    after = 1
    for dim in reversed(range(len(shape))):
        if after <= stride < after * shape[dim]:
            inner, left = divmod(stride, after)
            if left or shape[dim] % (inner * rows):
                break
            return dim, inner
        after *= shape[dim]
    raise ValueError(shape)
