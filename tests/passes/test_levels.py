"""What each way to watch a call does to the program.

Code of the program's runs as often as plainly, its ``.grad`` are those of a plain run to the bit,
and what a call frees is freed when it is over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from typing import Any

import pytest

from gradstep.console.session import Session
from gradstep.debugger.breakpoints import Breakpoints
from gradstep.debugger.breakpoints.quick_look import QuickLook
from gradstep.findings.not_finite import NotFinite
from gradstep.findings.whole_run.watch import Watch
from gradstep.program.calls import (
    CallSelector,
    InterceptedCall,
    intercepting,
    run_and_capture,
    run_and_keep,
)
from gradstep.recording.facts import Header
from gradstep.recording.recorder import Flight, Recorder
from gradstep.recording.run import MemoryRun
from gradstep.recording.schedule import Schedule
from gradstep_tui.commands.fail_on import FailOn
from gradstep_tui.errors import Failure
from tests.both import TORCH

EVERY = CallSelector(None, ("backward", "grad"))
Program = Callable[..., Any]


def tensor_hook(torch: Any, ran: Counter[str], y: Any) -> Any:
    y.register_hook(lambda g: ran.update(["hook"]))
    return y


def node_hook(torch: Any, ran: Counter[str], y: Any) -> Any:
    y.grad_fn.register_hook(lambda sent, arrived: ran.update(["after"]))
    return y


def node_prehook(torch: Any, ran: Counter[str], y: Any) -> Any:
    y.grad_fn.register_prehook(lambda arrived: ran.update(["before"]))
    return y


def hook_of_a_leafs_node(torch: Any, ran: Counter[str], y: Any) -> Any:
    p = torch.ones(3, requires_grad=True)
    view = p.view_as(p)
    view.grad_fn.next_functions[0][0].register_hook(lambda sent, arrived: ran.update(["after"]))
    return y * view


def late_hook(torch: Any, ran: Counter[str], y: Any) -> Any:
    p = torch.ones(3, requires_grad=True)
    p.register_post_accumulate_grad_hook(lambda leaf: ran.update(["accumulated"]))
    return y * p


def function(torch: Any, ran: Counter[str], y: Any) -> Any:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            ran.update(["Function"])
            return g * 2

    return Twice.apply(y)


def unpack_hook(torch: Any, ran: Counter[str], y: Any) -> Any:
    def unpack(x: Any) -> Any:
        ran.update(["unpack"])
        return x

    with torch.autograd.graph.saved_tensors_hooks(lambda x: x, unpack):
        return y.exp()


def retained(torch: Any, ran: Counter[str], y: Any) -> Any:
    y.retain_grad()
    y.grad = torch.ones(3)
    return y


def checkpoint(torch: Any, ran: Counter[str], y: Any) -> Any:
    def part(x: Any) -> Any:
        ran.update(["part"])
        return x.exp()

    checkpoint = import_module(f"{torch.__name__}.utils.checkpoint").checkpoint
    return checkpoint(part, y, use_reentrant=True)


def nested_pass(torch: Any, ran: Counter[str], y: Any) -> Any:
    p = torch.ones(3, requires_grad=True)
    p.register_hook(lambda g: ran.update(["inside"]))

    def inner(g: Any) -> None:
        with torch.enable_grad():
            (p * 2).sum().backward()

    y.register_hook(inner)
    return y * 1


PIECES: list[Program] = [
    tensor_hook, node_hook, node_prehook, hook_of_a_leafs_node, late_hook, function, unpack_hook,
    retained, checkpoint, nested_pass,
]  # fmt: skip


def run(torch: Any, piece: Program, factor: float) -> list[Any]:
    """Run a program of one call; how often its code ran, its ``.grad``, and what is freed."""
    ran: Counter[str] = Counter()
    w = torch.full((3,), 0.5, requires_grad=True)
    y = w * 2.0
    z = piece(torch, ran, y).exp()
    (z * factor).sum().backward()
    try:
        z.sum().backward()
        again = ""
    except RuntimeError as error:
        again = str(error)[:40]
    kept = y.grad if y.retains_grad else None
    return [dict(ran), repr(w.grad.tolist()), kept is not None and repr(kept.tolist()), again]


@contextmanager
def plain() -> Iterator[None]:
    yield


@contextmanager
def failing_on(condition: str, *, tells: bool = True) -> Iterator[None]:
    watch = FailOn(condition)

    def handle(found: InterceptedCall) -> bool:
        session = Session.of_call(
            found.call, names=found.names, breakpoints=watch.breakpoints, driver=found.driver
        )
        watch.run_on(session)
        session.finish()
        return True

    watch.look.tells = tells

    with intercepting(handle, CallSelector(), look=watch.quick_look, ours=(Failure,)):
        yield


@contextmanager
def described() -> Iterator[None]:
    with intercepting(lambda found: run_and_capture(found, "both")[1], EVERY):
        yield


@contextmanager
def kept() -> Iterator[None]:
    with intercepting(lambda found: run_and_keep(found, "both")[1], EVERY):
        yield


@contextmanager
def halting() -> Iterator[None]:
    def handle(found: InterceptedCall) -> bool:
        session = Session.of_call(found.call, names=found.names)
        before = None
        while before != (before := (len(session.frames), session.position)):
            session.do("step")
        session.finish()
        return True

    with intercepting(handle, EVERY):
        yield


@contextmanager
def recorded(flight: Flight | None = None, **schedule: Any) -> Iterator[None]:
    header = Header((), {}, {}, "here", 1, 4, 1.0)
    watcher = Recorder(MemoryRun(header), header, Schedule(**schedule), flight)
    with intercepting(lambda found: False, EVERY, look=watcher) as calls:
        watcher.counts = calls.counts
        yield
    watcher.end()


@contextmanager
def checked(*, whole: bool = False) -> Iterator[None]:
    watch = Watch(is_whole=whole)  # else, as with --call, the program goes on
    with intercepting(
        lambda found: watch.look(found.call, lambda: found.names, found.number), EVERY
    ):
        yield


LEVELS: dict[str, Callable[[], Any]] = {
    "watched for nan": partial(failing_on, "nan"),
    "watched for infinities": partial(failing_on, "inf"),  # nan may come of one on the way
    "watched for sizes": partial(failing_on, "rms > 1e9"),
    "recorded without values": partial(recorded, full="leaves"),
    "recorded": recorded,
    "recorded when nan": partial(recorded, Flight(("nan",))),
    "described": described,
    "kept": kept,
    "checked": checked,
    "halting": halting,
}
ENDS_AT_NAN = ("watched for nan",)


@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: piece.__name__)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("library", ["autograd_core", TORCH])
def test_a_call_does_what_it_does_plainly(library: str, level: str, piece: Program) -> None:
    torch = pytest.importorskip(library, reason="PyTorch is not installed")
    for factor in (1.0, float("nan")):
        if factor != factor and level in ENDS_AT_NAN:
            continue
        expected = run(torch, piece, factor)
        with ExitStack() as around:
            around.enter_context(LEVELS[level]())
            assert run(torch, piece, factor) == expected


@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: piece.__name__)
@pytest.mark.parametrize("library", ["autograd_core", TORCH])
def test_a_size_is_found_in_the_first_run_where_code_of_the_programs_runs(
    library: str, piece: Program
) -> None:
    torch = pytest.importorskip(library, reason="PyTorch is not installed")
    once: Counter[str] = Counter()
    twice: Counter[str] = Counter()

    def call(ran: Counter[str]) -> Any:
        y = torch.full((3,), 0.5, requires_grad=True) * 2.0
        return (piece(torch, ran, y).exp() * 1e10).sum()

    call(once).backward()
    loss = call(twice)
    with pytest.raises(Failure, match=r"rms > 1e9"), failing_on("rms > 1e9"):
        loss.backward()
    assert not twice - once


@pytest.mark.torch
@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: piece.__name__)
def test_what_a_size_stops_at_is_told_alike_by_a_call_that_has_run(piece: Program) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    told = []
    for tells in (False, True):
        w = torch.full((3,), 0.5, requires_grad=True)
        with pytest.raises(Failure) as failure, failing_on("rms > 1e9", tells=tells):
            (piece(torch, Counter(), w * 2.0).exp() * 1e10).sum().backward()
        told.append(str(failure.value))
    assert told[0] == told[1]
    assert "rms > 1e9" in told[0]


def inner_only(torch: Any, y: Any) -> Any:
    def inner(g: Any) -> None:
        with torch.enable_grad():
            (torch.ones(3, requires_grad=True) * 1e10).sum().backward()

    y.register_hook(inner)
    return y * 1


def sum_only(torch: Any, y: Any) -> Any:
    y.register_hook(lambda g: g * 1)
    return (y + y) * 0.7e9


def made_small_in_place(torch: Any, y: Any) -> Any:
    y.register_hook(lambda g: g.zero_())
    return y * 1e10


def made_large_in_place(torch: Any, y: Any) -> Any:
    y.register_hook(lambda g: g.mul_(1e10))
    return y * 1


def raised_behind(torch: Any, y: Any) -> Any:
    def stumble(g: Any) -> None:
        raise ValueError("stumbled")

    y.register_hook(stumble)
    return (y * 1e10) * 1


@pytest.mark.parametrize("library", ["autograd_core", TORCH])
@pytest.mark.parametrize("piece", [inner_only, sum_only, made_small_in_place, raised_behind])
def test_a_size_is_met_as_in_a_session(piece: Program, library: str) -> None:
    torch = pytest.importorskip(library, reason="PyTorch is not installed")
    told = []
    for tells in (False, True):
        w = torch.full((3,), 0.5, requires_grad=True)
        with pytest.raises(Failure) as failure, failing_on("rms > 1e9", tells=tells):
            piece(torch, w * 2.0).sum().backward()
        told.append(str(failure.value))
    assert told[0] == told[1]


@pytest.mark.parametrize("library", ["autograd_core", TORCH])
@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: piece.__name__)
def test_where_a_nan_began_is_told_by_the_call_that_made_it(piece: Program, library: str) -> None:
    torch = pytest.importorskip(library, reason="PyTorch is not installed")

    def calls() -> list[Any]:
        return [run(torch, piece, factor) for factor in (1.0, float("nan"))]

    expected = calls()
    watch = Watch()
    with intercepting(
        lambda found: watch.look(found.call, lambda: found.names, found.number), EVERY
    ):
        assert calls() == expected
    reasons = [each.text() for _, each in watch.facts.seen if isinstance(each, NotFinite)]
    told = "produces nan" if library == "torch" else "sends on is nan"
    assert any(told in text for text in reasons)


@pytest.mark.parametrize("library", ["autograd_core", TORCH])
@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: piece.__name__)
def test_a_flight_recorder_has_the_call_with_a_nan_in_full(piece: Program, library: str) -> None:
    torch = pytest.importorskip(library, reason="PyTorch is not installed")

    def call() -> list[Any]:
        ran: Counter[str] = Counter()
        w = torch.full((3,), 0.5, requires_grad=True)
        (piece(torch, ran, w * 2.0) * 0).sqrt().sum().backward()  # 0, and its gradient NaN
        return [dict(ran), repr(w.grad.tolist())]

    expected = call()
    header = Header((), {}, {}, "here", 1, 4, 1.0)
    told = MemoryRun(header)
    watcher = Recorder(told, header, Schedule(), Flight(("nan",)))
    with intercepting(lambda found: False, EVERY, look=watcher) as calls:
        watcher.counts = calls.counts
        assert call() == expected
    watcher.end()
    levels = [each.level for each in told.calls()]
    is_left = piece is late_hook and library == "torch"
    assert levels == ["leaves" if is_left else "stats"]


@pytest.mark.torch
@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: piece.__name__)
def test_a_call_that_has_run_goes_on_behind_a_stop(piece: Program) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    expected = run(torch, piece, 1e10)
    stops = []

    def handle(found: InterceptedCall) -> bool:
        session = Session.of_call(
            found.call, names=found.names, breakpoints=breakpoints, driver=found.driver
        )
        session.continue_()
        stops.append(session.breakpoints.last)
        session.finish()
        return True

    breakpoints = Breakpoints()
    breakpoints.add(kind="catch", born=True, condition="rms > 1e9")
    look = QuickLook(breakpoints)
    look.tells = True
    with intercepting(handle, CallSelector(), look=look):
        assert run(torch, piece, 1e10) == expected
    assert stops[0] is not None


@pytest.mark.torch
def test_a_hook_that_changes_a_gradient_in_place_is_told_of() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    w = torch.full((3,), 0.5, requires_grad=True)
    with pytest.raises(Failure, match="tensor hook caused it"), failing_on("rms > 1e9"):
        made_large_in_place(torch, w * 2.0).sum().backward()


@pytest.mark.parametrize("library", ["autograd_core", TORCH])
def test_a_size_that_is_not_met_lets_a_call_raise_as_plainly(library: str) -> None:
    torch = pytest.importorskip(library, reason="PyTorch is not installed")
    with pytest.raises(ValueError, match="stumbled"), failing_on("rms > 1e30"):
        raised_behind(torch, torch.ones(3, requires_grad=True) * 2.0).sum().backward()


@pytest.mark.torch
def test_values_are_described_ahead_of_the_calls_that_are_asked_for_alone() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    from gradstep.engines.pytorch.origins import current

    described = []
    w = torch.ones(3, requires_grad=True)
    ranges = CallSelector.parse("9,20:21")
    with intercepting(lambda found: run_and_capture(found, "both")[1], ranges, values=True):
        for number in range(1, 30):
            loss = (w * 2).sum()
            origins = current.get()
            if origins is not None and origins.ops is not None:
                described.append(number)
            loss.backward()
    assert described == [1, *range(6, 10), *range(17, 22)]
