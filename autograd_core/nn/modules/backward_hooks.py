"""Backward hooks of modules: an identity around the inputs and one around the outputs, whose
nodes see the gradients of all of them together."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autograd_core.autograd.function import Function
from autograd_core.autograd.grad_mode import is_grad_enabled
from autograd_core.autograd.node import Node
from autograd_core.tensor import Tensor

Hooks = tuple[Callable[..., Any], ...]


class BackwardHookFunction(Function):
    """Its arguments, as they are: a place to see all their gradients at once."""

    @staticmethod
    def forward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        ctx.mark_non_differentiable(*(t for t in args if not t.requires_grad))
        return args

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        return gradients


class BackwardHooks:
    """The full backward hooks of one call of a module.

    The gradients of the outputs arrive first, and wait here for those of the inputs.
    """

    def __init__(self, module: Any, before: Hooks, after: Hooks) -> None:
        self.module = module
        self.before = before
        self.after = after
        self.inputs = _Places(())
        self.outputs = _Places(())
        self.grad_outputs: tuple[Any, ...] | None = None

    def around_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments of ``forward``, led through a node that runs the hooks after it."""
        self.inputs = _Places(args)
        return self.inputs.through_node(self._inputs_done)

    def around_outputs(self, result: Any) -> Any:
        """Return what ``forward`` returned, led through a node that runs the hooks before it."""
        if not isinstance(result, (Tensor, tuple)):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(result)}",
                stacklevel=4,
            )
        several = isinstance(result, tuple)
        self.outputs = _Places(result if several else (result,))
        wrapped = self.outputs.through_node(self._outputs_arrived)
        return wrapped if several else wrapped[0]

    def _outputs_arrived(self, _: Any, received: tuple[Any, ...]) -> tuple[Any, ...]:
        gradients = self.outputs.padded(received)
        for hook in self.before:
            replaced = hook(self.module, gradients)
            if replaced is not None:
                _check_count("Backward pre hook", "grad_output", replaced, gradients)
                gradients = replaced
        self.grad_outputs = gradients
        if not self.inputs.connected:
            self._run_without_inputs()
        return self.outputs.picked(gradients)

    def _inputs_done(self, sent: tuple[Any, ...], _: Any) -> tuple[Any, ...] | None:
        if self.grad_outputs is None:
            return None  # the gradient came some other way than through the outputs
        gradients = self.inputs.padded(sent)
        for hook in self.after:
            replaced = hook(self.module, gradients, self.grad_outputs)
            if replaced is not None:
                _check_count("Backward hook", "grad_input", replaced, gradients)
                gradients = replaced
        self.grad_outputs = None
        return self.inputs.picked(gradients)

    def _run_without_inputs(self) -> None:
        """Run the hooks of a module none of whose inputs needs a gradient."""
        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module "
            "outputs since no inputs require gradients. See "
            "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
            "#torch.nn.Module.register_full_backward_hook for more details.",
            stacklevel=5,
        )
        nothing = (None,) * len(self.inputs.values)
        for hook in self.after:
            replaced = hook(self.module, nothing, self.grad_outputs)
            if replaced is not None and any(g is not None for g in replaced):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )
        self.grad_outputs = None


class _Places:
    """A tuple of values, and where among them the tensors are."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values
        self.numbers = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
        self.connected = is_grad_enabled() and any(values[i].requires_grad for i in self.numbers)

    def through_node(self, hook: Callable[..., Any]) -> tuple[Any, ...]:
        """Return the values with every tensor behind one node, to which ``hook`` is added."""
        values, self.values = self.values, (None,) * len(self.values)  # keep no tensor alive
        if not self.connected:
            return values
        wrapped = BackwardHookFunction.apply(*(values[i] for i in self.numbers))
        node = next(t.grad_fn for t in wrapped if t.grad_fn is not None)
        node.register_hook(hook)
        led = list(values)
        for i, t in zip(self.numbers, wrapped, strict=True):
            led[i] = t
        return tuple(led) if type(values) is tuple else type(values)(*led)

    def padded(self, gradients: Sequence[Any]) -> tuple[Any, ...]:
        """Return gradients of the tensors, with None for what is none."""
        by_number = dict(zip(self.numbers, gradients, strict=True))
        return tuple(by_number.get(i) for i in range(len(self.values)))

    def picked(self, gradients: Sequence[Any]) -> tuple[Any, ...]:
        """Return the opposite of :meth:`padded`."""
        return tuple(gradients[i] for i in self.numbers)


def _check_count(who: str, what: str, replaced: Sequence[Any], expected: Sequence[Any]) -> None:
    if len(replaced) != len(expected):
        raise RuntimeError(
            f"{who} returned an invalid number of {what}, got {len(replaced)}, but expected "
            f"{len(expected)}"
        )


# The deprecated kind: hooks on whatever node made the first output


def add_legacy_hooks(module: Any, hooks: Hooks, args: Any, result: Any) -> None:
    """Run ``hooks`` after the node of the first tensor in ``result``, and warn if that node is
    not all there is between ``args`` and ``result``."""
    node = next(_tensors(result)).grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(_with_module(hook, module))
    problem = _legacy_problem(args, result, node)
    if problem:
        warnings.warn(problem, FutureWarning, stacklevel=4)


def _with_module(hook: Callable[..., Any], module: Any) -> Callable[..., Any]:
    return lambda grad_input, grad_output: hook(module, grad_input, grad_output)


def _tensors(value: Any) -> Iterator[Tensor]:
    """Yield the tensors in nested dictionaries, lists and tuples, in order."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, Tensor):
            yield item
        elif isinstance(item, dict):
            stack += reversed(item.values())
        elif isinstance(item, (list, tuple)):
            stack += reversed(item)


def _legacy_problem(args: Any, result: Any, node: Node) -> str | None:
    """Return what the gradients that a legacy hook gets will lack, in PyTorch's words."""
    outputs = result if isinstance(result, tuple) else (result,)
    for values, verb, side in (
        (outputs, "return", "grad_output"),
        (args, "take as input", "grad_input"),
    ):
        if not all(isinstance(value, Tensor) for value in values):
            return (
                f"Using non-full backward hooks on a Module that does not {verb} a single Tensor "
                "or a tuple of Tensors is deprecated and will be removed in future versions. "
                f"This hook will be missing some of the {side}. Please use "
                "register_full_backward_hook to get the documented behavior."
            )
    nodes = {t.grad_fn for t in outputs if t.grad_fn is not None}
    if len(nodes) > 1:
        where, side = "outputs are generated by different autograd Nodes", "grad_output"
    elif {t.grad_fn for t in args if t.grad_fn} != {to for to, _ in node.next_functions}:
        where, side = "the forward contains multiple autograd Nodes", "grad_input"
    else:
        return None
    return (
        f"Using a non-full backward hook when {where} is deprecated and will be removed in "
        f"future versions. This hook will be missing some {side}. Please use "
        "register_full_backward_hook to get the documented behavior."
    )
