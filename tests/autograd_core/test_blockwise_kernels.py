"""What is computed a block at a time is what would be computed at once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import autograd_core as torch
from autograd_core.nn import functional as F
from autograd_core.op import OPS, Op
from autograd_core.op.blocks import in_blocks
from autograd_core.op.buffering import short_buffers
from autograd_core.op.literals import as_passes
from autograd_core.ops.networks.convolution import (
    _convolved,
    _input_gradient,
    _weight_gradient,
)
from autograd_core.ops.networks.row_convolution import (
    by_rows,
    goes_by_rows,
    input_gradient_by_rows,
    weight_gradient_by_rows,
)
from autograd_core.ops.networks.windows import Windows

IN_BLOCKS = (
    F.elu, F.celu, F.gelu, F.silu, F.mish, F.softplus, F.logsigmoid, F.hardsigmoid, F.hardswish,
    F.sigmoid, F.leaky_relu, F.tanh,
)  # fmt: skip


@pytest.mark.parametrize("function", IN_BLOCKS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_large_array_gets_the_bits_of_its_parts(function: Any, dtype: str) -> None:
    array = np.linspace(-9, 9, 40_000).astype(dtype).reshape(200, 200)
    whole = torch.tensor(array, requires_grad=True)
    rows = [torch.tensor(row, requires_grad=True) for row in array]
    result = function(whole)
    parts = [function(row) for row in rows]
    assert result.detach().array.tobytes() == b"".join(r.detach().array.tobytes() for r in parts)
    result.sum().backward()
    for part in parts:
        part.sum().backward()
    assert whole.grad is not None
    assert whole.grad.array.tobytes() == b"".join(row.grad.array.tobytes() for row in rows)


def test_blocks_are_for_large_arrays_in_order() -> None:
    sizes: list[int] = []

    @in_blocks
    def twice(x: Any) -> Any:
        sizes.append(x.size)
        return x * 2

    large = np.arange(40_000.0).reshape(200, 200)
    assert (twice(large) == large * 2).all()
    assert len(sizes) > 1
    assert sum(sizes) == large.size
    sizes.clear()
    assert (twice(large.T) == large.T * 2).all()
    assert sizes == [large.size]


def test_gelu_of_floats_is_as_exact_as_its_dtype() -> None:
    x = np.linspace(-10, 10, 20_001).astype(np.float32)
    exact = [value * 0.5 * math.erfc(-value / math.sqrt(2)) for value in x.tolist()]
    found = F.gelu(torch.tensor(x)).array
    assert np.abs(found - np.array(exact)).max() < 1e-6
    ends = F.gelu(torch.tensor([math.inf, math.nan, 0.0])).tolist()
    assert ends[0] == math.inf
    assert math.isnan(ends[1])
    assert ends[2] == 0


def test_blocks_are_cut_from_all_arrays_alike() -> None:
    @in_blocks
    def blend(x: Any, y: Any, number: Any) -> Any:
        return x * number + y

    x, y = np.arange(80_000.0).reshape(2, 200, 200)
    half = np.array(0.5)
    assert (blend(x, y, half) == x * half + y).all()
    assert (blend(x, y[0], half) == x * half + y[0]).all()
    assert (blend(x, y.T, half) == x * half + y.T).all()


RULES_IN_BLOCKS = sorted(
    (op.name, edge)
    for op in OPS.values()
    for edge, rule in op.rules.items()
    if op.pointwise
    and rule.takes_passes
    and "g" in rule.names
    and set(rule.names) <= {"g", *op.values, *op.outputs}
)


def needs_scipy(op: Op) -> bool:
    return op.call.__module__.endswith("special_functions")


@pytest.mark.parametrize(
    ("name", "edge"),
    [
        pytest.param(name, edge, marks=pytest.mark.extra("scipy"))
        if needs_scipy(OPS[name])
        else (name, edge)
        for name, edge in RULES_IN_BLOCKS
    ],
)
def test_a_rule_in_blocks_gives_the_bits_of_the_rule(name: str, edge: str) -> None:
    op = OPS[name]
    rule, rng = op.rules[edge], np.random.default_rng(0)
    arrays = [
        rng.random(40_000) < 0.5 if each in op.keeps else rng.random(40_000) + 0.5
        for each in rule.names
    ]
    with np.errstate(all="ignore"):
        whole = rule.function(*arrays)
        assert in_blocks(rule.function)(*arrays).tobytes() == whole.tobytes()
        twin = as_passes(op, edge)
        assert twin is None or twin(*arrays).tobytes() == whole.tobytes()


@pytest.mark.parametrize(
    ("kernel", "padding", "dilation", "groups"),
    [((3, 3), (1, 1), (1, 1), 1), ((3, 2), (2, 0), (2, 1), 2), ((1, 3), (0, 3), (1, 2), 1)],
)
def test_pictures_by_rows_are_convolved_as_by_columns(
    kernel: tuple[int, int], padding: tuple[int, int], dilation: tuple[int, int], groups: int
) -> None:
    rng = np.random.default_rng(0)
    windows = Windows(kernel, (1, 1), padding, dilation)
    x, weight = (
        rng.standard_normal((5, 32, 13, 12)),
        rng.standard_normal((34, 32 // groups, *kernel)),
    )
    bias, x.flags.writeable = rng.standard_normal(34), False
    assert goes_by_rows(x, weight, windows, groups)
    result = by_rows(x, weight, bias, windows, groups)
    np.testing.assert_allclose(result, _convolved(x, weight, bias, windows, groups))
    g = rng.standard_normal(result.shape)
    found = input_gradient_by_rows(g, weight, x.shape, windows, groups)
    np.testing.assert_allclose(found, _input_gradient(g, weight, x.shape, windows, groups))
    found = weight_gradient_by_rows(g, x, weight.shape, windows, groups)
    expected = _weight_gradient(g, x, weight.shape, windows, groups)
    np.testing.assert_allclose(found, expected, atol=1e-11)


@pytest.mark.parametrize("function", [F.softmax, F.log_softmax])
@pytest.mark.parametrize("far", [0.0, 60.0, -200.0, math.inf, -math.inf, math.nan])
def test_large_rows_get_what_small_ones_get(function: Any, far: float) -> None:
    array = np.random.default_rng(0).standard_normal((300, 200))
    array[7] += far
    array[8, :100] = -math.inf
    whole = torch.tensor(array, requires_grad=True)
    rows = [torch.tensor(row, requires_grad=True) for row in array]
    slopes = torch.tensor(array[::-1].copy()).nan_to_num(0, 1, -1)
    with np.errstate(invalid="ignore", over="ignore"):
        result, parts = function(whole, 1), [function(row, 0) for row in rows]
        result.backward(slopes)
        for part, slope in zip(parts, slopes, strict=True):
            part.backward(slope)
    np.testing.assert_allclose(result.detach().array, [part.detach().array for part in parts])
    assert whole.grad is not None
    expected = [row.grad.array for row in rows]
    np.testing.assert_allclose(whole.grad.array, expected, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("affine", [True, False])
def test_many_rows_are_normalized_as_few(affine: bool) -> None:
    rng = np.random.default_rng(0)
    array, slopes = rng.standard_normal((2, 600, 150)) + 3
    found = []
    for count in (600, 100):
        x = torch.tensor(array, requires_grad=True)
        weight, bias = (torch.tensor(rng.random(150), requires_grad=True) for _ in range(2))
        weight, bias = found[0][:2] if found else (weight, bias)
        grads, results = [], []
        for start in range(0, 600, count):
            part = x[start : start + count]
            y = F.layer_norm(part, (150,), *((weight, bias) if affine else ()))
            leaves = (x, weight, bias) if affine else (x,)
            seed = torch.tensor(slopes[start : start + count])
            grads.append([g.array for g in torch.autograd.grad(y, leaves, seed)])
            results.append(y.detach().array)
        totals = [sum(each) for each in zip(*grads, strict=True)]
        found.append((weight, bias, [np.concatenate(results), *totals]))
    for one, other in zip(found[0][2], found[1][2], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_a_large_index_finds_what_numpy_finds(dim: int) -> None:
    rng = np.random.default_rng(0)
    array = rng.standard_normal((601, 20, 15))
    places = rng.integers(0, array.shape[dim], (600, 20, 15))
    x = torch.tensor(array, requires_grad=True)
    y = x.gather(dim, torch.tensor(places))
    rows = array if dim == 0 else array[:600]
    assert np.array_equal(y.detach().array, np.take_along_axis(rows, places, dim))
    g = rng.integers(0, 9, places.shape).astype(float)
    y.backward(torch.tensor(g))
    expected = np.zeros_like(array)
    where = list(np.indices(places.shape))
    where[dim] = places
    np.add.at(expected, tuple(where), g)
    assert x.grad is not None
    assert np.array_equal(x.grad.array, expected)


def test_short_buffers_change_nothing_else_and_nothing_afterwards() -> None:
    before = np.getbufsize()
    with np.errstate(over="raise"):
        settings = np.geterr()
        with short_buffers(768):
            assert np.getbufsize() < 768
            assert np.geterr() == settings
        assert np.geterr() == settings
    assert np.getbufsize() == before


@pytest.mark.parametrize("special", [0.0, np.inf, np.nan, 3e38])
def test_running_sums_of_long_rows_are_those_of_short_ones(special: float) -> None:
    array = np.random.default_rng(0).standard_normal((3, 40, 320)).astype(np.float32)
    array[1, 7, 100:102] = special
    x = torch.tensor(array, requires_grad=True)
    with np.errstate(all="ignore"):
        expected = np.cumsum(array, -1)
    result = x.cumsum(-1)
    np.testing.assert_allclose(result.detach().array, expected, 1e-5, 1e-4)
    result.backward(x.detach())
    with np.errstate(all="ignore"):
        backwards = np.cumsum(array[..., ::-1], -1)[..., ::-1]
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.array, backwards, 1e-5, 1e-4)


@pytest.mark.parametrize("highest", [0.0, 60.0, 100.0, np.inf, np.nan])
def test_softmax_of_a_large_array_is_that_of_its_rows(highest: float) -> None:
    array = np.random.default_rng(0).standard_normal((300, 200)).astype(np.float32) - 30
    array[7, 100] = highest
    whole = F.log_softmax(torch.tensor(array), -1).array, F.softmax(torch.tensor(array), -1).array
    with np.errstate(invalid="ignore"):
        for row in (6, 7, 8):
            alone = torch.tensor(array[row])
            np.testing.assert_allclose(whole[0][row], F.log_softmax(alone, -1).array, 1e-6)
            np.testing.assert_allclose(whole[1][row], F.softmax(alone, -1).array, 1e-5)


def test_a_gradient_that_somebody_sees_is_not_written_over() -> None:
    array = np.random.default_rng(0).standard_normal((300, 500)).astype(np.float32)
    factor = torch.tensor(array[::-1].copy())
    expected = np.where(array > 0, factor.array, 0)
    x = torch.tensor(array, requires_grad=True)
    seed = factor.clone()
    torch.relu(x).backward(seed)  # the seed is the user's
    assert (seed.array == factor.array).all()
    seen: list[Any] = []
    z = torch.relu(x)
    z.retain_grad()
    z.register_hook(seen.append)
    (z * factor).sum().backward()
    assert z.grad is not None
    assert (z.grad.array == factor.array).all()
    assert (seen[0].array == factor.array).all()
    z = torch.relu(x)
    both = z + z  # one gradient arrives twice
    (both * factor).sum().backward(retain_graph=True)
    (both * factor).sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.array, expected * 6, 1e-5)
    (g,) = torch.autograd.grad((torch.relu(x) * factor).sum(), x)
    assert (g.array == expected).all()


def test_a_gradient_that_nobody_else_needs_is_written_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = torch.ones(400, 500, requires_grad=True)
    for _ in range(2):  # the first time, code is made
        torch.relu(x * 1.0).exp().sum().backward()
    code = OPS["relu"].node_class.backward.__globals__
    spent: list[Any] = []
    spend = code["spending_self"]

    def noted(g: Any, y: Any) -> Any:
        spent.append(spend(g, y))
        return spent[-1]

    monkeypatch.setitem(code, "spending_self", noted)
    torch.relu(x * 1.0).exp().sum().backward()
    assert len(spent) == 1
    torch.relu(x * 1.0).exp().sum().backward(retain_graph=True)
    assert len(spent) == 1
