"""What is measured in a process of its own: part of ``core.py``.

    python benchmarks/fresh.py million|memory|import LIBRARY

Prints numbers for ``autograd_core`` or ``torch``: seconds and bytes per node of a chain of a
million nodes, with the garbage collector as it is by default; megabytes that a training step of
the MNIST net with a batch of 256 takes at its peak, above what rests between steps; seconds that an
import takes beyond that of NumPy.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import subprocess
import sys
import time
from pathlib import Path

FILE = Path(__file__)


def million(library: str) -> list[float]:
    """Seconds of a forward and backward pass, and bytes after the first, per node."""
    from core import chain, use_one_thread

    nodes = 1_000_000
    forward, backward = chain(10, nodes).make(use_one_thread(library))
    before = _memory("VmRSS")
    start = time.thread_time()
    loss = forward()
    seconds = time.thread_time() - start
    held = _memory("VmRSS") - before
    start = time.thread_time()
    backward(loss)
    return [(seconds + time.thread_time() - start) / nodes, held / nodes]


def memory(library: str) -> list[float]:
    """Megabytes at the peak of a step."""
    from core import use_one_thread
    from nets import convolutional

    forward, backward = convolutional(256).make(use_one_thread(library))
    for _ in range(3):
        backward(forward())
    ctypes.CDLL(None).malloc_trim(0)  # or what is free, but not given back, would count as rest
    rest = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the high-water mark
    backward(forward())
    return [(_memory("VmHWM") - rest) / 2**20]


def _memory(what: str) -> int:
    """Bytes of this process, as Linux counts them."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{what}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {what}")


def import_(library: str) -> list[float]:
    """Seconds of CPU time."""
    importlib.import_module("numpy")
    start = time.process_time()
    importlib.import_module(library)
    return [time.process_time() - start]


MEASURES = {"million": million, "memory": memory, "import": import_}


def measured(what: str, library: str, times: int = 1) -> list[float]:
    """The smallest numbers of some processes, with bytecode as users have it."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, str(FILE), what, library]
    runs = []
    for _ in range(times):
        found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        runs.append([float(number) for number in found.stdout.split()])
    return [min(each) for each in zip(*runs, strict=True)]


if __name__ == "__main__":
    print(*MEASURES[sys.argv[1]](sys.argv[2]))
