"""Module: parameters, buffers and further modules under names, with a ``forward``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np

from autograd_core.autograd.grad_mode import current_mode
from autograd_core.dtype import dtype
from autograd_core.nn.parameter import Parameter
from autograd_core.tensor import Tensor

M = TypeVar("M", bound="Module")
T = TypeVar("T")


class IncompatibleKeys(NamedTuple):
    """What :meth:`Module.load_state_dict` did not find, and what it did not know."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )


class Module:
    """The base of all layers and models.

    Assigning a :class:`Parameter` or a Module to an attribute registers it under that name.

    >>> from autograd_core import nn
    >>> model = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
    >>> [name for name, _ in model.named_parameters()]
    ['0.weight', '0.bias']
    """

    training: bool
    _parameters: dict[str, Tensor | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]

    def __init__(self) -> None:
        for name, value in (
            ("training", True), ("_parameters", {}), ("_buffers", {}), ("_modules", {}),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    def forward(self, *inputs: Any, **keywords: Any) -> Any:
        """What the module computes; every subclass says it for itself."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        mode = current_mode()
        if mode is not None and mode.tracer is not None:
            with mode.tracer.module(self):
                return self.forward(*inputs, **keywords)
        return self.forward(*inputs, **keywords)

    # registration

    def __setattr__(self, name: str, value: Any) -> None:
        registries = self.__dict__
        if "_modules" not in registries and isinstance(value, (Parameter, Module)):
            kind = "module" if isinstance(value, Module) else "parameter"
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if isinstance(value, Parameter):
            self._forget(name, but="_parameters")
            self._parameters[name] = value
        elif isinstance(value, Module):
            self._forget(name, but="_modules")
            self._modules[name] = value
        elif name in registries.get("_parameters", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{type(value).__name__}' as parameter '{name}' "
                    "(torch.nn.Parameter or None expected)"
                )
            self._parameters[name] = None
        elif name in registries.get("_modules", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{type(value).__name__}' as child module '{name}' "
                    "(torch.nn.Module or None expected)"
                )
            self._modules[name] = None
        elif name in registries.get("_buffers", ()):
            self._buffers[name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        for registry in ("_parameters", "_buffers", "_modules"):
            found = self.__dict__.get(registry, ())
            if name in found:
                return found[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
        if not self._forget(name):
            object.__delattr__(self, name)

    def _forget(self, name: str, but: str = "") -> bool:
        """Take ``name`` out of what holds it, apart from the registry ``but``, where a new value
        shall have the old one's place; whether it was in a registry."""
        own = self.__dict__
        own.pop(name, None)
        found = [r for r in ("_parameters", "_buffers", "_modules") if name in own[r] and r != but]
        for registry in found:
            del own[registry][name]
        return bool(found)

    def register_parameter(self, name: str, param: Tensor | None) -> None:
        """Hold ``param`` under ``name``; None keeps the name without a value."""
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None) -> None:
        """Hold a tensor that is part of the state but is not trained."""
        self._buffers[name] = tensor

    def add_module(self, name: str, module: Module | None) -> None:
        """Hold ``module`` under ``name``."""
        self._modules[name] = module

    register_module = add_module

    # what is inside

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """This module and all below it, each once, parents first, with dotted names."""
        seen: set[Module] = set()
        stack: list[tuple[str, Module]] = [(prefix, self)]
        while stack:
            name, module = stack.pop()
            if module in seen:
                continue
            seen.add(module)
            yield name, module
            children = [(n, m) for n, m in module._modules.items() if m is not None]
            stack += [(_join(name, n), m) for n, m in reversed(children)]

    def modules(self) -> Iterator[Module]:
        """This module and all below it, each once."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly below, each once, with their names."""
        return _each_once((n, m) for n, m in self._modules.items() if m is not None)

    def children(self) -> Iterator[Module]:
        """The modules directly below."""
        return (module for _, module in self.named_children())

    def named_parameters(
        self, prefix: str = "", recurse: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """All parameters, each once, with dotted names."""
        return _each_once(self._held("_parameters", prefix, recurse))

    def parameters(self, recurse: bool = True) -> Iterator[Tensor]:
        """All parameters, each once."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        """All buffers, each once, with dotted names."""
        return _each_once(self._held("_buffers", prefix, recurse))

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers, each once."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def _held(self, registry: str, prefix: str, recurse: bool) -> Iterator[tuple[str, Tensor]]:
        for module_name, module in self.named_modules(prefix) if recurse else ((prefix, self),):
            for name, value in module.__dict__[registry].items():
                if value is not None:
                    yield _join(module_name, name), value

    # changing all of it

    def apply(self: M, function: Callable[[Module], Any]) -> M:
        """Call ``function`` with every module, children before their parents."""
        for module in reversed(_children_last(self)):
            function(module)
        return self

    def train(self: M, mode: bool = True) -> M:
        """Set ``training`` here and below: modules like Dropout work differently in it."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self: M) -> M:
        """The opposite of :meth:`train`."""
        return self.train(False)

    def requires_grad_(self: M, requires_grad: bool = True) -> M:
        """Say for all parameters whether they are to be trained."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or set them to zero."""
        for parameter in self.parameters():
            forget_gradient(parameter, set_to_none)

    def to(self: M, target: Any = None, *, dtype: dtype | None = None) -> M:
        """Convert floating point parameters and buffers to a dtype; devices change nothing."""
        wanted = target if dtype is None else dtype
        if not hasattr(wanted, "is_floating_point") or isinstance(wanted, Tensor):
            return self
        if not wanted.is_floating_point:
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got "
                f"desired dtype={wanted}"
            )
        for tensor in (*self.parameters(), *self.buffers()):
            if tensor.is_floating_point():
                tensor.data = Tensor.from_array(tensor.array.astype(wanted.dtype))
        return self

    # state

    def state_dict(self, prefix: str = "") -> dict[str, Tensor]:
        """All parameters and buffers by name, detached, sharing their memory."""
        state: dict[str, Tensor] = {}
        for module_name, module in _every_name(self, prefix):
            for registry in (module._parameters, module._buffers):
                for name, value in registry.items():
                    if value is not None:
                        state[_join(module_name, name)] = value.detach()
        return state

    def load_state_dict(
        self, state_dict: Mapping[str, Tensor], strict: bool = True
    ) -> IncompatibleKeys:
        """Copy the tensors of ``state_dict`` into the parameters and buffers of those names.

        Raises:
            RuntimeError: a shape differs, or, under ``strict``, a name is missing or
                unknown.  Nothing has been copied then.
        """
        own = self.state_dict()
        keys = IncompatibleKeys(
            [name for name in own if name not in state_dict],
            [name for name in state_dict if name not in own],
        )
        errors = []
        if strict and keys.missing_keys:
            errors.append(f"Missing key(s) in state_dict: {_quoted(keys.missing_keys)}. ")
        if strict and keys.unexpected_keys:
            errors.append(f"Unexpected key(s) in state_dict: {_quoted(keys.unexpected_keys)}. ")
        errors += [
            f"size mismatch for {name}: copying a param with shape {value.shape} from "
            f"checkpoint, the shape in current model is {own[name].shape}."
            for name, value in state_dict.items()
            if name in own and value._shape != own[name]._shape
        ]
        if errors:
            details = "".join(f"\n\t{error}" for error in errors)
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:{details}"
            )
        for name, value in state_dict.items():
            if name in own:
                np.copyto(own[name].array, value.array, casting="same_kind")
                own[name].bump()
        return keys

    # how it prints

    def extra_repr(self) -> str:
        """What to print between the parentheses beside the children."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [
            f"({name}): " + repr(module).replace("\n", "\n  ")
            for name, module in self._modules.items()
        ]
        if not children and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        inside = "\n  ".join([*lines, *children])
        return f"{self._get_name()}(\n  {inside}\n)"


def forget_gradient(parameter: Tensor, set_to_none: bool) -> None:
    """Drop ``.grad``, or fill it with zeros."""
    if set_to_none:
        parameter.grad = None
    elif parameter.grad is not None:
        parameter.grad = Tensor.from_array(np.zeros_like(parameter.grad.array))


def _join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _each_once(pairs: Iterable[tuple[str, T]]) -> Iterator[tuple[str, T]]:
    seen: set[int] = set()
    for name, value in pairs:
        if id(value) not in seen:
            seen.add(id(value))
            yield name, value


def _children_last(module: Module) -> list[Module]:
    """Parents before children, siblings from the last to the first."""
    order, stack = [], [module]
    while stack:
        found = stack.pop()
        order.append(found)
        stack += [child for child in found._modules.values() if child is not None]
    return order


def _every_name(module: Module, prefix: str) -> Iterator[tuple[str, Module]]:
    """All modules under all their names: a shared one comes once per place."""
    stack = [(prefix, module)]
    while stack:
        name, found = stack.pop()
        yield name, found
        children = [(n, m) for n, m in found._modules.items() if m is not None]
        stack += [(_join(name, n), m) for n, m in reversed(children)]
