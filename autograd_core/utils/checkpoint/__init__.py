"""Checkpoints: less memory for more time, by computing saved values again in the backward pass.

There are two kinds: :mod:`.reentrant` and :mod:`.recomputing`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final

from autograd_core.autograd.grad_mode import builds_graph
from autograd_core.utils.checkpoint.random_state import random_state
from autograd_core.utils.checkpoint.recomputing import (
    CheckpointError,
    ContextFn,
    Frame,
    noop_context_fn,
    set_checkpoint_early_stop,
)
from autograd_core.utils.checkpoint.reentrant import CheckpointFunction

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "checkpoint",
    "checkpoint_sequential",
    "noop_context_fn",
    "set_checkpoint_early_stop",
]


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
    """Return ``function(*args, **kwargs)``, of which the graph keeps no intermediate values.

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
        frame = Frame(function, args, kwargs, state, check_metadata, early_stop)
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
    """Return ``functions`` one after the other, in ``segments`` checkpoints; the last segment is
    none."""
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
