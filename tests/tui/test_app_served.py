"""The screen behind `textual serve`: no terminal, but a driver that speaks with a browser."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def packet(kind: bytes, content: bytes) -> bytes:
    return kind + len(content).to_bytes(4, "big") + content


def test_the_screen_opens_under_the_driver_of_a_web_server() -> None:
    """The server starts the command without a terminal, and sends keys as packets."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "TEXTUAL_DRIVER": "textual.drivers.web_driver:WebDriver",
        "COLUMNS": "100",
        "ROWS": "30",
    }
    command = [
        sys.executable,
        "-m",
        "gradstep",
        "debug",
        str(ROOT / "samples" / "shared_weight.py"),
    ]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, env=environment, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        seen = b""
        while b"add:4" not in seen and (read := process.stdout.read1(65536)):
            seen += read
        size = json.dumps({"type": "resize", "width": 100, "height": 30}).encode()
        process.stdin.write(packet(b"M", size) + packet(b"D", b"nq"))
        process.stdin.flush()
        seen += process.stdout.read()
    text = seen.decode(errors="replace")
    assert "__GANGLION__" in text, "the greeting of the driver"
    assert "shared_weight.py" in text
    assert "last state = 12" in text, "the script went on"
    assert process.returncode == 0
