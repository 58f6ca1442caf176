"""Products of tensors, as sums over shared dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from autograd_core.op import public
from autograd_core.ops.algebra.linalg import bmm, mm
from autograd_core.ops.algebra.linalg import dot as dot_product
from autograd_core.ops.reductions import distance, norms
from autograd_core.ops.reductions.reduce import sum_dim
from autograd_core.ops.shaping.diagonals import diagonal
from autograd_core.ops.shaping.shape import permute, reshape, unsafe_view, view
from autograd_core.tensor import Tensor
from autograd_core.tensor.size import wrapped_all


@public("function method", aliases="ger", out="cast")
def outer(self: Tensor, vec2: Tensor) -> Tensor:
    """Return all products of an element of ``self`` and one of ``vec2``, both vectors."""
    for name, vector in (("self", self), ("vec2", vec2)):
        if vector.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {vector.ndim}-D")
    return reshape(self, (self.numel(), 1)) * vec2


@public(out="expect")
def tensordot(a: Tensor, b: Tensor, dims: int | Sequence[Any] | Tensor = 2) -> Tensor:
    """Return the sum of products over some dimensions: the last ones of ``a`` and the first ones of
    ``b``, or those in the two lists ``dims``."""
    pairs = _pairs(dims.tolist() if isinstance(dims, Tensor) else dims, min(a.ndim, b.ndim))
    left = wrapped_all(pairs[0], a.ndim, of_scalars=False)
    right = wrapped_all(pairs[1], b.ndim, of_scalars=False)
    if len(left) != len(right):
        raise RuntimeError("both dimension lists should have same length")
    for i, j, *named in zip(left, right, *pairs, strict=True):
        if a._shape[i] == 1:  # a dimension of size 1 broadcasts
            b = sum_dim(b, (j,), True)
        elif b._shape[j] == 1:
            a = sum_dim(a, (i,), True)
        elif a._shape[i] != b._shape[j]:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {a._shape[i]} in dim "
                f"{named[0]} and second has size {b._shape[j]} in dim {named[1]}"
            )
    if a.dtype is not b.dtype:
        raise RuntimeError("both inputs should have same dtype")
    rows = [d for d in range(a.ndim) if d not in left]
    columns = [d for d in range(b.ndim) if d not in right]
    shape = (*(a._shape[d] for d in rows), *(b._shape[d] for d in columns))
    inside = math.prod(a._shape[d] for d in left)
    height = math.prod(a._shape[d] for d in rows)
    width = math.prod(b._shape[d] for d in columns)
    a, b = permute(a, (*rows, *left)), permute(b, (*right, *columns))
    if not shape:
        flat = (factor if factor.ndim == 1 else reshape(factor, (inside,)) for factor in (a, b))
        return reshape(dot_product(*flat), ())
    product = mm(reshape(a, (height, inside)), reshape(b, (inside, width)))
    return reshape(product, shape)


def _pairs(dims: Any, most: int) -> Sequence[Any]:
    """Return the lists of dimensions that ``dims`` stands for."""
    if not isinstance(dims, int):
        return [[d] if isinstance(d, int) else d for d in dims]
    if dims < 0:
        raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
    if dims > most:
        raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
    return range(-dims, 0), range(dims)


@public("function method", out="expect")
def inner(self: Tensor, other: Tensor) -> Tensor:
    """Return the sum of products over the last dimension of both."""
    if not self.ndim or not other.ndim:
        return self * other
    if self._shape[-1] != other._shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(self._shape)} and {list(other._shape)}"
        )
    return tensordot(self, other, ([-1], [-1]))


@public("function method", out="cast")
def kron(self: Tensor, other: Tensor) -> Tensor:
    """Return the Kronecker product: all products of two elements, in blocks of the size of
    ``other``."""
    rank = max(self.ndim, other.ndim)
    a = (1,) * (rank - self.ndim) + self._shape
    b = (1,) * (rank - other.ndim) + other._shape
    spread_a = [n for size in a for n in (size, 1)]
    spread_b = [n for size in b for n in (1, size)]
    product = unsafe_view(self, spread_a) * unsafe_view(other, spread_b)
    return unsafe_view(product, [m * n for m, n in zip(a, b, strict=True)])


@public()
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str | None = None) -> Tensor:
    """Return the distances (n, m) from each point ``x1`` (n, d) to each point ``x2`` (m, d)."""
    return distance.cdist(x1, x2, float(p))


@public("function method", out="expect")
def cross(self: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Return the vector product along ``dim``, by default the first that has three elements."""
    if dim is None:
        dim = next((d for d, n in enumerate(self._shape) if n == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return norms.cross(self, other, dim)


# Einstein's sums


@public()
def einsum(equation: Any, *operands: Any) -> Tensor:
    """Return products, summed over the labels that the result lacks: ``einsum("ij,jk->ik", x, y)``.

    Labels may also be numbers, ``einsum(x, [0, 1], y, [1, 2], [0, 2])``.  An ellipsis stands for
    dimensions that broadcast.  Operands are contracted from left to right.

    Raises:
        RuntimeError: the labels do not fit the operands.
        ValueError: there are no operands.
    """
    if not isinstance(equation, str):
        equation, operands = _in_letters((equation, *operands))
    if not operands:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one "
            "operand and its subscripts list"
        )
    tensors = list(operands[0] if isinstance(operands[0], (list, tuple)) else operands)
    inputs, output = _labels(equation, [t.ndim for t in tensors])
    terms = [_diagonals(t, labels) for t, labels in zip(tensors, inputs, strict=True)]
    while len(terms) > 1:
        first, second, *rest = terms
        needed = set(output).union(*(labels for _, labels in rest))
        terms = [_contract(first, second, needed), *rest]
    tensor, labels = terms[0]
    tensor, labels = _sum_out(tensor, labels, set(output))
    return permute(tensor, tuple(labels.index(label) for label in output))


_LETTERS = ascii_uppercase + ascii_lowercase  # in the order that results take


def _in_letters(given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Return an equation and its operands, from operands with a list of numbers after each."""

    def text(labels: Any) -> str:
        return "".join("..." if n is Ellipsis else _LETTERS[n] for n in labels)

    pairs = len(given) // 2
    equation = ",".join(text(labels) for labels in given[1 : 2 * pairs : 2])
    if len(given) % 2:
        equation += f"->{text(given[-1])}"
    return equation, given[: 2 * pairs : 2]


Labels = list[str]


def _labels(equation: str, ranks: Sequence[int]) -> tuple[list[Labels], Labels]:
    """Return one label for each dimension of each operand, and those of the result.

    The dimensions of an ellipsis are numbered from the last.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        fewer = "fewer" if len(ranks) < len(terms) else "more"
        raise RuntimeError(
            f"einsum(): {fewer} operands were provided than specified in the equation"
        )
    inputs = []
    for number, (term, rank) in enumerate(zip(terms, ranks, strict=True)):
        before, dots, after = term.partition("...")
        hidden = rank - len(before) - len(after) if dots else 0
        if hidden < 0 or (not dots and len(term) != rank):
            count = len(before) + len(after)
            how = "is more than" if dots else "does not match"
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({count}) {how} the number of "
                f"dimensions ({rank}) for operand {number}"
                f"{'' if dots else ' and no ellipsis was given'}"
            )
        inputs.append([*before, *(f"...{n}" for n in range(hidden, 0, -1)), *after])
    every = [label for labels in inputs for label in labels]
    hidden_labels = sorted({x for x in every if x.startswith("...")}, key=lambda x: -int(x[3:]))
    if arrow:
        before, dots, after = right.partition("...")
        output = [*before, *(hidden_labels if dots else []), *after]
    else:
        single = {x for x in every if every.count(x) == 1 and not x.startswith("...")}
        output = [*hidden_labels, *sorted(single)]
    unknown = [label for label in output if label not in every]
    if unknown:
        raise RuntimeError(
            f"einsum(): output subscript {unknown[0]} does not appear in the equation for any "
            "input operand"
        )
    return inputs, output


def _diagonals(x: Tensor, labels: Labels) -> tuple[Tensor, Labels]:
    """Return where a label occurs twice, the diagonal."""
    labels = list(labels)
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            x = diagonal(x, 0, first, second)
            labels = [other for other in labels if other != label] + [label] * (
                labels.count(label) - 1
            )
    return x, labels


def _sum_out(x: Tensor, labels: Labels, needed: set[str]) -> tuple[Tensor, Labels]:
    """Sum over the labels that nobody needs any more."""
    dims = tuple(d for d, label in enumerate(labels) if label not in needed)
    return (sum_dim(x, dims) if dims else x), [label for label in labels if label in needed]


def _contract(
    first: tuple[Tensor, Labels], second: tuple[Tensor, Labels], needed: set[str]
) -> tuple[Tensor, Labels]:
    """Return two operands as one batch of matrix products."""
    x, a = _sum_out(*first, needed.union(second[1]))
    y, b = _sum_out(*second, needed.union(first[1]))
    for label in a:
        if label in b and 1 in ((m := _size(x, a, label)), (n := _size(y, b, label))) and m != n:
            # a dimension of size 1 broadcasts, which means: it takes no part
            if m == 1:
                x, a = _dropped(x, a, label)
            else:
                y, b = _dropped(y, b, label)
            return _contract((x, a), (y, b), needed)
    shared = [label for label in a if label in b]
    batch = [label for label in shared if label in needed]
    summed = [label for label in shared if label not in needed]
    rows = [label for label in a if label not in shared]
    columns = [label for label in b if label not in shared]
    _check_shared(shared, (x, a), (y, b))
    sizes = {**dict(zip(a, x._shape, strict=True)), **dict(zip(b, y._shape, strict=True))}
    count = {
        key: math.prod(sizes[label] for label in group)
        for key, group in dict(b=batch, r=rows, s=summed, c=columns).items()
    }
    x = permute(x, tuple(a.index(label) for label in (*batch, *rows, *summed)))
    y = permute(y, tuple(b.index(label) for label in (*batch, *summed, *columns)))
    if not summed:
        spread = (*(sizes[label] for label in (*batch, *rows)), *(1,) * len(columns))
        between = len(batch)
        beside = (*y._shape[:between], *(1,) * len(rows), *y._shape[between:])
        return reshape(x, spread) * reshape(y, beside), [*batch, *rows, *columns]
    product = bmm(
        reshape(x, (count["b"], count["r"], count["s"])),
        reshape(y, (count["b"], count["s"], count["c"])),
    )
    result = [*batch, *rows, *columns]
    return view(product, tuple(sizes[label] for label in result)), result


def _check_shared(
    shared: Labels, first: tuple[Tensor, Labels], second: tuple[Tensor, Labels]
) -> None:
    for label in shared:
        if (n := _size(*second, label)) != (m := _size(*first, label)):
            raise RuntimeError(
                f"einsum(): subscript {label} has size {n} for operand 1 which does not broadcast "
                f"with previously seen size {m}"
            )


def _size(x: Tensor, labels: Labels, label: str) -> int:
    return x._shape[labels.index(label)]


def _dropped(x: Tensor, labels: Labels, label: str) -> tuple[Tensor, Labels]:
    dim = labels.index(label)
    kept = (*x._shape[:dim], *x._shape[dim + 1 :])
    return reshape(x, kept), [*labels[:dim], *labels[dim + 1 :]]
