"""The kind that leaves the graph as it is, with holders for saved values, and fills these by a
second run when the first node asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary, ref

from autograd_core.autograd.engine import GraphTask, running
from autograd_core.autograd.function.ctx import KeptTensor
from autograd_core.autograd.grad_mode import current_mode, enable_grad, undo_log
from autograd_core.autograd.graph import saved_tensors_hooks
from autograd_core.random import random_numbers_from
from autograd_core.tensor import Tensor

ContextFn = Callable[[], tuple[AbstractContextManager[Any], AbstractContextManager[Any]]]
_early_stop: ContextVar[bool] = ContextVar("autograd_core_early_stop", default=True)


def noop_context_fn() -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    """Nothing around the first run, and nothing around the second."""
    return nullcontext(), nullcontext()


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Whether checkpoints made inside end their second run once all values are there."""
    token = _early_stop.set(enable)
    try:
        yield
    finally:
        _early_stop.reset(token)


class CheckpointError(RuntimeError):
    """The second run of a function did not do what the first one did."""


class _Holder:
    """Stands in a node for a saved value, and dies with the node."""

    __slots__ = ("__weakref__",)


_Values = WeakKeyDictionary[_Holder, Tensor]


class _StopRecomputation(Exception):
    """All that was saved is there again."""


class CheckpointFrame:
    """One run of a function: what it takes to run it again, and who waits for its values."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        random_state: Any,
        check_metadata: bool,
        early_stop: bool,
    ) -> None:
        self._function = function
        self._args = [_kept(value) if isinstance(value, Tensor) else value for value in args]
        self._kwargs = kwargs
        self._again: AbstractContextManager[Any] = nullcontext()
        self._random_state = random_state
        self._check_metadata = check_metadata
        self._early_stop = early_stop and _early_stop.get()
        self._holders: list[ref[_Holder]] = []
        self._metadata: list[dict[str, Any]] = []
        self._completed = False
        # what each pass has computed again and not used yet
        self._values: WeakKeyDictionary[GraphTask, _Values] = WeakKeyDictionary()

    def run(self, contexts: ContextFn, args: tuple[Any, ...]) -> Any:
        """Return what the function returns; the nodes get holders for what they save."""
        first, self._again = contexts()
        with saved_tensors_hooks(self.pack, self.unpack), first:
            result = self._function(*args, **self._kwargs)
        self._completed = True
        return result

    def pack(self, saved: Tensor) -> _Holder:
        """Let go of ``saved``."""
        holder = _Holder()
        self._holders.append(ref(holder))
        self._metadata.append(_metadata(saved))
        return holder

    def unpack(self, holder: _Holder) -> Tensor:
        """Return what was saved as ``holder``, computed again; each pass does that once, and lets
        go of what it has been given.

        Raises:
            CheckpointError: this pass has been given it already.
        """
        task = running.get()
        if task is None:
            return self._recomputed()[holder]
        log = undo_log()
        if log is not None:
            log.keep_items(self._values)
        if task not in self._values:
            self._values[task] = self._recomputed()
        values = self._values[task]
        if holder not in values:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already "
                "unpacked once. If you are calling ctx.saved_tensors in backward, make sure to do "
                "so only once. Otherwise please open an issue with details on your use case."
            )
        if log is not None:
            log.keep_items(values)
        return values.pop(holder)

    def _recomputed(self) -> _Values:
        """Return all that was saved, from a second run."""
        tensors: list[Tensor] = []

        def take(saved: Tensor) -> Tensor:
            if len(tensors) == len(self._holders):
                if not self._completed:  # a pass inside asks for what was saved before it
                    return saved
                raise CheckpointError(
                    "torch.utils.checkpoint: trying to save more tensors during recomputation than "
                    "during the original forward pass."
                )
            tensors.append(saved.detach() if saved.requires_grad else saved)
            if self._early_stop and len(tensors) == len(self._holders):
                raise _StopRecomputation
            return saved

        hooks = saved_tensors_hooks(take, lambda saved: saved)
        random = random_numbers_from(self._random_state)
        args = [value.unpack() if isinstance(value, KeptTensor) else value for value in self._args]
        with suppress(_StopRecomputation), random, enable_grad(), self._again, hooks:
            self._function(*args, **self._kwargs)
        self._check(tensors)
        pairs = ((known(), value) for known, value in zip(self._holders, tensors, strict=True))
        return WeakKeyDictionary({holder: value for holder, value in pairs if holder is not None})

    def _check(self, tensors: list[Tensor]) -> None:
        if len(tensors) != len(self._holders):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(self._holders)}\n"
                f"Number of tensors saved during recomputation: {len(tensors)}."
            )
        different = [
            f"tensor at position {position}:\nsaved metadata: {before}\n"
            f"recomputed metadata: {after}\n"
            for position, (before, after) in enumerate(
                zip(self._metadata, map(_metadata, tensors), strict=True)
            )
            if before != after
        ]
        if different and self._check_metadata:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have "
                f"different metadata than during the forward pass.\n{''.join(different)}"
            )


def _kept(argument: Tensor) -> KeptTensor:
    """Return an argument as a node would save it: a change of it is found, and hooks around get
    it."""
    kept = KeptTensor(argument)
    mode = current_mode()
    if mode is not None and mode.saved_hooks is not None:
        kept.pack(mode.saved_hooks)
    return kept


def _metadata(tensor: Tensor) -> dict[str, Any]:
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}
