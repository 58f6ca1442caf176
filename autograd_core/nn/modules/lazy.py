"""Layers that learn the size of their input from the first one that they are given."""

from __future__ import annotations

from inspect import Signature, signature
from typing import Any, ClassVar, Final

from autograd_core.nn.modules import batchnorm, conv, linear
from autograd_core.nn.modules.module import Module
from autograd_core.nn.parameter import UninitializedBuffer, UninitializedParameter, is_lazy


class _Lazy(Module):
    """A layer without its first argument, which is the size of dimension ``dim`` of its input.

    Its parameters have no shape until it is called; then it becomes the layer that it stands for,
    the second of its bases.
    """

    cls_to_become: ClassVar[type[Any]]
    options: ClassVar[tuple[str, ...]]
    dims: ClassVar[int]
    dim: ClassVar[int]
    __signature__: ClassVar[Signature]

    def __init_subclass__(cls, dim: int | None = None, **defaults: Any) -> None:
        super().__init_subclass__()
        if dim is not None:
            cls.cls_to_become, cls.dim = cls.__bases__[1], dim
            takes = signature(cls.cls_to_become)
            _, *left = takes.parameters.values()
            left = [each.replace(default=defaults.get(each.name, each.default)) for each in left]
            cls.__signature__ = takes.replace(parameters=left)

    def __init__(self, *args: Any, **options: Any) -> None:
        given = self.__signature__.bind(*args, **options)
        given.apply_defaults()
        self.cls_to_become.__init__(self, 0, *given.args, **given.kwargs)
        kinds: Any = {"_parameters": UninitializedParameter, "_buffers": UninitializedBuffer}
        for held, kind in kinds.items():
            for name, t in vars(self)[held].items():
                if t is not None and t.ndim:  # all but the number of batches
                    vars(self)[held][name] = kind(dtype=t.dtype)

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        self.initialize_parameters(*inputs, **keywords)
        self.__class__ = self.cls_to_become
        return self(*inputs, **keywords)

    def reset_parameters(self) -> None:
        """Initialize the parameters, if they have a shape."""
        if getattr(self, self.options[0]) and not self.has_uninitialized_params():
            super().reset_parameters()  # type: ignore[misc]  # of the second base

    def has_uninitialized_params(self) -> bool:
        """Return whether there are parameters or buffers without a shape."""
        return bool(self._uninitialized())

    def initialize_parameters(self, input: Any, *others: Any) -> None:
        """Give the parameters and buffers the shapes that ``input`` asks for, and numbers to begin
        with."""
        tensors = self._uninitialized()
        if not tensors:  # a state was loaded
            return
        setattr(self, self.options[0], input.shape[self.dim])
        options = {name: getattr(self, name) for name in self.options}
        kind = next(iter(tensors.values())).dtype
        whole: Any = self.cls_to_become(**options, bias=self.bias is not None, dtype=kind)
        for name, t in tensors.items():
            t.materialize(getattr(whole, name).shape)
            t.data = getattr(whole, name).data

    def _uninitialized(self) -> dict[str, Any]:
        return {n: t for n, t in {**self._parameters, **self._buffers}.items() if is_lazy(t)}


class _LazyConv(_Lazy):
    def initialize_parameters(self, input: Any, *others: Any) -> None:
        if input.ndim not in (alone := self.dims + 1, alone + 1):
            raise RuntimeError(
                f"Expected {alone}D (unbatched) or {alone + 1}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}"
            )
        super().initialize_parameters(input)


class LazyLinear(_Lazy, linear.Linear, dim=-1):
    """A :class:`Linear` layer that learns ``in_features`` from its first input."""

    def initialize_parameters(self, input: Any, *others: Any) -> None:
        super().initialize_parameters(input)
        given, known = input.shape[-1], self.weight.shape[-1]
        if not self.in_features and given != known:
            raise AssertionError(
                f"The in_features inferred from input: {given} is not equal to in_features from "
                f"self.weight: {known}"
            )
        self.in_features = known


class LazyConv1d(_LazyConv, conv.Conv1d, dim=-2):
    """A :class:`Conv1d` that learns ``in_channels`` from its first input."""


class LazyConv2d(_LazyConv, conv.Conv2d, dim=-3):
    """A :class:`Conv2d` that learns ``in_channels`` from its first input."""


class LazyConv3d(_LazyConv, conv.Conv3d, dim=-4):
    """A :class:`Conv3d` that learns ``in_channels`` from its first input."""


class LazyConvTranspose1d(_LazyConv, conv.ConvTranspose1d, dim=-2):
    """A :class:`ConvTranspose1d` that learns ``in_channels`` from its first input."""


class LazyConvTranspose2d(_LazyConv, conv.ConvTranspose2d, dim=-3):
    """A :class:`ConvTranspose2d` that learns ``in_channels`` from its first input."""


class LazyConvTranspose3d(_LazyConv, conv.ConvTranspose3d, dim=-4):
    """A :class:`ConvTranspose3d` that learns ``in_channels`` from its first input."""


class LazyBatchNorm1d(_Lazy, batchnorm.BatchNorm1d, dim=1):
    """A :class:`BatchNorm1d` that learns ``num_features`` from its first input."""


class LazyBatchNorm2d(_Lazy, batchnorm.BatchNorm2d, dim=1):
    """A :class:`BatchNorm2d` that learns ``num_features`` from its first input."""


class LazyBatchNorm3d(_Lazy, batchnorm.BatchNorm3d, dim=1):
    """A :class:`BatchNorm3d` that learns ``num_features`` from its first input."""


_LEARNING: Final = {"affine": True, "track_running_stats": True}  # unlike InstanceNorm1d


class LazyInstanceNorm1d(_Lazy, batchnorm.InstanceNorm1d, dim=1, **_LEARNING):
    """A :class:`InstanceNorm1d` that learns ``num_features`` from its first input."""


class LazyInstanceNorm2d(_Lazy, batchnorm.InstanceNorm2d, dim=1, **_LEARNING):
    """A :class:`InstanceNorm2d` that learns ``num_features`` from its first input."""


class LazyInstanceNorm3d(_Lazy, batchnorm.InstanceNorm3d, dim=1, **_LEARNING):
    """A :class:`InstanceNorm3d` that learns ``num_features`` from its first input."""
