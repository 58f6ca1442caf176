"""Checkpointing: save memory by recomputing saved values in the backward pass.

There are two kinds: :mod:`.reentrant` and :mod:`.recomputing`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final

from autograd_core.autograd.grad_mode import builds_graph
from autograd_core.random import random_state
from autograd_core.utils.checkpoint.recomputing import (
    CheckpointError,
    CheckpointFrame,
    ContextFn,
    noop_context_fn,
    set_checkpoint_early_stop,
)
from autograd_core.utils.checkpoint.reentrant import CheckpointFunction

__all__ = [
    "CheckpointError", "CheckpointFunction", "checkpoint", "checkpoint_sequential",
    "noop_context_fn", "set_checkpoint_early_stop",
]  # fmt: skip


_ADVICE: Final = (
    "use_reentrant=False is recommended, but if you need to preserve the current default behavior, "
    "you can pass use_reentrant=True. Refer to docs for more details on the differences between "
    "the two variants."
)


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
    """Return ``function(*args, **kwargs)`` without keeping its intermediate values in the graph.

    The backward pass runs ``function`` again, so it must not change in between.

    Args:
        use_reentrant: if True (PyTorch's default, with a warning), the second run has its own
            backward pass inside the node of the whole function; if False (recommended), it provides
            the saved values of the first graph.
        preserve_rng_state: use the same random numbers in the second run.
        context_fn: a function that returns two context managers, for the first and the second run.
            This and the following options need ``use_reentrant=False``.
        determinism_check: "none" accepts values of another shape or dtype in the second run.
        debug: accepted for compatibility with PyTorch; tracing shows more.
        early_stop: stop the second run as soon as all values are available.

    Raises:
        CheckpointError: in the backward pass, the second run differs from the first.

    >>> import autograd_core as torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> torch.utils.checkpoint.checkpoint(torch.exp, x, use_reentrant=False).sum().backward()
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. "
            "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an "
            f"exception. {_ADVICE}",
            stacklevel=2,
        )
        use_reentrant = True
    if not use_reentrant:
        if determinism_check not in ("default", "none"):
            raise ValueError(
                "determinism_check should be one of ['default', 'none'], but got "
                f"{determinism_check}"
            )
        if debug and context_fn is not noop_context_fn:
            raise ValueError("debug=True is incompatible with non-default context_fn")
        if not builds_graph():
            return function(*args, **kwargs)
        state = random_state() if preserve_rng_state else None
        check_metadata = determinism_check == "default"
        frame = CheckpointFrame(function, args, kwargs, state, check_metadata, early_stop)
        return frame.run(context_fn, args)
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
    """Apply ``functions`` in sequence, in ``segments`` segments, of which all but the last are
    checkpoints."""
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be "
            "passed explicitly. In version 2.9 we will raise an exception if use_reentrant is not "
            f"passed. {_ADVICE}",
            stacklevel=2,
        )
        use_reentrant = True
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
