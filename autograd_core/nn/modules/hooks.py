"""Hooks around ``forward``: of one module, or of all; and the call that runs them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple, TypeVar

from autograd_core.autograd.grad_mode import undo_log
from autograd_core.autograd.hooks import RemovableHandle
from autograd_core.nn.modules.backward_hooks import BackwardHooks, add_legacy_hooks

H = TypeVar("H")
_next_id = count().__next__


class ForwardHook(NamedTuple):
    """A hook before or after ``forward``: whether it takes the keyword arguments too, and
    whether it runs even after an error."""

    call: Callable[..., Any]
    with_kwargs: bool
    always_call: bool = False


ForwardHooks = dict[int, ForwardHook]
BackwardCalls = dict[int, Callable[..., Any]]


class GlobalHooks(NamedTuple):
    """What runs for every module, before the module's own."""

    forward_pre: ForwardHooks
    forward: ForwardHooks
    backward_pre: BackwardCalls
    backward: BackwardCalls


for_all = GlobalHooks({}, {}, {}, {})
_all_backward_is_full: list[bool] = []


def add_hook(hooks: dict[int, H], hook: H, prepend: bool = False) -> RemovableHandle:
    """Add ``hook`` after the others, or before them."""
    if (log := undo_log()) is not None:
        log.keep_items(hooks)
    id = _next_id()
    others = dict(hooks) if prepend else {}
    if prepend:
        hooks.clear()
    hooks[id] = hook
    hooks.update(others)
    return RemovableHandle(hooks, id)


def is_hooked(module: Any) -> bool:
    """Return whether a call of ``module`` has any hook to run."""
    return bool(
        module._forward_hooks
        or module._forward_pre_hooks
        or module._backward_hooks
        or module._backward_pre_hooks
        or any(for_all)
    )


def call_with_hooks(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call ``module.forward`` with all hooks around it."""
    after = {**for_all.forward, **module._forward_hooks}
    result = None
    try:
        args, kwargs = _run_pre_hooks(module, args, kwargs)
        around = _backward_hooks(module)
        if around is not None:
            args = around.around_inputs(args)
        result = module.forward(*args, **kwargs)
        for id, hook in tuple(after.items()):
            del after[id]
            result = _run_hook(hook, module, args, kwargs, result)
    except Exception:
        for hook in after.values():
            if hook.always_call:
                result = _run_in_spite(hook, module, args, kwargs, result)
        raise
    if around is not None:
        result = around.around_outputs(result)
    legacy = _legacy_hooks(module)
    if legacy:
        add_legacy_hooks(module, legacy, args, result)
    return result


def _run_pre_hooks(
    module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    for hook in (*for_all.forward_pre.values(), *module._forward_pre_hooks.values()):
        if not hook.with_kwargs:
            replaced = hook.call(module, args)
            if replaced is not None:
                args = replaced if isinstance(replaced, tuple) else (replaced,)
            continue
        replaced = hook.call(module, args, kwargs)
        if replaced is None:
            continue
        if not isinstance(replaced, tuple) or len(replaced) != 2:
            raise RuntimeError(
                "forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got "
                f"{replaced}."
            )
        args, kwargs = replaced
    return args, kwargs


def _run_hook(hook: ForwardHook, module: Any, args: Any, kwargs: Any, result: Any) -> Any:
    given = (args, kwargs) if hook.with_kwargs else (args,)
    replaced = hook.call(module, *given, result)
    return result if replaced is None else replaced


def _run_in_spite(hook: ForwardHook, module: Any, args: Any, kwargs: Any, result: Any) -> Any:
    try:
        return _run_hook(hook, module, args, kwargs, result)
    except Exception as error:
        warnings.warn(
            "module forward hook with ``always_call=True`` raised an exception that was "
            f"silenced as another error was raised in forward: {error}",
            stacklevel=4,
        )
        return result


def _backward_hooks(module: Any) -> BackwardHooks | None:
    """Return the full hooks of ``module``, ready for one call; None if there are none."""
    full = dict(for_all.backward) if True in _all_backward_is_full else {}
    if module._is_full_backward_hook:
        full.update(module._backward_hooks)
    before = {**for_all.backward_pre, **module._backward_pre_hooks}
    if not full and not before:
        return None
    return BackwardHooks(module, tuple(before.values()), tuple(full.values()))


def _legacy_hooks(module: Any) -> tuple[Callable[..., Any], ...]:
    hooks = {} if True in _all_backward_is_full else dict(for_all.backward)
    if module._is_full_backward_hook is False:
        hooks.update(module._backward_hooks)
    return tuple(hooks.values())


def use_full_backward_hooks(module: Any, full: bool) -> None:
    """Note that the backward hooks of ``module`` are ``full`` ones, or deprecated ones.

    Raises:
        RuntimeError: it has some of the other kind.
    """
    if module._is_full_backward_hook is (not full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks on a single "
            "Module. Please use only one of them."
        )
    module._is_full_backward_hook = full


# Hooks for all modules


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, args)`` before the ``forward`` of every module."""
    return add_hook(for_all.forward_pre, ForwardHook(hook, False))


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after the ``forward`` of every module."""
    return add_hook(for_all.forward, ForwardHook(hook, with_kwargs, always_call))


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` before the backward pass through every module."""
    return add_hook(for_all.backward_pre, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` after each module's backward pass."""
    return _for_all_backward(hook, True)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Register a deprecated kind of :func:`register_module_full_backward_hook`."""
    return _for_all_backward(hook, False)


def _for_all_backward(hook: Callable[..., Any], full: bool) -> RemovableHandle:
    if (not full) in _all_backward_is_full:
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module "
            "hook. Please use only one of them."
        )
    _all_backward_is_full[:] = [full]
    return add_hook(for_all.backward, hook)
