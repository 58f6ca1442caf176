"""Graphs of PyTorch programs: what is captured is what PyTorch has, and what its engine did."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import autograd_core.engines.pytorch as engine  # noqa: E402  # imports torch
from autograd_core.autograd.node import LEAF  # noqa: E402
from autograd_core.dag import Graph, Names, capture  # noqa: E402
from autograd_core.dag.capture.roots import backward_call  # noqa: E402
from autograd_core.debug.history.observed_pass import ObservedPass  # noqa: E402
from tests.engines import torch_programs  # noqa: E402  # imports torch
from tests.forking import run_python  # noqa: E402
from viz import film  # noqa: E402

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.torch
each_program = pytest.mark.parametrize(
    "program", torch_programs.ALL, ids=lambda program: program.__name__
)
MODULES = [f"{engine.__name__}.{found.name}" for found in pkgutil.iter_modules(engine.__path__)]


@pytest.mark.parametrize("module", [engine.__name__, *MODULES])
def test_the_examples_in_docstrings_hold(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def walked(root: Any) -> tuple[Counter[str], Counter[tuple[str, str, int]]]:
    """The names of all nodes behind ``root``, and its edges, found without gradstep."""
    start = torch.autograd.graph.get_gradient_edge(root).node
    nodes, stack = {start}, [start]
    edges: Counter[tuple[str, str, int]] = Counter()
    while stack:
        node = stack.pop()
        for target, nr in node.next_functions:
            if target is not None:
                edges[node.name(), target.name(), nr] += 1
                if target not in nodes:
                    nodes.add(target)
                    stack.append(target)
    return Counter(node.name() for node in nodes), edges


def short(name: str) -> str:
    return name.removeprefix("torch::autograd::")


def backward_nodes(graph: Graph) -> list[int]:
    return [
        id for id, half in enumerate(graph.halves)
        if half == "backward" and graph.kinds[id] != "seed"
    ]  # fmt: skip


@each_program
def test_nodes_edges_and_leaves_are_those_of_an_independent_walk(
    program: Callable[[], Any],
) -> None:
    torch.manual_seed(0)
    root = program()
    names, edges = walked(root)
    graph = capture(root, "both")
    ids = backward_nodes(graph)
    assert Counter(graph.names[id] for id in ids) == Counter(
        {short(name): count for name, count in names.items()}
    )
    drawn = Counter(
        (graph.names[edge.source], graph.names[edge.target], edge.input_nr)
        for edge in graph.edges()
        if edge.kind == "gradient" and graph.kinds[edge.source] != "seed"
    )
    assert drawn == Counter({(short(a), short(b), nr): n for (a, b, nr), n in edges.items()})
    leaves = sum(graph.names[id] == "AccumulateGrad" for id in ids)
    with_gradient = [
        id for id, half in enumerate(graph.halves)
        if half == "forward" and graph.kinds[id] in ("leaf", "parameter")
    ]  # fmt: skip
    assert len(with_gradient) == leaves


@each_program
def test_a_watched_pass_gives_the_gradients_of_a_plain_one_bit_for_bit(
    program: Callable[[], Any],
) -> None:
    def gradients(watch: bool) -> tuple[Any, list[Any]]:
        torch.manual_seed(0)
        root = program()
        call = backward_call(root)
        leaves = [node.tensor.origin for node in call.engine.plan(call.roots).order
                  if node.kind == LEAF]  # fmt: skip
        if watch:
            seen = ObservedPass(call, Names({}))
            seen.run()
            graph = seen.graph("both")
            assert len(seen.steps) == len(backward_nodes(graph))
        else:
            root.backward()
        return root.detach(), [leaf.grad for leaf in leaves]

    plain, watched_ = gradients(False), gradients(True)
    assert torch.equal(plain[0], watched_[0])
    for one, other in zip(plain[1], watched_[1], strict=True):
        assert torch.equal(one, other)


def test_the_sample_trains_and_its_picture_in_the_readme_shows_its_graph() -> None:
    run = run_python([str(ROOT / "samples" / "pytorch_digits.py")], ROOT)
    assert (run.returncode, run.stderr) == (0, "")
    epochs = re.findall(
        r"epoch (\d): (\d+\.\d)% of the digits it has seen are read right", run.stdout
    )
    assert len(epochs) == 3
    assert float(epochs[-1][1]) > 95
    arguments = ["-m", "gradstep", "render", "samples/pytorch_digits.py", "-o", "-"]
    drawn = run_python(arguments, ROOT).stdout
    shown = (ROOT / "docs" / "images" / "pytorch-digits.svg").read_text("utf-8")
    boxes = [re.findall(r"<title>([^<\n]+)", text) for text in (drawn, shown)]
    assert boxes[0] == boxes[1]
    assert "model.block.weight" in shown


def test_a_film_leaves_no_gradient_and_frees_nothing() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    assert film(y).shots
    assert x.grad is None
    y.backward()
    assert x.grad.tolist() == [2.0, 4.0]
