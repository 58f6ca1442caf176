"""What all optimizers share: groups of parameters, their options, and state per parameter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from autograd_core.autograd.grad_mode import enable_grad, no_grad
from autograd_core.nn.modules.module import forget_gradient
from autograd_core.tensor import Tensor

Parameters = Iterable[Tensor] | Iterable[dict[str, Any]]


class Optimizer:
    """The base of optimizers; a subclass says in :meth:`update` what to do to one parameter.

    ``param_groups`` is a list of dictionaries, each with its "params" and its options;
    ``state`` holds what the optimizer remembers of each parameter, NumPy arrays and numbers.
    """

    def __init__(self, params: Parameters, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.param_groups: list[dict[str, Any]] = []
        self.state: dict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.was_stepped = False
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
        """Train further parameters, with options of their own.

        Raises:
            ValueError: one of them is not a leaf, or is being trained already.
        """
        params = param_group["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
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
        self.param_groups.append({**self.defaults, **param_group, "params": params})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or set them to zero."""
        for group in self.param_groups:
            for p in group["params"]:
                forget_gradient(p, set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient.

        ``closure``, if given, computes the loss anew, gradients included, and is called first;
        its result is returned.
        """
        self.was_stepped = True
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        self.update(p, p.grad.array, self.state[p], group)
                        p.bump()
        return loss

    def update(
        self, p: Tensor, g: np.ndarray[Any, Any], state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Change the array of ``p`` in place, given its gradient, memory and options."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """State and options, with parameters numbered in order."""
        numbers = self._numbers()
        return {
            "state": {numbers[p]: dict(state) for p, state in self.state.items() if state},
            "param_groups": [
                {**group, "params": [numbers[p] for p in group["params"]]}
                for group in self.param_groups
            ],
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what :meth:`state_dict` of an optimizer of the same shape returned."""
        saved = state_dict["param_groups"]
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
        return [_copied(each) for each in value]
    return value.copy() if isinstance(value, np.ndarray) else value


def check_options(**options: float) -> None:
    """Options that may not be negative.

    Raises:
        ValueError: one is; names it as PyTorch does.
    """
    for name, value in options.items():
        if not value >= 0:
            said = {"lr": "learning rate", "eps": "epsilon value"}.get(name, f"{name} value")
            raise ValueError(f"Invalid {said}: {value}")


def decayed(p: Tensor, g: np.ndarray[Any, Any], group: dict[str, Any]) -> np.ndarray[Any, Any]:
    """The gradient, turned round to maximize, with the weight decay added to it."""
    if group["maximize"]:
        g = -g
    return g + group["weight_decay"] * p.array if group["weight_decay"] else g
