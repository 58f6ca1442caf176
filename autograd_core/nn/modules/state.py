"""Save what modules hold and load it, one module at a time, with the hooks around both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from autograd_core.nn.parameter import Parameter
from autograd_core.tensor import Tensor

EXTRA = "_extra_state"


class IncompatibleKeys(NamedTuple):
    """The names that :meth:`Module.load_state_dict` did not find, and those it did not expect."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )


def own_state(module: Any) -> dict[str, Tensor]:
    """Return the parameters and persistent buffers of ``module`` itself."""
    held = {
        **module._parameters,
        **{
            name: value
            for name, value in module._buffers.items()
            if name not in module._non_persistent_buffers_set
        },
    }
    return {name: value for name, value in held.items() if value is not None}


def save_own(module: Any, destination: Any, prefix: str, keep_vars: bool) -> None:
    """Save ``module`` without its children, after the hooks that come before."""
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = {"version": module._version}
    for hook in tuple(module._state_dict_pre_hooks.values()):
        hook(module, prefix, keep_vars)
    module._save_to_state_dict(destination, prefix, keep_vars)


def run_hooks_after_saving(module: Any, destination: Any, prefix: str) -> Any:
    """Run the hooks after saving; return what ``destination`` is from here on."""
    metadata = {"version": module._version}
    for hook in tuple(module._state_dict_hooks.values()):
        replaced = hook(module, destination, prefix, metadata)
        destination = destination if replaced is None else replaced
    return destination


def returning_none(hook: Callable[..., Any], *arguments: Any) -> None:
    """Call ``hook``, which may change what it is given, but not replace it."""
    if hook(*arguments) is not None:
        raise RuntimeError("state_dict post-hook must return None")


def load_all(
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


def take(module: Any, name: str, present: Any, key: str, value: Any, assign: bool) -> str | None:
    """Copy or assign ``value`` to what ``module`` has under ``name``; what is wrong, if it is."""
    if not isinstance(value, Tensor):
        return (
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
            f"object from checkpoint but received {type(value)}"
        )
    if value.shape != present.shape:
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


def quoted(names: Iterable[str]) -> str:
    """List ``names``, each within quotation marks."""
    return ", ".join(f'"{name}"' for name in names)
