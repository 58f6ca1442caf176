"""Sessions in PyTorch programs: the engine is halted, and all ends as without gradstep."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

from gradstep.console.session import Session  # noqa: E402
from gradstep.contract.module_paths import OUTSIDE  # noqa: E402
from gradstep.engines.pytorch import entry, private  # noqa: E402
from gradstep.engines.pytorch.noting import noting  # noqa: E402
from gradstep.engines.pytorch.private import TensorBase  # noqa: E402
from gradstep.engines.pytorch.stepping import measuring  # noqa: E402
from gradstep.engines.pytorch.stepping.thread_state import ThreadState  # noqa: E402
from gradstep.program.calls import CallSelector, InterceptedCall, intercepting  # noqa: E402
from gradstep_tui.commands.fail_on import FailOn  # noqa: E402
from tests.engines.test_torch_graphs import each_program, run_whole  # noqa: E402

pytestmark = pytest.mark.torch
EVERY_CALL = CallSelector(None, ("backward", "grad"))
ROOT = Path(__file__).parents[2]
WALK = ("next 5", "back 3", "continue", "restart", "next", "continue")


def walk(session: Session) -> None:
    """Go to and fro; what is shown at a position is the same on every visit."""
    shown: dict[tuple[int, int], Any] = {}
    for line in WALK:
        reply = session.reply(line)
        assert not reply.error, reply.text
        if session.length < 2_000:  # describing a chain of 20,000 nodes takes its time
            snapshot = session.snapshot
            if snapshot.error:
                continue
            seen = [(each.name, each.now, each.pending) for each in snapshot.leaves]
            assert shown.setdefault((len(session.frames), session.position), seen) == seen


def finish(session: Session, found: InterceptedCall) -> Any:
    session.finish()
    return session.gradients if found.call.is_grad else True


def session_of(found: InterceptedCall) -> Session:
    return Session.of_call(found.call, names=found.names, call=found.number)


@pytest.mark.sampled(30)
@pytest.mark.parametrize("hosted", [True, False], ids=["in the program's thread", "in its own"])
@each_program
def test_a_program_that_is_stepped_through_ends_as_it_does_plainly(
    program: Callable[[], Any], hosted: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    def handle(found: InterceptedCall) -> Any:
        session = session_of(found)
        if not hosted:
            walk(session)
            return finish(session, found)

        def body() -> Any:
            walk(session)
            return finish(session, found)

        return session.host(body)

    plain = run_whole(program)
    printed = capsys.readouterr()
    with intercepting(handle, EVERY_CALL):
        stepped = run_whole(program)
    assert stepped == plain
    assert capsys.readouterr() == printed


def test_a_profile_has_the_ops_of_a_pass_or_the_user_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    x = torch.ones(3, requires_grad=True)

    def profiled(backward: Callable[[Any], Any]) -> set[str]:
        with torch.autograd.profiler.profile() as made:
            backward(x.exp().tanh().sum())
        return {each.name for each in made.function_events if each.name.endswith("Backward0")}

    def walked(loss: Any, *, hosted: bool) -> None:
        session = Session(loss, names={})

        def body() -> None:
            walk(session)
            session.finish()

        session.host(body) if hosted else body()

    plain = profiled(lambda loss: loss.backward())
    assert {"TanhBackward0", "ExpBackward0"} <= plain
    capsys.readouterr()
    assert profiled(lambda loss: walked(loss, hosted=True)) == plain
    assert capsys.readouterr().err == ""
    assert profiled(lambda loss: walked(loss, hosted=False)) != plain
    assert "gradstep: a profile that is being made lacks the ops" in capsys.readouterr().err


def test_denormal_numbers_are_flushed_as_the_program_has_it() -> None:
    x = torch.ones(2, requires_grad=True)
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor does not flush denormal numbers")
    try:
        session = Session((x * 1e-20 * 1e-20).sum(), names={})
        walk(session)  # in a thread of its own
        session.finish()
    finally:
        torch.set_flush_denormal(False)
    assert x.grad.tolist() == [0, 0]
    x.grad = None
    (x * 1e-20 * 1e-20).sum().backward()
    assert x.grad.tolist() != [0, 0]


def test_calls_in_other_threads_end_as_they_do_plainly_while_one_is_stepped_through() -> None:
    def gradients(stepped: bool) -> list[Any]:
        torch.manual_seed(0)
        models = [torch.nn.Linear(4, 3) for _ in range(3)]

        def work(model: Any) -> None:
            for _ in range(3):
                model(torch.ones(2, 4)).square().sum().backward()

        def handle(found: InterceptedCall) -> Any:
            session = session_of(found)
            session.next(2)
            for each in others:
                each.start()
            for each in others:
                each.join()
            walk(session)
            return finish(session, found)

        others = [Thread(target=work, args=(model,)) for model in models[1:]]
        if stepped:
            with intercepting(handle, CallSelector(1)):
                work(models[0])
        else:
            for model in models:
                work(model)
        return [each.grad.tolist() for model in models for each in model.parameters()]

    assert gradients(stepped=True) == gradients(stepped=False)


def test_a_graph_that_was_kept_for_stepping_counts_as_freed() -> None:
    x = torch.ones(3, requires_grad=True)
    loss = (x * x).sum()

    def handle(found: InterceptedCall) -> Any:
        session = session_of(found)
        session.next()
        return finish(session, found)

    with intercepting(handle, CallSelector(1)):
        loss.backward()
        with pytest.raises(RuntimeError, match="backward through the graph a second time") as freed:
            (loss * 2).backward()
    assert "test_torch_sessions.py" in freed.value.gradstep_note  # type: ignore[attr-defined]


def test_a_body_that_fails_ends_the_run_of_the_engine() -> None:
    x = torch.ones(3, requires_grad=True)
    session = Session((x * x).sum(), names={})

    def body() -> None:
        session.next()
        raise ValueError("found nothing")

    with pytest.raises(ValueError, match="found nothing"):
        session.host(body)
    session.abort()
    assert x.grad is None


def test_without_replay_the_graph_goes_as_in_a_plain_pass() -> None:
    x = torch.ones(3, requires_grad=True)
    loss = (x * x).sum()
    session = Session(loss, names={}, keep_graph=False)
    session.next(2)
    reply = session.reply("zero")
    assert reply.error
    assert "--no-replay" in reply.text
    session.finish()
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


@pytest.mark.parametrize("keep_graph", [True, False])
def test_a_node_that_has_run_keeps_what_it_saved_only_while_the_graph_is_kept(
    keep_graph: bool,
) -> None:
    x = torch.ones(2, requires_grad=True).exp()
    session = Session(x.sin().sum(), names={}, keep_graph=keep_graph)
    session.continue_()
    with nullcontext() if keep_graph else pytest.raises(RuntimeError, match="freed"):
        assert x.grad_fn._saved_result is not None
    session.finish()


def addresses(session: Session) -> list[str]:
    found = [session.graph.address(index) for index in range(len(session.order))]
    return [each for each in found if "addmm" in each or "tanh" in each]


@pytest.mark.parametrize("hosted", [True, False], ids=["in the program's thread", "in its own"])
@pytest.mark.parametrize("reentrant", [True, False])
def test_what_a_checkpoint_runs_again_is_not_taken_for_other_modules(
    hosted: bool, reentrant: bool
) -> None:
    """The numbers by which nodes are known begin anew in another thread."""
    model, other = (
        torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
        for _ in range(2)
    )
    outer: list[list[str]] = []
    inner: list[list[str]] = []

    def handle(found: InterceptedCall) -> Any:
        session = session_of(found)

        def body() -> Any:
            outer.append(addresses(session))
            session.reply("continue")
            if not session.reply("enter checkpoint_function").error:
                inner.append(addresses(session))
                session.reply("leave")
            return finish(session, found)

        return session.host(body) if hosted else body()

    def program() -> None:
        with noting(), intercepting(handle, EVERY_CALL):
            for _ in range(2):
                x = torch.randn(2, 3, requires_grad=True)
                (model(x) + checkpoint(other, x * 2, use_reentrant=reentrant)).sum().backward()

    new = Thread(target=program)  # its numbers are small, as those of the engine's thread
    new.start()
    new.join()
    of_model, of_other = (
        [f"{name}.2/addmm:1", f"{name}.1/tanh:1", f"{name}.0/addmm:1"]
        for name in ("model", "other")
    )
    assert outer == [of_model if reentrant else [*of_other, *of_model]] * 2
    unknown = ["addmm:2", "tanh:1", "addmm:1"]
    assert inner == ([of_other if hosted else unknown] * 2 if reentrant else [])


def test_the_forward_value_of_a_node_is_its_first_result_or_is_unknown() -> None:
    x = torch.randn(1, 1, 4, 4, requires_grad=True)
    pooled = torch.nn.functional.max_pool2d(x.tanh(), 2)
    session = Session(pooled.exp().sum(), names={"x": x})
    total, exp, pool, tanh, leaf = (session.forward_value(index) for index in range(5))
    assert total.array == pytest.approx(pooled.exp().sum().item())
    assert np.array_equal(exp.array, pooled.exp().detach().numpy())
    assert pool is None, "only its indices are kept"
    assert np.array_equal(tanh.array, x.tanh().detach().numpy())
    assert np.array_equal(leaf.array, x.detach().numpy())


class Readings(TorchDispatchMode):  # type: ignore[misc]  # torch is not there for every check
    """Notes the ops of a thread that wait for a device until a number is there."""

    WAITING = ("equal", "_local_scalar_dense", "is_nonzero", "nonzero", "item")

    def __init__(self, found: list[str]) -> None:
        super().__init__()
        self.found = found

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        name = function.overloadpacket.__name__
        if name in self.WAITING:
            self.found.append(name)
        return function(*args, **(kwargs or {}))


def shared_inputs() -> Any:
    """Nodes with several gradients each, and leaves with a ``.grad``: where sums are made."""
    x = torch.ones(3, requires_grad=True)
    x.grad = torch.ones(3)
    state = x
    for _ in range(60):
        state = state * 0.5 + x.sin()
    return state.sum()


@pytest.fixture
def _observed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this program does is seen by modes of the user's."""
    monkeypatch.setattr(private, "dispatch_mode_count", lambda: 0)


@pytest.mark.usefixtures("_observed")
def test_a_pass_that_nobody_halts_reads_no_number() -> None:
    found: list[str] = []

    def handle(intercepted: InterceptedCall) -> Any:
        session = session_of(intercepted)

        def body() -> None:
            with Readings(found):
                session.continue_()
                run, found[:] = list(found), []
                assert not run
                assert len(session.steps) == session.length
                assert "equal" in found  # sums are compared when somebody looks

        with Readings(found):
            session.host(body)
        return finish(session, intercepted)

    with intercepting(handle, EVERY_CALL):
        shared_inputs().backward()


@pytest.mark.usefixtures("_observed")
def test_a_good_call_under_fail_on_is_read_once_for_each_device(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[torch.dtype] = []
    watch = FailOn("nan")

    class Methods:
        tolist = staticmethod(lambda each: read.append(each.dtype) or each.tolist())

        def __getattr__(self, name: str) -> Any:
            return getattr(TensorBase, name)

    monkeypatch.setattr(measuring, "TensorBase", Methods())
    for name in ("is_small", "is_plain"):  # as on other devices
        monkeypatch.setattr(measuring, name, lambda tensor: False)
    root = shared_inputs() + torch.ones(3, dtype=torch.double, requires_grad=True).sum()
    with intercepting(lambda _: False, EVERY_CALL, look=watch.quick_look):
        root.backward()
    assert len(read) == 1


class Interrupted(torch.nn.Module):  # type: ignore[misc]  # as above
    def forward(self, x: Any) -> Any:
        raise KeyboardInterrupt


def test_a_module_that_was_interrupted_runs_no_more() -> None:
    x = torch.ones(3, requires_grad=True)
    with noting() as origins:
        with pytest.raises(KeyboardInterrupt):
            torch.nn.Sequential(torch.nn.Tanh(), Interrupted())(x)
        assert origins.scope is OUTSIDE
        place = origins.place(x.sin().grad_fn._sequence_nr())
    assert place.scope is OUTSIDE
    assert place.source.file == __file__


def test_a_module_that_takes_the_place_of_another_has_its_path() -> None:
    x = torch.ones(3, requires_grad=True)
    model = torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Sigmoid(), torch.nn.Sigmoid())
    with noting() as origins:
        model(x)
        del model[0]
        node = model(x).grad_fn
    nodes = [node, node.next_functions[0][0]]
    assert [origins.place(each._sequence_nr()).scope.path for each in nodes] == ["1", "0"]


class RunsInDeviceThread(torch.autograd.Function):  # type: ignore[misc]  # torch may be missing
    """Runs a pass inside as a node on a GPU does: in a thread that has no context."""

    w: Any = None

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        def inner() -> None:
            w = RunsInDeviceThread.w
            (w * w).sum().backward()

        thread = Thread(target=inner)
        thread.start()
        thread.join()
        return g * 2


@pytest.mark.parametrize("shares", [False, True], ids=["its own leaf", "a leaf of both"])
def test_a_pass_inside_in_a_thread_of_a_device_is_not_made_twice(
    shares: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry, "running_pass", lambda: 0)  # as a hook is told there

    def made() -> tuple[Any, Any, Any]:
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        w = RunsInDeviceThread.w = torch.tensor([3.0, 4.0], requires_grad=True)
        return x, w, (RunsInDeviceThread.apply(x) * (w if shares else 1.0)).sum()

    x, w, loss = made()
    loss.backward()
    plain = [x.grad.tolist(), w.grad.tolist()]
    x, w, loss = made()
    session = Session(loss, names={})
    session.continue_()
    session.restart()
    assert "in a thread of the GPU's" in session.reply("scale 2").text
    session.finish()
    assert [x.grad.tolist(), w.grad.tolist()] == plain
    x, w, loss = made()
    session = Session(loss, names={})
    session.continue_()
    session.abort()
    assert (x.grad, w.grad) == (None, None)
    loss.backward()
    assert [x.grad.tolist(), w.grad.tolist()] == plain


@pytest.mark.parametrize("device", ["cpu", "mps", "xpu"])
def test_autocast_is_taken_along_to_the_thread_of_a_session(device: str) -> None:
    torch.set_autocast_enabled(device, True)
    try:
        state = ThreadState.of_this_thread()
    finally:
        torch.set_autocast_enabled(device, False)
    enabled: list[bool] = []

    def look() -> None:
        with state.applied():
            enabled.append(torch.is_autocast_enabled(device))

    thread = Thread(target=look)
    thread.start()
    thread.join()
    assert enabled == [True]


def test_what_was_not_kept_and_cannot_run_again_is_displayed_as_unknown() -> None:
    x = torch.rand(2, 3).requires_grad_()
    optimizer = torch.optim.Adam([x])
    total = x.sum(0) + x
    total.grad_fn.register_hook(lambda *_: optimizer.step())
    squares = total * x  # this node has saved x, and has run when the optimizer changes it
    x.grad = torch.ones(2, 3)
    session = Session((squares * squares.sum()).sum(), history_bytes=0)
    session.reply("continue")
    session.reply("display rms")
    session.select(3)
    (display,) = session.snapshot.displays
    assert display.text.startswith("rms is unknown (#4 ran, but was not kept, and cannot run again")
    assert display.text.endswith("version 0 instead); --history 4G keeps more)")


def test_what_is_no_tensor_is_refused_by_the_engine_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def handle(found: InterceptedCall) -> Any:
        return finish(session_of(found), found)

    x = torch.ones(3, requires_grad=True)
    with intercepting(handle, EVERY_CALL), pytest.raises(RuntimeError, match="but got int"):
        (x * 2).sum().backward(inputs=[3])
    assert capsys.readouterr().err == ""


def test_what_arrives_where_a_call_of_grad_ends_survives_an_edit_and_a_tiny_history() -> None:
    class Twice(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    def found() -> Any:
        torch.manual_seed(85)
        a, b, c = (torch.rand(2, 3).requires_grad_() for _ in range(3))
        total = b + c
        inner = total.sigmoid() + total
        outer = Twice.apply(inner)
        return torch.autograd.grad((outer * inner + b * b * a).sum(), [a, outer])

    def handle(intercepted: InterceptedCall) -> Any:
        session = Session.of_call(intercepted.call, names=intercepted.names, history_bytes=0)

        def walk_and_finish() -> Any:
            for line in ("until mul:1", "scale 0.5", "next 3", "reverse-continue", "undo"):
                reply = session.reply(line)
                assert not reply.error, reply.text
            return finish(session, intercepted)

        return session.host(walk_and_finish)

    expected = found()
    with intercepting(handle, EVERY_CALL):
        stepped = found()
    assert [g is not None and g.tolist() for g in stepped] == [g.tolist() for g in expected]


class Wrapped(torch.Tensor):
    """Stands for a tensor, and tells what is done with it."""

    told: ClassVar[list[str]] = []

    @staticmethod
    def __new__(cls, x: Any) -> Any:
        made = torch.Tensor._make_wrapper_subclass(cls, x.shape, dtype=x.dtype)  # type: ignore[attr-defined]
        made.x = x
        return made

    @classmethod
    def __torch_dispatch__(cls, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.told.append(str(op))
        made = op(*[a.x if isinstance(a, cls) else a for a in args], **(kwargs or {}))
        return cls(made) if isinstance(made, torch.Tensor) else made


@pytest.mark.parametrize("line", ["continue", "next"])
def test_a_gradient_without_numbers_becomes_grad_as_it_does_plainly(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the engine is late, which halts behind any node then."""
    monkeypatch.setattr("gradstep.engines.pytorch.stepping.observed_engine._SLICE", -1.0)

    def ops(stepped: bool) -> list[str]:
        w = Wrapped(torch.ones(2)).requires_grad_()
        loss = (w * 2.0).sum()
        Wrapped.told.clear()
        if stepped:
            session = Session(loss)
            session.reply(line)
            session.finish()
        else:
            loss.backward()
        return [op for op in Wrapped.told if not op.startswith("prim")]

    assert ops(stepped=True) == ops(stepped=False)
