"""A node's function, run again: on copies, in float64, as often as it takes; see
:class:`~gradstep.contract.protocol.Rerun`.

The rule is not asked of the node at hand but of a new one that the same call makes, so that it
works in float64 throughout, whatever was freed or changed meanwhile.
"""

from __future__ import annotations

import inspect
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from threading import Thread
from typing import Any, Final, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch.overrides import TorchFunctionMode

from gradstep.capturing.sources import definition
from gradstep.contract.interception import interceptor
from gradstep.contract.protocol import CannotRerun
from gradstep.engines.pytorch.calls import Arguments, TorchCall
from gradstep.engines.pytorch.entry import carry_out
from gradstep.engines.pytorch.inputs import Call, Input, set_random_state
from gradstep.engines.pytorch.nodes import TorchNode
from gradstep.engines.pytorch.originals import original
from gradstep.engines.pytorch.origins import current
from gradstep.engines.pytorch.private import (
    DispatchMode,
    TensorBase,
    base_of,
    function_of,
    functions,
    functions_enabled,
    grad_enabled,
    is_shared_with_processes,
    schema_of,
    set_version,
    torch_c,
    unobserved,
    version_counter,
)
from gradstep.engines.pytorch.schema import gives_new_memory, memory_of, tensors_in, written
from gradstep.engines.pytorch.stepping.leaf_gradients import StatesBefore
from gradstep.engines.pytorch.tensors import put_gradient, resolved
from gradstep.engines.pytorch.walking import walked
from gradstep.graph.model import Source
from gradstep.graph.statistics import format_bytes
from gradstep.guest.silence import silence

Array = NDArray[Any]
T = TypeVar("T")
_WIDE: Final = {
    torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.float32: torch.float64,
    torch.complex32: torch.complex128, torch.complex64: torch.complex128,
}  # fmt: skip
_READ_HALF: Final = {
    "aten::_linalg_eigh", "aten::cholesky", "aten::linalg_cholesky_ex",
    "aten::linalg_ldl_factor_ex",
}  # fmt: skip
"""Ops that read one half of a symmetric, or Hermitian, matrix."""
_BEHIND_LOG_SOFTMAX: Final = {"aten::_ctc_loss", "aten::_cudnn_ctc_loss"}
"""Ops whose rule is for an input that comes from ``log_softmax``."""
_ASSIGNING: Final = torch.Tensor.grad.__set__, torch.Tensor.grad.__delete__
_UNTRACED: Final = (
    "its inputs were not kept; gradstep check keeps them, and so does the forward pass inside "
    "`with gradstep.trace(values=True):`"
)
_OPAQUE: Final = {
    "compiled": "it is compiled, and its ops are not seen one by one",
    "checkpoint": "a checkpoint runs a part of the program; with use_reentrant=False, its ops are "
    "checked one by one",
    "written in C++": "it is written in C++, and its forward cannot be called from here",
}


def rerun_of(node: TorchNode, wide: bool) -> Rerun:
    """Return what runs the function of ``node`` again.

    Raises:
        CannotRerun: nothing can.
        Exception: whatever the function raises.
    """
    if node.opaque:
        raise CannotRerun(_OPAQUE[node.opaque.partition(":")[0]])
    inputs = getattr(node.graph.origins.recorder, "inputs", None)
    if inputs is None:
        raise CannotRerun(_UNTRACED)
    for call in inputs.of(node.sequence_nr):
        if isinstance(call.function, type) and call.function is not _class_of(node):
            continue
        rerun = Rerun(call, wide)
        if rerun.made == node.name():
            return rerun
    if inputs.dropped(node.sequence_nr):
        raise CannotRerun(
            f"its inputs were discarded: copies may take {format_bytes(inputs.budget.limit)}, and "
            "later ops needed the space"
        )
    raise CannotRerun(_why_unknown(node) if node.sequence_nr <= inputs.latest else _UNTRACED)


def _why_unknown(node: TorchNode) -> str:
    if _class_of(node) is not None:
        return "it belongs to PyTorch itself, not to the program"
    if "c10d" in node.name():
        return "it exchanges tensors with other processes"
    if node.name() in ("AsStridedBackward0", "torch::autograd::CopySlices"):
        return "PyTorch created it for an in-place change through a view, not for an op"
    return "the op that created it was not observed"


def rule_of(node: TorchNode) -> Source | None:
    """Find where the rule of a custom Function of the program's is written."""
    function = _class_of(node)
    backward = None if function is None else inspect.unwrap(function.backward)
    code = getattr(backward, "__code__", None)
    if code is None or function.__module__.partition(".")[0] == "torch":
        return None
    return definition(code)


def _class_of(node: TorchNode) -> Any:
    """Return the custom Function of a node, None of an op's."""
    return function_of(type(node.origin))


def apart(function: Callable[[], T]) -> T:
    """Return what ``function`` returns, run where no mode of the program's is on: these belong to
    a thread.  What it draws and prints is as if it had not."""
    distinct: list[T] = []
    raised: list[BaseException] = []
    origins = current.get()

    def run() -> None:
        current.set(origins)
        interceptor.set(None)  # passes made here are not the program's
        try:
            with unobserved():  # subclasses of tensors go with their values
                distinct.append(function())
        except BaseException as error:
            raised.append(error)

    states = torch.default_generator.get_state(), np.random.get_state(), random.getstate()  # noqa: NPY002
    anomaly = torch_c.is_anomaly_enabled(), torch_c.is_anomaly_check_nan_enabled()
    with ExitStack() as stack:
        stack.enter_context(silence())
        stack.callback(torch_c.set_anomaly_enabled, *anomaly)
        torch_c.set_anomaly_enabled(False)
        try:
            thread = Thread(target=run, daemon=True)
            thread.start()
            thread.join()
        finally:
            torch.default_generator.set_state(states[0])
            np.random.set_state(states[1])  # noqa: NPY002
            random.setstate(states[2])
    if raised:
        raise raised[0]
    return distinct[0]


class Rerun:
    """A call, as a function of those of its inputs that need a gradient; ``made`` names the node
    that it makes."""

    def __init__(self, call: Call, wide: bool) -> None:
        self._call_made, self._wide = call, wide
        self.custom = call.custom
        if self.custom and is_shared_with_processes():
            raise CannotRerun(
                "it is the program's own, and may exchange tensors with other processes"
            )
        self._inputs = list(_inputs_in((*call.arguments, *call.named.values())))
        for tensor in self._inputs:
            if tensor.copy is None:
                why_not = tensor.why_not or "needs more memory than copies may take"
                raise CannotRerun(f"{tensor.name} {why_not}")
            if not tensor.copy.is_known:
                raise CannotRerun(f"{tensor.name} was changed in place, by what is not known")
        wanted = [tensor for tensor in self._inputs if tensor.needs and _is_inexact(tensor)]
        self._places = [self._inputs.index(tensor) for tensor in wanted]
        self.names = [tensor.name for tensor in wanted]
        name = "" if self.custom else schema_of(call.function).name
        if name == "aten::round" and call.named.get("decimals"):
            raise CannotRerun("its forward is a step function")
        self._normalized = name in _BEHIND_LOG_SOFTMAX
        padding = _argument(call, "padding_idx") if name == "aten::embedding" else None
        self._padding = -1 if padding is None else int(padding)
        self._symmetric = name in _READ_HALF or bool(_argument(call, "hermitian"))
        self._likes = [self._widened(tensor.copy.tensor) for tensor in self._inputs]  # type: ignore[union-attr]
        self.points = [self.direction(_real(self._likes[at])) for at in self._places]
        outputs, _ = self._run(self.points)
        if any(output.layout is not torch.strided for output in outputs):
            raise CannotRerun("its result is sparse")
        self._sizes = [_real(output).size for output in outputs]
        node = outputs[0].grad_fn if outputs else None
        self.made = "" if node is None else node.name()
        kinds = [output.dtype for output in (*outputs, *(self._likes[at] for at in self._places))]
        self.eps = max((torch.finfo(kind).eps for kind in kinds), default=0.0)

    @property
    def size(self) -> int:
        return sum(self._sizes)

    def direction(self, v: Array) -> Array:
        if self._padding >= 0:  # a row that gets no gradient, although the result depends on it
            v = v.copy()
            v[self._padding] = 0
        if not self._symmetric:
            return v
        if TensorBase.is_complex(self._likes[self._places[0]]):
            mirrored = v.swapaxes(-3, -2) * np.array([1.0, -1.0])
        else:
            mirrored = v.swapaxes(-2, -1)
        half: Array = (v + mirrored) / 2
        return half

    def values(self, points: Sequence[Array]) -> Array:
        outputs, _ = self._beside(points)
        return np.concatenate([_real(output).reshape(-1) for output in outputs])

    def gradients(self, points: Sequence[Array], weights: Array) -> list[Array | None]:
        outputs, leaves = self._beside(points)
        seeds, taken = [], 0
        for output, size in zip(outputs, self._sizes, strict=True):
            seeds.append(_like(output, weights[taken : taken + size]))
            taken += size
        with self._undone():
            try:
                # not by torch.autograd.grad(), which a mode would be asked about, and be off inside
                raw = carry_out(
                    Arguments(
                        tuple(outputs), tuple(seeds), keep=True, graph=False, inputs=tuple(leaves),
                        accumulate_grad=False,
                    ),
                    interceptor.get(),
                )  # fmt: skip
            except RuntimeError as error:
                if self.custom:
                    raise
                raise CannotRerun(f"its backward raises: {_first_sentence(error)}") from None
        gradients = [None if g is None else _real(g) for g in raw]
        if self._draws and not any(g is not None and g.any() for g in gradients):
            raise CannotRerun("PyTorch sends no gradient through random numbers")
        return gradients

    @property
    def _draws(self) -> bool:
        return self._call_made.random is not None and not self.custom

    def _widened(self, tensor: torch.Tensor) -> torch.Tensor:
        return (
            TensorBase.to(tensor, _WIDE.get(tensor.dtype, tensor.dtype)) if self._wide else tensor
        )

    def _beside(self, points: Sequence[Array]) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """Run it at ``points``, near those where it ran."""
        try:
            return self._run(points)
        except Exception as error:  # it may not be defined there
            raise CannotRerun(
                f"next to these inputs, its forward raises: {_first_sentence(error)}"
            ) from None

    def _run(self, points: Sequence[Array]) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """Return the outputs that have a gradient, and the leaves at ``points``."""
        call = self._call_made
        if call.random is not None:
            set_random_state(call.random)
        with functions_enabled(), self._undone():
            tensors = [TensorBase.clone(like) for like in self._likes]
            leaves = []
            for at, point in zip(self._places, points, strict=True):
                if self._normalized:
                    point = point - np.log(np.exp(point).sum(-1, keepdims=True))
                leaf = TensorBase.requires_grad_(_like(tensors[at], point))
                leaves.append(leaf)
                tensors[at] = TensorBase.clone(leaf) if self._may_change else leaf
            given = iter(tensors)
            arguments = [self._filled(argument, given) for argument in call.arguments]
            named = {name: self._filled(value, given) for name, value in call.named.items()}
            if call.through is not None:
                base = arguments[0]
                call.function(TensorBase.as_strided(base, *call.through), *arguments[1:], **named)
                results: Any = base
            elif self._is_class:
                results = call.function.apply(*arguments, **named)
            else:
                results = call.function(*arguments, **named)
            return [tensor for tensor in tensors_in(results) if tensor.grad_fn is not None], leaves

    @property
    def _is_class(self) -> bool:
        return isinstance(self._call_made.function, type)

    @property
    def _may_change(self) -> bool:
        """Whether its inputs may be changed in place, which leaves must not be."""
        return self._is_class or schema_of(self._call_made.function).is_mutable

    def _filled(self, value: Any, given: Iterator[torch.Tensor]) -> Any:
        """Return an argument with tensors in the places of inputs."""
        if isinstance(value, Input):
            return next(given)
        if isinstance(value, list):
            return [self._filled(element, given) for element in value]
        if isinstance(value, torch.dtype) and self._wide:
            return _WIDE.get(value, value)
        return value

    @contextmanager
    def _undone(self) -> Iterator[None]:
        """Take back what code of the program's changes in its tensors, and what it draws."""
        if not self.custom:
            yield
            return
        states = np.random.get_state(), random.getstate()  # noqa: NPY002
        changes = _Changes()
        token = interceptor.set(changes.inside)
        try:
            with functions_enabled(), _Assignments(changes.gradients), changes:
                yield
        finally:
            interceptor.reset(token)
            np.random.set_state(states[0])  # noqa: NPY002
            random.setstate(states[1])
            changes.undo()


class _Changes(DispatchMode):
    """Keeps tensors that were there before, as they were before they are changed in place, and the
    ``.grad`` of leaves."""

    def __init__(self) -> None:
        super().__init__()
        self.gradients = StatesBefore()
        self._own: set[int] = set()  # memory that was made inside
        self._before: dict[int, tuple[torch.Tensor, torch.Tensor, int]] = {}

    def __torch_dispatch__(
        self, op: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if schema_of(op).is_mutable:
            for tensor in written(op, args, kwargs or {}):
                place = memory_of(tensor)
                if place and place not in self._own and place not in self._before:
                    whole = tensor if base_of(tensor) is None else base_of(tensor)
                    self._before[place] = (
                        whole,
                        TensorBase.clone(TensorBase.detach(whole)),
                        version_counter(whole),
                    )
        result = op(*args, **(kwargs or {}))
        if gives_new_memory(op):
            self._own.update(map(memory_of, tensors_in(result)))
        return result

    def inside(self, call: TorchCall) -> Any:
        """Let a pass run that may add to leaves of the program."""
        self.gradients.note(walked(call).leaves)
        result = carry_out(call.arguments, self.inside)
        return result if call.is_grad else True

    def undo(self) -> None:
        """Give the tensors of the program back the values and versions that they had."""
        with grad_enabled(False):
            for tensor, before, version in self._before.values():
                TensorBase.copy_(TensorBase.detach(tensor), before)
                set_version(tensor, version)
        for state in self.gradients.states:
            put_gradient(*state)


class _Assignments(TorchFunctionMode):  # type: ignore[misc]  # torch is not there for every check
    """Keeps what a ``.grad`` was before code of the program's assigns to it."""

    def __init__(self, gradients: StatesBefore) -> None:
        super().__init__()
        self._gradients = gradients

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if function in _ASSIGNING:
            self._gradients.note(args[:1])
        return original(function, sys._getframe(1))(*args, **(kwargs or {}))


def _argument(call: Call, name: str) -> Any:
    """Return an argument of an op by its name, None where it has none."""
    if isinstance(call.function, type):
        return None
    names = [argument.name for argument in schema_of(call.function).arguments]
    if name in names and names.index(name) < len(call.arguments):
        return call.arguments[names.index(name)]
    return call.named.get(name)


def _inputs_in(values: Any) -> Iterator[Input]:
    for value in values:
        if isinstance(value, Input):
            yield value
        elif isinstance(value, list):
            yield from _inputs_in(value)


def _is_inexact(value: Input) -> bool:
    assert value.copy is not None
    return bool(
        TensorBase.is_floating_point(value.copy.tensor) or TensorBase.is_complex(value.copy.tensor)
    )


def _real(tensor: torch.Tensor) -> Array:
    """Return the real numbers of a tensor, in float64."""
    if tensor.is_nested:
        raise CannotRerun("its result is a nested tensor")
    t = resolved(tensor)
    if t.layout is not torch.strided:
        t = TensorBase.to_dense(t)
    if TensorBase.is_complex(t):
        t = functions.view_as_real(t)
    array: Array = TensorBase.numpy(TensorBase.to(t, "cpu", torch.float64), force=True)
    return array


def _like(tensor: torch.Tensor, numbers: Array) -> torch.Tensor:
    """Return a tensor of the same kind with other numbers."""
    tensor_like = TensorBase.detach(functions.empty_like(tensor))
    real = (
        functions.view_as_real(tensor_like) if TensorBase.is_complex(tensor_like) else tensor_like
    )
    TensorBase.copy_(
        real, TensorBase.reshape(functions.from_numpy(np.ascontiguousarray(numbers)), real.shape)
    )
    return tensor_like


def _first_sentence(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].removesuffix(".")
