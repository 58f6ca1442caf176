"""``render --profile`` on PyTorch: what each node of the backward pass takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from gradstep.contract.profiling import profiling  # noqa: E402
from gradstep.engines.pytorch.stepping import observed_engine  # noqa: E402
from gradstep.graph import Graph  # noqa: E402
from gradstep.program.calls import CallSelector, intercepting, run_and_capture  # noqa: E402
from tests.forking import run_gradstep  # noqa: E402

pytestmark = pytest.mark.torch
NAP = 0.05


class Slow(torch.autograd.Function):  # type: ignore[misc]  # torch is not there for every check
    clock = 0.0  # without a GPU

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 1

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        if g.is_cuda:
            torch.cuda._sleep(200_000_000)  # cycles, on the device: the hook behind comes at once
        else:
            Slow.clock += NAP
        return g * 1


def measured(program: Callable[[], None]) -> Graph:
    found: list[Graph] = []

    def handle(call: Any) -> Any:
        graph, answer = run_and_capture(call, "both")
        found.append(graph)
        return answer

    with intercepting(handle, CallSelector()), profiling():
        program()
    return found[0]


def costs(graph: Graph) -> dict[str, Any]:
    return {
        graph.address(id): cost
        for id, cost in graph.costs.items()
        if graph.halves[id] == "backward"
    }


def test_the_time_is_where_it_goes_and_the_bytes_are_those_that_are_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(observed_engine, "perf_counter", lambda: Slow.clock)

    def program() -> None:
        x = torch.ones(8, requires_grad=True)
        Slow.apply(x.exp()).sum().backward()

    graph = measured(program)
    found = costs(graph)
    assert found["slow:1"].backward_bytes == 8 * 4
    seconds = {name: cost.backward_seconds for name, cost in found.items()}
    assert seconds == dict.fromkeys(seconds, 0) | {"slow:1": NAP}
    assert {cost.forward_seconds for cost in graph.costs.values()} == {None}


def test_without_a_profile_nothing_is_measured() -> None:
    x = torch.ones(8, requires_grad=True)
    found: list[Graph] = []

    def handle(call: Any) -> Any:
        graph, answer = run_and_capture(call, "both")
        found.append(graph)
        return answer

    with intercepting(handle, CallSelector()):
        x.exp().sum().backward()
    assert not found[0].costs


@pytest.mark.parametrize("values", [[], ["--values"]])
def test_a_picture_of_a_script_has_the_times(values: list[str], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import torch\n"
        "e = torch.nn.Embedding(5, 2, sparse=True)\n"
        "e(torch.tensor([1, 2])).exp().sum().backward()\n"
        "print(e.weight.grad.coalesce().values().sum().item() > 0)\n",
        "utf-8",
    )
    words = ["render", "--profile", *values, "--call", "last", "-o", "picture.txt", "train.py"]
    done = run_gradstep(words, tmp_path)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    drawn = (tmp_path / "picture.txt").read_text("utf-8")
    assert " · took " in drawn
    assert "µs" in drawn


@pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch sees no GPU")
def test_on_a_gpu_the_time_is_that_of_the_gpu() -> None:
    def program() -> None:
        x = torch.ones(8, requires_grad=True, device="cuda")
        Slow.apply(x.exp()).sum().backward()

    found = costs(measured(program))
    assert found["slow:1"].backward_seconds >= NAP
    others = [cost.backward_seconds for name, cost in found.items() if name != "slow:1"]
    assert sum(others) < found["slow:1"].backward_seconds
