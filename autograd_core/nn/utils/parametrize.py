"""Parametrizations: parameters that are computed from other tensors on each access.

``module.weight`` becomes a property. ``module.parametrizations.weight`` holds its original tensors
and the modules that compute it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from autograd_core.autograd.grad_mode import no_grad
from autograd_core.nn.modules.container import ModuleDict, ModuleList
from autograd_core.nn.modules.module import Module
from autograd_core.nn.parameter import Parameter
from autograd_core.tensor import Tensor

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization",
    "remove_parametrizations", "type_before_parametrizations",
]  # fmt: skip

M = TypeVar("M", bound=Module)
_cache: ContextVar[dict[tuple[Module, str], Tensor] | None] = ContextVar("cache", default=None)


@contextmanager
def cached() -> Iterator[None]:
    """Within the context, compute each parametrized tensor only once; assignments update it."""
    token = _cache.set({}) if _cache.get() is None else None
    try:
        yield
    finally:
        if token is not None:
            _cache.reset(token)


class ParametrizationList(ModuleList):
    """The modules that compute a tensor, in sequence, and their input: the tensor ``original``, or
    ``original0``, ``original1``, ... if the first module takes several."""

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, kind = original.shape, original.dtype
        start = self._inverted(original, required=False)
        self.is_tensor = isinstance(start, Tensor)
        if isinstance(start, Tensor):
            if start.dtype != kind:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {kind}\nright_inverse(original).dtype: {start.dtype}"
                )
            original.data = start
            _register(self, "original", original)
        else:
            for number, part in enumerate(start):
                _check_part(part, number)
                part = part.detach().requires_grad_(original.requires_grad)
                if isinstance(original, Parameter):
                    part = Parameter(part, original.requires_grad)
                _register(self, f"original{number}", part)
        self.ntensors = 1 if self.is_tensor else len(start)
        if not unsafe:
            _check_result(self(), shape, kind)

    def originals(self) -> list[Tensor]:
        """Return the original tensors."""
        names = ("original",) if self.is_tensor else self._names()
        return [getattr(self, name) for name in names]

    def _names(self) -> list[str]:
        return [f"original{number}" for number in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Set the original tensors so that the result is ``value``, or as close to it as
        possible."""
        start = self._inverted(value, required=True)
        if self.is_tensor and not isinstance(start, Tensor):
            raise ValueError(f"`right_inverse` should return a tensor. Got {type(start).__name__}")
        parts = [start] if isinstance(start, Tensor) else start
        if len(parts) != self.ntensors:
            raise ValueError(
                "'right_inverse' must return a sequence of tensors of length "
                f"{self.ntensors}. Got a sequence of length {len(parts)}."
            )
        for original, part in zip(self.originals(), parts, strict=True):
            if original.dtype != part.dtype:
                raise ValueError(
                    f"The tensor returned by `right_inverse` has dtype {part.dtype} "
                    f"while `original` has dtype {original.dtype}"
                )
            original.data = part

    @no_grad()
    def _inverted(self, value: Tensor, required: bool) -> Any:
        """Return ``value`` led back through all modules; without an inverse, one counts as identity
        unless it is ``required``."""
        result: Any = value
        for module in reversed(list(self)):
            if hasattr(module, "right_inverse"):
                try:
                    result = module.right_inverse(result)
                except NotImplementedError:
                    if required:
                        raise
            elif required:
                raise RuntimeError(
                    f"parametrization {type(module).__name__} does not implement right_inverse."
                )
        if not isinstance(result, (Tensor, Sequence)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(result).__name__}"
            )
        return result

    def forward(self) -> Any:
        """Compute the tensor."""
        first, *others = self
        result = first(*self.originals())
        for module in others:
            result = module(result)
        return result


def _check_part(part: Any, number: int) -> None:
    if not isinstance(part, Tensor):
        raise ValueError(
            "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
            f"Got element {number} of the sequence with type {type(part).__name__}."
        )


def _check_result(result: Any, shape: Any, kind: Any) -> None:
    if not isinstance(result, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
    for what, before, after in (("dtype", kind, result.dtype), ("shape", shape, result.shape)):
        if before != after:
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless "
                f"`unsafe` flag is enabled.\nunparametrized {what}: {before}\n"
                f"parametrized {what}: {after}"
            )


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def register_parametrization(
    module: M, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> M:
    """Compute the parameter or buffer ``tensor_name`` with ``parametrization`` from now on. Its
    input is the parameter, or the result of earlier parametrizations.

    A method ``right_inverse`` of ``parametrization`` returns the input for a given result; it makes
    ``module.tensor_name`` assignable.

    Args:
        unsafe: allow another shape or dtype.

    >>> from autograd_core import nn
    >>> class Symmetric(nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).mT
    >>> layer = register_parametrization(nn.Linear(3, 3), "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.mT).all())
    True
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'parametrizations.weight.original']
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        value = getattr(module, tensor_name)
        if not unsafe:
            _check_result(parametrization(value), value.shape, value.dtype)
        parts = module.parametrizations[tensor_name]
        parts.append(parametrization)
        parts.unsafe |= unsafe
        return module
    if tensor_name not in module._buffers and tensor_name not in module._parameters:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    parts = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        kind = type(module)
        module.__class__ = type(f"Parametrized{kind.__name__}", (kind,), {})
        module.parametrizations = ModuleDict()
    module.parametrizations[tensor_name] = parts
    setattr(type(module), tensor_name, _computed(tensor_name))
    return module


def _computed(name: str) -> property:
    """Return the property that computes a tensor, and leads an assigned one back to the
    originals."""

    def get(module: Module) -> Any:
        cache = _cache.get()
        if cache is None:
            return module.parametrizations[name]()
        if (module, name) not in cache:
            cache[module, name] = module.parametrizations[name]()
        return cache[module, name]

    def assign(module: Module, value: Tensor) -> None:
        module.parametrizations[name].right_inverse(value)

    return property(get, assign)


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Return whether ``tensor_name``, or any tensor of the module, is parametrized."""
    parametrizations = module._modules.get("parametrizations")
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module: M, tensor_name: str, leave_parametrized: bool = True) -> M:
    """Make ``tensor_name`` a parameter or buffer again.

    Args:
        leave_parametrized: keep the current computed value; otherwise the original, which must be
            one tensor.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parts = module.parametrizations[tensor_name]
    if not parts.is_tensor and not leave_parametrized:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    with no_grad():
        value = getattr(module, tensor_name)
    if not parts.is_tensor:
        trained = any(isinstance(t, Parameter) for t in parts.originals())
        original = Parameter(value) if trained else value
    else:
        original = parts.original
        if leave_parametrized:
            original.data = value
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type_before_parametrizations(module)
    return module


def type_before_parametrizations(module: Module) -> type[Any]:
    """Return the class of the module before it was parametrized."""
    kind = type(module)
    named = kind.__name__.startswith("Parametrized") and kind.__module__ == __name__
    return kind.__bases__[0] if named else kind
