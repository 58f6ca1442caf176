"""``info TOPIC``: what the debugger knows, in tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from gradstep.console import info_node, info_pass
from gradstep.console.changing import edits_text
from gradstep.console.console import Command, Console
from gradstep.console.inspecting import displays_text
from gradstep.console.language import Operands, choose
from gradstep.console.stopping import points_text


class Topic(NamedTuple):
    """Something that ``info`` tells about."""

    word: str
    summary: str
    tell: Callable[[Console, Operands], str]


def _info(console: Console, operands: Operands) -> str:
    word, rest = operands.first()
    if not word.text:
        raise operands.error(f"info takes one of: {', '.join(topic.word for topic in TOPICS)}")
    chosen = choose(word, [topic.word for topic in TOPICS], "topic")
    return next(topic for topic in TOPICS if topic.word == chosen).tell(console, rest)


TOPICS: Final = (
    Topic(
        "breakpoints",
        "each breakpoint, and how often it was hit",
        lambda console, _: points_text(console),
    ),
    Topic("calls", "[LEAF]: the finished calls, and what each did to the leaf", info_pass.calls),
    Topic("changes", "what you changed", lambda console, _: edits_text(console)),
    Topic(
        "contributions",
        "[PLACE]: the contributions to the incoming gradient",
        info_node.contributions,
    ),
    Topic(
        "display",
        "what is shown at every stop",
        lambda console, _: displays_text(console) or "there are no displays",
    ),
    Topic("frames", "nested backward passes (enter, leave)", info_pass.frames),
    Topic("history", "how much of the pass is recorded", info_pass.history),
    Topic("hooks", "[PLACE]: hooks of the node", info_node.hooks),
    Topic("leaves", "the .grad of every leaf", info_pass.leaves),
    Topic("node", "[PLACE]: all about a node", info_node.node),
    Topic("pass", "the progress of the pass, and the nodes that are ready", info_pass.progress),
    Topic("pending", "sums whose node has not run", info_pass.pending),
    Topic("phases", "[PLACE]: what happened inside the node, in order", info_node.phases),
    Topic("saved", "[PLACE]: the node's saved tensors", info_node.saved),
)

COMMANDS: Final = (
    Command(
        "info TOPIC", "show information; help info lists topics",
        _info, ("i",), "topic",
        details="\n".join(f"  {topic.word:<15}{topic.summary}" for topic in TOPICS),
    ),
)  # fmt: skip
