"""Saving and loading what a module holds, with the hooks around both."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from autograd_core.autograd.hooks import RemovableHandle
from autograd_core.nn.modules.hooks import add_hook
from autograd_core.nn.modules.tree import Tree
from autograd_core.nn.parameter import Parameter
from autograd_core.tensor import Tensor

EXTRA = "_extra_state"


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


class Stateful(Tree):
    """The part of a module that goes into files and comes out of them."""

    _version = 1
    _non_persistent_buffers_set: set[str]
    _state_dict_pre_hooks: dict[int, Callable[..., Any]]
    _state_dict_hooks: dict[int, Callable[..., Any]]
    _load_state_dict_pre_hooks: dict[int, Callable[..., Any]]
    _load_state_dict_post_hooks: dict[int, Callable[..., Any]]

    def state_dict(
        self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """All parameters and persistent buffers by name, sharing their memory.

        They are detached from the graph unless ``keep_vars``.
        """
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()  # the version of each module that saves itself
        stack: list[tuple[str, Any, bool]] = [(prefix, self, True)]
        while stack:
            name, module, entering = stack.pop()
            if not entering:
                destination = _saved(module, destination, name)
            elif module is not self and type(module).state_dict is not Stateful.state_dict:
                module.state_dict(destination=destination, prefix=name, keep_vars=keep_vars)
            else:
                _save(module, destination, name, keep_vars)
                children = [(n, m) for n, m in module._modules.items() if m is not None]
                stack.append((name, module, False))
                stack += [(f"{name}{n}.", m, True) for n, m in reversed(children)]
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put the module's own tensors, not its children's, into ``destination``."""
        for name, value in _own_state(self).items():
            destination[prefix + name] = value if keep_vars else value.detach()
        if type(self).get_extra_state is not Stateful.get_extra_state:
            destination[prefix + EXTRA] = self.get_extra_state()

    def get_extra_state(self) -> Any:
        """What else to save, if a subclass says so."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called."
        )

    def set_extra_state(self, state: Any) -> None:
        """Take back what :meth:`get_extra_state` gave."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called."
        )

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
        keys, errors = _load(self, state_dict, strict, assign)
        if strict and keys.unexpected_keys:
            errors.insert(0, f"Unexpected key(s) in state_dict: {_quoted(keys.unexpected_keys)}. ")
        if strict and keys.missing_keys:
            errors.insert(0, f"Missing key(s) in state_dict: {_quoted(keys.missing_keys)}. ")
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

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Take the module's own tensors, not its children's, out of ``state_dict``."""
        for hook in tuple(self._load_state_dict_pre_hooks.values()):
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                 error_msgs)  # fmt: skip
        own = _own_state(self)
        for name, present in own.items():
            key = prefix + name
            if key in state_dict:
                assign = local_metadata.get("assign_to_params_buffers", False)
                error = _take(self, name, present, key, state_dict[key], assign)
                error_msgs += [error] if error else []
            elif strict:
                missing_keys.append(key)
        takes_extra = type(self).set_extra_state is not Stateful.set_extra_state
        if takes_extra and prefix + EXTRA in state_dict:
            self.set_extra_state(state_dict[prefix + EXTRA])
        elif takes_extra and strict:
            missing_keys.append(prefix + EXTRA)
        if strict:
            known = {*own, EXTRA} if takes_extra else own
            for key in state_dict:
                name, dot, _ = key[len(prefix) :].partition(".")
                if key.startswith(prefix) and name not in (self._modules if dot else known):
                    unexpected_keys.append(key)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before the module is saved."""
        return add_hook(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` when module and children are
        saved; it may change the dictionary, and returns None."""
        checked: Callable[..., Any] = partial(_returning_none, hook)
        return add_hook(self._state_dict_hooks, checked)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """As :meth:`register_state_dict_post_hook`, for a hook that may return another
        dictionary."""
        return add_hook(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata, strict, missing_keys,
        unexpected_keys, error_msgs)`` before the module is loaded."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        call: Callable[..., Any] = partial(hook, self) if with_module else hook
        return add_hook(self._load_state_dict_pre_hooks, call)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` when module and children are loaded; what it
        changes in the lists of keys counts."""
        return add_hook(self._load_state_dict_post_hooks, hook)


def _own_state(module: Stateful) -> dict[str, Tensor]:
    held = {
        **module._parameters,
        **{
            name: value
            for name, value in module._buffers.items()
            if name not in module._non_persistent_buffers_set
        },
    }
    return {name: value for name, value in held.items() if value is not None}


def _save(module: Any, destination: Any, prefix: str, keep_vars: bool) -> None:
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = {"version": module._version}
    for hook in tuple(module._state_dict_pre_hooks.values()):
        hook(module, prefix, keep_vars)
    module._save_to_state_dict(destination, prefix, keep_vars)


def _saved(module: Any, destination: Any, prefix: str) -> Any:
    """Run the hooks after saving; what ``destination`` is from here on."""
    metadata = {"version": module._version}
    for hook in tuple(module._state_dict_hooks.values()):
        replaced = hook(module, destination, prefix, metadata)
        destination = destination if replaced is None else replaced
    return destination


def _returning_none(hook: Callable[..., Any], *arguments: Any) -> None:
    if hook(*arguments) is not None:
        raise RuntimeError("state_dict post-hook must return None")


def _load(
    root: Any, state_dict: Mapping[str, Any], strict: bool, assign: bool
) -> tuple[IncompatibleKeys, list[str]]:
    """Load all modules, parents first, and run the hooks after it, children first."""
    metadata = getattr(state_dict, "_metadata", {})
    keys, errors = IncompatibleKeys([], []), []  # type: tuple[IncompatibleKeys, list[str]]
    stack: list[tuple[str, Any, dict[str, Any] | None]] = [("", root, dict(state_dict))]
    while stack:
        prefix, module, state = stack.pop()
        if state is None:
            for hook in tuple(module._load_state_dict_post_hooks.values()):
                if hook(module, keys) is not None:
                    raise AssertionError(
                        "Hooks registered with ``register_load_state_dict_post_hook`` are not"
                        "expected to return new values, if incompatible_keys need to be modified,"
                        "it should be done inplace."
                    )
            continue
        local = {**metadata.get(prefix[:-1], {}), "assign_to_params_buffers": assign}
        module._load_from_state_dict(state, prefix, local, True, *keys, errors)
        stack.append((prefix, module, None))
        for name, child in reversed(tuple(module._modules.items())):
            if child is not None:
                below = f"{prefix}{name}."
                theirs = {key: value for key, value in state.items() if key.startswith(below)}
                stack.append((below, child, theirs))
    return keys, errors


def _take(
    module: Stateful, name: str, present: Tensor, key: str, value: Any, assign: bool
) -> str | None:
    """Copy or assign ``value`` to what ``module`` has under ``name``; what is wrong, if it is."""
    if not isinstance(value, Tensor):
        return (
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
            f"object from checkpoint but received {type(value)}"
        )
    if value._shape != present._shape:
        return (
            f"size mismatch for {key}: copying a param with shape {value.shape} from "
            f"checkpoint, the shape in current model is {present.shape}."
        )
    if not assign:
        present.bump()
        np.copyto(present.array, value.array, casting="unsafe")
    elif isinstance(present, Parameter) and not isinstance(value, Parameter):
        setattr(module, name, Parameter(value, present.requires_grad))
    else:
        setattr(module, name, value.requires_grad_(present.requires_grad))
    return None


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
