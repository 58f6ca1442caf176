"""Checkpoints: less memory for more time, by computing saved values again in the backward pass.

The re-entrant kind hides a function in one node, whose backward runs the function again and
a backward pass of its own through it.  The other kind leaves the graph as it is, with holders
for saved values, and fills these by a second run when the first node asks.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary, ref

from autograd_core.autograd.call import carry_out, make_call
from autograd_core.autograd.function import Function
from autograd_core.autograd.grad_mode import enable_grad, no_grad
from autograd_core.autograd.graph import saved_tensors_hooks
from autograd_core.autograd.step import evaluating
from autograd_core.functions import generator
from autograd_core.tensor import Tensor

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "checkpoint",
    "checkpoint_sequential",
    "noop_context_fn",
    "set_checkpoint_early_stop",
]


class CheckpointError(RuntimeError):
    """The second run of a function did not do what the first one did."""


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


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    context_fn: ContextFn = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """``function(*args, **kwargs)``, of which the graph keeps no intermediate values.

    The backward pass runs ``function`` again, and so must find it unchanged.

    Args:
        use_reentrant: whether the second run has a backward pass of its own, within the
            node that stands for the whole function (True is PyTorch's default, with a
            warning), or gives its saved values to the graph of the first one (recommended).
        preserve_rng_state: give the second run the random numbers of the first.
        context_fn: returns two context managers, for the first run and the second; these and
            what follows only with ``use_reentrant=False``.
        determinism_check: "none" puts up with values of another shape or dtype in the second run.
        debug: for PyTorch's sake; tracing tells more.
        early_stop: end the second run as soon as all values are there.

    Raises:
        CheckpointError: in the backward pass, where the second run differs from the first.

    >>> import autograd_core as torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False).sum().backward()
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. "
            "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an "
            "exception. use_reentrant=False is recommended, but if you need to preserve the "
            "current default behavior, you can pass use_reentrant=True. Refer to docs for more "
            "details on the differences between the two variants.",
            stacklevel=2,
        )
        use_reentrant = True
    if not use_reentrant:
        if determinism_check not in ("default", "none"):
            raise ValueError(
                "determinism_check should be one of ['default', 'none'], but got "
                f"{determinism_check}"
            )
        state = generator().bit_generator.state if preserve_rng_state else None
        frame = _Frame(function, args, kwargs, state, determinism_check == "default")
        frame.early_stop = frame.early_stop and early_stop
        return _run_without_saving(frame, context_fn)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn is not noop_context_fn or debug:
        raise ValueError(
            "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
        )
    return CheckpointFunction.apply(function, preserve_rng_state, *args)


def checkpoint_sequential(
    functions: Any,
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """``functions`` one after the other, in ``segments`` checkpoints; the last segment is none."""
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    chain = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(chain) // segments
    for start in range(0, size * (segments - 1), size):
        part = chain[start : start + size]
        input = checkpoint(
            _composed(part),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve_rng_state,
        )
    return _composed(chain[size * (segments - 1) :])(input)


def _composed(functions: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def run_all(input: Any) -> Any:
        for function in functions:
            input = function(input)
        return input

    return run_all


@contextmanager
def _random_numbers_from(state: Any) -> Iterator[None]:
    """Random numbers start from ``state``, unless that is None, and go on as before after it."""
    now = generator().bit_generator.state
    if state is not None:
        generator().bit_generator.state = state
    try:
        yield
    finally:
        if state is not None:
            generator().bit_generator.state = now


# The re-entrant kind


class CheckpointFunction(Function):
    """A function as one node, which differentiates it by a backward pass of its own."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], preserve: bool, *args: Any) -> Any:
        if not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            warnings.warn(
                "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=4
            )
        ctx.run_function = function
        ctx.random_state = generator().bit_generator.state if preserve else None
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        with no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        around = evaluating.get()
        if around is not None and around.task.restricted:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the `inputs` "
                "argument."
            )
        inputs = list(ctx.others)
        for i, t in zip(ctx.places, ctx.saved_tensors, strict=True):
            inputs[i] = t.detach()
            inputs[i].requires_grad = t.requires_grad
        with _random_numbers_from(ctx.random_state), enable_grad():
            result = ctx.run_function(*inputs)
        outputs = result if isinstance(result, tuple) else (result,)
        pairs = [
            (t, g)
            for t, g in zip(outputs, gradients, strict=True)
            if isinstance(t, Tensor) and t.requires_grad
        ]
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        carry_out(make_call([t for t, _ in pairs], [g for _, g in pairs], None, False))
        return None, None, *(t.grad if isinstance(t, Tensor) else None for t in inputs)


# The other kind


def _run_without_saving(frame: _Frame, contexts: ContextFn) -> Any:
    first, frame.again = contexts()
    with saved_tensors_hooks(frame.pack, frame.unpack), first:
        return frame.function(*frame.args, **frame.kwargs)


class _Holder:
    """Stands in a node for a saved value, and dies with the node."""

    __slots__ = ("__weakref__",)


class _StopRecomputation(Exception):
    """All that was saved is there again."""


class _Frame:
    """One run of a function: what it takes to run it again, and who waits for its values."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        random_state: Any,
        check_metadata: bool,
    ) -> None:
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.again: AbstractContextManager[Any] = nullcontext()
        self._random_state = random_state
        self._check_metadata = check_metadata
        self.early_stop = _early_stop.get()
        self._holders: list[ref[_Holder]] = []
        self._metadata: list[dict[str, Any]] = []
        self._recomputed: WeakKeyDictionary[_Holder, Tensor] = WeakKeyDictionary()

    def pack(self, saved: Tensor) -> _Holder:
        """Let go of ``saved``."""
        holder = _Holder()
        self._holders.append(ref(holder))
        self._metadata.append(_metadata(saved))
        return holder

    def unpack(self, holder: _Holder) -> Tensor:
        """What was saved as ``holder``, computed again; each pass does that once."""
        if holder not in self._recomputed:
            self._recompute()
        return self._recomputed.pop(holder)

    def _recompute(self) -> None:
        found: list[Tensor] = []

        def take(saved: Tensor) -> Tensor:
            found.append(saved.detach())
            if self.early_stop and len(found) == len(self._holders):
                raise _StopRecomputation
            return saved

        hooks = saved_tensors_hooks(take, lambda saved: saved)
        random = _random_numbers_from(self._random_state)
        with suppress(_StopRecomputation), random, enable_grad(), self.again, hooks:
            self.function(*self.args, **self.kwargs)
        self._check(found)
        for known, value in zip(self._holders, found, strict=True):
            holder = known()
            if holder is not None:
                self._recomputed[holder] = value

    def _check(self, found: list[Tensor]) -> None:
        if len(found) != len(self._holders):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(self._holders)}\n"
                f"Number of tensors saved during recomputation: {len(found)}."
            )
        different = [
            f"tensor at position {position}:\nsaved metadata: {before}\n"
            f"recomputed metadata: {after}\n"
            for position, (before, after) in enumerate(
                zip(self._metadata, map(_metadata, found), strict=True)
            )
            if before != after
        ]
        if different and self._check_metadata:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have "
                f"different metadata than during the forward pass.\n{''.join(different)}"
            )


def _metadata(tensor: Tensor) -> dict[str, Any]:
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}
