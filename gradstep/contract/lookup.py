"""Find the engine of a tensor, or of a call; an engine is loaded with its first tensor."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from gradstep.contract.insides import library_of
from gradstep.contract.registry import HOMES, TENSORS, load
from gradstep.guest.fence import class_has, let_through
from gradstep.guest.own_files import imported_pytorch

if TYPE_CHECKING:
    from gradstep.contract.protocol import Engine, Numbers, Running, Stepping
    from gradstep.records import BackwardCall

OLDEST_PYTORCH: Final = (2, 6)
"""The oldest that libraries of today still take."""
NEWEST_PYTORCH: Final = (2, 15)
"""The newest that gradstep was tried with; newer ones are read as far as that goes."""


class NoEngine(ValueError):
    """There is no engine here for some tensors."""


class UnreadablePyTorch(NoEngine):
    """A version of PyTorch that cannot be read."""


class MixedEngines(NoEngine):
    """Tensors of both libraries where those of one are needed."""

    def __init__(self) -> None:
        super().__init__(
            "these tensors belong to two libraries, PyTorch and autograd_core, whose graphs "
            "cannot be connected; pass tensors of one library"
        )


def is_tensor(value: Any) -> bool:
    """Return whether ``value`` is a tensor, of whichever library.

    >>> import autograd_core as torch
    >>> is_tensor(torch.tensor(1.0)), is_tensor(1.0)
    (True, False)
    """
    return class_has(value, "grad_fn", "requires_grad") or (
        bool(TENSORS)
        and any(f"{base.__module__}:{base.__qualname__}" in TENSORS for base in type(value).__mro__)
    )


def is_node(value: Any) -> bool:
    """Return whether ``value`` is a ``grad_fn``, of whichever library.

    >>> import autograd_core as torch
    >>> is_node((torch.ones(2, requires_grad=True) * 2).grad_fn)
    True
    """
    return class_has(value, "next_functions")


def is_root(value: Any) -> bool:
    """Return whether a graph can be drawn from ``value``: a tensor, a GradientEdge, or a
    ``grad_fn``."""
    return is_tensor(value) or is_node(value) or class_has(value, "output_nr", "node")


def edge_of(node: Any) -> Any:
    """Return the GradientEdge at the first output of the op of a ``grad_fn``.

    >>> import autograd_core as torch
    >>> edge_of((torch.ones(2, requires_grad=True) * 2).grad_fn).output_nr
    0
    """
    edges = (engine_for(library).reading.edge_of(node) for library in filter(is_imported, HOMES))
    return next((edge for edge in edges if edge is not None), None)


def engine_of(tensors: Iterable[Any]) -> Engine:
    """Return the engine that ``tensors`` belong to; of none, that of a library the program uses.

    Raises:
        NoEngine: they belong to two libraries, or to a version of PyTorch that cannot be read.
    """
    libraries: set[str] = set()
    for tensor in tensors:
        stands_for: str | None = getattr(type(tensor), "gradstep_library", None)
        if stands_for is not None:  # a tensor as capture sees it
            return engine_for(stands_for)
        library = library_of(type(tensor))  # type: ignore[arg-type]  # classes are hashable
        if library is not None:
            libraries.add(library)
    if len(libraries) > 1:
        libraries.discard("numpy")  # of the core's gradients; beside tensors it is no library
    if len(libraries) > 1:
        raise MixedEngines
    return _readable(libraries.pop() if libraries else _in_use())


@lru_cache(maxsize=8)  # asked for several times at each call; an error is not remembered
def _readable(library: str) -> Engine:
    """Return the engine of a library, if that can be read."""
    if library == "torch" and (problem := unreadable()):
        raise UnreadablePyTorch(problem)
    return engine_for(library)


def engine_for(library: str) -> Engine:
    """Return the engine of a library by its name, loading it if this is the first time."""
    return _engine_at(HOMES[library])


@lru_cache(maxsize=8)  # asked for several times at each call
def _engine_at(home: str) -> Engine:
    engine: Engine = load(home)
    return engine


def _in_use() -> str:
    return next(filter(is_imported, HOMES), next(iter(HOMES)))


def is_imported(library: str) -> bool:
    """Return whether the program has imported a library."""
    return library in sys.modules if library != "torch" else imported_pytorch() is not None


def unreadable() -> str:
    """Say why the program's PyTorch cannot be read, "" where it can, or where there is none."""
    pytorch = imported_pytorch()
    return "" if pytorch is None else _unreadable(str(pytorch.__version__))


@lru_cache(maxsize=8)
def _unreadable(version: str) -> str:
    oldest, newest = (".".join(map(str, each)) for each in (OLDEST_PYTORCH, NEWEST_PYTORCH))
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if numbers is not None and (int(numbers[1]), int(numbers[2])) < OLDEST_PYTORCH:
        return f"PyTorch {version} is too old for gradstep; install {oldest} or newer"
    try:
        engine_for("torch")
    except Exception as error:  # it may lack anything
        let_through(error)
        return (
            f"PyTorch {version} cannot be read ({type(error).__name__}: {error}), and the program "
            f"runs without gradstep; it was tried with PyTorch {oldest} to {newest}"
        )
    return ""


def engine_of_call(call: BackwardCall) -> Engine:
    """Return the engine that carries out a call of ``backward`` or ``grad``."""
    return engine_of(call.roots)


def numbers_of(tensor: Any) -> Numbers:
    """Return what reads the numbers of a tensor, or of a gradient."""
    engine = engine_of((tensor,))
    return engine.numbers or engine.cannot("read numbers")


def running_of(call: BackwardCall) -> Running:
    """Return what carries out a call."""
    engine = engine_of_call(call)
    return engine.running or engine.cannot("run a backward pass")


def unseen() -> AbstractContextManager[None]:
    """Within it, modes and subclasses of tensors that the program has see nothing of what is
    done."""
    if imported_pytorch() is None or unreadable():
        return nullcontext()
    running = engine_for("torch").running
    return nullcontext() if running is None else running.unseen()


def stepping_of(call: BackwardCall) -> Stepping:
    """Return what goes through a call node by node."""
    engine = engine_of_call(call)
    return engine.stepping or engine.cannot("step")
