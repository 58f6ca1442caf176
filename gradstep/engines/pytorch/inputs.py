"""The inputs of ops and custom Functions, kept so that these can be run again.

The inputs are copies, in memory that is bounded: the oldest go first.  A tensor that several ops
read, and that nobody changed in between, is copied once.  Where no rule of PyTorch's is to be
checked, what an op made is copied when something is about to write there: until then, nearly always
its graph keeps it, too.
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

from gradstep.contract.budget import Budget
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
    version_counter,
)
from gradstep.engines.pytorch.schema import is_mutable, memory_of
from gradstep.engines.pytorch.tensor_table import TensorTable
from gradstep.engines.pytorch.tensors import array_of, has_memory, nbytes_of
from gradstep.guest.fence import fenced, within_fence
from gradstep.guest.replaced import replaced


class Copy:
    """A tensor as it was; it counts against a budget for as long as it lives.  It ``shares`` the
    memory of that tensor before it is parted from it."""

    __slots__ = ("__weakref__", "_budget", "_of", "nbytes", "tensor")

    def __init__(self, tensor: torch.Tensor, budget: Budget, *, shares: bool) -> None:
        plain = TensorBase.as_subclass(TensorBase.detach(tensor), torch.Tensor)
        self.tensor = plain if shares else TensorBase.clone(plain)
        self._of = (ref(tensor), version_counter(tensor)) if shares else None
        self.nbytes = nbytes_of(plain)
        self._budget = budget
        budget.used += self.nbytes

    def __del__(self) -> None:
        self._budget.used -= self.nbytes

    def part(self) -> None:
        """Take memory of its own, as that of the tensor is about to be written."""
        if self._of is not None:
            self.tensor, self._of = TensorBase.clone(self.tensor), None

    @property
    def is_known(self) -> bool:
        """Whether it is as the tensor was: as far as versions tell, nobody has written unseen."""
        if self._of is None:
            return True
        reference, version = self._of
        tensor = reference()
        return tensor is None or version_counter(tensor) == version

    def is_as(self, tensor: torch.Tensor) -> bool:
        """Return whether ``tensor``, of which it is, is still as it was."""
        # one that was changed through .data has the same version
        return _same(self.tensor, tensor) if self._of is None else self.is_known

    @property
    def array(self) -> NDArray[Any] | None:
        """The numbers, None where they are lost."""
        return array_of(self.tensor) if self.is_known else None


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


Copies = tuple[Copy | None, ...]
_FEW: Final = 1000
_SMALL: Final = 1 << 14
"""Bytes that are copied in less time than it takes to look whether something is about to change
them."""
LIBRARIES: Final = ("aten", "prim", "prims")
"""Namespaces of ops that are PyTorch's own."""


class Inputs:
    """The calls of one tracing, by the numbers of the nodes that they may have made.

    Just before an op runs, PyTorch makes its node, and now and then others: of views that were
    changed in place, and of what hooks compute that pack values.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = Budget(budget.limit, reruns=budget.reruns)
        self._copies = TensorTable()
        self._by_number: dict[int, list[Call | Copies]] = {}
        self._shared: dict[int, list[ref[Copy]]] = {}  # by the memory
        self._room = _FEW
        self.latest = self._dropped = -1

    def of(self, number: int) -> Sequence[Call]:
        """Return the calls one of which made node ``number``."""
        return [kept for kept in self._by_number.get(number, ()) if type(kept) is Call]

    def dropped(self, number: int) -> bool:
        """Return whether what made node ``number`` was kept once."""
        return number <= self._dropped

    def forget(self, nodes: Iterable[Any]) -> None:
        """Let go of what made some nodes of PyTorch, which are freed."""
        for node in nodes if self._by_number else ():
            self._by_number.pop(sequence_nr_of(node), None)

    def write(self, tensor: torch.Tensor) -> None:
        """Take note of a tensor that is about to be written, or may be from now on."""
        if self._shared:
            with unobserved():
                for copy in _living(self._shared.pop(memory_of(tensor), ())):
                    copy.part()

    def op(
        self, numbers: range, op: Any, args: Any, kwargs: Any, given: Sequence[torch.Tensor]
    ) -> None:
        """Keep what ``op`` is called with, tensors that are ``given`` among it, which made one of
        the nodes ``numbers``."""
        with unobserved():
            if not self.budget.reruns and op.namespace in LIBRARIES:
                copies = tuple([self._copy(tensor) for tensor in given if not _why_not(tensor)])
                for number in numbers:
                    self._add(number, copies)
                return
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
        reference = self._copies.get(tensor)
        copy: Copy | None = None if reference is None else reference()
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
        if known is not None and known.is_as(tensor):
            return known
        if nbytes_of(tensor) > self.budget.limit:
            return None
        # others than ops may write what they did not make; what is small is copied at once
        shares = not self.budget.reruns and tensor.nbytes > _SMALL and tensor.grad_fn is not None
        copy = Copy(tensor, self.budget, shares=shares)
        self._copies[tensor] = ref(copy)
        if shares:
            self._share(memory_of(tensor), copy)
        return copy

    def _share(self, memory: int, copy: Copy) -> None:
        if len(self._shared) > self._room:
            self._shared = {at: some for at, some in self._shared.items() if any(_living(some))}
            self._room = max(_FEW, 2 * len(self._shared))
        others = _living(self._shared.get(memory, ()))
        self._shared[memory] = [*map(ref, others), ref(copy)]

    def _add(self, number: int, kept: Call | Copies) -> None:
        self._by_number.setdefault(number, []).append(kept)
        self.latest = max(self.latest, number)
        while self.budget.used > self.budget.limit and self._by_number:
            oldest = next(iter(self._by_number))
            del self._by_number[oldest]
            self._dropped = max(self._dropped, oldest)


def _living(references: Iterable[ref[Copy]]) -> Iterator[Copy]:
    return (copy for reference in references if (copy := reference()) is not None)


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
