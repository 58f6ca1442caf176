"""The tensors that a graph is drawn from, or debugged: its roots.

Tensors of this core and of PyTorch are told by what both have, ``grad_fn`` and its edges.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from autograd_core.dag.errors import NotInGraph
from autograd_core.tensor import Tensor

PYTORCH: Final = (
    "graphs of PyTorch itself cannot be drawn or debugged yet; run the program with "
    "'import autograd_core as torch'"
)


def is_tensor(value: Any) -> bool:
    """Return whether ``value`` is a tensor of this core or of PyTorch.

    >>> import autograd_core as torch
    >>> is_tensor(torch.tensor(1.0)), is_tensor(1.0)
    (True, False)
    """
    return hasattr(type(value), "grad_fn") and hasattr(type(value), "requires_grad")


def tensors_in(roots: Any) -> tuple[Tensor, ...]:
    """``roots``, a tensor of this core or several, as a tuple.

    Raises:
        NotInGraph: there is something else among them.
    """
    several = isinstance(roots, Iterable) and not is_tensor(roots)
    tensors = tuple(roots) if several else (roots,)
    for tensor in tensors:
        if is_tensor(tensor) and not isinstance(tensor, Tensor):
            raise NotInGraph(PYTORCH)
        if not isinstance(tensor, Tensor):
            raise NotInGraph(
                f"{type(tensor).__name__} is no tensor; give the one that backward() would be "
                "called on, or several"
            )
    return tensors
