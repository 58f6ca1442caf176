"""Returns that are summed from the first reward on, where they are sums of what comes later."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gradstep.findings.facts import Facts
from gradstep.findings.facts.program import Files, name_of
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.graph.model import Source

_REWARDS: Final = re.compile(r"(\w*_)?(rewards?|rews?|r|deltas?)$")


@dataclass(frozen=True)
class FromTheFirst(Reason):
    """A loop over ``rewards`` discounts what came before, and keeps each ``total``."""

    code = "returns-order"
    blames_line = True
    total: str
    rewards: str

    def text(self) -> str:
        return (
            f"the loop goes through {self.rewards} from the first to the last, so that "
            f"{self.total} sums the rewards of the past, where a return is the sum of those that "
            "follow"
        )

    def remedy(self) -> str:
        return f"go through reversed({self.rewards}), and reverse the list of returns at the end"


def returns_order(facts: Facts) -> Iterator[Reason]:
    """Yield loops over rewards with ``total = reward + gamma * total`` whose order nothing
    reverses, and which append each total to a list."""
    for file, tree in facts[Files].trees():
        for loop in ast.walk(tree):
            if not isinstance(loop, ast.For):
                continue
            rewards = _gone_through(loop)
            total = _discounted(loop)
            if rewards and total and _is_appended(loop, total):
                yield FromTheFirst(total, rewards, source=Source(file, loop.lineno))


def _gone_through(loop: ast.For) -> str:
    """Return the rewards that a loop goes through forwards, "" where it does not."""
    names = [
        part.id if isinstance(part, ast.Name) else part.attr
        for part in ast.walk(loop.iter)
        if isinstance(part, ast.Name | ast.Attribute)
    ]
    text = ast.unparse(loop.iter)
    if any(name in ("reversed", "flip", "range", "arange") for name in names) or "-1" in text:
        return ""
    return next((name for name in names if _REWARDS.fullmatch(name)), "")


def _discounted(loop: ast.For) -> str:
    """Return what becomes ``reward + gamma * itself`` in a loop."""
    for node in loop.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.BinOp(op=ast.Add(), left=left, right=right)
            ):
                sides = [left, right]
                for reward, product in (sides, sides[::-1]):
                    factors = (
                        [name_of(product.left), name_of(product.right)]
                        if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult)
                        else []
                    )
                    if name in factors and _REWARDS.fullmatch(name_of(reward)):
                        return name
    return ""


def _is_appended(loop: ast.For, total: str) -> bool:
    return any(
        isinstance(node, ast.Call)
        and name_of(node.func) == "append"
        and any(name_of(each) == total for each in node.args)
        for node in ast.walk(loop)
    )


RULES: Final = (
    Rule(returns_order, Meaning(
        "returns-order", "warning", "returns add up rewards of the past",
        "The reward of a step belongs to the actions before it, not to those after it.",
        "for reward in rewards:\n    total = reward + gamma * total\n    returns.append(total)",
        "for reward in reversed(rewards):\n    total = reward + gamma * total\n"
        "    returns.insert(0, total)",
        "When the list should be an average of the past.",
    ), needs=(Files,)),
)  # fmt: skip
