"""Forward mode under the names of ``torch.autograd.forward_ad``.

>>> import autograd_core as torch
>>> import autograd_core.autograd.forward_ad as ad
>>> with ad.dual_level():
...     x = ad.make_dual(torch.tensor(3.0), torch.tensor(1.0))
...     ad.unpack_dual(x * x).tangent
tensor(6.)

Reverse-over-forward and forward-over-reverse work, in any combination, with one level of duals.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, NamedTuple

from autograd_core.autograd import dual as duals
from autograd_core.autograd.decorating import DecoratingContext
from autograd_core.autograd.dual import Level, check_tangent, current_level, primal_of, tangent_of
from autograd_core.autograd.grad_mode import is_grad_enabled
from autograd_core.op.record import OPS
from autograd_core.tensor import Tensor


class UnpackedDualTensor(NamedTuple):
    """The primal and the tangent of a dual; the tangent is None if there is none."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Enter a level, and return its number, 0. Prefer :class:`dual_level`.

    Raises:
        RuntimeError: a level is already active.
    """
    if current_level.get() is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    current_level.set(Level())
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Exit the level, which removes all its tangents.

    Raises:
        RuntimeError: there is no level with this number.
    """
    current = current_level.get()
    if current is None:
        raise RuntimeError("Dual level must be a positive number.")
    if level not in (None, 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. "
            "This is not supported."
        )
    current.alive = False
    current.results.clear()
    current_level.set(None)


class dual_level(DecoratingContext):
    """A context manager and decorator in which duals of :func:`make_dual` propagate tangents."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """Return a dual: ``tensor`` with ``tangent``, the direction in which to differentiate.

    Args:
        tensor: the primal; the result shares its memory and its place in the graph.
        tangent: a tensor of the same shape; not copied.
        level: 0, or omitted.

    Raises:
        RuntimeError: there is no level, the shapes differ, or one of the two is a dual.
        ValueError: one of the two is not of a floating point dtype.
    """
    if current_level.get() is None or (level is not None and level < 0):
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    if level:
        raise RuntimeError("Invalid level given to _make_dual")
    for name, t in (("primal", tensor), ("tangent", tangent)):
        if not t.is_floating_point():
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {t.dtype}")
    if tangent_of(tensor) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the "
            "same level 0 is not supported."
        )
    if tangent_of(tangent) is not None:
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same level0 is not "
            "supported."
        )
    check_tangent(tensor, tangent)
    in_graph = tensor.edge is not None and is_grad_enabled()
    dual: Tensor = OPS["view"].call(tensor, tensor._shape) if in_graph else tensor.detach()
    duals.make_dual(dual, tangent)
    return dual


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """Return the primal and the tangent of ``tensor``; without a tangent, the tensor itself and
    None.

    Raises:
        TypeError: it is not a tensor.
    """
    if not isinstance(tensor, Tensor):
        kind = type(tensor).__name__
        raise TypeError(f"_unpack_dual(): argument 'dual' (position 1) must be Tensor, not {kind}")
    return UnpackedDualTensor(primal_of(tensor), tangent_of(tensor))
