"""Weight and spectral normalization: parameters that are recomputed before every forward call."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from autograd_core.nn.modules.module import Module
from autograd_core.nn.parameter import Parameter
from autograd_core.ops.algebra.linalg import dot, mv
from autograd_core.ops.networks.normalization import weight_norm as normed
from autograd_core.ops.reductions.norms import vector_norm
from autograd_core.ops.shaping.shape import permute, reshape
from autograd_core.random import generator
from autograd_core.tensor import Tensor

M = TypeVar("M", bound=Module)


class WeightNorm:
    """The hook that puts a weight together from its length and its direction."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """Return the weight, from what the module holds in its place."""
        v, length = (getattr(module, f"{self.name}_{part}") for part in "vg")
        return normed(v, length, self.dim)

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Split the parameter ``name`` into a magnitude ``name_g`` and a direction ``name_v`` (Salimans
    and Kingma 2016), with one magnitude per slice of dimension ``dim``, or a single one if that is
    None."""
    if any(isinstance(h.call, WeightNorm) and h.call.name == name for h in _hooks(module)):
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    hook = WeightNorm(name, dim)
    weight = getattr(module, name)
    delattr(module, name)
    module.register_parameter(f"{name}_g", Parameter(length_of(weight.detach(), hook.dim)))
    module.register_parameter(f"{name}_v", Parameter(weight.detach()))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def length_of(weight: Tensor, dim: int) -> Tensor:
    """Return the length of each slice of dimension ``dim``; of all, if that is -1."""
    dims = tuple(index for index in range(weight.ndim) if index != dim)
    return vector_norm(weight, 2.0, dims, dim >= 0)


def _hooks(module: Module) -> list[Any]:
    return list(module._forward_pre_hooks.values())


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Make the parameter ``name`` a parameter again."""
    return _without_hook(module, name, WeightNorm, "weight_norm", ("_g", "_v"))


def _without_hook(
    module: M, name: str, kind: type[Any], what: str, parts: tuple[str, ...], *given: Any
) -> M:
    """Return ``module`` with what the hook computes, ``given`` that, instead of the ``parts``."""
    for number, known in list(module._forward_pre_hooks.items()):
        if isinstance(known.call, kind) and known.call.name == name:
            weight = known.call.compute_weight(module, *given).detach()
            for part in ("", *parts):
                delattr(module, name + part)
            module.register_parameter(name, Parameter(weight))
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(f"{what} of '{name}' not found in {module}")


class SpectralNorm:
    """The hook that divides a weight by its largest singular value, found by power iteration."""

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.name, self.dim, self.eps = name, dim, eps
        self.n_power_iterations = n_power_iterations

    def compute_weight(self, module: Module, iterate: bool) -> Tensor:
        """Return the weight; ``iterate``, after further steps towards its singular vectors."""
        weight = getattr(module, f"{self.name}_orig")
        u, v = (getattr(module, f"{self.name}_{part}") for part in "uv")
        rows = rows_of(weight, self.dim)
        for _ in range(self.n_power_iterations if iterate else 0):
            singular_step(rows, u, v, self.eps)
        # the next call changes the vectors in place; this one's graph keeps its own
        return weight / dot(u.clone(), mv(rows, v.clone()))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))


def rows_of(weight: Tensor, dim: int) -> Tensor:
    """Return the weight as a matrix, the rows of which are its slices of dimension ``dim``."""
    if dim != 0:
        others = (index for index in range(weight.ndim) if index != dim)
        weight = permute(weight, (dim, *others))
    return reshape(weight, (weight._shape[0], -1))


def start_vectors(rows: Tensor, eps: float) -> list[Tensor]:
    """Return vectors to begin with, one as long as columns and one as long as rows."""
    drawn = (generator().standard_normal(size) for size in rows._shape)
    return [Tensor.from_array(_unit(x, eps).astype(rows.array.dtype)) for x in drawn]


def singular_step(rows: Tensor, u: Tensor, v: Tensor, eps: float) -> None:
    """One step of the power iteration towards the singular vectors, in place."""
    v.bump()
    u.bump()
    v.array[...] = _unit(rows.array.T @ u.array, eps)
    u.array[...] = _unit(rows.array @ v.array, eps)


def _unit(x: Any, eps: float) -> Any:
    return x / max(float(np.linalg.norm(x)), eps)


def spectral_norm(
    module: M,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> M:
    """Divide the parameter ``name``, stored as ``name_orig``, by its largest singular value (Miyato
    et al. 2018). The singular vectors are the buffers ``name_u`` and ``name_v``."""
    if dim is None:
        dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
    hook = SpectralNorm(name, n_power_iterations, dim, eps)
    weight = getattr(module, name)
    vectors = start_vectors(rows_of(weight.detach(), dim), eps)
    delattr(module, name)
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.detach())
    for part, vector in zip("uv", vectors, strict=True):
        module.register_buffer(f"{name}_{part}", vector)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Make the parameter ``name`` a parameter again."""
    parts = ("_u", "_v", "_orig")
    return _without_hook(module, name, SpectralNorm, "spectral_norm", parts, False)
