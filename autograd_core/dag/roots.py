"""Which tensor a program means: found among its variables, or computed by one of them.

Tensors of this core and of PyTorch are told by what both have, ``grad_fn`` and its edges.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any, Final

from autograd_core.tensor import Tensor

PYTORCH: Final = (
    "graphs of PyTorch itself cannot be drawn or debugged yet; run the program with "
    "'import autograd_core as torch'"
)


class NotInGraph(ValueError):
    """Something has no graph: it is no tensor, or nothing it was made from requires a gradient."""


class NeedsArguments(TypeError):
    """A function or module cannot be called as it is; ``missing`` names its arguments."""

    def __init__(self, missing: list[str], remedy: str) -> None:
        super().__init__(f"needs arguments ({', '.join(missing)}); {remedy}")
        self.missing = missing
        self.remedy = remedy


def is_tensor(value: Any) -> bool:
    """Whether ``value`` is a tensor, ours or PyTorch's.

    >>> import autograd_core as torch
    >>> is_tensor(torch.tensor(1.0)), is_tensor(1.0)
    (True, False)
    """
    return hasattr(type(value), "grad_fn") and hasattr(type(value), "requires_grad")


def tensors_in(roots: Any) -> tuple[Tensor, ...]:
    """``roots``, a tensor of this core or several, as a tuple.

    Raises:
        NotInGraph: there is something else among them.
    """
    several = isinstance(roots, Iterable) and not is_tensor(roots)
    tensors = tuple(roots) if several else (roots,)
    for tensor in tensors:
        if is_tensor(tensor) and not isinstance(tensor, Tensor):
            raise NotInGraph(PYTORCH)
        if not isinstance(tensor, Tensor):
            raise NotInGraph(
                f"{type(tensor).__name__} is no tensor; give the one that backward() would be "
                "called on, or several"
            )
    return tensors


def computed(value: Any) -> Any:
    """``value``; what it returns, if it is a function; its output for its ``sample_inputs``, if
    it is a module.

    Raises:
        NeedsArguments: it can be called, but not without arguments.
    """
    if is_tensor(value) or isinstance(value, type) or not callable(value):
        return value
    if hasattr(value, "sample_inputs"):
        inputs = value.sample_inputs() if callable(value.sample_inputs) else value.sample_inputs
        return value(*inputs) if isinstance(inputs, (tuple, list)) else value(inputs)
    if missing := _needed_arguments(getattr(value, "forward", value)):
        remedy = (
            "give it an attribute sample_inputs, a tuple of them"
            if hasattr(value, "forward")
            else "name a function that needs none, such as one that calls it"
        )
        raise NeedsArguments(missing, remedy)
    return value()


def _needed_arguments(function: Any) -> list[str]:
    try:
        parameters: Iterable[inspect.Parameter] = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some that are written in C have none
        return []
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind not in optional]


def last_scalars(namespace: Mapping[str, Any]) -> dict[str, Any]:
    """The scalars with a graph that no other one was computed from, each under one name.

    >>> import autograd_core as torch
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> y = x * x
    >>> last_scalars({"x": x, "y": y, "z": y + 1, "also_y": y})
    {'z': tensor(5., grad_fn=<AddBackward0>)}
    """
    found: dict[str, Any] = {}
    known: set[tuple[Any, int]] = set()
    for name, value in namespace.items():
        if name.startswith("_") or not is_tensor(value) or value.grad_fn is None:
            continue
        source = (value.grad_fn, value.output_nr)
        if value.numel() == 1 and source not in known:
            known.add(source)
            found[name] = value
    inner = _inputs_of([value.grad_fn for value in found.values()])
    return {name: value for name, value in found.items() if value.grad_fn not in inner}


def _inputs_of(nodes: Iterable[Any]) -> set[Any]:
    """All nodes that ``nodes`` hand gradients on to, directly or not."""
    seen: set[Any] = set()
    waiting = list(nodes)
    while waiting:
        for node, _ in waiting.pop().next_functions:
            if node is not None and node not in seen:
                seen.add(node)
                waiting.append(node)
    return seen
