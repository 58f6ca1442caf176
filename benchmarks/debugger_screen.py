"""How long the debugger's screen takes to open, and a key to reach the screen.

    python benchmarks/debugger_screen.py [ROWS ...]

Measured without a terminal (Textual's headless driver, 160x48) over a pass of the core:
milliseconds from a key to the next frame, and how many of them the screen's thread was at work,
which says more on a busy machine.
The last column is what a frame may cost (p99; of page keys also the median).
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from typing import Any, NamedTuple

from textual import events

import autograd_core as torch
from gradstep import Session, scope
from gradstep_tui.app import DebuggerApp

KEYS = {"n": 200, "j": 200, "N": 200, "pagedown": 100, "pageup": 100, "G": 5, "g": 5}
LARGE = 500_000  # rows; from here on everything may take twice as long


def chain(rows: int) -> Session:
    """Return a session over ``rows`` nodes that end in one leaf."""
    weight = torch.ones(3, requires_grad=True)
    value = weight
    for row in range(rows - 2):
        with scope(f"block.{row // 1000}"):
            value = value * 1.0
    return Session(value.sum(), names={"weight": weight})


async def measure(rows: int) -> None:
    """Open the screen over ``rows`` rows and press keys."""
    session = chain(rows)
    frames: list[Moment] = []
    start = time.perf_counter()
    app = DebuggerApp(session)
    slack = 2 if rows >= LARGE else 1
    async with app.run_test(size=(160, 48)) as pilot:
        print(f"{rows:>9,} rows   open {time.perf_counter() - start:.2f} s (at most 3)")
        await pilot.pause(1.0)
        display = app._display

        def timed(*frame: Any) -> None:
            frames.append(now())
            display(*frame)

        app._display = timed  # type: ignore[method-assign, assignment]
        for key, times in KEYS.items():
            taken = [await key_to_frame(app, key, frames) for _ in range(times)]
            paging = key.startswith("page")
            bound = (
                f"16, {50 * slack}"
                if paging and slack == 1
                else f"{(50 if paging else 20) * slack}"
            )
            waited = figures([each.passed for each in taken])
            worked = figures([each.worked for each in taken])
            print(f"{key:>14}   {waited}   at work: {worked}   (at most {bound})")


class Moment(NamedTuple):
    """A moment, or how long something took: in milliseconds by the clock, and of this thread's
    work."""

    passed: float
    worked: float


def now() -> Moment:
    return Moment(1000 * time.perf_counter(), 1000 * time.thread_time())


def figures(taken: list[float]) -> str:
    """Median and 99th percentile."""
    high = sorted(taken)[min(len(taken) - 1, int(0.99 * len(taken)))]
    return f"median {statistics.median(taken):5.1f} ms, p99 {high:5.1f} ms"


async def key_to_frame(app: DebuggerApp, key: str, frames: list[Moment]) -> Moment:
    """How long it takes from ``key`` to the first frame after it."""
    event = events.Key(key, key if len(key) == 1 else None)
    event.set_sender(app)
    frames.clear()
    start = now()
    app.post_message(event)
    # a key that changes nothing draws no frame
    while not frames and now().passed < start.passed + 1000:
        await asyncio.sleep(0.0005)
    frame = (frames or [now()])[0]
    await asyncio.sleep(0.03)
    return Moment(frame.passed - start.passed, frame.worked - start.worked)


if __name__ == "__main__":
    for wanted in map(int, sys.argv[1:] or (1_000, 100_000, 1_000_000)):
        asyncio.run(measure(wanted))
