"""Keywords of functions, held to PyTorch: a few by hand, beside those of ``test_op_grid.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_core
from tests.autograd_core.test_operators_parity import assert_same

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

GOOD: list[Callable[[Any], Any]] = [
    lambda t: t.sum(t.ones(2, 3), axis=0, keepdims=True),
    lambda t: t.ones(2, 3).sum(axis=1),
    lambda t: t.sum(a=t.ones(2)),
    lambda t: t.sum(t.tensor([1, 2]), dtype=t.float64),
    lambda t: t.softmax(t.tensor([1.0, 2.0]), dim=0, dtype=t.float64),
    lambda t: t.nn.functional.log_softmax(t.tensor([1.0, 2.0]), dim=0, dtype=t.float64),
    lambda t: t.zeros(size=(2, 3), device="cpu", layout=t.strided, pin_memory=False),
    lambda t: t.ones(2, device=t.device("cpu"), dtype=t.int64),
    lambda t: t.zeros_like(t.ones(2), memory_format=t.preserve_format),
    lambda t: t.tensor([1.0], device="cpu", requires_grad=True).requires_grad,
    lambda t: t.ones(2).to("cpu", t.float64, non_blocking=True),
    lambda t: t.ones(2).to(device="cpu", dtype=t.int32),
    lambda t: t.ones(2).to(t.zeros(1, dtype=t.int64)),
    lambda t: (lambda x: x.to("cpu") is x)(t.ones(2)),
    lambda t: (lambda x: x.to(t.float32, copy=True) is x)(t.ones(2)),
    lambda t: t.ones(2, 3).clone(memory_format=t.contiguous_format),
    lambda t: t.ones(2, 3).contiguous(memory_format=t.contiguous_format),
    lambda t: t.cat(tensors=[t.ones(2), t.zeros(1)], axis=0),
    lambda t: t.max(t.tensor([[1.0, 3.0]]), dim=1, out=(t.empty(0), t.empty(0, dtype=t.int64)))[1],
    lambda t: t.sum(t.ones(2, 3) * 1.5, 0, out=t.zeros(3, dtype=t.int64)),
    lambda t: t.cumsum(t.ones(3) * 1.5, 0, out=t.zeros(3, dtype=t.float64)),
    lambda t: t.full((2,), 5.5, out=t.zeros(2, dtype=t.int64)),
    lambda t: t.all(t.ones(2), out=t.zeros((), dtype=t.uint8)),
    lambda t: t.max(t.ones(2), t.zeros(2), out=t.zeros(2, dtype=t.float64)),
    lambda t: t.arange(5, device="cpu"),
    lambda t: t.full((2,), fill_value=3.0, device="cpu"),
    lambda t: t.ones(2).add(other=t.ones(2), alpha=3),
    lambda t: t.ones(2).add_(other=t.ones(2)),
    lambda t: t.clamp(input=t.tensor([-1.0, 2.0]), min=0),
    lambda t: t.transpose(t.ones(2, 3), dim0=0, dim1=1),
    lambda t: t.nn.functional.mse_loss(t.ones(2), t.zeros(2), size_average=False),
    lambda t: t.nn.functional.nll_loss(t.ones(2, 2), t.tensor([0, 1]), reduce=False),
    lambda t: t.nn.Linear(2, 3, device="cpu", dtype=t.float64).weight.dtype is t.float64,
    lambda t: t.nn.Conv2d(2, 3, 1, device=t.device("cpu")).weight.shape[0],
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*reduce args will be deprecated")
@pytest.mark.parametrize("call", GOOD)
def test_keywords_of_pytorch_are_taken(call: Callable[[Any], Any]) -> None:
    mine, theirs = call(autograd_core), call(torch)
    if isinstance(theirs, torch.Tensor):
        assert_same(mine, theirs)
    else:
        assert mine == theirs


BAD: list[Callable[[Any], Any]] = [
    lambda t: t.sin(t.ones(2, requires_grad=True), out=t.zeros(2)),
    lambda t: t.sin(t.ones(2), out=t.zeros(2, dtype=t.int64)),
    lambda t: t.sin(t.ones(2), out=3),
    lambda t: t.mm(t.ones(2, 2), t.ones(2, 2), out=t.zeros(2, 2, dtype=t.float64)),
    lambda t: t.argmax(t.ones(2), out=t.zeros(())),
    lambda t: t.sort(t.ones(2), out=(t.zeros(2, dtype=t.float64), t.zeros(2, dtype=t.int64))),
    lambda t: t.zeros(2, out=t.zeros(2), dtype=t.int32),
    lambda t: t.cat([t.ones(2), t.ones(2)], out=t.zeros(4, dtype=t.int64)),
    lambda t: t.clamp(t.ones(2), 0, 1, out=t.zeros(2, dtype=t.float64)),
    lambda t: t.flip(t.ones(2), (0,), out=t.zeros(2)),
    lambda t: t.isnan(t.ones(2), out=t.zeros(2)),
    lambda t: t.sin(t.ones(2), foo=3),
    lambda t: t.zeros(2, foo=3),
    lambda t: t.zeros(2, device="cuda"),
    lambda t: t.zeros(2, device="foo"),
    lambda t: t.zeros(2, device="cpu:x"),
    lambda t: t.device("foo"),
    lambda t: t.ones(2).to("cuda:0"),
    lambda t: t.ones(2).to(device="xpu"),
    lambda t: t.ones(2).cuda(),
    lambda t: t.nn.Linear(2, 2).to("cuda"),
    lambda t: t.nn.Linear(2, 2, device="cuda"),
    lambda t: t.nn.Linear(2, 2).cuda(),
]  # fmt: skip


@pytest.mark.parametrize("call", BAD)
def test_other_keywords_are_refused_in_the_words_of_pytorch(call: Callable[[Any], Any]) -> None:
    kinds = (RuntimeError, TypeError, AssertionError)
    with pytest.raises(kinds) as theirs:
        call(torch)
    with pytest.raises(kinds) as mine:
        call(autograd_core)
    assert type(mine.value) is type(theirs.value)
    assert str(mine.value) == str(theirs.value)


def test_an_out_of_another_shape_is_resized_with_a_warning() -> None:
    for namespace in (autograd_core, torch):
        out = namespace.zeros(3)
        with pytest.warns(UserWarning, match=r"was resized since it had shape \[3\]"):
            assert namespace.sin(namespace.ones(2), out=out) is out
        np.testing.assert_allclose(out.numpy(), np.sin([1, 1]), rtol=1e-6)


def test_devices_look_as_in_pytorch() -> None:
    for namespace in (autograd_core, torch):
        cpu, gpu = namespace.device("cpu"), namespace.device("cuda", 1)
        assert (repr(cpu), str(cpu), cpu.type, cpu.index) == (
            "device(type='cpu')",
            "cpu",
            "cpu",
            None,
        )
        assert (repr(gpu), str(gpu)) == ("device(type='cuda', index=1)", "cuda:1")
        assert cpu == namespace.device("cpu")
        assert cpu != "cpu"
        assert namespace.ones(2).device == cpu
        assert hash(cpu) == hash(namespace.ones(1).device)
        assert not namespace.cuda.is_available()
        assert not namespace.backends.mps.is_available()
        assert not namespace.accelerator.is_available()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda t, x: t.mul(x), "mul"),
        (lambda t, x: t.mul(x, x, other=x), "mul"),
        (lambda t, x: t.mul(x, x, colour=1), "mul"),
    ],
)
def test_wrong_numbers_of_arguments_are_refused(call: Callable[..., Any], said: str) -> None:
    for library in (autograd_core, torch):
        with pytest.raises(TypeError, match=said):
            call(library, library.ones(2))
