"""Modules without initialized parameters."""

from __future__ import annotations

import inspect
from typing import Any

from autograd_core.nn.modules.module import Module
from autograd_core.random import fork_rng


def skip_init(module_cls: type[Module], *args: Any, **kwargs: Any) -> Module:
    """Return a module with uninitialized parameters; this draws no random numbers.

    Raises:
        RuntimeError: it is not a module class, or takes no ``device``; in PyTorch's words.
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    with fork_rng():
        return module_cls(*args, **kwargs)
