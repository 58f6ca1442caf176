"""The certificate: every node of PyTorch, called once more, sends the bits that are shown."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from gradstep.console.session import Session  # noqa: E402
from gradstep.engines.pytorch.stepping.driver import TorchDriver  # noqa: E402
from gradstep.engines.pytorch.tensors import same_bits  # noqa: E402
from gradstep.program.calls import InterceptedCall, intercepting  # noqa: E402
from tests.engines import torch_programs  # noqa: E402  # imports torch
from tests.engines.test_torch_graphs import EVERY_CALL, run_whole  # noqa: E402

pytestmark = pytest.mark.torch
QUICK = [each for each in torch_programs.ALL if each is not torch_programs.long_chain]


class Counting(torch.autograd.Function):
    """Sends something else each time."""

    calls = 0

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        Counting.calls += 1
        return gradient * Counting.calls


def ended(loss: Any) -> Session:
    session = Session(loss, names={})
    session.continue_()
    return session


def test_a_node_that_sends_other_bits_is_named() -> None:
    x = torch.ones(3, requires_grad=True)
    session = ended(Counting.apply(x.exp()).sum())
    found = session.certificate()
    assert (found.different, found.called) == ((1,), (1,))
    assert found.text(session.graph) == (
        "not certified: 3 of 4 nodes called again; #2 counting:1 sent different bits: a "
        "custom Function that computes a different result each time; code of the program ran "
        "again in #2"
    )
    session.finish()


@pytest.mark.parametrize("varies", [True, False])
def test_a_kernel_that_gives_other_bits_each_time_is_no_other_result(
    varies: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    repeat, calls = TorchDriver.repeat, count(1)

    def other(self: TorchDriver, step: Any) -> Any:  # as an atomic addition on a GPU
        sent = repeat(self, step)
        if sent is None or step.index != 1:
            return sent
        return [g * (1 + (next(calls) if varies else 1) * 2**-20) for g in sent]

    monkeypatch.setattr(TorchDriver, "repeat", other)
    session = ended(torch.ones(3, requires_grad=True).exp().sum())
    found = session.certificate()
    assert (found.varying, found.different) == (((1,), ()) if varies else ((), (1,)))
    text = found.text(session.graph)
    assert text.startswith("certified: 2 of 3" if varies else "not certified: 2 of 3")
    assert ("but those of #2, whose kernels give other bits each time" in text) == varies
    session.finish()


def test_hooks_are_told_of_and_do_not_run_again() -> None:
    calls = []
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    y.register_hook(lambda g: calls.append(1) or g * 2)
    session = ended(y.sum())
    found = session.certificate()
    assert (found.different, found.hooked, len(calls)) == ((), (1,), 1)
    session.finish()


@pytest.mark.parametrize("program", QUICK, ids=lambda each: each.__name__)
@pytest.mark.slow
def test_the_passes_of_a_program_are_certified(program: Any) -> None:
    def handle(found: InterceptedCall) -> Any:
        session = Session.of_call(found.call, names=found.names, call=found.number)

        def body() -> Any:
            session.continue_()
            certificate = session.certificate()
            session.finish()
            return certificate, session.gradients if found.call.is_grad else True

        certificate, answer = session.host(body)
        assert certificate.different == ()
        return answer

    with intercepting(handle, EVERY_CALL):
        run_whole(program)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (torch.ones(()).expand(3), torch.ones(3), True),
        (torch.tensor([float("nan")]), torch.tensor([float("nan")]), True),
        (torch.tensor([0.0]), torch.tensor([-0.0]), False),
        (torch.ones(2), torch.ones(2, dtype=torch.float64), False),
        (torch.ones(2, dtype=torch.complex64).conj(), torch.ones(2, dtype=torch.complex64), False),
        (torch.ones(2, 2).t(), torch.ones(2, 2), True),
        (None, None, True),
        (torch.ones(()), None, False),
    ],
)
def test_gradients_agree_when_all_their_bits_do(one: Any, other: Any, same: bool) -> None:
    assert same_bits(one, other) is same
