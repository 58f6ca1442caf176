"""``gradstep.watch`` and ``gradstep.check``: what ``gradstep check`` tells, in Python."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

import gradstep
from gradstep.findings import CheckFailed
from gradstep.graph.errors import NotInGraph
from gradstep.guest.own_files import is_own_file
from tests.both import on_pytorch


class Program:
    """A training run whose target is broadcast unless it ``is_right``."""

    def __init__(self, torch: Any, *, is_right: bool = False) -> None:
        torch.manual_seed(0)
        self.torch, self.is_right = torch, is_right
        self.net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh())
        self.net.append(torch.nn.Linear(4, 1))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.losses: list[float] = []

    def step(self) -> None:
        x = self.torch.randn(6, 3)
        y = x.sum(1, keepdim=self.is_right)
        loss = ((self.net(x) - y) ** 2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.losses.append(loss.item())

    def train(self, steps: int = 5) -> None:
        for _ in range(steps):
            self.step()

    def state(self) -> list[Any]:
        weights = [parameter.tolist() for parameter in self.net.parameters()]
        return [weights, self.losses, self.torch.rand(1).item()]


def codes(report: Any) -> list[str]:
    return [finding.code for finding in report.findings if finding.is_bad]


def test_a_block_is_watched_and_trains_as_it_would(torch: Any) -> None:
    plain, watched = Program(torch), None
    plain.train()
    expected = plain.state()
    watched = Program(torch)
    with gradstep.watch() as run:
        watched.train(2)
        early = codes(run)
        watched.train(3)
    assert watched.state() == expected
    assert early == codes(run) == ["broadcast"]
    assert run.report().calls == 5
    watched.train(2)  # not looked at any more
    assert run.report().calls == 5


def test_a_healthy_block_has_no_findings(torch: Any) -> None:
    program = Program(torch, is_right=True)
    with gradstep.watch() as run:
        program.train(8)
    assert codes(run) == []
    run.report().raise_for("warning")


def test_a_function_is_watched_in_all_its_calls(torch: Any) -> None:
    program, run = Program(torch), gradstep.watch()
    train = run(program.train)
    train(2)
    train(3)
    assert run.report().calls == 5
    assert codes(run) == ["broadcast"]


def test_a_function_that_calls_itself_is_watched_once(torch: Any) -> None:
    program, run = Program(torch), gradstep.watch()

    @run
    def train(steps: int) -> None:
        program.step()
        if steps > 1:
            train(steps - 1)

    train(4)
    assert run.report().calls == 4


def test_coroutines_are_watched_each_by_its_own_run(torch: Any) -> None:
    right, wrong = gradstep.watch(), gradstep.watch()

    async def train(run: Any, program: Program) -> None:
        with run:
            for _ in range(4):
                program.step()
                await asyncio.sleep(0)

    @wrong
    async def decorated(program: Program) -> None:
        program.step()
        await asyncio.sleep(0)

    async def both() -> None:
        await asyncio.gather(
            train(right, Program(torch, is_right=True)), train(wrong, Program(torch))
        )
        await decorated(Program(torch))

    before = methods(torch)
    asyncio.run(both())
    assert methods(torch) == before
    if torch.__name__ == "torch":
        assert modes(torch) == []
    assert (right.report().calls, codes(right)) == (4, [])
    assert (wrong.report().calls, codes(wrong)) == (5, ["broadcast"])


def test_a_thread_is_watched(torch: Any) -> None:
    run = gradstep.watch()
    thread = threading.Thread(target=run(Program(torch).train))
    thread.start()
    thread.join()
    assert (run.report().calls, codes(run)) == (5, ["broadcast"])


def test_a_second_thread_is_told_that_another_one_is_watched(
    torch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    inner, program = gradstep.watch(), Program(torch)
    with gradstep.watch() as outer:
        thread = threading.Thread(target=inner(program.train), name="second")
        thread.start()
        thread.join()
    assert len(program.losses) == 5
    assert outer.report().calls == inner.report().calls == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "in the thread" in line]
    assert told == [
        (
            "gradstep: backward() in the thread 'second' is not followed, for that of "
            f"{threading.main_thread().name!r} is"
        )
    ]


def test_an_inner_run_has_its_calls_and_an_outer_one_the_others(torch: Any) -> None:
    with gradstep.watch() as outer:
        Program(torch, is_right=True).train(2)
        with gradstep.watch() as inner:
            Program(torch).train(3)
        Program(torch, is_right=True).train(4)
    assert (outer.report().calls, codes(outer)) == (6, [])
    assert (inner.report().calls, codes(inner)) == (3, ["broadcast"])


@on_pytorch
def test_what_happens_between_calls_is_noted_once_however_many_watch(torch: Any) -> None:
    from gradstep.contract.events import Cleared, Scheduled, Stepped, noted

    counts: list[list[int]] = []

    async def train() -> None:
        program = Program(torch, is_right=True)
        schedule = torch.optim.lr_scheduler.StepLR(program.optimizer, 50)
        with gradstep.watch(), gradstep.watch():
            for _ in range(3):
                program.step()
                schedule.step()
                await asyncio.sleep(0)
            events = noted.get()
            assert events is not None
            counts.append([len(events.of(kind)) for kind in (Stepped, Cleared, Scheduled)])

    async def both() -> None:
        await asyncio.gather(train(), train())

    asyncio.run(both())
    assert counts == [[3, 3, 3], [3, 3, 3]]


def test_a_model_that_no_variable_has_is_named(torch: Any) -> None:
    def made() -> tuple[Any, Any]:
        hidden = {0: [Program(torch)]}

        def train() -> None:
            for program in hidden[0]:
                program.train(3)

        return train, hidden[0][0].net

    train, net = made()
    with gradstep.watch(net) as run:
        train()
    assert run.report().learning == ("0.weight", "0.bias", "2.weight", "2.bias")


def test_what_ends_a_block_is_in_the_report(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    run = gradstep.watch()

    @run
    def twice() -> None:
        loss = (x * x).sum()
        loss.backward()
        loss.backward()

    with pytest.raises(RuntimeError, match="second time"):
        twice()
    report = run.report()
    assert codes(report) == ["freed"]
    assert report.failure == "its RuntimeError"
    with pytest.raises(CheckFailed) as raised:
        report.raise_for("error")
    assert raised.value.report is report
    assert raised.value.__cause__ is report.error
    assert "an earlier backward() freed them" in str(raised.value)


def test_a_run_without_findings_raises_what_its_function_did(torch: Any) -> None:
    def fail() -> None:
        (torch.ones(2, requires_grad=True) * 2).sum().backward()
        raise KeyError("batch")

    report = gradstep.check(fail)
    assert report.calls == 1
    with pytest.raises(KeyError, match="batch"):
        report.raise_for("error")


def test_after_what_is_not_finite_the_program_goes_on_and_nobody_looks(torch: Any) -> None:
    w = torch.zeros(2, requires_grad=True)

    def train() -> None:
        for _ in range(4):
            (w.sqrt() * 0).sum().backward()
            with torch.no_grad():
                w.add_(w.grad)

    report = gradstep.check(train)
    assert w.isnan().all()
    assert report.calls == 1
    assert "not-finite" in codes(report)
    assert report.not_looked_at[0].kind == "end_of_run"


@on_pytorch
@pytest.mark.parametrize("fused", [False, True])
def test_a_late_nan_is_told_whatever_optimizer_writes_it(torch: Any, *, fused: bool) -> None:
    net = torch.nn.Linear(3, 1)
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01, fused=fused)
    with gradstep.watch() as run:
        for step in range(30):
            loss = (net(torch.randn(6, 3)) ** 2).mean()
            if step == 22:
                loss = (loss - loss).sqrt() * 0
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step == 23:
                assert [finding.code for finding in run.certain] == ["not-finite"]
    assert codes(run) == ["not-finite"]
    assert run.report().calls == 23


def test_a_loss_is_checked_before_backward(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    unused = torch.tensor([1.0, 2.0], requires_grad=True)

    class Square(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * x

    with gradstep.trace(values=True):
        loss = Square.apply(x).sum()
    report = gradstep.check(loss, names={"x": x, "unused": unused, "loss": loss})
    assert codes(report) == ["derivative", "unreached"]
    assert [node.verdict for node in report.derivatives] == ["right", "wrong"]
    assert report.target == "loss"
    assert "2 warnings" not in report.text()
    assert report.text().startswith("loss: 1 error, 1 warning\n\nerror [derivative]")
    assert "next: gradstep.why(loss, 'unused')" in report.text()
    assert gradstep.check(loss, names={"x": x, "loss": loss}, ignore=["derivative"]).bad == []
    loss.backward()
    assert x.grad.tolist() == [1.0, 2.0]


def test_a_recording_is_checked(torch: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.gsr"
    with gradstep.record(path):
        Program(torch).train(12)
    report = gradstep.check(path)
    assert report.calls == 12
    assert report.is_recorded


def test_severities_are_in_order(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    report = gradstep.check((x * x).sum(), names={"x": x})
    assert {finding.severity for finding in report.findings} == {"info"}
    report.raise_for("warning")
    with pytest.raises(CheckFailed):
        report.raise_for("info")
    with pytest.raises(ValueError, match="severity is one of error, warning, info, not 'worst'"):
        report.raise_for("worst")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("subject", "error", "words"),
    [
        ("train.py", TypeError, "of a script: gradstep check train.py"),
        (3, TypeError, "check takes a loss, a function or a recording: int is not a tensor"),
        ("none.gsr", Exception, "cannot read none.gsr"),
    ],
)
def test_what_cannot_be_checked_is_refused(
    subject: object, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        gradstep.check(subject)


def test_codes_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ValueError, match="no finding 'stale_grad'; did you mean stale-grad"):
        gradstep.watch(ignore=["stale_grad"])


def test_a_tensor_without_a_graph_is_refused(torch: Any) -> None:
    with pytest.raises(NotInGraph):
        gradstep.check(torch.ones(2))


def methods(torch: Any) -> dict[str, Any]:
    """What a watch may put others in the place of, while it lasts."""
    kinds = [torch.Tensor, torch.nn.Module, torch.optim.Optimizer, torch.optim.SGD]
    kinds += [torch.optim.lr_scheduler.StepLR, torch.nn.utils]
    return {f"{kind}.{name}": each for kind in kinds for name, each in vars(kind).items()}


def modes(torch: Any) -> list[Any]:
    """The modes of PyTorch that are on."""
    dispatch = torch.utils._python_dispatch._get_current_dispatch_mode_stack()
    return [*torch.overrides._get_current_function_mode_stack(), *dispatch]


@on_pytorch
def test_a_run_that_began_within_a_mode_may_end_outside_of_it(torch: Any) -> None:
    run = gradstep.watch()
    with torch.device("cpu"):
        run.start()
        Program(torch).train(3)
    assert modes(torch) == []
    Program(torch).train(2)
    run.close()
    assert modes(torch) == []
    assert run.report().calls == 5


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda x: gradstep.render(x, veiw="both"), "render() got .* 'veiw'; did you mean view?"),
        (lambda x: gradstep.to_graphviz(x, veiw="both"), "'veiw'; did you mean view?"),
        (lambda x: gradstep.film(x, sped=1), "film() got an unexpected .* 'sped'"),
        (lambda x: gradstep.record("x.gsr", valeus="all"), "did you mean values?"),
        (lambda x: gradstep.watch(modle=x), "did you mean model?"),
        (lambda x: gradstep.check(x, nmaes={}), "did you mean names?"),
        (lambda x: gradstep.why(x, x, nmaes={}), "did you mean names?"),
        (lambda x: gradstep.plot("x.gsr", fromat="svg"), "did you mean format?"),
    ],
)
def test_an_argument_that_does_not_exist_is_named(call: Any, hint: str) -> None:
    with pytest.raises(TypeError, match=hint.replace("()", r"\(\)").replace("?", r"\?")):
        call(None)


def test_a_session_raises_on_what_is_no_command(torch: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    session = gradstep.Session(x * x)
    with pytest.raises(ValueError, match="unknown command: nxt; did you mean next"):
        session.do("nxt")
    assert session.do("next").text.startswith("#2 x.grad") or session.position == 1
    session.finish()


def test_why_after_backward_says_what_is_missing(torch: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    loss = x * x
    loss.backward()
    with pytest.raises(NotInGraph, match="ask why before it, or call it with retain_graph=True"):
        gradstep.why(loss, x)


def test_the_traceback_of_a_block_is_that_of_the_program(torch: Any) -> None:
    with pytest.raises(RuntimeError) as raised, gradstep.watch():
        (torch.ones(2, requires_grad=True) @ torch.ones(3)).backward()
    assert not any(is_own_file(str(entry.path)) for entry in raised.traceback)
