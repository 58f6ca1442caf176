"""The tensor that a program means: found among its variables, or computed by one of them."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from gradstep.contract.lookup import is_tensor
from gradstep.program.errors import NeedsArguments, ProgramError
from gradstep.text import did_you_mean


def attribute(module: Any, name: str, place: str) -> Any:
    """Follow ``name``, dotted or not, from ``module``, which is called ``place``.

    Raises:
        ProgramError: nothing; with names that look like it.
    """
    value = module
    for part in name.split("."):
        if not hasattr(value, part):
            public = (name for name in dir(value) if not name.startswith("_"))
            raise ProgramError(
                f"{place} has no {name}", remedy=did_you_mean(part, public, most=3, cutoff=0.5)
            )
        value = getattr(value, part)
    return value


def evaluate(value: Any) -> Any:
    """Return ``value``; what it returns, if it is a function; its output for its ``sample_inputs``,
    if it is a module.

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
    """Return the scalars with a graph that no other one was computed from, each under one name.

    >>> import autograd_core as torch
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> y = x * x
    >>> last_scalars({"x": x, "y": y, "z": y + 1, "also_y": y})
    {'z': tensor(5., grad_fn=<AddBackward0>)}
    """
    scalars: dict[str, Any] = {}
    known: set[tuple[Any, int]] = set()
    for name, value in namespace.items():
        if name.startswith("_") or not is_tensor(value):
            continue
        maker = _maker(value)
        if maker is None:
            continue
        source = (maker, value.output_nr)
        if value.numel() == 1 and source not in known:
            known.add(source)
            scalars[name] = value
    inner = _inputs_of([value.grad_fn for value in scalars.values()])
    return {name: value for name, value in scalars.items() if value.grad_fn not in inner}


def _maker(tensor: Any) -> Any:
    """Return the node that made ``tensor``; None if there is none, or if an in-place change of what
    it is a view of has made that unknown."""
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None


def _inputs_of(nodes: Iterable[Any]) -> set[Any]:
    """Return all nodes that ``nodes`` hand gradients on to, directly or not."""
    seen: set[Any] = set()
    waiting = list(nodes)
    while waiting:
        for node, _ in waiting.pop().next_functions:
            if node is not None and node not in seen:
                seen.add(node)
                waiting.append(node)
    return seen
