"""Mistakes that users make with operators, answered as PyTorch answers them: type and words."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import autograd_core
import autograd_core.linalg
import autograd_core.nn.functional

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

MISTAKES: list[Callable[[Any], Any]] = [
    lambda t: t.sin(1.0),
    lambda t: t.sin("a"),
    lambda t: t.exp([1.0]),
    lambda t: t.add(t.ones(2), "a"),
    lambda t: t.mul("a", t.ones(2)),
    lambda t: t.matmul(t.ones(2), 3.0),
    lambda t: t.tensor([[1, 2], [3]]),
    lambda t: t.tensor("a"),
    lambda t: t.tensor([1, "a"]),
    lambda t: t.tensor(None),
    lambda t: t.tensor([None]),
    lambda t: t.tensor({}),
    lambda t: t.tensor([[1, 2], 3]),
    lambda t: t.tensor([1.0], dtype="float32"),
    lambda t: t.ones(2, 3) @ t.ones(2, 3),
    lambda t: t.matmul(t.ones(2), t.ones(3)),
    lambda t: t.matmul(t.ones(2, 3), t.ones(2)),
    lambda t: t.matmul(t.ones(2), t.ones(3, 2)),
    lambda t: t.matmul(t.tensor(1.0), t.ones(2)),
    lambda t: t.matmul(t.ones(2, 3, 4), t.ones(3, 4, 5)),
    lambda t: t.mm(t.ones(2, 3), t.ones(2, 3)),
    lambda t: t.tensor(1) % 0,
    lambda t: t.tensor([1, 2]) % t.tensor([1, 0]),
    lambda t: t.tensor(1).fmod(0),
    lambda t: t.bmm(t.ones(2, 3), t.ones(2, 3)),
    lambda t: t.bmm(t.ones(2, 3, 4), t.ones(3, 3)),
    lambda t: t.addmm(t.ones(2), t.ones(1, 2, dtype=t.float64), t.ones(2, 2)),
    lambda t: t.nn.Linear(2, 2)(t.ones(1, 2, dtype=t.float64)),
    lambda t: t.dot(t.ones(2), t.ones(2, dtype=t.float64)),
    lambda t: t.allclose(t.ones(2), t.ones(2, dtype=t.float64)),
    lambda t: t.ones(2, 3).gather(1, t.tensor([0])),
    lambda t: t.ones(3).scatter(0, t.tensor([[0]]), t.ones(1, 1)),
    lambda t: t.einsum("ijk", t.ones(2, 3)),
    lambda t: t.einsum("...ijk", t.ones(2, 3)),
    lambda t: t.einsum("ij"),
    lambda t: t.nn.functional.cross_entropy(t.ones(4, 3), t.tensor([[0], [1], [1], [1]])),
    lambda t: t.nn.functional.cross_entropy(t.ones(4, 3), t.tensor([0.0, 1.0, 1.0, 1.0])),
    lambda t: t.nn.functional.cross_entropy(t.ones(4, 3), t.tensor([0, 1, 1, 1]), weight=t.ones(2)),
    lambda t: t.nn.functional.nll_loss(t.ones(4, 3), t.tensor([0, 1, 1, 1]).int()),
    lambda t: t.nn.Linear(2, 2)(1),
    lambda t: t.nn.GRUCell(3, 4)(t.ones(2, 5)),
    lambda t: t.nn.LSTMCell(3, 4)(t.ones(2, 3), (t.ones(2, 4), t.ones(2, 5))),
    lambda t: t.nn.Embedding(5, 2, padding_idx=7),
    lambda t: t.nn.Embedding.from_pretrained(t.ones(2)),
    lambda t: t.ones(2, 3)[0, 3],
    lambda t: t.ones(2, 3)[None, 0, :, 0, 0],
    lambda t: t.ones(2, 3, 4)[:, None, 1, 5],
    lambda t: t.ones(2, 3)[t.tensor([True])],
    lambda t: t.ones(2, 3)[:, t.tensor([True, False])],
    lambda t: t.ones(2, 3).__setitem__(0, t.ones(5)),
    lambda t: t.ones(2, 3).__setitem__(t.ones(2, 3) > 0, t.ones(3)),
    lambda t: t.ones(2, 3).__setitem__((0, 0), "a"),
    lambda t: t.Tensor(3.0),
    lambda t: t.Tensor("a"),
    lambda t: t.Tensor(-1),
    lambda t: t.mm(t.ones(2), t.ones(2, 3)),
    lambda t: t.bmm(t.ones(2, 3, 4), t.ones(2, 3, 4)),
    lambda t: t.mv(t.ones(2, 3), t.ones(2)),
    lambda t: t.dot(t.ones(2), t.ones(3)),
    lambda t: t.dot(t.ones(2, 2), t.ones(2)),
    lambda t: t.addmm(t.ones(2, 2), t.ones(2, 3), t.ones(2, 3)),
    lambda t: t.mm(t.ones(2, 2), t.ones(2, 2, dtype=t.float64)),
    lambda t: t.cat([t.ones(2, 3), t.ones(2, 4)]),
    lambda t: t.cat([t.ones(2, 3), t.ones(2)]),
    lambda t: t.cat([]),
    lambda t: t.cat([t.ones(2)], dim=1),
    lambda t: t.cat(t.ones(2)),
    lambda t: t.cat([t.ones(2), 3]),
    lambda t: t.stack([t.ones(2), t.ones(3)]),
    lambda t: t.stack([]),
    lambda t: t.ones(2, 3).view(4),
    lambda t: t.ones(2, 3).view(-1, -1),
    lambda t: t.ones(2, 3).t().view(6),
    lambda t: t.ones(2, 3).reshape(5),
    lambda t: t.ones(2, 3).view(4, -1),
    lambda t: t.ones(0).view(0, -1),
    lambda t: t.ones(2, 3).expand(2, 4),
    lambda t: t.ones(2, 3).expand(3),
    lambda t: t.ones(2, 3).expand(-1, 2, 3),
    lambda t: t.ones(2, 3).transpose(0, 2),
    lambda t: t.ones(2, 3).permute(0, 0),
    lambda t: t.ones(2, 3).permute(0),
    lambda t: t.ones(2, 3, 4).t(),
    lambda t: t.ones(2, 3).squeeze(2),
    lambda t: t.ones(2).unsqueeze(3),
    lambda t: t.ones(2, 3).sum(2),
    lambda t: t.ones(2, 3).max(3),
    lambda t: t.ones(0).max(),
    lambda t: t.ones(2, 3).mean(5),
    lambda t: t.tensor([1, 2]).mean(),
    lambda t: t.ones(2, 3) + t.ones(2, 4),
    lambda t: t.ones(2, 3)[2],
    lambda t: t.ones(2, 3)["a"],
    lambda t: t.ones(2, 3)[0, 0, 0],
    lambda t: t.ones(2)[t.tensor([3])],
    lambda t: t.ones(2)[1.5],
    lambda t: t.ones(2)[t.tensor([1.0])],
    lambda t: t.tensor(1.0)[0],
    lambda t: t.ones(2, 3)[:, ::-1],
    lambda t: t.ones(2).item(),
    lambda t: bool(t.ones(2)),
    lambda t: len(t.tensor(1)),
    lambda t: iter(t.tensor(1)),
    lambda t: t.ones(2).requires_grad_().numpy(),
    lambda t: t.ones(2).backward(),
    lambda t: t.ones(2, requires_grad=True).backward(),
    lambda t: (t.ones(2, requires_grad=True) * 2).backward(),
    lambda t: (t.ones(2, requires_grad=True) * 2).backward(t.ones(3)),
    lambda t: t.add(t.tensor([1]), t.tensor([1]), alpha=0.5),
    lambda t: t.tensor([1]).add_(t.tensor([1.5])),
    lambda t: t.tensor([1]).div_(2),
    lambda t: t.tensor([True]) - t.tensor([True]),
    lambda t: -t.tensor([True]),
    lambda t: t.tensor([1]).add_(1.5),
    lambda t: t.sub(t.tensor([1]), 1, alpha=1.5),
    lambda t: t.zeros(2).add_(t.ones(3, 2)),
    lambda t: ~t.ones(2),
    lambda t: t.ones(2) & t.ones(2),
    lambda t: t.ones(2) << 1,
    lambda t: t.arange(0, 5, -1),
    lambda t: t.arange(0, 5, 0),
    lambda t: t.linspace(0, 1, -1),
    lambda t: t.eye(-1),
    lambda t: t.nn.functional.linear(t.ones(2, 3), t.ones(4, 2)),
    lambda t: t.nn.Linear(3, 4)(t.ones(2, 2)),
    lambda t: t.nn.functional.conv2d(t.ones(1, 3, 4, 4), t.ones(2, 2, 3, 3)),
    lambda t: t.nn.functional.conv2d(t.ones(3, 4), t.ones(2, 2, 3, 3)),
    lambda t: t.nn.functional.cross_entropy(t.ones(2, 3), t.tensor([0, 3])),
    lambda t: t.nn.functional.cross_entropy(t.ones(2, 3), t.tensor([0, 1, 2])),
    lambda t: t.nn.functional.nll_loss(t.ones(2, 3), t.ones(2)),
    lambda t: t.nn.functional.mse_loss(t.ones(2), t.ones(3)),
    lambda t: t.nn.functional.binary_cross_entropy(t.tensor([2.0]), t.tensor([1.0])),
    lambda t: t.nn.functional.binary_cross_entropy(t.ones(2), t.ones(3)),
    lambda t: t.nn.functional.embedding(t.tensor([5]), t.ones(3, 2)),
    lambda t: t.nn.functional.dropout(t.ones(2), p=2),
    lambda t: t.nn.functional.layer_norm(t.ones(2, 3), (4,)),
    lambda t: t.nn.functional.batch_norm(t.ones(1, 3), None, None, training=True),
    lambda t: t.nn.functional.softmax(t.ones(2, 3), dim=2),
    lambda t: t.nn.functional.one_hot(t.tensor([1.5])),
    lambda t: t.nn.functional.mse_loss(t.ones(2), t.ones(2), reduction="avg"),
    lambda t: t.nn.BatchNorm2d(3)(t.ones(2, 3)),
    lambda t: t.nn.BatchNorm1d(3)(t.ones(2, 4)),
    lambda t: t.ones(2, 3).gather(1, t.tensor([[5]])),
    lambda t: t.ones(2, 3).index_select(0, t.tensor([5])),
    lambda t: t.ones(2, 3).masked_select(t.ones(2, 3)),
    lambda t: t.ones(2).topk(3),
    lambda t: t.ones(4).split(0),
    lambda t: t.ones(4).split([1, 2]),
    lambda t: t.ones(4).chunk(0),
    lambda t: t.einsum("ij,jk", t.ones(2, 3), t.ones(2, 3)),
    lambda t: t.linalg.inv(t.ones(2, 3)),
    lambda t: t.ones(2).foo,
    lambda t: t.ones(2).clamp(),
    lambda t: t.from_numpy([1]),
    lambda t: t.ones(2, 3).repeat(2),
    lambda t: t.ones(2, 3).flatten(1, 0),
    lambda t: t.ones(2, 3).narrow(0, 1, 5),
    lambda t: t.ones(2, 3).unfold(0, 3, 1),
    lambda t: t.ones(2, 3).diagonal(0, 0, 0),
    lambda t: t.ones(2, 3).roll(1, 5),
    lambda t: t.ones(2, 3).flip(5),
    lambda t: t.ones(2, 3).cumsum(2),
    lambda t: t.outer(t.ones(2, 2), t.ones(2)),
    lambda t: t.tensordot(t.ones(2, 2), t.ones(2, 2), -1),
    lambda t: t.tensordot(t.ones(2, 2), t.ones(2, 2), 3),
    lambda t: t.cross(t.ones(2), t.ones(2)),
    lambda t: t.ones(2, -1),
    lambda t: t.empty(-2),
    lambda t: t.full((-1,), 0),
    lambda t: t.randn(-1),
    lambda t: t.ones(2, 2).sum((0, 0)),
    lambda t: t.ones(2, 2).mean((0, 0)),
    lambda t: t.ones(2, 2).amax((0, 0)),
    lambda t: float(t.ones(2)),
    lambda t: int(t.ones(2)),
    lambda t: t.where(t.ones(2), t.ones(2), t.ones(2)),
    lambda t: t.ones(2).masked_fill(t.ones(2), 0.0),
    lambda t: t.ones(2).masked_scatter(t.ones(2), t.ones(2)),
    lambda t: t.linalg.inv(t.zeros(2, 2)),
    lambda t: t.linalg.cholesky(-t.eye(2)),
    lambda t: t.linalg.solve(t.zeros(2, 2), t.ones(2)),
    lambda t: t.ones(2, 2).gather(0, t.ones(2, 2)),
    lambda t: t.ones(2).flip(0, 0),
    lambda t: t.ones(2).kthvalue(5),
    lambda t: t.ones(0).argmax(),
    lambda t: t.ones(0, 2).max(0),
    lambda t: t.einsum("ij,jk", t.ones(2, 2)),
    lambda t: t.ones(2).tril(),
    lambda t: t.ones(2).repeat_interleave(-1),
    lambda t: t.ones(2, 2).roll((1, 1), 0),
    lambda t: t.nn.functional.pad(t.ones(2), (1,)),
    lambda t: t.multinomial(t.zeros(2), 1),
    lambda t: t.multinomial(t.ones(2), 3),
    lambda t: t.multinomial(t.ones(0), 1),
    lambda t: t.multinomial(t.ones(2), 0),
    lambda t: t.multinomial(t.tensor([-1.0, 2.0]), 1),
    lambda t: t.multinomial(t.tensor([1.0, t.inf]), 1),
    lambda t: t.multinomial(t.tensor([1.0, t.nan]), 1),
    lambda t: t.multinomial(t.tensor([1, 2]), 1),
    lambda t: t.multinomial(t.tensor(1.0), 1),
    lambda t: t.maximum(t.ones(2), 1),
    lambda t: t.fmin(1, t.ones(2)),
    lambda t: t.logical_and(t.ones(2), True),
    lambda t: t.logaddexp(t.ones(2), 1.0),
    lambda t: t.ldexp(t.ones(2), 1),
    lambda t: t.addcmul(t.ones(2), t.ones(2), 2.0),
    lambda t: t.tensor([True]) << t.tensor([True]),
    lambda t: t.tensor([True]) >> True,
    lambda t: f"{t.ones(2):.2f}",
    lambda t: t.nn.functional.batch_norm(t.ones(1), None, None, training=True),
    lambda t: t.nn.functional.batch_norm(t.ones(3), None, None),
    lambda t: t.nn.functional.batch_norm(t.ones(3), t.ones(3), t.ones(3)),
    lambda t: t.optim.SGD([t.ones(2, requires_grad=True)], lr=t.ones(2)),
    lambda t: t.optim.Adam([t.ones(2, requires_grad=True)], lr=t.tensor(0.1), foreach=True),
    lambda t: t.randint(5, 2, (1,)),
    lambda t: t.normal(0.0, -1.0, (1,)),
    lambda t: t.ones(2).quantile(2.0),
    lambda t: t.ones(2, 2, 2).cov(),
    lambda t: t.addmm(t.ones(3), t.ones(2, 2), t.ones(2, 2)),
    lambda t: t.ones(2, 2).movedim(0, 3),
    lambda t: t.trapz(t.ones(3), t.ones(2)),
    lambda t: t.tensor([t.ones(2), t.ones(2)]),
    lambda t: "a" in t.ones(2),
    lambda t: t.ones(2).__setitem__(0, None),
]


def _answer(namespace: Any, call: Callable[[Any], Any]) -> tuple[str, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call(namespace)
        except Exception as error:
            return type(error).__name__, str(error)
    raise AssertionError("this is no mistake")


@pytest.mark.sampled(50)
@pytest.mark.parametrize("call", MISTAKES)
def test_mistakes_are_answered_as_by_pytorch(call: Callable[[Any], Any]) -> None:
    assert _answer(autograd_core, call) == _answer(torch, call)


SYMBOLS = ["+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>", "<", "<="]
STRANGERS = ["'a'", "[1, 2]", "(1.0, 2.0)", "None", "{}", "object"]


@pytest.mark.sampled(20)
@pytest.mark.parametrize("stranger", STRANGERS)
@pytest.mark.parametrize("symbol", SYMBOLS)
def test_operators_leave_what_is_no_number_to_python(symbol: str, stranger: str) -> None:
    changed = f"{symbol}=" if symbol[0] not in "@<>" else symbol
    for left, right, how in (("x", stranger, symbol), (stranger, "x", symbol),
                             ("x", stranger, changed)):  # fmt: skip
        if stranger.startswith("'") and how == "%" and left == stranger:
            continue  # which is Python's formatting
        line = f"{left} {how} {right}"
        answers = [
            _answer(each, lambda t, line=line: exec(line, {"x": t.ones(2)}))
            for each in (autograd_core, torch)
        ]
        assert answers[0] == answers[1], line


def test_an_operand_that_knows_tensors_is_asked() -> None:
    class Knowing:
        def __radd__(self, other: Any) -> str:
            return f"{other.tolist()} and more"

    assert [t.ones(2) + Knowing() for t in (autograd_core, torch)] == ["[1.0, 1.0] and more"] * 2


WARNED: list[Callable[[Any, Any], Any]] = [
    lambda t, x: float(x.sum()),
    lambda t, x: x.sum().backward(create_graph=True),
    lambda t, x: t.autograd.backward(x.sum(), create_graph=True),
    lambda t, x: t.tensor(x),
    lambda t, x: t.tensor([x.sum(), x.sum()]),
    lambda t, x: x.T,
    lambda t, x: x.sum().item(),
    lambda t, x: int(x.sum()),
    lambda t, x: float(x.detach().sum()),
]


@pytest.mark.parametrize("call", WARNED)
def test_what_pytorch_warns_of_is_warned_of_where_the_user_stands(
    call: Callable[[Any, Any], Any],
) -> None:
    found = []
    always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)  # else once in the life of a process
    try:
        for t in (autograd_core, torch):
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                call(t, t.ones(2, requires_grad=True))
            texts = [str(each.message).partition(" (Triggered")[0] for each in told]
            found.append([*dict.fromkeys(texts)])
            assert t is torch or {each.filename for each in told} <= {__file__}
    finally:
        torch.set_warn_always(always)
    assert found[0] == found[1]
