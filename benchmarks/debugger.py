"""What the headless debugger costs: to open, to step, to continue, to go back, to look.

    python benchmarks/debugger.py [NODES ...]

CPU time of this thread, so that other load on the machine counts little.  "continue" records
every step; its figure is held against 1.3 of a plain pass plus 10 microseconds a node.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable

import autograd_core as torch
from autograd_core.dag import trace
from autograd_core.debug import Session


def chain(nodes: int) -> torch.Tensor:
    """A chain of ``nodes`` nodes over ten elements, every other one using the leaf again."""
    x = torch.tensor([1.0] * 10, requires_grad=True)
    state = x
    for number in range(nodes):
        state = state * 0.999 if number % 2 else state + x
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


def measure(nodes: int, rounds: int) -> None:
    """Print the figures for a chain of ``nodes``."""
    plain = min(seconds(chain(nodes).backward) for _ in range(rounds))
    opened, continued, returned = [], [], []
    for _ in range(rounds):
        with trace():
            loss = chain(nodes)
        sessions: list[Session] = []
        opened.append(seconds(lambda loss=loss, sessions=sessions: sessions.append(Session(loss))))
        session = sessions.pop()
        continued.append(seconds(session.continue_))
        returned.append(seconds(session.restart))
    session.jump(nodes // 2)
    steps = [seconds_of_step(session) for _ in range(200)]
    limit = 1.3 * plain + 10e-6 * nodes
    print(
        f"{nodes:>9,} nodes   plain {plain:.3f} s   open {min(opened):.2f} s   "
        f"continue {min(continued):.3f} s (limit {limit:.3f})   restart {min(returned):.3f} s   "
        f"step + snapshot {percentile(steps, 0.5) * 1e3:.2f} ms, "
        f"p99 {percentile(steps, 0.99) * 1e3:.2f} ms"
    )


def seconds_of_step(session: Session) -> float:
    """CPU seconds of one step and the snapshot behind it."""
    start = time.thread_time()
    session.next()
    _ = session.snapshot
    return time.thread_time() - start


if __name__ == "__main__":
    for wanted in map(int, sys.argv[1:] or (1_000, 20_000, 100_000, 1_000_000)):
        measure(wanted, rounds=1 if wanted > 100_000 else 5)
