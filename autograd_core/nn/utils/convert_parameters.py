"""Convert parameters to one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from autograd_core.functions import reshape
from autograd_core.ops.shaping.joining import cat
from autograd_core.tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Return all parameters as one vector, connected to them in the graph."""
    return cat([reshape(p, (-1,)) for p in parameters], dim=0)


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Set the parameters to views of ``vec``."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec)}")
    done = 0
    for parameter in parameters:
        size = parameter.numel()
        parameter.data = Tensor.from_array(vec.array[done : done + size].reshape(parameter._shape))
        done += size
