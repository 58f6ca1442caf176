"""Call modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from autograd_core.ops.shaping.joining import stack
from autograd_core.tensor import Tensor

Values = Mapping[str, Tensor]


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Values | Sequence[Values],
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call ``module`` with other parameters and buffers than its own.

    Args:
        module: any module; it is unchanged afterwards.
        parameter_and_buffer_dicts: the values, by dotted names; the module keeps its own values for
            other names.
        args: a tuple of positional arguments, or a single one.
        kwargs: the keyword arguments.
        tie_weights: use a value for all names of the same tensor.
        strict: require a value for every parameter and buffer.

    Raises:
        RuntimeError: with ``strict``, names are missing or unknown.
    """
    dicts = parameter_and_buffer_dicts
    listed = [dicts] if isinstance(dicts, Mapping) else dicts
    values = {name: value for mapping in listed for name, value in mapping.items()}
    positional = () if args is None else args if isinstance(args, tuple) else (args,)
    with _holding(module, values, tie_weights, strict):
        return module(*positional, **(kwargs or {}))


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Stack the parameters and the buffers of several modules of one kind along a new first
    dimension, for use with ``vmap``. The parameters are leaves.

    Raises:
        RuntimeError: there are no modules, or they differ in kind or mode.
    """
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if any(model.training != models[0].training for model in models):
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    if any(type(model) is not type(models[0]) for model in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    parameters = {
        name: stack([dict(model.named_parameters())[name] for model in models], 0)
        .detach()
        .requires_grad_(parameter.requires_grad)
        for name, parameter in models[0].named_parameters()
    }
    buffers = {
        name: stack([dict(model.named_buffers())[name] for model in models], 0)
        for name, _ in models[0].named_buffers()
    }
    return parameters, buffers


@contextmanager
def _holding(module: Any, values: dict[str, Tensor], tied: bool, strict: bool) -> Iterator[None]:
    places = {
        f"{prefix}.{name}" if prefix else name: (held, name)
        for prefix, part in module.named_modules()
        for held in (part._parameters, part._buffers)
        for name in held
    }
    if strict and places.keys() != values.keys():
        missing, unknown = sorted(places.keys() - values), sorted(values.keys() - places)
        lines = [
            f"\n\t{kind} key(s): {', '.join(map(repr, names))}."
            for kind, names in (("Unexpected", unknown), ("Missing", missing))
            if names
        ]
        raise RuntimeError(
            f"Error(s) in reparametrizing for {type(module).__name__}:{''.join(lines)}"
        )
    before = {place: held[name] for place, (held, name) in places.items()}
    if tied:
        of_tensor = {id(before[place]): value for place, value in values.items() if place in before}
        shared = {place: of_tensor[id(t)] for place, t in before.items() if id(t) in of_tensor}
        values = {**shared, **values}
    try:
        for place in values.keys() & places.keys():
            held, name = places[place]
            held[name] = values[place]
        yield
    finally:
        for place, (held, name) in places.items():
            held[name] = before[place]
