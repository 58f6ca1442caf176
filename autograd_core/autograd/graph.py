"""The graph as an object, under the names of ``torch.autograd.graph``: edges, hooks on several
tensors, and hooks on what nodes save."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from threading import Lock
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

from autograd_core.autograd.engine import GraphTask, evaluating
from autograd_core.autograd.grad_mode import USUAL, current_mode, enter_mode, leave_mode, undo_log
from autograd_core.autograd.hooks import RemovableHandle
from autograd_core.autograd.node import Node, Port, resolve
from autograd_core.fallback import answer_missing_names
from autograd_core.tensor import Tensor

__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks",
    "get_gradient_edge", "increment_version", "register_multi_grad_hook", "save_on_cpu",
    "saved_tensors_hooks",
]  # fmt: skip


class GradientEdge(NamedTuple):
    """An edge of the graph: output ``output_nr`` of the forward op of ``node``.

    ``backward`` and ``grad`` accept it in place of the tensor.
    """

    node: Node
    output_nr: int
    ownership_token: Any = None

    @property
    def edge(self) -> Node | Port:
        """The place as tensors keep it."""
        return Port(self.node, self.output_nr) if self.node.ported else self.node


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Return the edge at which the gradient of ``tensor`` is computed. It does not keep the tensor
    alive.

    Raises:
        RuntimeError: ``tensor`` requires no gradient.
    """
    node, output_nr = resolve(tensor.edge)
    if node is None:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    return GradientEdge(node, output_nr)


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Record a change of the data that autograd cannot see."""
    for root in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if not root.is_inference():
            root.bump()


class _Handles:
    """Several hooks that go together."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self._handles = handles

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()

    def __enter__(self) -> _Handles:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


class _Collected:
    """The gradients that one pass has computed of several tensors, and how many it will."""

    def __init__(self, expected: int) -> None:
        self.expected = expected
        self.gradients: dict[int, Tensor] = {}


def register_multi_grad_hook(
    tensors: Sequence[Tensor],
    fn: Callable[[Sequence[Tensor | None]], None] | Callable[[Tensor], None],
    *,
    mode: Literal["all", "any"] = "all",
) -> _Handles:
    """Call ``fn`` once a backward pass has computed the gradients of all ``tensors`` (with a list
    of them), or, with mode "any", of the first one (with that gradient).

    The gradient of a tensor that the pass does not reach is None.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    lock = Lock()
    passes: WeakKeyDictionary[GraphTask, _Collected] = WeakKeyDictionary()
    nodes = [resolve(t.edge)[0] for t in tensors]

    def hook_of(number: int) -> Callable[[Tensor], None]:
        def hook(g: Tensor) -> None:
            around = evaluating.get()
            assert around is not None  # hooks run in a pass
            with lock:
                if around.task not in passes:
                    planned = set(around.task.order)
                    passes[around.task] = _Collected(sum(n in planned for n in nodes))
                collected = passes[around.task]
                if (log := undo_log()) is not None:
                    log.keep_items(collected.gradients)
                first = not collected.gradients
                collected.gradients[number] = g
                complete = len(collected.gradients) == collected.expected
                gradients = [collected.gradients.get(i) for i in range(len(nodes))]
            if mode == "any" and first:
                fn(g)  # type: ignore[arg-type]
            elif mode == "all" and complete:
                fn(gradients)  # type: ignore[arg-type]

        return hook

    return _Handles([t.register_hook(hook_of(number)) for number, t in enumerate(tensors)])


class saved_tensors_hooks:
    """Inside, pass every tensor that a node saves to ``pack_hook``, and get it back from
    ``unpack_hook`` when the backward pass needs it; for example, to keep it on disk.

    Raises:
        RuntimeError: such hooks are disabled here.
    """

    def __init__(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        self._hooks = (pack_hook, unpack_hook)
        self._tokens: list[Any] = []

    def __enter__(self) -> None:
        mode = current_mode() or USUAL
        if mode.saved_hooks_refused:
            raise RuntimeError(mode.saved_hooks_refused)
        self._tokens.append(enter_mode(replace(mode, saved_hooks=self._hooks)))

    def __exit__(self, *error: object) -> None:
        leave_mode(self._tokens.pop())


class save_on_cpu(saved_tensors_hooks):
    """Copy saved tensors to main memory, as PyTorch does. Tensors of this package are there
    anyway."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda t: Tensor.from_array(t.array.copy()), lambda t: t)


class _Handle:
    """Stands in a node for a saved tensor, and dies with the node."""

    __slots__ = ("__weakref__",)


class _SavedCopies:
    """The tensors saved within :func:`allow_mutation_on_saved_tensors`, as they were then."""

    def __init__(self) -> None:
        self._copies: WeakKeyDictionary[_Handle, Tensor] = WeakKeyDictionary()

    def pack(self, saved: Tensor) -> _Handle:
        handle = _Handle()
        self._copies[handle] = Tensor.from_array(saved.array.copy())
        return handle

    def unpack(self, handle: _Handle) -> Tensor:
        if handle not in self._copies:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
                "in which the graph was originally recorded."
            )
        return self._copies[handle]

    def clear(self) -> None:
        """Forget all of them; what was saved cannot be had any more."""
        self._copies.clear()


_saved_copies: ContextVar[_SavedCopies | None] = ContextVar("autograd_core_copies", default=None)


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_SavedCopies]:
    """Allow in-place changes of saved tensors inside. Backward passes must run inside, too.

    Nodes save copies (PyTorch copies when a saved tensor is about to be changed).

    Raises:
        RuntimeError: used within itself.
    """
    if _saved_copies.get() is not None:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    copies = _SavedCopies()
    token = _saved_copies.set(copies)
    try:
        with saved_tensors_hooks(copies.pack, copies.unpack):
            yield copies
    finally:
        copies.clear()
        _saved_copies.reset(token)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Disallow saved-tensor hooks inside, with ``error_message``.

    Raises:
        RuntimeError: such hooks are already active.
    """
    mode = current_mode() or USUAL
    if mode.saved_hooks is not None:
        raise RuntimeError(error_message)
    token = enter_mode(replace(mode, saved_hooks_refused=error_message))
    try:
        yield
    finally:
        leave_mode(token)


answer_missing_names(__name__)
