"""Layers whose options are declared: as the fields of their classes, in the order of PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, ClassVar, dataclass_transform

from autograd_core.dtype import dtype
from autograd_core.functions import zeros
from autograd_core.nn.modules.module import Module
from autograd_core.nn.parameter import Parameter
from autograd_core.tensor import Tensor


@dataclass_transform(eq_default=False)
class Layer(Module):
    """The base of layers with options.

    As in a dataclass, the fields of a class of this package are the parameters of its constructor,
    and become attributes; ``__post_init__`` does the rest. The layers of a family differ in the
    ``function`` or in the number of dimensions, which are keywords of their classes.

    ``options`` names the fields, which the function takes as keywords; ``shown`` what is printed,
    the first ``placed`` of it without names.
    """

    function: ClassVar[Callable[..., Any]]
    dims: ClassVar[int]
    options: ClassVar[tuple[str, ...]] = ()
    shown: ClassVar[tuple[str, ...]] = ()
    placed: ClassVar[int] = 0

    def __init_subclass__(cls, function: Callable[..., Any] | None = None, dims: int = 0) -> None:
        super().__init_subclass__()
        if function is not None:
            cls.function = staticmethod(function)
        if dims:
            cls.dims = dims
        if cls.__module__.startswith("autograd_core.") and "__annotations__" in vars(cls):
            _declare(cls)

    def extra_repr(self) -> str:
        values = {name: getattr(self, name) for name in self.shown}
        if "bias" in values:
            values["bias"] = self.bias is not None
        texts = [f"{value!r}" for value in values.values()]
        named = [f"{name}={text}" for name, text in zip(values, texts, strict=True)]
        return ", ".join([*texts[: self.placed], *named[self.placed :]])

    def learn(
        self,
        name: str,
        size: tuple[int, ...],
        device: Any,
        dtype: dtype | None,
        *,
        start: Callable[..., Tensor] = zeros,
        used: bool = True,
    ) -> None:
        """Register a parameter that begins as ``start``; if it is not ``used``, None."""
        value = Parameter(start(size, device=device, dtype=dtype)) if used else None
        self.register_parameter(name, value)


class OfFunction(Layer):
    """The base of layers that are just the function, of one input and the options."""

    def forward(self, input: Any) -> Any:
        if not self.options:
            return self.function(input)
        return self.function(input, **{name: getattr(self, name) for name in self.options})


def _declare(cls: Any) -> None:
    """Give ``cls`` the constructor that its fields describe."""
    dataclass(eq=False, repr=False, match_args=False)(cls)
    for name, kind in vars(cls)["__annotations__"].items():
        if name in vars(cls) and not kind.startswith("ClassVar"):
            delattr(cls, name)  # a default of the constructor, not of the class
    cls.options = tuple(field.name for field in fields(cls))
    fill = cls.__init__
    kinds = {name: str(kind) for name, kind in fill.__annotations__.items()}
    for name, kind in kinds.items():
        if kind.startswith("InitVar["):  # which a reader of the signature need not know
            fill.__annotations__[name] = kind[len("InitVar[") : -1]

    @wraps(fill)
    def __init__(self: Layer, *args: Any, **keywords: Any) -> None:
        Module.__init__(self)
        fill(self, *args, **keywords)

    cls.__init__ = __init__
