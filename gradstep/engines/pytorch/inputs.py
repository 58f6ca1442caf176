"""The inputs of ops and custom Functions, kept so that these can be run again.

The inputs are copies, in memory that is bounded: the oldest go first.  A tensor that several ops
read, and that nobody changed in between, is copied once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import Any, Final, NamedTuple
from weakref import ref

import torch
from numpy.typing import NDArray
from torch.utils.weak import WeakTensorKeyDictionary

from gradstep.engines.pytorch.private import (
    TensorBase,
    base_of,
    functions_disabled,
    grad_enabled,
    schema_of,
    sequence_nr_of,
    skip_code,
    uncompiled,
    unobserved,
)
from gradstep.engines.pytorch.schema import is_mutable
from gradstep.engines.pytorch.tensors import array_of, has_memory, nbytes_of
from gradstep.guest.fence import fenced, within_fence
from gradstep.guest.replaced import replaced


class Budget:
    """The bytes of copies that there may be at a time, and those that there are."""

    __slots__ = ("limit", "used")

    def __init__(self, limit: int) -> None:
        self.limit, self.used = limit, 0


class Copy:
    """A tensor as it was; it counts against a budget for as long as it lives."""

    __slots__ = ("__weakref__", "_budget", "nbytes", "tensor")

    def __init__(self, tensor: torch.Tensor, budget: Budget) -> None:
        self.tensor = TensorBase.clone(
            TensorBase.as_subclass(TensorBase.detach(tensor), torch.Tensor)
        )
        self.nbytes = nbytes_of(self.tensor)
        self._budget = budget
        budget.used += self.nbytes

    def __del__(self) -> None:
        self._budget.used -= self.nbytes

    @property
    def array(self) -> NDArray[Any]:
        array = array_of(self.tensor)
        assert array is not None
        return array


class Input(NamedTuple):
    """A tensor that an op was given: its copy, or why there is none; and whether it requires a
    gradient."""

    name: str
    copy: Copy | None
    needs: bool
    why_not: str = ""


class ViewRegion(NamedTuple):
    """The part of a tensor that an op changed in place: size, strides and offset."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int


class Call(NamedTuple):
    """A call of ``function``, an op or a custom Function: with an :class:`Input` for each tensor.

    ``random`` is the state of the random generators before, of one that draws; ``through`` the view
    that the op changed, of a tensor that is its first argument here.
    """

    function: Any
    arguments: tuple[Any, ...]
    named: Mapping[str, Any]
    random: Any = None
    through: ViewRegion | None = None

    @property
    def custom(self) -> bool:
        """Whether the function is the user's own."""
        return isinstance(self.function, type) or self.function.namespace not in LIBRARIES


LIBRARIES: Final = ("aten", "prim", "prims")
"""Namespaces of ops that are PyTorch's own."""


class Inputs:
    """The calls of one tracing, by the numbers of the nodes that they may have made.

    Just before an op runs, PyTorch makes its node, and now and then others: of views that were
    changed in place, and of what hooks compute that pack values.
    """

    def __init__(self, limit: int) -> None:
        self.budget = Budget(limit)
        self._copies: Any = WeakTensorKeyDictionary()
        self._calls: dict[int, list[Call]] = {}
        self.latest = self._dropped = -1

    def of(self, number: int) -> Sequence[Call]:
        """Return the calls one of which made node ``number``."""
        return self._calls.get(number, ())

    def dropped(self, number: int) -> bool:
        """Return whether what made node ``number`` was kept once."""
        return number <= self._dropped

    def forget(self, nodes: Iterable[Any]) -> None:
        """Let go of what made some nodes of PyTorch, which are freed."""
        for node in nodes if self._calls else ():
            self._calls.pop(sequence_nr_of(node), None)

    def op(self, numbers: range, op: Any, args: Any, kwargs: Any) -> None:
        """Keep what ``op`` is called with, which made one of the nodes ``numbers``."""
        with unobserved():
            call = self._call(op, _names_of(op), args, kwargs, random=_draws(op))
            for number in numbers:
                self._add(number, call)
            view: Any = args[0] if args and is_mutable(op) else None
            base: Any = base_of(view) if isinstance(view, torch.Tensor) else None
            if numbers and base is not None and view.dtype == base.dtype:
                # made when the op is done: the place in the graph of the base that it changes
                part = ViewRegion(
                    tuple(view.shape), TensorBase.stride(view), TensorBase.storage_offset(view)
                )
                through = self._call(op, _names_of(op), (base, *args[1:]), kwargs, through=part)
                self._add(numbers[-1] + 1, through)

    def function(self, number: int, function: Any, arguments: tuple[Any, ...]) -> None:
        """Keep what a custom Function, which makes node ``number``, is called with."""
        with unobserved(), grad_enabled(False):
            names = _parameters_of(function)
            self._add(number, self._call(function, names, arguments, {}, random=True))

    def copy_of(self, tensor: torch.Tensor) -> Copy | None:
        """Return the copy that was made of ``tensor``, None where there is none."""
        copy: Copy | None = self._copies.get(tensor, lambda: None)()
        return copy

    def _call(
        self,
        function: Any,
        names: Sequence[str],
        args: Any,
        kwargs: Any,
        *,
        random: bool = False,
        through: ViewRegion | None = None,
    ) -> Call:
        arguments = tuple(
            self._kept(value, names[at] if at < len(names) else f"{names[-1]}[{at}]")
            for at, value in enumerate(args)
        )
        named = {name: self._kept(value, name) for name, value in kwargs.items()}
        return Call(function, arguments, named, _random_state() if random else None, through)

    def _kept(self, value: Any, name: str) -> Any:
        if isinstance(value, torch.Tensor):
            why_not = _why_not(value)
            copy = None if why_not else self._copy(value)
            return Input(name, copy, value.requires_grad, why_not)
        if isinstance(value, list | tuple):
            return [self._kept(element, f"{name}[{at}]") for at, element in enumerate(value)]
        return value

    def _copy(self, tensor: torch.Tensor) -> Copy | None:
        known = self.copy_of(tensor)
        # one that was changed through .data has the same version
        if known is not None and _same(known.tensor, tensor):
            return known
        if nbytes_of(tensor) > self.budget.limit:
            return None
        copy = Copy(tensor, self.budget)
        self._copies[tensor] = ref(copy)
        return copy

    def _add(self, number: int, call: Call) -> None:
        self._calls.setdefault(number, []).append(call)
        self.latest = max(self.latest, number)
        while self.budget.used > self.budget.limit and self._calls:
            oldest = next(iter(self._calls))
            del self._calls[oldest]
            self._dropped = max(self._dropped, oldest)


def _same(kept: torch.Tensor, tensor: torch.Tensor) -> bool:
    alike = kept.shape == tensor.shape and kept.dtype == tensor.dtype
    return alike and bool(TensorBase.equal(kept, tensor))


def _why_not(tensor: torch.Tensor) -> str:
    """Say why a tensor cannot be copied and moved a little, "" where it can."""
    if type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        return f"is a {type(tensor).__name__}"
    if tensor.is_nested:
        return "is a nested tensor"
    if tensor.layout is not torch.strided:
        return f"is sparse ({str(tensor.layout).removeprefix('torch.')})"
    if tensor.is_meta:
        return "has no data"
    return "" if has_memory(tensor) else "has no memory any more"


@lru_cache(maxsize=4096)
def _names_of(op: Any) -> list[str]:
    return [
        "input" if argument.name == "self" else argument.name
        for argument in schema_of(op).arguments
    ]


def _parameters_of(function: Any) -> list[str]:
    parameters = list(inspect.signature(function.forward).parameters.values())
    if function.setup_context is torch.autograd.Function.setup_context:
        parameters = parameters[1:]  # without ctx
    return [parameter.name for parameter in parameters] or ["input"]


@lru_cache(maxsize=4096)
def _draws(op: Any) -> bool:
    return torch.Tag.nondeterministic_seeded in op.tags or op.namespace not in LIBRARIES


def _random_state() -> list[torch.Tensor]:
    states = [torch.default_generator.get_state()]
    if torch.cuda.is_initialized():
        states += torch.cuda.get_rng_state_all()
    return states


def set_random_state(states: list[torch.Tensor]) -> None:
    """Let the random generators go on from where they were."""
    torch.default_generator.set_state(states[0])
    if states[1:]:
        torch.cuda.set_rng_state_all(states[1:])


_FUNCTIONS: Final = "calls of custom Functions"
Note = Callable[[Any, tuple[Any, ...]], Callable[[Any], None]]


@contextmanager
def noting_functions(note: Note) -> Iterator[None]:
    """Within it, ``note`` is told of each call of a custom Function of the program's; it returns
    what is to be told of the result."""
    base = torch.autograd.Function
    usual: Any = inspect.getattr_static(base, "apply")  # of Python or, since PyTorch 2.14, of C
    noted = fenced(_FUNCTIONS)(note)

    @uncompiled
    def before(function: Any, given: tuple[Any, ...]) -> Any:
        with functions_disabled():
            return noted(function, given)

    @uncompiled
    def behind(done: Callable[[Any], None], result: Any) -> None:
        with within_fence(_FUNCTIONS), functions_disabled():
            done(result)

    @wraps(base.apply)
    def apply(function: Any, *args: Any, **kwargs: Any) -> Any:
        plain = usual.__get__(None, function)
        # that of a library's op is told of as that op
        if (
            function.__name__.startswith("GeneratedBackwardFor")
            or torch.compiler.is_dynamo_compiling()
        ):
            return plain(*args, **kwargs)
        done = before(function, args)
        result = plain(*args, **kwargs)
        if done is not None:
            behind(done, result)
        return result

    skip_code(apply)  # PyTorch's own, of C, has no frame for the compiler to look at
    with replaced(base, "apply", classmethod(apply)):
        yield
