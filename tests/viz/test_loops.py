"""Loops are drawn as the source has them: each round by the value of the program's variable."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from textwrap import dedent
from typing import Any

import pytest

import gradstep
from gradstep import Graph
from gradstep.graph.folding import Folding

ENGINES = ["autograd_core", pytest.param("torch", marks=pytest.mark.torch)]
SAMPLE = 40
PROGRAMS = 200


def run(text: str, engine: str) -> tuple[Graph, dict[str, Any]]:
    """Run a program, and return the graph of its ``x``, and its variables."""
    space: dict[str, Any] = {"__name__": "__main__"}
    text = f"import {engine} as torch\n{dedent(text)}"
    with gradstep.trace():
        exec(compile(text, "a_program.py", "exec"), space)
    return gradstep.capture(space["x"], names={"w": space["w"]}), space


def labels(graph: Graph, half: str) -> list[tuple[str, ...]]:
    """Return the rounds of the ops of one half, in the order in which these ran."""
    ids = [id for id in range(len(graph)) if graph.halves[id] == half and graph.kinds[id] == "op"]
    if half == "backward":
        ids.sort(key=lambda id: -graph.orders[id])
    return [tuple(one.label for one in graph.rounds.get(id, ())) for id in ids]


class Writer:
    """Writes programs of nested loops: a chain of ops, after each of which ``ran`` appends what the
    boxes around it are to say."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = iter("abcdefghijklmnopqrsu")
        self.lines: list[str] = []

    def program(self) -> str:
        start = ["w = torch.ones(2, requires_grad=True)", "x, truth, outer = w * 1.0, [()], ()"]
        body = self.block(0, ())
        return "\n".join([*self.lines, *start, *body])

    def block(self, depth: int, around: tuple[str, ...]) -> list[str]:
        """Return statements, the first or the last of which is an op; ``around`` are the
        expressions of what the boxes say."""
        parts = [self.part(depth, around) for _ in range(self.random.randint(1, 2))]
        parts.insert(self.random.choice([0, len(parts)]), self.op(around))
        return [line for part in parts for line in part]

    def op(self, around: tuple[str, ...]) -> list[str]:
        op = self.random.choice(["x * w", "torch.sin(x)", "x + 0.5", "(x - 1) * w"])
        told = "".join(f"{each}, " for each in around)
        return [f"x = {op}", f"truth += [({told})] * {1 + ('(' in op and '-' in op)}"]

    def part(self, depth: int, around: tuple[str, ...]) -> list[str]:
        kinds = ["branch", "for", "for", "list", "items", "while", "call", "sum"]
        kind = "branch" if depth == 3 else self.random.choice(kinds)
        name = next(self.names, "")
        if kind == "branch" or not name:
            one, other = self.op(around), self.op(around)
            test = f"{self.random.choice(['len(truth) % 3', 'x.sum() > 1'])}"
            return [f"if {test}:", *inside(one), "else:", *inside(other)]
        value = f"f'{name} = {{{name}!r}}'"
        if kind == "sum":
            told = "".join(f"{each}, " for each in around)
            return [
                f"x = sum(torch.sin(x * w) for {name} in range(3)) * w",
                f"truth += [({told}{value},) for {name} in range(3) for _ in 'abc']",
                f"truth += [({told})]",
            ]
        if kind == "while":
            body = self.block(depth + 1, (*around, f"f'round {{{name}}}'"))
            return [f"{name} = 0", f"while {name} < 3:", *inside([f"{name} += 1", *body])]
        body = self.block(depth + 1, (*around, value))
        if kind == "call":
            # the variables around are not seen in a function
            body = self.block(3, ("*outer", value))
            loop = [f"for {name} in range(2):", *inside(body), "return x, truth"]
            self.lines += [f"def f{name}(x, truth):", *inside(loop)]
            told = "".join(f"{each}, " for each in around)
            return [f"outer = ({told})", f"x, truth = f{name}(x, truth)"]
        head = {
            "for": f"{name} in range(2, 5)",
            "list": f"{name} in ['p', 'q']",
            "items": f"{name}, value_{name} in enumerate([w, w, w])",
        }[kind]
        return [f"for {head}:", *inside(body)]


def inside(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


@pytest.mark.parametrize("engine", ENGINES)
def test_each_op_is_in_the_round_that_its_variables_tell(
    engine: str, sample: Callable[[Sequence[int], int], list[int]]
) -> None:
    for seed in sample(range(PROGRAMS), SAMPLE):
        text = Writer(seed).program()
        graph, space = run(text, engine)
        for half in ("forward", "backward"):
            assert labels(graph, half) == space["truth"], f"{half}, seed {seed}\n{text}"
        for boxes in (6, 20):
            see_true_boxes(graph, Folding(graph).fold(max_boxes=boxes))


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_added_behind_functions_that_one_line_calls_is_in_its_round(engine: str) -> None:
    graph, _ = run(
        """
        w = torch.ones(2, requires_grad=True)
        x = w * 1.0
        def function(t):
            y = torch.sin(t)
            return y * t
        for step in (1, 2):
            x = sum(map(function, [x, w, x]))
        """,
        engine,
    )
    rounds = {(one.number, one.label) for each in graph.rounds.values() for one in each}
    assert rounds == {(1, "step = 1"), (2, "step = 2")}


def see_true_boxes(graph: Graph, folded: Graph) -> None:
    """See that a box of a round, or of several, holds ops of these rounds, and nothing else."""
    for id, group in folded.groups.items():
        if group.kind not in ("iteration", "loop"):
            continue
        name, _, values = folded.names[id].rpartition(" = ")
        said = {one.label for member in group.members for one in graph.rounds.get(member, ())}
        first = group.title.partition(" … ")[0]
        assert first in said
        assert all(
            any(one.label.startswith(name or "round") for one in graph.rounds[member])
            for member in group.members
            if graph.kinds[member] == "op"
        ), values
