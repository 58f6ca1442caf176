"""Modules that learn the size of their input from the first one they see."""

from __future__ import annotations

from typing import Any, ClassVar

from autograd_core.nn.modules.batchnorm import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
)
from autograd_core.nn.modules.conv import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from autograd_core.nn.modules.linear import Linear
from autograd_core.nn.modules.module import Module
from autograd_core.nn.parameter import (
    UninitializedBuffer,
    UninitializedParameter,
    UninitializedTensor,
)
from autograd_core.tensor import Tensor


class LazyModuleMixin(Module):
    """A module of class ``cls_to_become``, but for the size of its input, which comes first among
    the arguments there and is left out here.

    Its parameters have neither shape nor values before the first forward pass; then it becomes
    what it is made for.  An optimizer may hold them already.

    >>> from autograd_core import nn, ones
    >>> layer = nn.LazyLinear(3)
    >>> layer.weight
    <UninitializedParameter>
    >>> layer(ones(2, 5)).shape
    torch.Size([2, 3])
    >>> layer
    Linear(in_features=5, out_features=3, bias=True)
    """

    cls_to_become: ClassVar[Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(0, *args, **kwargs)  # type: ignore[call-arg]
        self._arguments = args, kwargs
        for name, parameter in self._parameters.items():
            if parameter is not None:
                self._parameters[name] = UninitializedParameter()
        for name, buffer in self._buffers.items():
            if buffer is not None and buffer.ndim:
                self._buffers[name] = UninitializedBuffer()
        self._initialize_hook = self.register_forward_pre_hook(_take_size)
        self._load_hook = self._register_load_state_dict_pre_hook(self._take_shapes)

    def has_uninitialized_params(self) -> bool:
        """Whether a tensor of its own has no values yet."""
        own = (*self._parameters.values(), *self._buffers.values())
        return any(isinstance(each, UninitializedTensor) for each in own)

    def initialize_parameters(self, input: Tensor) -> None:
        """Give parameters, buffers and sizes what fits ``input``."""
        args, kwargs = self._arguments
        made = self.cls_to_become(input._shape[self._size_at(input)], *args, **kwargs)
        for name, value in (*made._parameters.items(), *made._buffers.items()):
            own = getattr(self, name)
            if isinstance(own, UninitializedTensor):
                own.become(value.array)
        self.__dict__.update(
            {n: v for n, v in made.__dict__.items() if not n.startswith("_") and n != "training"}
        )

    def reset_parameters(self) -> None:
        """Start anew, as soon as there is something to start with."""
        if self._parameters and all(p is None or p.numel() for p in self._parameters.values()):
            super().reset_parameters()  # type: ignore[misc]

    def _size_at(self, input: Tensor) -> int:
        """The dimension of ``input`` whose size is needed."""
        return 1

    def _take_shapes(self, state_dict: Any, prefix: str, *others: Any) -> None:
        for name in (*self._parameters, *self._buffers):
            own, given = getattr(self, name), state_dict.get(prefix + name)
            known = given is not None and not isinstance(given, UninitializedTensor)
            if isinstance(own, UninitializedTensor) and known:
                own.materialize(given._shape)


def _take_size(module: Any, inputs: tuple[Any, ...]) -> None:
    module.initialize_parameters(*inputs)
    module._initialize_hook.remove()
    module._load_hook.remove()
    for name in ("_initialize_hook", "_load_hook", "_arguments"):
        delattr(module, name)
    module.__class__ = module.cls_to_become


class _LazyConvolution(LazyModuleMixin):
    dims: ClassVar[int]

    def _size_at(self, input: Tensor) -> int:
        return input.ndim - self.dims - 1


class _LazyNorm(LazyModuleMixin):
    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(eps, momentum, affine, track_running_stats, device, dtype)


class LazyLinear(LazyModuleMixin, Linear):
    """A :class:`Linear` that takes ``in_features`` from the last dimension of its input."""

    cls_to_become = Linear

    def _size_at(self, input: Tensor) -> int:
        return -1


class LazyConv1d(_LazyConvolution, Conv1d):
    """A :class:`Conv1d` that takes ``in_channels`` from its input."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConvolution, Conv2d):
    """A :class:`Conv2d` that takes ``in_channels`` from its input."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConvolution, Conv3d):
    """A :class:`Conv3d` that takes ``in_channels`` from its input."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvolution, ConvTranspose1d):
    """A :class:`ConvTranspose1d` that takes ``in_channels`` from its input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvolution, ConvTranspose2d):
    """A :class:`ConvTranspose2d` that takes ``in_channels`` from its input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvolution, ConvTranspose3d):
    """A :class:`ConvTranspose3d` that takes ``in_channels`` from its input."""

    cls_to_become = ConvTranspose3d


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """A :class:`BatchNorm1d` that takes ``num_features`` from its input."""

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """A :class:`BatchNorm2d` that takes ``num_features`` from its input."""

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """A :class:`BatchNorm3d` that takes ``num_features`` from its input."""

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    """A :class:`InstanceNorm1d` that takes ``num_features`` from its input."""

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    """A :class:`InstanceNorm2d` that takes ``num_features`` from its input."""

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    """A :class:`InstanceNorm3d` that takes ``num_features`` from its input."""

    cls_to_become = InstanceNorm3d
