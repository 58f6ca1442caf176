"""Along which dimension of each value of a forward pass the rows of the batch lie, and the op that
first mixes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any, Final, Literal, NamedTuple

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


def _of_apart(
    record: OpRecord,
    given: Sequence[Origin],
    lie: Sequence[Lie],
    apart: Sequence[tuple[tuple[int, ...], int]],
    rows: int,
) -> Lie:
    name, at, made = record.name, record.attributes, record.shapes[0]
    (shape, stride), *others = apart
    if name in _SAME_ORDER:
        return Apart(stride)
    dim, inner = _dim_of(shape, stride, rows)

    def placed(where: int) -> Lie:
        """The rows lie in this dimension of the result, as they did in theirs."""
        return Apart(prod(made[where + 1 :]) * inner)

    if record.pointwise or name in ("expand", "where", "masked_fill"):
        places = {len(each) - _dim_of(each, far, rows)[0] for each, far in apart}
        if len(places) > 1:
            return "unknown"
        where = len(made) - places.pop()
        own = [shape_of(one) for one, each in zip(given, lie, strict=True)
               if each == "none" and isinstance(past_views(one)[0], LeafRecord)
               and one[0].requires_grad]  # fmt: skip
        if inner == 1 and any(
            len(each) >= len(made) - where and each[where - len(made)] == rows for each in own
        ):
            return Mixed(record, by_place=True)
        return placed(where)
    if name in _PRODUCTS and len(apart) == 2:
        depth, dims = len(shape), (dim, _dim_of(*others[0], rows)[0])
        if dims[0] == dims[1] < depth - 2:
            return placed(dim)
        return "pairs" if dims == (depth - 2, depth - 1) else "unknown"
    if name in _PRODUCTS:
        return _of_product(record, given, lie, dim, placed)
    if name in _ATTENTION:
        return Mixed(record) if dim == len(shape) - 2 else placed(dim)
    if others:
        return "unknown"
    if name in ("t", "transpose", "permute"):
        order = list(range(len(shape)))
        if name == "permute":
            order = [each % len(shape) for each in at["dims"]]
        else:
            one, two = (0, len(shape) - 1) if name == "t" else (at["dim0"], at["dim1"])
            order[one], order[two] = order[two], order[one]
        return placed(order.index(dim))
    if name in ("select", "unbind"):
        cut = int(at.get("dim", 0)) % len(shape)
        if cut == dim:
            return One(int(at.get("index", 0)) % rows) if shape[dim] == rows else "unknown"
        return placed(dim - (cut < dim))
    if name in ("slice", "cat", "split", "chunk", "split_with_sizes", "unsafe_split"):
        cut = int(at.get("dim", 0)) % len(shape)
        return "unknown" if cut == dim else placed(dim)
    if name in _ALONG:
        return Mixed(record) if int(at["dim"]) % len(shape) == dim else Apart(stride)
    if name in _REDUCING:
        summed = at.get("dim")
        dims_of = [summed] if isinstance(summed, int) else summed or range(len(shape))
        gone = {each % len(shape) for each in dims_of}
        if dim in gone:
            return "none"
        return placed(dim if at.get("keepdim") else dim - sum(each < dim for each in gone))
    if name in ("native_layer_norm", "layer_norm"):
        return "unknown" if dim >= len(shape) - len(at["normalized_shape"]) else Apart(stride)
    if name in _OF_ROWS or name == "convolution":
        if dim == 0:
            return placed(0)
        return Mixed(record) if name == "convolution" and shape[dim] == rows else "unknown"
    if name == "embedding":
        return Apart(stride * made[-1])
    return "unknown"


def _of_product(
    record: OpRecord, given: Sequence[Origin], lie: Sequence[Lie], dim: int, placed: Any
) -> Lie:
    """Of a product of matrices: rows that are summed over are mixed."""
    first = len(given) - 2
    at = [place for place, each in enumerate(lie) if isinstance(each, Apart)]
    if len(at) > 1 or at[0] < first or record.name == "linear":
        is_simple = len(at) == 1 and at[0] == 0 and dim < len(shape_of(given[0])) - 1
        return placed(dim) if record.name == "linear" and is_simple else "unknown"
    depth = len(shape_of(given[at[0]]))
    summed = depth - 1 if at[0] == first else max(depth - 2, 0)
    return Mixed(record) if dim == summed else placed(dim)


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
