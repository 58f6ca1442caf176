"""Every private name of PyTorch that is used here, and what goes on without it.

One that is gone costs what it was for, and nothing else: :func:`missing` tells, and
``tests/engines/test_private_names.py`` names the one that changed when PyTorch does.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final, NamedTuple

import torch
import torch.autograd.graph
import torch.utils._python_dispatch


class PrivateName(NamedTuple):
    """A name, and what is lost without it."""

    path: str
    lost: str


NAMES: Final = (
    PrivateName("autograd.graph._engine_run_backward", "backward() calls are not intercepted"),
    PrivateName("autograd._engine_run_backward", "backward() calls are not intercepted"),
    PrivateName("_C._autograd._get_sequence_nr", "modules and source lines are unknown"),
    PrivateName("_C._FunctionBase", "custom Functions are drawn without what they save"),
    PrivateName(
        "utils._python_dispatch._get_current_dispatch_mode",
        "gradients may differ in the last bit where values are asked for",
    ),
    PrivateName("_C.DisableTorchFunction", "reading a graph is slow"),
    PrivateName("_C._functorch.peek_interpreter_stack", "calls inside torch.func are drawn"),
)  # fmt: skip
NODE_ATTRIBUTES: Final = (
    PrivateName("_input_metadata", "shapes and dtypes are unknown"),
    PrivateName("_sequence_nr", "modules and source lines are unknown"),
)
"""Attributes that every node has, though they are not documented."""


def _find(path: str) -> Any:
    found: Any = torch
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def missing() -> list[PrivateName]:
    """Return the names that this version of PyTorch does not have."""
    node = torch.zeros((), device="cpu", requires_grad=True).exp().grad_fn
    return [
        *(name for name in NAMES if _find(name.path) is None),
        *(name for name in NODE_ATTRIBUTES if not hasattr(node, name.path)),
    ]


def complaint() -> str:
    """Say what is off with this version of PyTorch, "" where nothing is."""
    gone = missing()
    names = ", ".join(name.path for name in gone)
    lost = "; ".join(dict.fromkeys(name.lost for name in gone))
    return f"PyTorch {torch.__version__} has no {names}: {lost}" if gone else ""


def _nothing(*_: Any) -> Any:
    return None


sequence_nr: Final[Callable[[], int] | None] = _find("_C._autograd._get_sequence_nr")
"""Returns the number that the next node gets in this thread."""


def sequence_nr_of(node: Any) -> int:
    """Return the number of a node, 0 where PyTorch does not tell."""
    return int(node._sequence_nr()) if hasattr(node, "_sequence_nr") else 0


def metadata_of(node: Any) -> Any:
    """Return what PyTorch knows of each output of a node's op."""
    return getattr(node, "_input_metadata", ())


FunctionNode: Final[tuple[type, ...]] = tuple(filter(None, [_find("_C._FunctionBase")]))
"""The class of nodes of custom Functions."""

transform_level: Final[Callable[[], Any]] = (
    _find("_C._functorch.peek_interpreter_stack") or _nothing
)
"""Returns the innermost transform of torch.func that runs, None outside of all."""

dispatch_mode: Final[Callable[[], Any]] = (
    _find("utils._python_dispatch._get_current_dispatch_mode") or _nothing
)
"""Returns the innermost dispatch mode, None outside of all."""

unobserved: Final[Callable[[], AbstractContextManager[None]]] = (
    _find("_C.DisableTorchFunction") or nullcontext
)
"""Within it, function modes and subclasses of tensors see nothing of what is read."""

RunBackward = Callable[..., Any]


def run_backward() -> RunBackward | None:
    """Return what every call of ``backward`` and ``grad`` ends in."""
    found: RunBackward | None = _find("autograd.graph._engine_run_backward")
    return found


def set_run_backward(function: RunBackward) -> None:
    """Put ``function`` in its place, under both its names."""
    for place in (torch.autograd.graph, torch.autograd):
        if hasattr(place, "_engine_run_backward"):
            place._engine_run_backward = function
