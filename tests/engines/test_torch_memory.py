"""What is noted of a PyTorch program is kept no longer than what it is about."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from gradstep.capturing import Names  # noqa: E402
from gradstep.console.session import Session  # noqa: E402
from gradstep.contract.budget import Budget  # noqa: E402
from gradstep.contract.module_paths import ScopePath  # noqa: E402
from gradstep.contract.op_records import OpRecord  # noqa: E402
from gradstep.engines.pytorch import origins as origins_module  # noqa: E402  # imports torch
from gradstep.engines.pytorch.entry import intercepted  # noqa: E402
from gradstep.engines.pytorch.noting import noting  # noqa: E402
from gradstep.engines.pytorch.origins import Origins  # noqa: E402
from gradstep.engines.pytorch.stepping.driver import STEP_BYTES  # noqa: E402
from gradstep.engines.pytorch.tensor_table import TensorTable  # noqa: E402
from gradstep.graph.model import Source  # noqa: E402

pytestmark = pytest.mark.torch


def training() -> Iterator[Any]:
    """Train a net; yields each loss after its step."""
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(), torch.nn.Linear(8, 1)
    )
    optimizer = torch.optim.Adam(model.parameters())
    data = torch.ones(8, 4)
    while True:
        optimizer.zero_grad()
        loss = model(data).square().mean()
        loss.backward()
        optimizer.step()
        yield loss


def records_alive() -> int:
    gc.collect()
    return sum(type(each) is OpRecord for each in gc.get_objects())


def test_records_of_ops_go_with_their_nodes() -> None:
    steps = training()
    found = []
    with noting(values=True) as origins:
        for number, _loss in enumerate(steps):
            if number in (1, 15, 29):
                found.append((len(origins.records), records_alive()))
            if number == 29:
                break
    assert found[0] == found[1] == found[2]
    assert len(origins.records) >= 6  # of the last step
    del _loss
    steps.close()  # type: ignore[attr-defined]
    gc.collect()
    assert not origins.records


def add_in_place(h: Any) -> None:
    with torch.no_grad():
        h.add_(1)


def write_with_numpy(h: Any) -> None:
    h.detach().numpy()[:] = 7


@pytest.mark.parametrize("write", [add_in_place, lambda h: h.data.add_(1), write_with_numpy])
def test_an_activation_is_copied_when_it_is_about_to_be_written(write: Any) -> None:
    w = torch.ones(10_000, requires_grad=True)
    with noting(values=True, budget=Budget(1 << 20, reruns=False)) as origins:
        h = w * 2
        h.exp()
        copy = origins.ops.origin(h)[0].copies[0]()
        assert copy.tensor.data_ptr() == h.data_ptr()
        write(h)
        assert (copy.array == 2).all()
        assert not (h == 2).any()


def test_an_activation_that_was_written_unseen_is_unknown() -> None:
    w = torch.ones(10_000, requires_grad=True)
    with noting(values=True, budget=Budget(1 << 20, reruns=False)) as origins:
        h = w * 2
        h.exp()
        copy = origins.ops.origin(h)[0].copies[0]()
        with origins.ops.paused():
            add_in_place(h)
        assert copy.array is None


@pytest.mark.parametrize("reruns", [True, False])
def test_what_the_program_gives_is_copied_at_once(reruns: bool) -> None:
    w, numbers = torch.ones(3, requires_grad=True), np.ones(3, np.float32)
    with noting(values=True, budget=Budget(1 << 20, reruns=reruns)) as origins:
        x = torch.from_numpy(numbers)
        y = w * x
        numbers[:] = 5
        assert origins.ops.origin(x)[0].copies[0]().array.tolist() == [1, 1, 1]
        assert bool(origins.ops.inputs.of(y.grad_fn._sequence_nr())) == reruns


def test_a_trace_of_the_program_keeps_what_its_ops_ran_on() -> None:
    w = torch.ones(10_000, requires_grad=True)
    with noting(values=True, budget=Budget(1 << 20, reruns=False)) as origins:
        before = w * 2
        with noting(values=True):
            inside = before.exp()
        kept = [len(origins.ops.inputs.of(y.grad_fn._sequence_nr())) for y in (before, inside)]
    assert kept == [0, 1]


def test_a_table_forgets_tensors_that_are_gone() -> None:
    table, first, saved = TensorTable(), torch.ones(2), torch.ones(2, requires_grad=True) * 2
    for tensor in (first, saved):
        table[tensor] = tensor.shape
    y = saved.sin()  # of what the graph alone keeps, the table knows it still
    del first, tensor, saved
    assert [list(tensor.shape) for tensor in table] == [[2]]
    del y
    gc.collect()
    assert len(table) == 0
    assert torch.ones(2) not in table


def test_lines_and_modules_of_freed_graphs_are_forgotten_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(origins_module, "MANY", 60)
    with intercepted(), noting() as origins:
        for number, loss in enumerate(training()):
            place = origins.place(loss.grad_fn._sequence_nr())
            assert place is not None
            assert place.source is not None
            if number == 200:
                break
    assert len(origins._starts) <= 120
    assert len(origins._scopes) <= 120


def test_lines_of_a_graph_that_lives_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origins_module, "MANY", 10)
    origins = Origins()
    for number in range(1000):
        origins.enter(ScopePath(path=f"layers.{number}"), 2 * number)
        origins.ran(2 * number, 2 * number + 1, Source("train.py", number))
    places = [origins.place(2 * number) for number in range(1000)]
    assert [place and place.scope.path for place in places] == [f"layers.{n}" for n in range(1000)]
    assert [place and place.source and place.source.line for place in places] == [*range(1000)]


def test_an_attribute_of_a_subclass_of_the_program_does_not_hide_a_name() -> None:
    class Tagged(torch.Tensor):  # type: ignore[misc]
        identity = 7

    tensor = torch.ones(2).as_subclass(Tagged)
    assert Names({"tagged": tensor}).of(tensor) == "tagged"


def test_a_record_takes_the_gradients_it_keeps_and_a_copy_of_each_grad() -> None:
    model = torch.nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    x = torch.randn(2, 16, 32)
    model(x).square().mean().backward()
    session = Session(model(x).square().mean(), names={})
    session.continue_()
    steps = session.steps
    held: dict[int, int] = {}
    for step in steps:
        deliveries = [each for d in step.deliveries for each in (d.gradient, d.after)]
        for each in (*step.incoming, *step.hooked, *deliveries, step.before):
            if each is not None:
                storage = each.untyped_storage()
                held[storage.data_ptr()] = storage.nbytes()
    counted = session.snapshot.usage.bytes - STEP_BYTES * len(steps)
    loss = 4  # bytes: what entered the pass is counted with none of the steps
    assert counted == pytest.approx(sum(held.values()) - loss, rel=0.02)
    assert STEP_BYTES <= 1024
    session.abort()


def test_a_leaf_takes_over_the_gradient_that_is_recorded() -> None:
    model = torch.nn.Linear(3, 2)
    session = Session(model(torch.ones(4, 3)).square().sum(), names={})
    session.continue_()
    leaves = [step for step in session.steps if step.after is not None]
    assert len(leaves) == 2
    for step in leaves:
        assert step.after is step.node.origin.variable.grad
        assert step.after.data_ptr() == step.hooked[0].data_ptr()
    session.finish()


def test_a_record_shows_the_grad_that_was_there_or_says_that_it_was_changed_since(
    capsys: pytest.CaptureFixture[str],
) -> None:
    w = torch.ones(2, requires_grad=True)
    (w * 3).sum().backward()
    session = Session((w * 3).sum(), names={})
    session.continue_()
    session.finish()
    assert w.grad is not None
    w.grad.zero_()
    leaf = session.steps[-1]
    assert (leaf.before.tolist(), leaf.after.tolist()) == ([3.0, 3.0], [6.0, 6.0])
    assert not capsys.readouterr().err

    w.grad = None
    session = Session((w * 3).sum(), names={})
    session.continue_()
    session.finish()
    w.grad.zero_()  # type: ignore[attr-defined]  # the pass made it
    assert session.steps[-1].after.tolist() == [0.0, 0.0]
    assert session.steps
    assert capsys.readouterr().err == (
        "gradstep: the .grad that #3 made was changed in place later: it is shown as it is now\n"
    )
