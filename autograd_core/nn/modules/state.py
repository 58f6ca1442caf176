"""What modules save and load."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from autograd_core.nn.parameter import Parameter
from autograd_core.tensor import Tensor


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
