"""Module: parameters, buffers and further modules under names, with a ``forward``."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from autograd_core.autograd.grad_mode import current_mode, undo_log
from autograd_core.nn.modules.conversion import Convertible
from autograd_core.nn.modules.hooks import (
    Hooked,
    call_with_hooks,
    is_hooked,
    register_module_backward_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
)
from autograd_core.nn.modules.state import IncompatibleKeys, Stateful
from autograd_core.nn.modules.tree import children_first
from autograd_core.nn.parameter import Buffer, Parameter
from autograd_core.tensor import Tensor

__all__ = [
    "IncompatibleKeys",
    "Module",
    "register_module_backward_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
]

M = TypeVar("M", bound="Module")
_HELD = ("_parameters", "_buffers", "_modules")
_HOOKS = (
    "_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks",
    "_state_dict_pre_hooks", "_state_dict_hooks", "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)  # fmt: skip


class Module(Hooked, Stateful, Convertible):
    """The base of all layers and models.

    Assigning a :class:`Parameter` or a Module to an attribute registers it under that name.

    >>> from autograd_core import nn
    >>> model = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
    >>> [name for name, _ in model.named_parameters()]
    ['0.weight', '0.bias']
    """

    def __init__(self) -> None:
        own = self.__dict__
        own["training"] = True
        own["_non_persistent_buffers_set"] = set()
        own.update((name, {}) for name in (*_HELD, *_HOOKS))

    def forward(self, *inputs: Any, **keywords: Any) -> Any:
        """What the module computes; every subclass says it for itself."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        mode = current_mode()
        if mode is not None and mode.tracer is not None:
            with mode.tracer.module(self):
                return self._call_impl(inputs, keywords)
        if is_hooked(self):
            return call_with_hooks(self, inputs, keywords)
        return self.forward(*inputs, **keywords)

    def _call_impl(self, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        if is_hooked(self):
            return call_with_hooks(self, inputs, keywords)
        return self.forward(*inputs, **keywords)

    # registration

    def __setattr__(self, name: str, value: Any) -> None:
        registries = self.__dict__
        _keep_attributes(self)
        if "_modules" not in registries and isinstance(value, (Parameter, Module)):
            kind = "module" if isinstance(value, Module) else "parameter"
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if isinstance(value, Parameter):
            _forget(self, name, but="_parameters")
            self._parameters[name] = value
        elif isinstance(value, Module):
            _forget(self, name, but="_modules")
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
        elif isinstance(value, Buffer):
            _forget(self, name, but="_buffers")
            self.register_buffer(name, value, value.persistent)
        elif name in registries.get("_buffers", ()):
            self._buffers[name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for registry in _HELD:
            if registry in own and name in own[registry]:
                return own[registry][name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
        _keep_attributes(self)
        if not _forget(self, name):
            object.__delattr__(self, name)

    def register_parameter(self, name: str, param: Tensor | None) -> None:
        """Hold ``param`` under ``name``; None keeps the name without a value."""
        _check_name(self, "parameter", name, self._parameters)
        _keep_attributes(self)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type(param).__name__}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Hold a tensor that is not trained; part of the saved state if ``persistent``."""
        _check_name(self, "buffer", name, self._buffers)
        _keep_attributes(self)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{type(tensor).__name__}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Hold ``module`` under ``name``."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        _check_name(self, "module", name, self._modules)
        _keep_attributes(self)
        self._modules[name] = module

    register_module = add_module

    # changing all of it

    def apply(self: M, function: Callable[[Module], Any]) -> M:
        """Call ``function`` with every module, children before their parents."""
        children_first(self, function)
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

    def __deepcopy__(self, memo: dict[int, Any]) -> Module:
        """A copy with parameters and buffers of its own: leaves, with gradients of their own."""
        for t in (*self.parameters(), *self.buffers()):
            if id(t) not in memo:
                memo[id(t)] = _copied(t)
        made: Module = type(self).__new__(type(self))
        memo[id(self)] = made
        made.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return made

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


def _copied(t: Tensor) -> Tensor:
    made = Tensor.from_array(t.array.copy(), t.requires_grad and t.is_leaf)
    made.is_parameter = t.is_parameter
    if t.grad is not None:
        made.grad = t.grad.detach().clone()
    return made


def _keep_attributes(module: Module) -> None:
    """Let the attributes of ``module``, which are about to change, be undone."""
    if (log := undo_log()) is not None:
        own = module.__dict__
        for items in (own, *(own[registry] for registry in _HELD if registry in own)):
            log.keep_items(items)


def _forget(module: Module, name: str, but: str = "") -> bool:
    """Take ``name`` out of what holds it, apart from the registry ``but``, where a new value
    shall have the old one's place; whether it was there at all."""
    own = module.__dict__
    plain = name in own
    own.pop(name, None)
    found = [r for r in _HELD if name in own[r] and r != but]
    for registry in found:
        del own[registry][name]
    return plain or bool(found)


def _check_name(module: Module, kind: str, name: str, registry: dict[str, Any]) -> None:
    if "." in name:
        raise KeyError(f'{kind} name can\'t contain "."')
    if name == "":
        raise KeyError(f'{kind} name can\'t be empty string ""')
    if name not in registry and hasattr(module, name):
        raise KeyError(f"attribute '{name}' already exists")
