"""Module: named parameters, buffers and submodules, with a ``forward``."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np

from autograd_core.autograd.grad_mode import current_mode, undo_log
from autograd_core.autograd.hooks import RemovableHandle
from autograd_core.dtype import dtype as dtype_type
from autograd_core.dtype import float16, float32, float64
from autograd_core.nn.modules.hooks import (
    BackwardCalls,
    ForwardHook,
    ForwardHooks,
    add_hook,
    call_with_hooks,
    is_hooked,
    register_module_backward_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    use_full_backward_hooks,
)
from autograd_core.nn.modules.state import IncompatibleKeys, own_state, quoted, take
from autograd_core.nn.parameter import Buffer, Parameter
from autograd_core.tensor import Tensor
from autograd_core.tensor.device import check_device

__all__ = [
    "IncompatibleKeys", "Module", "register_module_backward_hook", "register_module_forward_hook",
    "register_module_forward_pre_hook", "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
]  # fmt: skip

M = TypeVar("M", bound="Module")
T = TypeVar("T")
_HELD = ("_parameters", "_buffers", "_modules")
_HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")


class Module:
    """The base class of all layers and models.

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
    _non_persistent_buffers_set: set[str]
    _forward_pre_hooks: ForwardHooks
    _forward_hooks: ForwardHooks
    _backward_pre_hooks: BackwardCalls
    _backward_hooks: BackwardCalls
    _is_full_backward_hook: bool | None = None  # None as long as there are no backward hooks

    def __init__(self) -> None:
        own = self.__dict__
        own["training"] = True
        own["_non_persistent_buffers_set"] = set()
        own.update((name, {}) for name in (*_HELD, *_HOOKS))

    def forward(self, *inputs: Any, **keywords: Any) -> Any:
        """Compute the output of the module; every subclass defines it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        mode = current_mode()
        if mode is not None and mode.tracer is not None:
            with mode.tracer.module(self):
                if is_hooked(self):
                    return call_with_hooks(self, inputs, keywords)
                return self.forward(*inputs, **keywords)
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
        """Register ``param`` under ``name``; None reserves the name."""
        _check_name(self, "parameter", name, self._parameters)
        _keep_attributes(self)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type(param).__name__}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Register a tensor that is not trained; if ``persistent``, it is in the saved state."""
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
        """Register ``module`` under ``name``."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        _check_name(self, "module", name, self._modules)
        _keep_attributes(self)
        self._modules[name] = module

    register_module = add_module

    # what it holds, and all below it

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Iterate over this module and all its descendants, each once, parents first, with dotted
        names."""
        seen = set() if memo is None else memo
        stack: list[tuple[str, Module]] = [(prefix, self)]
        while stack:
            name, module = stack.pop()
            if remove_duplicate:
                if module in seen:
                    continue
                seen.add(module)
            yield name, module
            children = [(n, m) for n, m in module._modules.items() if m is not None]
            stack += [(_join(name, n), m) for n, m in reversed(children)]

    def modules(self) -> Iterator[Module]:
        """Iterate over this module and all its descendants, each once."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Iterate over the direct submodules, each once, with their names."""
        return _each_once((n, m) for n, m in self._modules.items() if m is not None)

    def children(self) -> Iterator[Module]:
        """Iterate over the direct submodules."""
        return (module for _, module in self.named_children())

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Iterate over all parameters, each once, with dotted names."""
        return _held(self, "_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Tensor]:
        """Iterate over all parameters, each once."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Iterate over all buffers, each once, with dotted names."""
        return _held(self, "_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Iterate over all buffers, each once."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Module:
        """Return the module under a dotted name.

        Raises:
            AttributeError: there is no such module.
        """
        module: Module = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    # changing all of it

    def apply(self: M, function: Callable[[Module], Any]) -> M:
        """Call ``function`` with every module, children before their parents."""
        _children_first(self, function)
        return self

    def train(self: M, mode: bool = True) -> M:
        """Set ``training`` for this module and its descendants. Modules such as Dropout depend on
        it.

        Raises:
            ValueError: ``mode`` is no boolean.
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        for module in self.modules():
            module.training = mode
        return self

    def eval(self: M) -> M:
        """Set ``training`` to False for this module and its descendants."""
        return self.train(False)

    def requires_grad_(self: M, requires_grad: bool = True) -> M:
        """Set ``requires_grad`` of all parameters."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients of all parameters to None, or to zero."""
        for parameter in self.parameters():
            forget_gradient(parameter, set_to_none)

    def _apply(self: M, function: Callable[[Tensor], Tensor], recurse: bool = True) -> M:
        """Put what ``function`` makes of each parameter and buffer in its place."""
        tensors = [*self.parameters(recurse), *self.buffers(recurse)]
        for t in tensors:
            t.data = function(t.detach())
            if t.is_leaf and t.grad is not None:
                t.grad = function(t.grad.detach())
        return self

    # giving it another dtype

    def to(
        self: M,
        *target: Any,
        device: Any = None,
        dtype: dtype_type | None = None,
        non_blocking: bool = False,
        memory_format: Any = None,
    ) -> M:
        """Convert floating point parameters and buffers to a dtype.

        Args:
            target: a dtype, a device, or a tensor with both.
        """
        for value in (*target, device, dtype):
            if isinstance(value, Tensor):
                dtype = value.dtype
            elif isinstance(value, dtype_type):
                dtype = value
            elif not isinstance(value, bool):
                check_device(value)
        if dtype is None:
            return self
        if not dtype.is_floating_point:
            raise TypeError(
                "nn.Module.to only accepts floating point or complex dtypes, but got "
                f"desired dtype={dtype}"
            )
        for tensor in (*self.parameters(), *self.buffers()):
            if tensor.is_floating_point():
                tensor.data = Tensor.from_array(tensor.array.astype(dtype.dtype))
        return self

    def double(self: M) -> M:
        """Convert to float64."""
        return self.to(float64)

    def float(self: M) -> M:
        """Convert to float32."""
        return self.to(float32)

    def half(self: M) -> M:
        """Convert to float16."""
        return self.to(float16)

    def type(self: M, dst_type: dtype_type) -> M:
        """Convert floating point parameters and buffers to a dtype."""
        return self.to(dst_type)

    def cuda(self: M, device: Any = None) -> M:
        """Raise an error: there is no GPU."""
        return self.to("cuda")

    def cpu(self: M) -> M:
        """Do nothing: there is no other device."""
        return self

    # hooks

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before ``forward``. Its result, if any, replaces the
        arguments.

        With ``with_kwargs`` it is ``hook(module, args, kwargs)``, which may return both.
        """
        return add_hook(self._forward_pre_hooks, ForwardHook(hook, with_kwargs), prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after ``forward``. Its result, if any, replaces the
        output.

        With ``with_kwargs`` it is ``hook(module, args, kwargs, output)``; with
        ``always_call`` it runs even if ``forward`` raised.
        """
        entry = ForwardHook(hook, with_kwargs, always_call)
        return add_hook(self._forward_hooks, entry, prepend)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` when the gradients of all outputs have arrived. Its
        result, if any, replaces them."""
        return add_hook(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` when the gradients of all inputs are
        complete. Its result, if any, replaces ``grad_input``."""
        use_full_backward_hooks(self, True)
        return add_hook(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` with the gradients of the last op in the
        module. Deprecated in PyTorch in favour of :meth:`register_full_backward_hook`."""
        use_full_backward_hooks(self, False)
        return add_hook(self._backward_hooks, hook)

    # saving and loading

    def state_dict(
        self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Return all parameters and persistent buffers by name, sharing their memory.

        They are detached from the graph unless ``keep_vars``.
        """
        if destination is None:
            destination = OrderedDict()
        stack: list[tuple[str, Module]] = [(prefix, self)]
        while stack:
            path, module = stack.pop()
            if module is not self and type(module).state_dict is not Module.state_dict:
                module.state_dict(destination=destination, prefix=path, keep_vars=keep_vars)
                continue
            for name, value in own_state(module).items():
                destination[path + name] = value if keep_vars else value.detach()
            children = [(f"{path}{n}.", m) for n, m in module._modules.items() if m is not None]
            stack += reversed(children)
        return destination

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copy the tensors of ``state_dict`` into the parameters and buffers of those names;
        with ``assign``, put them in their place.

        Raises:
            RuntimeError: a shape differs, or, under ``strict``, a name is missing or
                unknown.  The model is as it was, then.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        before = [
            (module, dict(module._parameters), dict(module._buffers)) for module in self.modules()
        ]
        arrays = [(t, t.array.copy()) for t in (*self.parameters(), *self.buffers())]
        places = {
            _join(path, name): (module, name, present)
            for path, module in self.named_modules(remove_duplicate=False)
            for name, present in own_state(module).items()
        }
        keys = IncompatibleKeys(
            [key for key in places if key not in state_dict],
            [key for key in state_dict if key not in places],
        )
        taken = (
            take(*place, key, state_dict[key], assign)
            for key, place in places.items()
            if key in state_dict
        )
        errors = [error for error in taken if error]
        if strict and keys.unexpected_keys:
            errors.insert(0, f"Unexpected key(s) in state_dict: {quoted(keys.unexpected_keys)}. ")
        if strict and keys.missing_keys:
            errors.insert(0, f"Missing key(s) in state_dict: {quoted(keys.missing_keys)}. ")
        if not errors:
            return keys
        for module, parameters, buffers in before:
            module._parameters.update(parameters)
            module._buffers.update(buffers)
        for t, array in arrays:
            np.copyto(t.array, array)
        details = "\n\t".join(errors)
        raise RuntimeError(
            f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{details}"
        )

    # how it prints

    def extra_repr(self) -> str:
        """Return what to print between the parentheses beside the children."""
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


def _children_first(module: Module, visit: Callable[[Module], Any]) -> None:
    """Call ``visit`` with every module, once per place, children before their parents."""
    order, stack = [], [module]
    while stack:
        current = stack.pop()
        order.append(current)
        stack += [child for child in current._modules.values() if child is not None]
    for current in reversed(order):
        visit(current)


def forget_gradient(parameter: Tensor, set_to_none: bool) -> None:
    """Drop ``.grad``, or fill it with zeros."""
    if set_to_none:
        parameter.grad = None
    elif parameter.grad is not None:
        parameter.grad = Tensor.from_array(np.zeros_like(parameter.grad.array))


def _join(prefix: str, name: str) -> str:
    """Join a dotted name."""
    return f"{prefix}.{name}" if prefix else name


def _each_once(pairs: Iterable[tuple[str, T]]) -> Iterator[tuple[str, T]]:
    """Keep only the first pair of every value."""
    seen: set[int] = set()
    for name, value in pairs:
        if id(value) not in seen:
            seen.add(id(value))
            yield name, value


def _held(
    root: Module, registry: str, prefix: str, recurse: bool, once: bool
) -> Iterator[tuple[str, Tensor]]:
    modules: Iterable[tuple[str, Module]] = ((prefix, root),)
    if recurse:
        modules = root.named_modules(prefix=prefix, remove_duplicate=once)
    held = (
        (_join(module_name, name), value)
        for module_name, module in modules
        for name, value in module.__dict__[registry].items()
        if value is not None
    )
    return _each_once(held) if once else held


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
    registries = [r for r in _HELD if name in own[r] and r != but]
    for registry in registries:
        del own[registry][name]
    return plain or bool(registries)


def _check_name(module: Module, kind: str, name: str, registry: dict[str, Any]) -> None:
    if "." in name:
        raise KeyError(f'{kind} name can\'t contain "."')
    if name == "":
        raise KeyError(f'{kind} name can\'t be empty string ""')
    if name not in registry and hasattr(module, name):
        raise KeyError(f"attribute '{name}' already exists")
