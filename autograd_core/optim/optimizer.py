"""The base of all optimizers: parameter groups, their options, and the state of each parameter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import wraps
from typing import Any, ClassVar, Final, Self

import numpy as np

from autograd_core.autograd.grad_mode import (
    enable_grad,
    enter_mode,
    leave_mode,
    undo_log,
    with_gradients,
)
from autograd_core.autograd.hooks import RemovableHandle
from autograd_core.nn.modules.hooks import add_hook
from autograd_core.nn.modules.module import forget_gradient
from autograd_core.tensor import Tensor

Array = np.ndarray[Any, Any]
Parameters = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]


_UNSET: Final = {
    "maximize": False, "capturable": False, "differentiable": False, "foreach": None, "fused": None,
}  # fmt: skip


class Optimizer:
    """The base class of optimizers. A subclass defines :meth:`update`, which changes one parameter.

    ``param_groups`` is a list of dictionaries with "params" and options. ``state`` holds the state
    of each parameter, mostly tensors. ``switches`` names options that select PyTorch's kernels:
    they are stored, but only "maximize" has an effect.
    """

    switches: ClassVar[tuple[str, ...]] = ()

    def __new__(cls, *args: Any, **keywords: Any) -> Self:
        """Return an optimizer that can step, even if a subclass does not call ``__init__``."""
        optimizer = super().__new__(cls)
        optimizer._pre_hooks, optimizer._post_hooks, optimizer.was_stepped = {}, {}, False
        return optimizer

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "step" in cls.__dict__:
            cls.step = _hooked(cls.step)  # type: ignore[method-assign]

    _pre_hooks: dict[int, Callable[..., Any]]
    _post_hooks: dict[int, Callable[..., Any]]
    was_stepped: bool

    def __init__(
        self,
        params: Parameters,
        defaults: dict[str, Any],
        switches: Mapping[str, Any] | None = None,
    ) -> None:
        chosen = dict(switches or {})
        for name in chosen:
            if name not in self.switches:
                raise TypeError(
                    f"{type(self).__name__}.__init__() got an unexpected keyword argument '{name}'"
                )
        if chosen.get("fused") and chosen.get("foreach"):
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        unset = {name: _UNSET[name] for name in self.switches}
        self.defaults = {**defaults, **unset, **chosen}
        self.param_groups: list[dict[str, Any]] = []
        self.state: dict[Tensor, dict[str, Any]] = defaultdict(dict)
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or "
                "dicts, but got torch.FloatTensor"
            )
        given: list[Any] = list(params)
        if not given:
            raise ValueError("optimizer got an empty parameter list")
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        """Add parameters with their own options.

        Raises:
            ValueError: one of them is not a leaf, or is already in a group.
        """
        params = param_group["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
        names: dict[str, Any] = {}
        if params and all(isinstance(p, tuple) for p in params):
            names = {"param_names": [name for name, _ in params]}
            params = [p for _, p in params]
        known = {p for group in self.param_groups for p in group["params"]}
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(
                    "optimizer can only optimize Tensors, but one of the params is "
                    f"{type(p).__name__}"
                )
            if not p.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor")
            if p in known:
                raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append({**self.defaults, **param_group, "params": params, **names})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients of all parameters to None, or to zero."""
        for group in self.param_groups:
            for p in group["params"]:
                forget_gradient(p, set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient.

        ``closure``, if given, is called first to recompute the loss and the gradients; its result
        is returned.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        token = enter_mode(with_gradients(False))
        try:
            for group in self.param_groups:
                for p in group["params"]:
                    g = p.grad
                    if g is not None:
                        self._keep_state(p)
                        p.bump()
                        self.update(p, g.array, self.state[p], group)
        finally:
            leave_mode(token)
        return loss

    def _keep_state(self, p: Tensor) -> None:
        """Let what is remembered of ``p``, which is about to change, be undone with it."""
        if (log := undo_log()) is not None:
            log.keep_items(self.state)
            log.keep_items(self.state[p])
            for value in self.state[p].values():
                if isinstance(value, Tensor):
                    log.keep_values(value)

    def update(
        self, p: Tensor, g: np.ndarray[Any, Any], state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Update the array of ``p`` in place, given its gradient, state and options."""
        raise NotImplementedError

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step. It may return new arguments."""
        return add_hook(self._pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return add_hook(self._post_hooks, hook)

    def state_dict(self) -> dict[str, Any]:
        """Return state and options, with parameters numbered in order."""
        numbers = self._numbers()
        return {
            "state": {numbers[p]: dict(state) for p, state in self.state.items() if state},
            "param_groups": [
                {
                    **{name: value for name, value in group.items() if name != "params"},
                    "params": [numbers[p] for p in group["params"]],
                }
                for group in self.param_groups
            ],
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Load the :meth:`state_dict` of an optimizer with the same structure."""
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if [len(g["params"]) for g in saved] != [len(g["params"]) for g in self.param_groups]:
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        for group, theirs in zip(self.param_groups, saved, strict=True):
            group.update({name: value for name, value in theirs.items() if name != "params"})
        parameters = {number: p for p, number in self._numbers().items()}
        self.state = defaultdict(dict)
        for number, state in state_dict["state"].items():
            self.state[parameters[number]] = {name: _copied(v) for name, v in state.items()}

    def _numbers(self) -> dict[Tensor, int]:
        every = [p for group in self.param_groups for p in group["params"]]
        return {p: number for number, p in enumerate(every)}

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for number, group in enumerate(self.param_groups):
            text += f"\nParameter Group {number}\n"
            text += "".join(f"    {k}: {group[k]}\n" for k in sorted(group) if k != "params")
        return text + ")"


def _copied(value: Any) -> Any:
    if isinstance(value, list):
        return [_copied(element) for element in value]
    return value.detach().clone() if isinstance(value, Tensor) else copy(value)


def _hooked(step: Callable[..., Any]) -> Callable[..., Any]:
    """Return a ``step`` that calls the hooks around it, and is known to have been taken."""

    @wraps(step)
    def hooked(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        args = (self, *args)
        for hook in tuple(self._pre_hooks.values()):
            changed = hook(self, args, kwargs)
            if changed is not None:
                args, kwargs = changed
        self.was_stepped = True
        result = step(*args, **kwargs)
        for hook in (*self._post_hooks.values(), *_AFTER_EACH.values()):
            hook(self, args, kwargs)
        return result

    return hooked


_AFTER_EACH: Final[dict[int, Callable[..., Any]]] = {}


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after each step of each optimizer."""
    return add_hook(_AFTER_EACH, hook)


Optimizer.step = _hooked(Optimizer.step)  # type: ignore[method-assign]


def counted(state: dict[str, Any]) -> int:
    """Count a step in ``state``, and return how many there are now."""
    step: Tensor = state.setdefault("step", Tensor.from_array(np.zeros((), np.float32)))
    step.array += 1
    return int(step.array)


def memory(state: dict[str, Any], name: str, p: Tensor, start: float = 0.0) -> Array:
    """Return the array of the tensor ``name`` in ``state``; if there is none, make one of the shape
    of ``p``."""
    if name not in state:
        state[name] = Tensor.from_array(np.full_like(p.array, start))
    array: Array = state[name].array
    return array


_PIECE: Final = 1 << 16  # elements: what is computed of so many stays in the cache


def pieces(*arrays: Array) -> Iterator[Sequence[Array]]:
    """Yield arrays of one shape a piece at a time, for what is done element by element: twice as
    fast where they are large."""
    if arrays[0].size <= _PIECE or not all(array.flags.c_contiguous for array in arrays):
        yield arrays
        return
    flat = [array.reshape(-1) for array in arrays]
    for start in range(0, arrays[0].size, _PIECE):
        yield [array[start : start + _PIECE] for array in flat]


def checked_options(**options: float) -> dict[str, Any]:
    """Return ``options``, none of which may be negative, nor a learning rate have several elements.

    Raises:
        ValueError: there is one; names it as PyTorch does.
    """
    for name, value in options.items():
        if name == "lr" and isinstance(value, Tensor) and value.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not float(value) >= 0:
            words = {"lr": "learning rate", "eps": "epsilon value"}.get(name, f"{name} value")
            raise ValueError(f"Invalid {words}: {value}")
    return options


def decayed(p: Tensor, g: Array, group: dict[str, Any], decoupled: bool = False) -> Array:
    """Return the gradient, negated to maximize, with the weight decay added; if ``decoupled``, the
    parameter decays instead."""
    if group["maximize"]:
        g = -g
    if decoupled:
        p.array *= 1 - float(group["lr"]) * group["weight_decay"]
        return g
    return g + group["weight_decay"] * p.array if group["weight_decay"] else g
