"""What a node shows of itself under PyTorch's names: ``_saved_self``, ``_raw_saved_result``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_core.autograd.double_backward import saved_tensor
from autograd_core.autograd.held import Held, held
from autograd_core.autograd.node import FREED, NOT_SAVED
from autograd_core.autograd.packed import SavedTensor
from autograd_core.autograd.saved import freed, watched
from autograd_core.autograd.version import was_detached
from autograd_core.op.modes import pack_part, pack_value
from autograd_core.op.record import Op
from autograd_core.tensor import Tensor


def saved_attributes(op: Op) -> dict[str, property]:
    """Return the properties through which a node of ``op`` shows what it saved."""

    def spelled(name: str) -> str:
        # the result of an op is an input of its gradient's
        return "self" if name == "result" and name in op.values else name.rstrip("_")

    attributes: dict[str, property] = {}
    for name in op.saved:
        attributes[f"_saved_{spelled(name)}"] = property(_reader(name))
        attributes[f"_raw_saved_{spelled(name)}"] = property(_raw_reader(name))
    for name in op.held:
        attributes[f"_saved_{spelled(name)}"] = property(_held_reader(name))
        attributes[f"_raw_saved_{spelled(name)}"] = property(_raw_held_reader(name))
    for name in op.saved_plain:
        if name in op.held:
            continue
        owner = name.removesuffix("_shape")
        shown = f"{spelled(owner)}_sym_sizes" if owner in op.values else name
        attributes[f"_saved_{shown}"] = property(_plain_reader(name))
    return attributes


def _reader(name: str) -> Callable[[Any], Any]:
    def read(node: Any) -> Any:
        value = getattr(node, name)
        if isinstance(value, Tensor) and was_detached(*watched(node, name)):
            return value  # only the rule refuses it
        return None if value is NOT_SAVED else saved_tensor(node, name)

    return read


def _held_reader(name: str) -> Callable[[Any], Any]:
    def read(node: Any) -> Any:
        value = held(node, name)
        return tuple(value.tensors) if isinstance(value, Held) else value

    return read


def _raw_reader(name: str) -> Callable[[Any], SavedTensor]:
    def read(node: Any) -> SavedTensor:
        def value() -> Any:
            kept = getattr(node, name)
            return None if kept is NOT_SAVED else kept

        return SavedTensor(value, lambda hooks: pack_value(node, name, hooks, detached=True))

    return read


def _raw_held_reader(name: str) -> Callable[[Any], tuple[SavedTensor, ...]]:
    def read(node: Any) -> tuple[SavedTensor, ...]:
        kept = getattr(node, name)
        if kept is FREED:
            raise freed(node)
        count = len(kept.tensors) if isinstance(kept, Held) else 0
        return tuple(_raw_part(node, name, number) for number in range(count))

    return read


def _raw_part(node: Any, name: str, number: int) -> SavedTensor:
    def value() -> Any:
        kept = getattr(node, name)
        return FREED if kept is FREED else kept.tensors[number]

    return SavedTensor(value, lambda hooks: pack_part(node, name, number, hooks))


def _plain_reader(name: str) -> Callable[[Any], Any]:
    return lambda node: getattr(node, name)
