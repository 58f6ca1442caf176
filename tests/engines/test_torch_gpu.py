"""Programs on a GPU: stepped through they end as plainly, and nothing more waits for the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch import nn  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

from autograd_core.autograd.profiler import profile  # noqa: E402
from gradstep.console.session import Session  # noqa: E402
from gradstep.engines.pytorch.noting import noting  # noqa: E402
from gradstep.program.calls import (  # noqa: E402
    CallSelector,
    InterceptedCall,
    intercepting,
    run_and_capture,
)
from tests.engines.test_torch_sessions import EVERY_CALL, finish, session_of, walk  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch sees no GPU"),
]


def convolution() -> Any:
    return nn.Sequential(
        nn.Unflatten(1, (1, 8, 8)), nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(),
        nn.Flatten(), nn.Linear(256, 2),
    )  # fmt: skip


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell, self.head = nn.LSTMCell(8, 16), nn.Linear(16, 2)

    def forward(self, x: Any) -> Any:
        state = None
        for part in x.reshape(-1, 8, 8).unbind(1):
            state = self.cell(part, state)
        return self.head(state[0])


class Attending(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
        self.head = nn.Linear(8, 2)

    def forward(self, x: Any) -> Any:
        return self.head(self.layer(x.reshape(-1, 8, 8)).mean(1))


class Hooked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(64, 8), nn.Linear(8, 2)

    def forward(self, x: Any) -> Any:
        hidden = self.first(x).tanh()
        hidden.register_hook(lambda gradient: gradient * 2)
        return self.second(hidden)


class Checkpointed(nn.Module):
    """Runs a pass inside a node, in the thread of the device."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(64, 8), nn.Linear(8, 2)

    def forward(self, x: Any) -> Any:
        hidden = self.first(x)
        return checkpoint(lambda v: self.second(v.tanh()), hidden, use_reentrant=True)


PROGRAMS: dict[str, Callable[[], Any]] = {
    "mlp": lambda: nn.Sequential(nn.Linear(64, 8), nn.GELU(), nn.Linear(8, 2)),
    "convolution": convolution, "recurrent": Recurrent, "attending": Attending, "hooked": Hooked,
    "checkpointed": Checkpointed,
}  # fmt: skip


def trained(make: Callable[[], Any]) -> list[bytes]:
    """Train on a stream beside the default one, in half precision with scaled losses."""
    torch.manual_seed(0)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        model = make().cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cuda")
        x, wanted = torch.randn(6, 64, device="cuda"), torch.arange(6, device="cuda") % 2
        for _ in range(2):
            optimizer.zero_grad()
            with torch.autocast("cuda", torch.float16):
                loss = nn.functional.cross_entropy(model(x), wanted)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
    stream.synchronize()
    found = [each for p in model.parameters() for each in (p.detach(), p.grad)]
    return [each.cpu().numpy().tobytes() for each in found]


@pytest.mark.parametrize("hosted", [True, False], ids=["in the program's thread", "in its own"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_on_a_side_stream_ends_as_it_does_plainly(
    name: str, hosted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    monkeypatch.setattr(torch.backends.cudnn, "deterministic", True)

    def handle(found: InterceptedCall) -> Any:
        session = session_of(found)

        def body() -> Any:
            walk(session)
            return finish(session, found)

        return session.host(body) if hosted else body()

    plain = trained(PROGRAMS[name])
    assert trained(PROGRAMS[name]) == plain, "the program itself is not deterministic"
    with intercepting(handle, EVERY_CALL):
        assert trained(PROGRAMS[name]) == plain


def test_a_session_reads_on_the_streams_of_the_program() -> None:
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        session = Session(torch.ones(2, device="cuda", requires_grad=True).exp().sum(), names={})
        assert session.host(torch.cuda.current_stream) == stream
        session.finish()
    assert torch.cuda.current_stream() == torch.cuda.default_stream()


def test_a_pass_that_nobody_halts_waits_no_more_for_the_device() -> None:
    model = PROGRAMS["mlp"]().cuda()
    x = torch.randn(6, 64, device="cuda")
    model(x).sum().backward()  # what waits only the first time has
    asked: list[Any] = []
    with intercepting(asked.append, CallSelector(99)):
        torch.cuda.set_sync_debug_mode("error")
        try:
            model(x).sum().backward()
        finally:
            torch.cuda.set_sync_debug_mode("default")
    assert not asked


def test_a_pass_that_is_drawn_does_not_keep_its_gradients_on_the_device() -> None:
    x = torch.ones(1 << 20, device="cuda", requires_grad=True)  # 4 MB
    y = x
    for _ in range(200):
        y = y * 1.0  # which saves nothing
    loss = y.sum()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()

    def handle(found: InterceptedCall) -> Any:
        return run_and_capture(found, "backward")[1]

    with intercepting(handle, EVERY_CALL):
        loss.backward()
    assert torch.cuda.max_memory_allocated() - before < 300 << 20  # of 800 MB


def test_the_certificate_of_atomic_additions_finds_no_other_result() -> None:
    table = torch.randn(4, 64, device="cuda", requires_grad=True)
    rows = torch.randint(4, (1 << 16,), device="cuda")
    session = Session(torch.index_select(table, 0, rows).sin().sum(), names={})
    session.continue_()
    assert session.certificate().different == ()
    session.finish()


def test_a_profile_tells_what_the_device_took() -> None:
    x = torch.randn(2048, 2048, device="cuda", requires_grad=True)
    loss = (x @ x).relu().sum()
    graphs = []

    def handle(found: InterceptedCall) -> Any:
        graph, answer = run_and_capture(found, "backward")
        graphs.append(graph)
        return answer

    with profile(), intercepting(handle, EVERY_CALL):
        loss.backward()
    (graph,) = graphs
    seconds = {
        graph.names[id]: cost.backward_seconds
        for id, cost in graph.costs.items()
        if cost.backward_seconds is not None
    }
    assert seconds["MmBackward0"] > seconds["ReluBackward0"] > 0


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="PyTorch sees one GPU")
def test_every_device_of_a_pass_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    waited = []
    synchronize = torch.cuda.synchronize
    monkeypatch.setattr(
        torch.cuda, "synchronize", lambda each=None: (waited.append(each), synchronize(each))
    )
    x = torch.randn(4, device="cuda:1", requires_grad=True)
    session = Session((x.exp().to("cuda:0") * 2).sum().cpu(), names={})
    session.continue_()
    session.finish()
    assert {torch.device("cuda:0"), torch.device("cuda:1")} <= set(waited)


def test_a_graph_that_is_captured_is_let_alone() -> None:
    x = torch.randn(4, device="cuda")
    torch.dropout(x.exp(), 0.5, True)  # what is loaded only the first time has
    graph = torch.cuda.CUDAGraph()
    with noting(values=True), torch.cuda.graph(graph):
        y = torch.dropout(x.exp(), 0.5, True)
    graph.replay()
    assert set((y / x.exp()).round().tolist()) <= {0.0, 2.0}
