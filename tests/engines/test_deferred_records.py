"""Records that are made late are those that are made at once, and keep nothing alive for long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

import pytest

import autograd_core as torch
from autograd_core.autograd.node import resolve
from gradstep import scope, trace
from gradstep.contract.op_records import OpRecord
from gradstep.engines.native.trace import tracing
from gradstep.engines.native.trace.deferred import NOTE
from gradstep.engines.native.trace.origins import origin


def told(record: Any, depth: int = 6) -> Any:
    """What a record says, and those that it leads to."""
    if not isinstance(record, OpRecord):
        return type(record).__name__, getattr(record, "shape", record)
    source = record.source
    inputs = [
        (each[1], told(each[0], depth - 1)) if isinstance(each, tuple) else each
        for each in (record.inputs if depth else ())
    ]
    scope = record.scope.around, record.scope.path
    known = record.name, dict(record.attributes), scope, record.grad_mode, record.gaps
    value = None if record.value() is None else record.value().tolist()  # type: ignore[union-attr]
    return *known, record.shapes, record.dtype, value, source and source.line, inputs


def plain(x: Any, m: Any) -> Any:
    with torch.no_grad():
        mask = (x > 0) * 2.0
    return (torch.relu(x * mask) @ m).sum()


def changed(x: Any, m: Any) -> Any:
    h = x * 3
    y = h + 1
    h.mul_(2)
    h[1] = 0.0
    return (y * h).sum()


def scoped(x: Any, m: Any) -> Any:
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Sequential(torch.nn.ReLU()))
    with scope("outer"):
        h = net(x @ m)
        with scope("inner"):
            return h.exp().sum()


def several(x: Any, m: Any) -> Any:
    values, _ = m.max(dim=0)
    first, second = (values * 2).unbind()
    torch.stack([first, second]).detach().numpy()
    return first * second + x.sum()


def two_losses(x: Any, m: Any) -> Any:
    h = (x @ m).relu()
    other = (h * 2 - 10).exp().sum()
    (h.sum() * 1).backward(retain_graph=True)
    return (other * 0).log()


def by_data(x: Any, m: Any) -> Any:
    h = x * 2
    x.data = x.data - 0.5
    h.detach().numpy()[0] = 0.0
    return (h.detach() * x / x.detach()).abs().sqrt().sum()


class Root(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.abs().sqrt()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g / (2 * x.sqrt())


def user_code(x: Any, m: Any) -> Any:
    h = x * torch.full((3,), 2.0)
    h.register_hook(lambda g: g * 1)
    return (Root.apply(h) * 0).sum()


def second_derivatives(x: Any, m: Any) -> Any:
    (slope,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    return (slope - 3).sum() * (slope * 1).sum()


def carried_along(x: Any, m: Any) -> Any:
    state, turned = torch.zeros(2), m.t()
    for step in range(3):
        state = (turned @ m @ m.t() @ x) / (state.detach() + 1)
        if step < 2:
            state.sum().backward()
    return state.sum()


PROGRAMS = [plain, changed, scoped, several, two_losses, by_data, user_code, second_derivatives,
            carried_along]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_records_made_late_say_what_those_made_at_once_do(program: Callable[..., Any]) -> None:
    found = []
    for defers in (False, True):
        torch.manual_seed(0)
        x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
        m = torch.ones(3, 2, requires_grad=True)
        with trace(values="core", defers=defers):
            loss = program(x, m)
            record, _ = origin(loss)  # type: ignore[misc]
            found.append(told(record))
    assert found[0] == found[1]
    assert found[0][0] in ("sum", "add", "log", "mul")


def test_what_a_pass_leaves_is_recorded_when_it_is_over() -> None:
    w = torch.ones(2, 3, requires_grad=True)
    x = torch.ones(3)
    with tracing(values="core", defers=True) as tracer:
        turned = w.t()
        once = x * 2
        other = ((w + 1) + 2).sum()
        loss = (x @ turned * once[:2]).exp().sum()
        loss.backward()
        assert not tracer._deferred.notes  # type: ignore[union-attr]
        for tensor, name in ((turned, "t"), (once, "mul"), (other, "sum"), (loss, "sum")):
            record = tensor._record[0]
            assert (record.name, record.source is None) == (name, False)
        inner: Any = resolve(other.edge)[0]
        assert inner.i0.record.name == "add"
        assert inner.i0.i0.record.name == "add"


def test_what_a_pass_has_freed_is_kept_no_longer() -> None:
    w = torch.ones(3, requires_grad=True)
    with trace(values="core", defers=True):
        hidden = (w * w).exp()
        array, made = ref(hidden.array), ref(hidden)
        loss = hidden.log().sum()
        del hidden
        assert made() is not None
        loss.backward()
        assert made() is None
        assert array() is None
        with pytest.raises(RuntimeError, match=r"begun at .*deferred_records.py:\d+"):
            loss.backward()


def test_a_graph_that_is_retained_keeps_its_lines() -> None:
    w = torch.ones(3, requires_grad=True)
    with trace(values="core", defers=True):
        loss = (w * w).exp().sum()
        loss.backward(retain_graph=True)
        node: Any = resolve(loss.edge)[0]
        assert [node.record.name, node.i0.record.name] == ["sum", "exp"]


def test_notes_take_as_much_memory_as_values_may_take() -> None:
    with tracing(values="core", budget=100 * NOTE, defers=True) as tracer, torch.no_grad():
        state = torch.ones(2)
        first = ref(state)
        for _ in range(150):
            state = state * 1.5
        assert first() is None
        assert len(tracer._deferred.notes) < 100  # type: ignore[union-attr]
        batches = []
        for _ in range(5):
            batch = torch.ones(30, NOTE)
            batch.sum()
            batches.append(ref(batch.array))
            del batch
        assert [each() for each in batches] == [None] * 5


def test_notes_keep_no_view_alive_that_would_forbid_a_change_in_place() -> None:
    base = torch.arange(6.0).reshape(2, 3).clone()
    with trace(values="core", defers=True):
        total = base[0].sum()
        view = base.view(6)
        seen = ref(view)
        del view
        base.t_()
        assert seen() is None
    assert (total.item(), base.shape) == (3, (3, 2))


def test_a_leaf_that_required_no_gradient_then_is_a_constant() -> None:
    x = torch.ones(2)
    w = torch.ones(2, requires_grad=True)
    with trace(values="core", defers=True):
        loss = (w * x).sum()
        x.requires_grad_(True)
        record: Any = resolve(loss.edge)[0].i0.record  # type: ignore[union-attr]
    assert [each[0].requires_grad for each in record.inputs] == [True, False]
