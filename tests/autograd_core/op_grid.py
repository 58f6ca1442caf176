"""Every operator over a grid of odd arguments, in PyTorch and here, and what differs.

A call of :mod:`operator_cases` or :mod:`network_cases` is changed in one respect at a time:
see :func:`variants`.
"""

from __future__ import annotations

import functools
import inspect
import operator
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from tests.autograd_core.network_cases import FURTHER, PLAIN
from tests.autograd_core.operator_cases import CALLS, Call, Constant, Leaf

EVERY: dict[str, list[Call]] = {
    name: [*CALLS.get(name, ()), *FURTHER.get(name, ())] for name in sorted({*CALLS, *FURTHER})
}
ALL = {name: [*EVERY.get(name, ()), *PLAIN.get(name, ())] for name in sorted({*EVERY, *PLAIN})}
# Variants that end PyTorch's process, or in which it reads beyond its memory.
ENDS_PYTORCH = {
    "lu_unpack": r"tensor 1 (empty|legacy)",
    "native_batch_norm": r"tensor [12] (empty|legacy)",
    "nn.functional.ctc_loss": r"has|empty",
    "nn.functional.grid_sample": r"nan|inf",
    "nn.functional.pdist": r"is 0|empty",
}

DIMENSIONS = {
    "dim", "dims", "axis", "dim0", "dim1", "dim2", "axis0", "axis1", "start_dim", "end_dim",
    "source", "destination", "dimension",
}  # fmt: skip
KINDS = ("int64", "int32", "uint8", "bool", "float32", "float16")


class Given(NamedTuple):
    """A tensor to be made: its values, its place in memory, and whether it needs a gradient."""

    array: Any
    leaf: bool
    layout: str = "plain"

    def of(self, array: Any) -> Given:
        return self._replace(array=np.asarray(array, self.array.dtype))

    def made(self, t: Any) -> tuple[Any, Any]:
        """The leaf, and the tensor that is the argument."""
        array, view = self.array, _PLAIN
        if array.ndim and self.layout in _LAYOUTS:
            lay_out, view = _LAYOUTS[self.layout]
            array = lay_out(array)
        leaf = t.tensor(array, requires_grad=self.leaf and array.dtype.kind == "f")
        return leaf, leaf.clone() if self.layout == "copy" else view(leaf, self.array.shape)


def _apart(array: Any) -> Any:
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    wide[..., ::2] = array
    return wide


_PLAIN: Callable[[Any, Any], Any] = lambda x, shape: x  # noqa: E731
_LAYOUTS: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {
    "strided": (_apart, lambda x, shape: x[..., ::2]),
    "transposed": (
        lambda a: np.ascontiguousarray(a.swapaxes(0, -1)),
        lambda x, shape: x.transpose(0, -1),
    ),
    "expanded": (lambda a: a[:1], lambda x, shape: x.expand(tuple(shape))),
}


class Out(NamedTuple):
    """``out=``: tensors that fit the results, or not."""

    how: str


def as_given(call: Call) -> Call:
    """The call with tensors that are yet to be made."""
    return Call(tuple(map(given, call.args)), {k: given(v) for k, v in call.kwargs.items()})


# --- the grid ----------------------------------------------------------------------------------


def variants(torch: Any, path: str, call: Call) -> Iterator[tuple[str, Call]]:
    """The call as it stands, and with one thing changed at a time, by what is changed."""
    call = as_given(call)
    names, found = names_of(torch, path), tensors(call)
    known = ENDS_PYTORCH.get(path)
    for make in (_plain, _dimensions, _sizes, _memory, _dtypes, _values, _indices):
        for label, variant in make(call, names, found):
            if known is None or not re.search(known, label):
                yield label, variant


Variants = Iterator[tuple[str, Call]]


def _plain(call: Call, names: list[str], found: list[Given]) -> Variants:
    yield "plain", call
    if call.args and len(names) >= len(call.args):
        yield "keywords", Call((), dict(zip(names, call.args, strict=False)) | call.kwargs)
    if found:
        yield "0-d", changed(call, _scalar)


def _dimensions(call: Call, names: list[str], found: list[Given]) -> Variants:
    ndim = found[0].array.ndim if found else 0
    scalars = changed(call, _scalar)
    given_now = dict(zip(names, call.args, strict=False)) | call.kwargs
    for name in sorted(DIMENSIONS & given_now.keys()):
        value = given_now[name]

        def dim(new: Any, of: Call = call, name: str = name) -> Call:
            place = names.index(name) if name in names else len(of.args)
            if name in of.kwargs or place >= len(of.args):
                return Call(of.args, of.kwargs | {name: new})
            return Call((*of.args[:place], new, *of.args[place + 1 :]), of.kwargs)

        if type(value) is int:
            yield f"{name} negative", dim(value - ndim)
            yield f"{name} beyond", dim(ndim)
            yield f"{name} before", dim(-ndim - 1)
            yield f"{name} repeated", dim((value, value))
            yield f"{name} repeated, negative", dim((value, value - ndim))
            yield f"{name} tuple", dim((value,))
            for new in (0, -1, 1, -2):
                yield f"0-d, {name} {new}", dim(new, scalars)
        elif isinstance(value, (tuple, list)) and all(type(each) is int for each in value):
            yield f"{name} negative", dim(type(value)(each - ndim for each in value))
            yield f"{name} beyond", dim(type(value)([ndim, *value[1:]]))
            yield f"{name} repeated", dim(type(value)([*value, value[0]]))
            yield f"{name} one", dim(value[0])
            for several in ((0,), (-1,), (1,), 0, -1, (0, 0), ()):
                yield f"0-d, {name} {several}", dim(several, scalars)
        else:
            continue
        for word, new_value in {"empty": (), "none": None, "float": 1.0, "bool": True}.items():
            yield f"{name} {word}", dim(new_value)


def _sizes(call: Call, names: list[str], found: list[Given]) -> Variants:
    for size in sorted({n for each in found for n in each.array.shape}):

        def none(each: Given, size: int = size) -> Given:
            return each.of(np.zeros([0 if n == size else n for n in each.array.shape]))

        yield f"size {size} is 0", changed(call, none)
    for number, one in enumerate(found):
        for axis in range(one.array.ndim):

            def without(each: Given, axis: int = axis) -> Given:
                return each.of(each.array[(slice(None),) * axis + (slice(0, 0),)])

            yield f"tensor {number} empty in {axis}", changed(call, without, number)
        yield (
            f"tensor {number} legacy empty",
            changed(call, lambda each: each.of(np.zeros(0)), number),
        )
        yield f"tensor {number} 0-d", changed(call, _scalar, number)


def _memory(call: Call, names: list[str], found: list[Given]) -> Variants:
    for layout in _LAYOUTS:
        yield layout, changed(call, lambda each, layout=layout: each._replace(layout=layout))
    for how in ("fits", "wrong dtype", "integers", "wrong shape", "needs grad", "strided"):
        yield f"out {how}", Call(call.args, call.kwargs | {"out": Out(how)})


def _dtypes(call: Call, names: list[str], found: list[Given]) -> Variants:
    for kind in KINDS:

        def to(each: Given, kind: str = kind) -> Given:
            with np.errstate(invalid="ignore"):  # NaN as a whole number
                return each._replace(array=each.array.astype(kind))

        def floats(each: Given, kind: str = kind) -> Given:
            return to(each, kind) if each.array.dtype.kind == "f" else each

        yield f"all {kind}", changed(call, floats)
        for number, _ in enumerate(found):
            yield f"tensor {number} {kind}", changed(call, to, number)
    for kind in ("float32", "float64", "int64", "bool"):
        yield f"dtype {kind}", Call(call.args, call.kwargs | {"dtype": kind})


def _values(call: Call, names: list[str], found: list[Given]) -> Variants:
    for what, places in {
        "nan": {np.nan: slice(1, None, 3)}, "all nan": {np.nan: slice(None)},
        "inf": {np.inf: slice(0, None, 3)}, "-inf": {-np.inf: slice(1, None, 3)},
        "infs": {np.inf: slice(0, None, 3), -np.inf: slice(1, None, 3)},
        "zeros": {0.0: slice(None)}, "ones": {1.0: slice(None)}, "ties": {},
    }.items():  # fmt: skip

        def odd(each: Given, places: dict[float, slice] = places) -> Given:
            if each.array.dtype.kind != "f":
                return each
            flat = each.array.flatten() if places else np.round(each.array.flatten())
            for value, place in places.items():
                flat[place] = value
            return each.of(flat.reshape(each.array.shape))

        yield what, changed(call, odd)


def _indices(call: Call, names: list[str], found: list[Given]) -> Variants:
    for number, one in enumerate(found):
        if one.array.dtype.kind == "i" and one.array.size:
            for new in (-1, 7, -9):

                def other(each: Given, new: int = new) -> Given:
                    first = np.arange(each.array.size).reshape(each.array.shape) == 0
                    return each.of(np.where(first, new, each.array))

                yield f"tensor {number} has {new}", changed(call, other, number)


def _scalar(each: Given) -> Given:
    return each.of(each.array.reshape(-1)[:1].reshape(()))


def given(value: Any) -> Any:
    """The argument with :class:`Given` for its tensors."""
    return _mapped(
        lambda each: Given(np.asarray(each.array), isinstance(each, Leaf)), value, (Leaf, Constant)
    )


def _mapped(function: Callable[[Any], Any], value: Any, kinds: Any = Given) -> Any:
    if isinstance(value, kinds):
        return function(value)
    if isinstance(value, (list, tuple)) and not isinstance(value, Out):
        return type(value)(_mapped(function, each, kinds) for each in value)
    return value


def tensors(call: Call) -> list[Given]:
    """The tensors of the arguments, in order."""
    found: list[Given] = []
    for value in (*call.args, *call.kwargs.values()):
        _mapped(found.append, value)
    return found


def changed(call: Call, function: Callable[[Given], Given], only: int | None = None) -> Call:
    """The call with each tensor changed, or only the one of that number."""
    number = count()

    def one(each: Given) -> Given:
        place = next(number)
        return function(each) if only is None or only == place else each

    args = tuple(_mapped(one, value) for value in call.args)
    return Call(args, {name: _mapped(one, value) for name, value in call.kwargs.items()})


@functools.cache
def names_of(torch: Any, path: str) -> list[str]:
    """The names of the parameters in PyTorch, as far as they are known."""
    known = function = resolve(torch, path)
    if not path.startswith("nn."):
        known = torch.overrides.get_testing_overrides().get(function, function)
    try:
        parameters = inspect.signature(known).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]


def resolve(t: Any, path: str) -> Any:
    """The function of that name, or the method."""
    try:
        return operator.attrgetter(path)(t)
    except AttributeError:
        return getattr(t.Tensor, path)


def forms(torch: Any, path: str, call: Call) -> Iterator[tuple[str, Call]]:
    """The call as it stands, of the method of that name, and in place."""
    yield path, call
    if "." in path or not call.args or not isinstance(call.args[0], Given):
        return
    if hasattr(torch.Tensor, path) and path not in ("where", "real"):  # with other arguments
        yield f"Tensor.{path}", call
    if hasattr(torch.Tensor, f"{path}_"):
        copy = call.args[0]._replace(layout="copy")
        yield f"Tensor.{path}_", Call((copy, *call.args[1:]), call.kwargs)


# --- one call ----------------------------------------------------------------------------------


class Answer(NamedTuple):
    """What came of a call: an error, or results with derivatives, or why there are none."""

    error: tuple[str, str] | None = None
    results: Sequence[Any] = ()
    first: list[Any] | str = ""
    second: list[Any] | str = ""


def answer(t: Any, path: str, call: Call, plain: list[Any]) -> Answer:
    """Call it, and differentiate twice; ``plain`` are results that ``out`` is to fit, or not."""
    leaves: list[Any] = []

    def make(value: Any) -> Any:
        if isinstance(value, Given):
            leaf, tensor = value.made(t)
            leaves.extend([leaf] if leaf.requires_grad else [])
            return tensor
        if isinstance(value, Out):
            made = tuple(_out(t, value.how, each) for each in plain)
            return made[0] if len(made) == 1 else made
        if isinstance(value, (list, tuple)):
            return type(value)(map(make, value))
        if isinstance(value, str) and value in ("float64", "int32", *KINDS):
            return getattr(t, value)
        return value

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            args = [make(each) for each in call.args]
            kwargs = {name: make(each) for name, each in call.kwargs.items()}
            if "out" in kwargs:
                with t.no_grad():
                    result = resolve(t, path)(*args, **kwargs)
                return Answer(None, [*_flat(result), *_flat(kwargs["out"])])
            results = _flat(resolve(t, path)(*args, **kwargs))
        except Exception as error:
            return Answer((type(error).__name__, str(error)))
        return Answer(None, results, *_derivatives(t, results, leaves))


def _flat(result: Any) -> list[Any]:
    if isinstance(result, (tuple, list)):
        return [part for each in result for part in _flat(each)]
    return [result]


def _out(t: Any, how: str, like: Any) -> Any:
    kind = getattr(t, repr(like.dtype).partition(".")[2])
    if how == "wrong dtype":
        kind = t.float32 if kind != t.float32 else t.float64
    elif how == "integers":
        kind = t.int64 if kind != t.int64 else t.int32
    shape = tuple(like.shape)
    if how == "wrong shape":
        return t.zeros((*shape, 2), dtype=kind)
    if how == "strided":
        return t.zeros((*shape, 2), dtype=kind)[..., 0]
    if how == "needs grad":
        return t.zeros(shape, dtype=kind, requires_grad=kind.is_floating_point)
    return t.zeros(0 if how == "fits" else shape, dtype=kind)


def _derivatives(t: Any, results: list[Any], leaves: list[Any]) -> tuple[Any, Any]:
    outputs = [each for each in results if isinstance(each, t.Tensor) and each.requires_grad]
    if not outputs or not leaves:
        return "none", ""
    try:
        total = sum((each.double() * _weights(t, each)).sum() for each in outputs)
        first = t.autograd.grad(total, leaves, create_graph=True, allow_unused=True)
    except Exception as error:
        return f"{type(error).__name__}: {error}", ""
    squares = [(g.double() ** 2).sum() for g in first if g is not None and g.requires_grad]
    if not squares:
        return list(first), "none"
    try:
        return list(first), list(t.autograd.grad(sum(squares), leaves, allow_unused=True))
    except Exception as error:
        return list(first), f"{type(error).__name__}: {error}"


def _weights(t: Any, like: Any) -> Any:
    return t.tensor(np.cos(np.arange(like.numel())).reshape(tuple(like.shape)))


# --- the comparison ----------------------------------------------------------------------------

_TOLERANCE = {"torch.float16": (2e-2, 2e-3), "torch.float32": (2e-4, 1e-5)}


def differences(mine: Answer, theirs: Answer, words: bool = False) -> list[str]:
    """In what respects they differ, mine first; errors by their class, and their ``words``."""
    if mine.error or theirs.error:
        (ours, text), (others, said) = (each.error or ("none", "") for each in (mine, theirs))
        apart = ours != others or (words and text != said)
        return [f"error: {ours} | {others}: {text[:150]} | {said[:150]}"] * apart
    if len(mine.results) != len(theirs.results):
        return [f"number of results: {len(mine.results)} | {len(theirs.results)}"]
    pairs = zip(mine.results, theirs.results, strict=True)
    found = [_difference(*pair, f"result {number}") for number, pair in enumerate(pairs)]
    for order in ("first", "second"):
        ours, others = getattr(mine, order), getattr(theirs, order)
        if isinstance(ours, str) or isinstance(others, str):
            words = [w.partition(":")[0] if isinstance(w, str) else "" for w in (ours, others)]
            if words[0] != words[1]:
                told = [w[:150] if isinstance(w, str) else "numbers" for w in (ours, others)]
                found.append(f"{order}: {' | '.join(told)}")
            break
        for number, pair in enumerate(zip(ours, others, strict=True)):
            found.append(_difference(*pair, f"{order} {number}"))
    return [each for each in found if each]


def _difference(mine: Any, theirs: Any, what: str) -> str:
    if mine is None or theirs is None:
        other = theirs if mine is None else mine
        if other is None:
            return ""
        size = "" if np.any(other.numpy(force=True)) else " zero"
        return f"{what} undefined{size}: {mine is None} | {theirs is None}"
    if not hasattr(theirs, "dtype") or not hasattr(mine, "dtype"):
        return "" if repr(mine) == repr(theirs) else f"{what}: {mine!r} | {theirs!r}"
    for name in ("dtype", "shape", "requires_grad"):
        pair = [repr(getattr(each, name)) for each in (mine, theirs)]
        if pair[0] != pair[1]:
            return f"{what} {name}: {' | '.join(pair)}"
    if what.startswith("result") and steps(mine) != steps(theirs):
        return f"{what} strides: {mine.stride()} | {theirs.stride()} of {tuple(mine.shape)}"
    ours, others = mine.numpy(force=True), theirs.numpy(force=True)
    with np.errstate(all="ignore"):
        bounds = _TOLERANCE.get(repr(theirs.dtype), (1e-6, 1e-8))
        if not np.allclose(ours, others, *bounds, equal_nan=True):
            return f"{what} values: {ours.tolist()} | {others.tolist()}"
    return ""


def steps(x: Any) -> list[int]:
    """The strides of dimensions that have several elements: others are of no matter."""
    pairs = zip(x.shape, x.stride(), strict=True)
    return [step for n, step in pairs if n > 1] if x.numel() > 1 else []


def described(node: Any) -> Any:
    """The graph behind a node as nested tuples, leaves as one word."""
    if node is None or "AccumulateGrad" in node.name():
        return node and "leaf"
    return (node.name(), *((described(each), number) for each, number in node.next_functions))


def graphs(t: Any, found: Answer) -> list[Any]:
    """The graph of each result, and which output of its last node that is."""
    results = [each for each in found.results if isinstance(each, t.Tensor)]
    return [(described(each.grad_fn), each.output_nr) for each in results]


def saved(t: Any, found: Answer) -> tuple[str, set[str]]:
    """The node of the first result, and the names of what it saved."""
    node = getattr(found.results[0], "grad_fn", None) if found.results else None
    return node.name() if node else "", {e for e in dir(node) if e.startswith("_saved_")}


def compared(
    torch: Any, mine: Any, path: str, chosen: Callable[[int, str], bool]
) -> Iterator[tuple[str, list[str]]]:
    """What differs in those variants of all calls that ``chosen`` takes by number and label: the
    label of each, and the differences."""
    number = 0
    for call in EVERY[path]:
        plain: list[Any] = []
        for label, variant in variants(torch, path, call):
            number += 1
            if label != "plain" and not chosen(number, label):
                continue
            if label.startswith("out ") and not all(hasattr(each, "dtype") for each in plain):
                continue
            theirs = answer(torch, path, variant, plain)
            if label == "plain":
                plain = theirs.results
                if not chosen(number, label):
                    continue
            if label.startswith("keywords") and theirs.error and theirs.error[0] == "TypeError":
                continue  # PyTorch has other names
            words = label.endswith(("beyond", "before"))
            found = differences(answer(mine, path, variant, plain), theirs, words)
            if label.startswith("out "):  # which users lay out
                found = [each for each in found if " strides: " not in each]
            yield label, found
