"""Costs of the headless debugger: to open, to step, to continue, to go back, to look.

    python benchmarks/debugger.py [NODES ...]

CPU time of this thread, so that other load on the machine counts little.  "continue" records
every step; its figure is held against 1.3 of a plain pass plus 10 microseconds a node, which is
meant for nodes that run no user code.

    python benchmarks/debugger.py --fail-on

takes instead the time of forward and backward passes in which ``--fail-on nan`` finds nothing,
relative to the same passes without it.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable

import numpy as np

import autograd_core as torch
from gradstep import trace
from gradstep.console.session import Session
from gradstep.guest.collector import collector_slowed
from gradstep.program.calls import CallSelector, InterceptedCall, intercepting
from gradstep_tui.commands.fail_on import FailOn
from samples.digits_mlp import Classifier, load_digits


def chain(nodes: int) -> torch.Tensor:
    """A chain of ``nodes`` nodes over ten elements, every other one using the leaf again."""
    x = torch.tensor([1.0] * 10, requires_grad=True)
    state = x
    for number in range(nodes):
        state = state * 0.999 if number % 2 else state + x
    return state.sum()


def hooked(nodes: int) -> torch.Tensor:
    """The same with a hook at every tenth node."""
    x = torch.tensor([1.0] * 10, requires_grad=True)
    state = x
    for number in range(nodes):
        state = state * 0.999 if number % 2 else state + x
        if not number % 10:
            state.register_hook(lambda g: None)
    return state.sum()


def training(nodes: int) -> torch.Tensor:
    """One layer in ten nodes, each with an optimizer of its own in a post-accumulate hook."""
    state = torch.ones(1, 100)
    for _ in range(nodes // 10):
        layer = torch.nn.Linear(100, 100)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.01, momentum=0.9)
        for p in layer.parameters():
            p.grad = torch.zeros_like(p)
            p.register_post_accumulate_grad_hook(lambda p, step=optimizer.step: step())
        state = layer(state).tanh()
    return state.sum()


def seconds(run: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    gc.collect()
    start = time.thread_time()
    run()
    return time.thread_time() - start


def percentile(samples: list[float], share: float) -> float:
    """The sample below which ``share`` of all lie."""
    return sorted(samples)[int(share * (len(samples) - 1))]


def measure(program: Callable[[int], torch.Tensor], nodes: int, rounds: int) -> None:
    """Print the figures for a program of ``nodes``."""
    plain = min(seconds(program(nodes).backward) for _ in range(rounds))
    opened, continued, returned = [], [], []
    for _ in range(rounds):
        with trace():
            loss = program(nodes)
        sessions: list[Session] = []
        opened.append(seconds(lambda loss=loss, sessions=sessions: sessions.append(Session(loss))))
        session = sessions.pop()
        continued.append(seconds(session.continue_))
        returned.append(seconds(session.restart))
    session.jump(session.length // 2)
    steps = [seconds_of_step(session) for _ in range(200)]
    limit = 1.3 * plain + 10e-6 * nodes
    print(
        f"{program.__name__:<8}  {nodes:>9,} nodes   "
        f"plain {plain:.3f} s   open {min(opened):.2f} s   "
        f"continue {min(continued):.3f} s "
        f"({min(continued) / plain:.1f} plain, limit {limit:.3f})   "
        f"restart {min(returned):.3f} s ({min(returned) / plain:.1f} plain)   "
        f"step + snapshot {percentile(steps, 0.5) * 1e3:.2f} ms, "
        f"p99 {percentile(steps, 0.99) * 1e3:.2f} ms"
    )


def seconds_of_step(session: Session) -> float:
    """CPU seconds of one step and the snapshot behind it."""
    start = time.thread_time()
    session.next()
    _ = session.snapshot
    return time.thread_time() - start


def digits() -> Callable[[], None]:
    """The training step of samples/digits_mlp.py, up to the gradients."""
    rng = np.random.default_rng(0)
    (pixels, labels), _ = load_digits(rng)
    model, batch = Classifier(), rng.permutation(len(labels))[:32]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss_of = torch.nn.functional.cross_entropy

    def step() -> None:
        loss = loss_of(model(torch.tensor(pixels[batch])), torch.tensor(labels[batch]))
        optimizer.zero_grad()
        loss.backward()

    return step


def transformer_block() -> Callable[[], None]:
    """One block of width 64, on 8 sequences of 32."""
    block = torch.nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True)
    x = torch.randn(8, 32, 64)

    def step() -> None:
        loss = block(x).square().mean()
        block.zero_grad()
        loss.backward()

    return step


def found(call: InterceptedCall) -> bool:
    """Nothing is to be found."""
    raise AssertionError(call.title)


def measure_fail_on(step: Callable[[], None], steps: int, rounds: int = 40) -> None:
    """Print what ``--fail-on nan`` adds to ``step``, plain and watched in turn."""

    def several() -> None:
        for _ in range(steps):
            step()

    every = CallSelector(None, ("backward", "grad"))
    plain, watched = [], []
    for _ in range(rounds):
        plain.append(seconds(several) / steps)
        look = FailOn("nan").quick_look
        with (
            collector_slowed(),
            intercepting(found, every, values="core", look=look, defers=True),
        ):
            watched.append(seconds(several) / steps)
    least = min(plain)
    name = step.__qualname__.partition(".")[0]
    print(f"{name:<18} plain {least * 1e6:.0f} us   --fail-on nan {min(watched) / least:.2f} of it")


if __name__ == "__main__":
    if "--fail-on" in sys.argv:
        measure_fail_on(digits(), steps=100)
        measure_fail_on(transformer_block(), steps=5)
        sys.exit()
    for wanted in map(int, sys.argv[1:] or (1_000, 20_000, 100_000, 1_000_000)):
        measure(chain, wanted, rounds=1 if wanted > 100_000 else 5)
    for program in (hooked, training):
        measure(program, 2_000, rounds=3)
