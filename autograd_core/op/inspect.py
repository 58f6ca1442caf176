"""What a node shows of itself under PyTorch's names: ``_saved_self``, ``_raw_saved_result``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from autograd_core.autograd.version import was_detached
from autograd_core.op.graph import saved_tensor
from autograd_core.op.held import Held, held
from autograd_core.op.marks import FREED, NOT_SAVED
from autograd_core.op.packed import Hooks, Packed
from autograd_core.op.record import Op
from autograd_core.op.saved import watched
from autograd_core.tensor import Tensor

_USUAL: Final = {"x": "self", "y": "other", "ans": "result"}


def saved_attributes(op: Op) -> dict[str, property]:
    """The properties through which a node of ``op`` shows what it saved."""

    def spelled(name: str) -> str:
        return op.saved_as.get(name) or _USUAL.get(name, name)

    found: dict[str, property] = {}
    for name in op.saved:
        found[f"_saved_{spelled(name)}"] = property(_reader(name))
        found[f"_raw_saved_{spelled(name)}"] = property(_raw_reader(name))
    for name in op.held:
        found[f"_saved_{spelled(name)}"] = property(_held_reader(name))
    for name in op.saved_plain:
        if name in op.held:
            continue
        owner = name.removesuffix("_shape")
        shown = f"{spelled(owner)}_sym_sizes" if owner in op.values else name
        found[f"_saved_{shown}"] = property(_plain_reader(name))
    return found


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
    return lambda node: SavedTensor(node, name)


def _plain_reader(name: str) -> Callable[[Any], Any]:
    return lambda node: getattr(node, name)


class SavedTensor:
    """A saved value that is not unpacked yet; hooks can still be set on it."""

    __slots__ = ("_name", "_node")

    def __init__(self, node: Any, name: str) -> None:
        self._node = node
        self._name = name

    def register_hooks(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        """Hand the value to ``pack_hook`` now, and get it back from ``unpack_hook`` when needed.

        Raises:
            RuntimeError: it has hooks already, or was freed.
        """
        node, name = self._node, self._name
        if getattr(node, name) is FREED:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved "
                "intermediate values of the graph are freed when you call .backward() or "
                "autograd.grad(). Specify retain_graph=True if you need to backward through the "
                "graph a second time or if you need to access saved variables after calling "
                "backward."
            )
        if isinstance(getattr(node, name), Packed):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: "
                "only one pair of hooks is allowed at a time."
            )
        value = _reader(name)(node)
        hooks: Hooks = (pack_hook, unpack_hook)
        is_result = name in node.op.outputs
        setattr(node, name, Packed(value.detach() if is_result else value, hooks, is_result))
        setattr(node, f"{name}_version", (0,) if is_result else 0)
