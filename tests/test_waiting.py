"""No test waits for a time that ought to be enough: on a busy machine it is not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
MAY_LOOK_AT_CLOCKS = {"waiting.py", "__main__.py", "test_dap_latency.py", "float32_timestamps.py"}
WAIT = {"wait", "join", "pause", "alarm", "Timer", "communicate", "settimeout", "wait_for"}


def fixed_waits(text: str) -> Iterator[int]:
    """Yield the lines on which a number of seconds is given, or a clock is imported."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(names=[ast.alias(name="time")]) | ast.ImportFrom(module="time"):
                yield node.lineno
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                times = [word.value for word in node.keywords if word.arg == "timeout"]
                times += node.args if name in WAIT else node.args[3:] if name == "select" else []
                if any(isinstance(getattr(time, "value", None), int | float) for time in times):
                    yield node.lineno


def test_tests_wait_for_what_happens() -> None:
    files = [path for path in TESTS.rglob("*.py") if path.name not in MAY_LOOK_AT_CLOCKS]
    found = {
        str(file.relative_to(TESTS)): [*fixed_waits(file.read_text("utf-8"))] for file in files
    }
    assert {file: lines for file, lines in found.items() if lines} == {}, "see tests/waiting.py"


@pytest.mark.parametrize(
    "text",
    ["import time", "from time import sleep", "process.wait(30)", "thread.join(timeout=5)",
     "run(words, timeout=60)", "await pilot.pause(0.2)", "select([one], [], [], 0.1)"],
)  # fmt: skip
def test_a_fixed_wait_is_found(text: str) -> None:
    assert list(fixed_waits(text)) == [1]
    assert not list(fixed_waits("process.wait()\nqueue.get(timeout=LIMIT)\n', '.join(words)"))
