"""What a step takes in a large pass, between the request and the last thing that an editor asks."""

from __future__ import annotations

from io import BytesIO
from statistics import median
from time import process_time
from typing import Any

import autograd_core as torch
from gradstep.console.session import Session
from gradstep.dap.protocol import Channel, read_message
from gradstep.dap.requests import Requests


class Asked:
    """Requests, and the bytes of what they are answered."""

    def __init__(self) -> None:
        self.written = BytesIO()
        self.requests = Requests(Channel(BytesIO(), self.written))

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        start = self.written.tell()
        self.requests.handle({"seq": 1, "command": command, "arguments": arguments})
        self.written.seek(start)
        answer = read_message(self.written)
        self.written.seek(0, 2)
        assert answer is not None
        assert answer["success"], answer
        body: dict[str, Any] = answer["body"]
        return body


def median_of_steps(nodes: int) -> float:
    """Seconds of processor time of a step in a pass of so many nodes."""
    leaves = [torch.ones(3, requires_grad=True) for _ in range(1000)]
    y = leaves[0]
    for number in range(nodes):
        y = y * leaves[number] if number < len(leaves) else y * 1.0
    session = Session(y.sum())
    assert session.length > nodes
    asked = Asked()
    asked.requests.begin(session)
    session.jump(nodes // 2)
    asked.requests.stopped("step")
    times = []
    for command in ("next", "stepIn", "stepBack") * 5:
        start = process_time()
        asked.ask(command, threadId=1)
        move = asked.requests.move
        assert move is not None
        asked.requests.moves()
        move.go(session)
        asked.requests.stopped("step")
        thread = asked.ask("threads")["threads"][0]["id"]
        frames = asked.ask("stackTrace", threadId=thread, startFrame=0, levels=20)["stackFrames"]
        assert len(frames) == 20
        for scope in asked.ask("scopes", frameId=frames[0]["id"])["scopes"]:
            asked.ask("variables", variablesReference=scope["variablesReference"])
        times.append(process_time() - start)
    return median(times)


def test_a_step_at_100_000_nodes_takes_as_long_as_at_2_000() -> None:
    """It is 50 times as long where a step looks at every node."""
    assert median_of_steps(100_000) < 5 * median_of_steps(2_000)
