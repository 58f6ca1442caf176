"""``gradstep.record`` in a program, and what its arguments may be."""

from __future__ import annotations

import math
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import gradstep
from gradstep.recording.reading import FileRun

LIBRARIES = ["autograd_core", pytest.param("torch", marks=pytest.mark.torch)]


@pytest.fixture(params=LIBRARIES)
def torch(request: pytest.FixtureRequest) -> Any:
    return import_module(request.param)


def train(torch: Any, steps: int, after: Any = lambda: None) -> None:
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Linear(2, 1))
    frozen = torch.ones(1, requires_grad=True)
    sgd = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(steps):
        sgd.zero_grad()
        loss = (net(torch.ones(4, 3)) * frozen).pow(2).mean()
        loss.backward()
        sgd.step()
        after()


def test_what_is_known_of_leaves_and_of_calls(torch: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.gsr"
    with gradstep.record(path, every=3, budget=None):
        train(torch, 7)
        warnings.warn("odd", stacklevel=1)
    with FileRun(path) as run:
        assert run.indices == [*range(1, 8)]
        assert run.full == [3, 6, 7]
        names = [each.name for each in run.leaves]
        assert sorted(names) == ["0.bias", "0.weight", "1.bias", "1.weight", "frozen"]
        known = {leaf.name: run.of_leaves(5)[leaf.number] for leaf in run.leaves}
        assert known["0.weight"].optimizer == "sgd"
        assert known["frozen"].optimizer == ""
        assert known["frozen"].update_rms == 0
        assert (known["0.weight"].update_rms or 0) > 0
        assert known["1.bias"].training is True
        assert known["1.bias"].before is None
        grads = [facts.after for _, facts in run.over_calls(names.index("1.bias"))]
        assert [each is not None for each in grads] == [True] * 7
        assert [each.message for each in run.warnings] == ["odd"]
        assert run.header.engines.keys() == {torch.__name__}


def test_a_leaf_is_one_tensor_whatever_functions_call_it(torch: Any, tmp_path: Path) -> None:
    def learn(net: Any, sgd: Any) -> None:
        sgd.zero_grad()
        net(torch.ones(4, 3)).sum().backward()
        sgd.step()

    def step(pair: Any) -> None:
        learn(*pair)

    def pair() -> Any:
        net = torch.nn.Linear(3, 2)
        return net, torch.optim.SGD(net.parameters(), lr=0.1)

    path, pairs = tmp_path / "run.gsr", [pair(), pair()]
    with gradstep.record(path, budget=None):
        for _ in range(3):
            for each in pairs:
                step(each)
    with FileRun(path) as run:
        names = {leaf.name: leaf.number for leaf in run.leaves}
        assert len(names) == 4
        for number in names.values():
            seen = [facts.update_rms for _, facts in run.over_calls(number)]
            assert len(seen) == 3
            assert all(seen[1:])  # of a step of its own
        assert {facts.optimizer for call in run.indices for facts in run.of_leaves(call)} != {""}


def test_what_has_changed_a_leaf_is_known_to_the_bit(torch: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.gsr"
    plain = torch.zeros(2, 2, requires_grad=True)
    turned = torch.zeros(3, 2).t().requires_grad_()
    half = torch.zeros(4, dtype=torch.float16, requires_grad=True)
    replaced = torch.zeros(4, requires_grad=True)
    leaves = [plain, turned, half, replaced]
    steps = [0.5, 0.0, 2.0**-9, math.inf, 1.0]
    with gradstep.record(path, values="leaves", budget=None):
        for number, step in enumerate([*steps, 0.0]):
            sum(leaf.float().sum() for leaf in leaves).backward()
            with torch.no_grad():
                for leaf in leaves:
                    leaf += step
                if number == 1:
                    replaced.data, replaced.grad = torch.zeros(2, 2), None
    with FileRun(path) as run:
        for leaf in run.leaves:
            updates = [facts.update_rms for _, facts in run.over_calls(leaf.number)]
            known = [None, *steps]
            known[5] = math.nan  # infinite before and after
            if leaf.name == "replaced":
                known[2] = None
            assert updates == pytest.approx(known, nan_ok=True), leaf.name


def test_calls_in_full_have_lines_and_modules_though_those_between_are_not_noted(
    torch: Any, tmp_path: Path
) -> None:
    path = tmp_path / "run.gsr"
    with gradstep.record(path, call="4", budget=None):
        train(torch, 5)
    with FileRun(path) as run:
        assert run.full == [4]
        graph = run.graph(run.call(4).structure)
        places = {graph.node(id).source for id in range(len(graph)) if graph.kinds[id] == "op"}
        files = {Path(each.file).name for each in places if each is not None}
        assert files == {Path(__file__).name}
        assert {"0", "1"} <= set(graph.scopes)
        assert run.source(next(iter(places - {None})).file)  # type: ignore[union-attr]


def test_steps_are_told_where_there_is_no_block(torch: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.gsr"
    recording = gradstep.record(path, values="leaves", budget=None)
    train(torch, 4, recording.step)
    recording.close()
    train(torch, 2)
    assert recording.calls == 3
    with FileRun(path) as run:
        assert [call.step for call in run.calls()] == [1, 2, 3]
        assert run.full == []


def test_a_flight_recorder_writes_when_something_goes_wrong(torch: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.gsr"
    x = torch.ones(3, requires_grad=True)

    def losses() -> None:
        for number in range(1, 9):
            x.grad = None
            (x * (0.0 if number != 6 else float("inf"))).sum().backward()

    with gradstep.record(path, when="inf", keep=3, budget=1.0001):
        losses()
    with FileRun(path) as run:
        assert run.indices == [4, 5, 6]
        assert run.call(6).is_troubled
        assert 6 in run.full
    with pytest.raises(ZeroDivisionError), gradstep.record(path, when="nan", keep=2):
        fail(losses)
    with FileRun(path) as run:
        assert run.indices == [7, 8]
        assert "the run ended by ZeroDivisionError" in run.notes


def test_a_flight_recorder_sees_a_gradient_that_is_nan_where_the_loss_is_not(
    torch: Any, tmp_path: Path
) -> None:
    path = tmp_path / "run.gsr"
    x = torch.ones(3, requires_grad=True)
    with gradstep.record(path, when="nan", keep=3, budget=1.0001):
        for number in range(1, 25):
            x.grad = None
            loss = ((x - float(number == 19)) ** 2).sum().sqrt()
            loss.backward()
    assert torch.isnan(x.grad).sum() == 0
    with FileRun(path) as run:
        assert run.indices == [17, 18, 19]
        assert run.full == [19]
        assert run.call(19).is_troubled
        assert run.call(19).loss == 0
        (leaf,) = run.of_leaves(19)
        assert leaf.after is not None
        assert leaf.after.nans == 3
        assert run.notes == ["nan in backward() call 19; 3 calls kept", "24 calls ran"]


@pytest.mark.parametrize("is_seen_before", [True, False])
def test_a_flight_recorder_never_runs_hooks_twice(
    torch: Any, is_seen_before: bool, tmp_path: Path
) -> None:
    path = tmp_path / "run.gsr"
    x = torch.ones(3, requires_grad=True)
    called = []
    with gradstep.record(path, when="nan", keep=3):
        for number in range(1, 9):
            x.grad = None
            y = x * (float("nan") if is_seen_before and number == 6 else 1.0)
            y.register_hook(called.append)
            factor = float("nan") if not is_seen_before and number == 6 else 1.0
            y.register_hook(lambda gradient, factor=factor: gradient * factor)
            y.sum().backward()
    assert len(called) == 8
    with FileRun(path) as run:
        assert run.indices == [4, 5, 6]
        assert run.full == [6]
        assert run.notes[0] == "nan in backward() call 6; 3 calls kept"


def fail(after: Any) -> None:
    after()
    raise ZeroDivisionError


@pytest.mark.parametrize(
    "arguments",
    [{"values": "some"}, {"budget": 0.5}, {"every": -1}, {"keep": 0, "when": "nan"}],
)
def test_arguments_that_are_wrong(arguments: Any) -> None:
    with pytest.raises(ValueError, match="not"):
        gradstep.record(**arguments)
