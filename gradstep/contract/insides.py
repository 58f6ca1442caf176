"""What a library keeps in its modules, scalers and tensors, and does not document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from gradstep.contract.registry import HOMES, INSIDES, load
from gradstep.guest.own_files import imported_pytorch


class Scaler(NamedTuple):
    """The state of a scaler of losses: what it multiplies by now, and did at first, and the steps
    since that last changed, each None where it is not known yet; ``scale`` and ``steps`` are
    tensors."""

    enabled: bool | None = None
    scale: Any = None
    first_scale: float | None = None
    steps: Any = None


class Insides(NamedTuple):
    """What reads them, for one library.

    Attributes:
        part: the module that a module knows by this name.
        hooks: the tables of the hooks of a module, in the order in which they run.
        scaler: the state of a scaler of losses.
        version: how often a tensor was changed in place.
        base: the tensor that another one is a view of, None where it is none.
    """

    part: Callable[[Any, str], Any] = lambda module, name: None
    hooks: Callable[[Any], Sequence[Mapping[int, Any]]] = lambda module: ()
    scaler: Callable[[Any], Scaler] = lambda scaler: Scaler()
    version: Callable[[Any], int] = lambda tensor: 0
    base: Callable[[Any], Any] = lambda tensor: None


_UNKNOWN: Final = Insides()


def insides_of(value: Any) -> Insides:
    """Return what reads ``value``, of whichever library; it finds nothing in what is of none."""
    return _of_class(type(value))  # type: ignore[arg-type]  # classes are hashable


@lru_cache(maxsize=1024)
def library_of(kind: type[Any]) -> str | None:
    """Return which of the libraries that have an engine the class of a value comes from."""
    for base in kind.__mro__:
        library = base.__module__.partition(".")[0]
        if library in HOMES and (library != "torch" or imported_pytorch() is not None):
            return library
    return None


@lru_cache(maxsize=1024)
def _of_class(kind: type) -> Insides:
    home = INSIDES.get(library_of(kind) or "")
    insides: Insides = load(home) if home else _UNKNOWN
    return insides
