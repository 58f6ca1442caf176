"""Costs of stepping through PyTorch's backward pass: recording it, the certificate, --fail-on.

    python benchmarks/pytorch_stepping.py [WORKLOAD ...]

Ratios to the same backward pass without gradstep, as in ``pytorch.py``: the smallest of ten
interleaved repetitions, one thread.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import torch
from pytorch import REPETITIONS, WORKLOADS

from gradstep.capturing import Names
from gradstep.console.session import Session
from gradstep.program.calls import CallSelector, InterceptedCall, intercepting
from gradstep_tui.commands.fail_on import FailOn

NAMES = Names({})


def forget_gradients(loss: torch.Tensor) -> None:
    """Do what ``optimizer.zero_grad()`` does."""
    waiting, seen = [loss.grad_fn], {loss.grad_fn}
    while waiting:
        node: Any = waiting.pop()
        if hasattr(node, "variable"):
            node.variable.grad = None
        for target, _ in node.next_functions:
            if target is not None and target not in seen:
                seen.add(target)
                waiting.append(target)


def measure(name: str) -> None:
    """Print the ratios of one workload."""
    forward = WORKLOADS[name]()
    found: dict[str, list[float]] = {
        "plain": [], "open": [], "record": [], "made": [], "certify": [], "step": [], "noted": [],
        "watched": [],
    }  # fmt: skip
    usage: Any = None

    def handle(intercepted: InterceptedCall) -> bool:
        nonlocal usage
        start = time.perf_counter()
        session = Session.of_call(intercepted.call, names=NAMES, call=1)

        def body() -> None:
            began = time.perf_counter()
            session.continue_()
            found["record"].append(time.perf_counter() - began)
            began = time.perf_counter()
            assert len(session.steps) == session.length  # made when somebody asks
            found["made"].append(time.perf_counter() - began)
            began = time.perf_counter()
            assert not session.certificate().different
            found["certify"].append(time.perf_counter() - began)
            session.finish()

        found["open"].append(time.perf_counter() - start)
        session.host(body)
        usage = session.snapshot.usage, session.length
        return True

    def plain() -> None:
        loss = forward()
        forget_gradients(loss)
        start = time.perf_counter()
        loss.backward()
        found["plain"].append(time.perf_counter() - start)

    def stepped() -> None:
        loss = forward()
        forget_gradients(loss)
        with intercepting(handle, CallSelector(None)):
            loss.backward()

    def timed(column: str) -> None:
        start = time.perf_counter()
        loss = forward()
        loss.backward()
        found[column].append(time.perf_counter() - start)
        forget_gradients(loss)

    watch = FailOn("nan")
    plain()
    for _ in range(REPETITIONS):
        plain()
        stepped()
        timed("step")
        for column, selector, look in (
            ("noted", CallSelector(99), None),
            ("watched", CallSelector(None), watch.quick_look),
        ):
            with intercepting(handle, selector, look=look):
                forget_gradients(forward())  # the first call looks modules up
                timed(column)
    least = {column: min(seconds) for column, seconds in found.items()}
    kept, length = usage
    print(
        f"{name:18}  plain {least['plain'] * 1e3:7.1f} ms   "
        f"opened {least['open'] / least['plain']:5.2f}   "
        f"recorded {least['record'] / least['plain']:5.2f}   "
        f"steps made {least['made'] / least['plain']:5.2f}   "
        f"certified {least['certify'] / least['plain']:5.2f}   "
        f"--fail-on {least['watched'] / least['step']:5.2f}, "
        f"beside modules and lines {least['watched'] / least['noted']:5.2f}   "
        f"{length} nodes, {kept.bytes / 1e6:.1f} MB"
    )


def main(names: list[str]) -> None:
    torch.set_num_threads(1)
    for name in WORKLOADS:
        if not names or any(name.startswith(given) for given in names):
            measure(name)
    print("at most: recorded 2.5 (d 32), 1.3 (d 256); certified 5; --fail-on 1.1")


if __name__ == "__main__":
    main(sys.argv[1:])
