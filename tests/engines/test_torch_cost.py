"""What watching many small calls costs, in counts of what is done."""

from __future__ import annotations

from typing import Any
from weakref import finalize

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch import nn  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from gradstep.contract.op_records import LeafRecord  # noqa: E402
from gradstep.debugger.history import observed_pass  # noqa: E402
from gradstep.engines.pytorch import origins  # noqa: E402
from gradstep.engines.pytorch.engine import TorchTracing  # noqa: E402
from gradstep.engines.pytorch.noting import noting  # noqa: E402
from gradstep.engines.pytorch.private import dispatch_mode  # noqa: E402
from gradstep.engines.pytorch.stepping import driver, measuring, ran  # noqa: E402
from gradstep.program.calls import (  # noqa: E402
    CallSelector,
    InterceptedCall,
    intercepting,
    run_and_capture,
)
from gradstep_tui.commands.fail_on import FailOn  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The torch functions that the mode for lines hears of."""
    found: list[str] = []
    on_gradients = origins.Lines.__torch_function__

    def noted(self: Any, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found.append(getattr(function, "__name__", str(function)))
        return on_gradients(self, function, types, args, kwargs)

    monkeypatch.setattr(origins.Lines, "__torch_function__", noted)
    return found


def test_ops_are_left_alone_until_they_are_wanted_again() -> None:
    tracing, x = TorchTracing(), torch.ones(2, requires_grad=True)
    with noting(values=True) as known:
        same, changed = torch.zeros(2), torch.zeros(2)
        assert not tracing.describe_ops(on=False)
        changed.add_(1)
        left_alone = x * changed
        assert tracing.describe_ops(on=True)
        recorded = left_alone * same
        assert [*known.records] == [recorded.grad_fn._sequence_nr()]
        assert known.ops.origin(same)[0].name == "zeros"
        made_by, _ = known.ops.origin(changed)
        assert isinstance(made_by, LeafRecord)  # no op, as far as is known


def test_ops_are_not_left_alone_within_a_mode_of_the_programs() -> None:
    class Mode(TorchDispatchMode):
        def __torch_dispatch__(
            self, op: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return op(*args, **(kwargs or {}))

    tracing = TorchTracing()
    with noting(values=True):
        with Mode():
            assert tracing.describe_ops(on=False)
        assert not tracing.describe_ops(on=False)
        with Mode() as mode:
            assert not tracing.describe_ops(on=True)
            assert dispatch_mode() is mode
        assert tracing.describe_ops(on=True)
    assert dispatch_mode() is None


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW])
def test_the_steps_of_an_optimizer_are_not_looked_at(kind: Any, heard: list[str]) -> None:
    net = nn.Linear(3, 2)
    with noting() as known:
        optimizer = kind(net.parameters(), lr=0.1)
        net(torch.ones(1, 3)).sum().backward()
        heard.clear()
        optimizer.step()
        optimizer.zero_grad()
        assert heard == []
        loss = net(torch.ones(1, 3)).sum()
        assert "sum" in heard
        assert known.place(loss.grad_fn._sequence_nr()).source.file == __file__


def test_the_lines_of_a_closure_are_known(heard: list[str]) -> None:
    x = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.LBFGS([x], max_iter=1)
    losses = []

    def closure() -> Any:
        optimizer.zero_grad()
        losses.append(x.exp().sum())
        losses[-1].backward(retain_graph=True)
        return losses[-1]

    with noting() as known:
        optimizer.step(closure)
        place = known.place(losses[0].grad_fn._sequence_nr())
    assert place is not None
    assert place.source.file == __file__


def test_an_optimizer_that_raises_leaves_lines_noted() -> None:
    x = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([x], lr=0.1)
    optimizer.register_step_pre_hook(lambda *_: 1 / 0)
    with noting() as known:
        with pytest.raises(ZeroDivisionError):
            optimizer.step()
        loss = x.exp()
        assert known.place(loss.grad_fn._sequence_nr()).source.file == __file__


def test_the_kinds_of_optimizers_are_as_before() -> None:
    torch.optim.SGD([torch.ones(1, requires_grad=True)])
    kinds = [torch.optim.Optimizer, torch.optim.SGD, torch.optim.Adam]
    before = [(vars(kind).get("step"), vars(kind).get("zero_grad")) for kind in kinds]
    with noting():
        torch.optim.SGD([torch.ones(1, requires_grad=True)])
    torch.optim.Adam([torch.ones(1, requires_grad=True)])
    after = [(vars(kind).get("step"), vars(kind).get("zero_grad")) for kind in kinds]
    assert after[0] == before[0]
    assert after[1] == before[1]


@pytest.mark.parametrize(
    ("condition", "reductions"), [("nan", 2), ("rms > 1e6", 2), ("absmax > 1e6 or nan", 2)]
)
def test_a_call_in_which_nothing_is_found_is_measured_at_once(
    condition: str, reductions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []

    def counting(measure: Any) -> Any:
        def count(tensors: list[Any]) -> Any:
            counted.append(len(tensors))
            return measure(tensors)

        return count

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("no session is needed")

    monkeypatch.setattr(measuring, "norms", counting(measuring.norms))
    monkeypatch.setattr(measuring, "flattened", counting(measuring.flattened))
    monkeypatch.setattr(driver.TorchDriver, "__init__", never)
    watch = FailOn(condition)
    net = nn.Sequential(*[nn.Linear(4, 4) for _ in range(20)])
    half = nn.Linear(4, 4, dtype=torch.bfloat16)

    def handle(found: InterceptedCall) -> bool:
        raise AssertionError(f"{found.title} is to be looked at")

    with intercepting(handle, CallSelector(), look=watch.quick_look):
        for _ in range(3):
            counted.clear()
            (net(torch.ones(1, 4)).sum() + half(torch.ones(1, 4).bfloat16()).sum()).backward()
            assert len(counted) == reductions  # one for each dtype
            assert sum(counted) >= 42


def test_what_waits_to_be_measured_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []
    measured = ran.measured

    def noted(tensors: Any, **options: Any) -> Any:
        held.append(sum(0 if each is None else each.nbytes for each in tensors))
        return measured(tensors, **options)

    monkeypatch.setattr(ran, "measured", noted)
    monkeypatch.setattr(ran, "HELD", 4000)
    watch = FailOn("rms > 1e6")
    x = torch.ones(100, requires_grad=True)

    def handle(found: InterceptedCall) -> bool:
        raise AssertionError(found.title)

    with intercepting(handle, CallSelector(), look=watch.quick_look):
        y = x
        for _ in range(100):
            y = y.sin()
        y.sum().backward()
    assert sum(held) > 40_000
    assert max(held) <= 4400


def test_a_pass_that_is_drawn_keeps_some_gradients_and_drops_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alive: set[int] = set()
    most = 0

    def note(gradient: Any) -> None:
        nonlocal most
        alive.add(id(gradient))
        finalize(gradient, alive.discard, id(gradient))
        most = max(most, len(alive))

    def run() -> tuple[Any, Any]:
        x = torch.linspace(0, 1, 500, requires_grad=True)
        y = z = x
        for number in range(300):
            y = y.sin() if number % 5 else y * z
            z = y if number % 7 == 0 else z
            if y.requires_grad and number > 3:
                y.register_hook(note)
        return x, y.sum()

    graphs = []
    for bound in (10_000, 1 << 30):
        monkeypatch.setattr(driver, "RELIEVED", bound)
        monkeypatch.setattr(observed_pass, "_HELD", bound)
        x, loss = run()
        most = 0
        found: list[Any] = []

        def handle(call: InterceptedCall, found: list[Any] = found) -> Any:
            graph, answer = run_and_capture(call, "both")
            found.append(graph)
            return answer

        with intercepting(handle, CallSelector()):
            loss.backward()
        graphs.append((found[0], x.grad, most))
    (one, grad, few), (other, same, all_) = graphs
    assert few < 40 < 250 < all_
    assert torch.equal(grad, same)
    assert dict(one.statistics.items()) == dict(other.statistics.items())
    assert dict(one.edge_statistics.items()) == dict(other.edge_statistics.items())
    assert one.details == other.details
