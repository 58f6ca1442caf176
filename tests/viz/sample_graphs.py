"""Graphs to draw, built by hand through the seam that every capture fills."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import gradstep
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.model import Graph, SavedValue, Shape
from gradstep.graph.statistics import Statistics, statistics
from gradstep_viz.picture.model import VIEWS

FLOAT = "float32"


def scalar(value: float) -> Statistics:
    return statistics(np.float64(value))


def quadratic() -> Graph:
    """Q = 3a³ − b² at a = 2, b = 6: both halves, every value, both saved tensors."""
    build = GraphBuilder("Q = 3a³ − b²")

    def forward(kind: str, name: str, value: float, detail: str = "", variable: str = "") -> int:
        return build.node(
            kind, "forward", name, variable=variable, shape=(), dtype=FLOAT,
            detail=detail, statistics=scalar(value),
        )  # fmt: skip

    def backward(name: str, order: int, formula: str, saved: Sequence[str] = ()) -> int:
        values = tuple(SavedValue(s, (), FLOAT, 4) for s in saved)
        return build.node(
            "op", "backward", name, shape=(), dtype=FLOAT, formula=formula, order=order,
            saved=values,
        )  # fmt: skip

    a = forward("leaf", "a", 2, variable="a")
    b = forward("leaf", "b", 6, variable="b")
    cube = forward("op", "pow", 8, "exponent 3")
    square = forward("op", "pow", 36, "exponent 2")
    mul = forward("op", "mul", 24, "3 · x", "O")
    sub = forward("op", "sub", -12, "O − P")
    q = forward("output", "Q", -12, variable="Q")
    for source, target, nr in (
        (a, cube, 0), (b, square, 0), (cube, mul, 0), (mul, sub, 0), (square, sub, 1), (sub, q, 0),
    ):  # fmt: skip
        build.edge("value", source, target, input_nr=nr, shape=(), dtype=FLOAT)

    seed = build.node("seed", "backward", "∂Q/∂Q", shape=(), dtype=FLOAT, statistics=scalar(1))
    dsub = backward("SubBackward0", 0, "g, −g")
    dsquare = backward("PowBackward0", 1, "g · 2 · b", ["self"])
    dmul = backward("MulBackward0", 2, "g · 3")
    dcube = backward("PowBackward0", 3, "g · 3 · a²", ["self"])
    grads = {}
    for order, (name, value, detail) in enumerate((("b", -12, "0 − 12"), ("a", 36, "0 + 36")), 4):
        grads[name] = build.node(
            "leaf", "backward", "AccumulateGrad", variable=name, shape=(), dtype=FLOAT,
            detail=detail, order=order, statistics=scalar(value),
        )  # fmt: skip
    for source, target, nr, value in (
        (seed, dsub, 0, 1), (dsub, dmul, 0, 1), (dsub, dsquare, 1, -1), (dmul, dcube, 0, 3),
        (dcube, grads["a"], 0, 36), (dsquare, grads["b"], 0, -12),
    ):  # fmt: skip
        build.edge(
            "gradient", source, target, output_nr=nr, shape=(), dtype=FLOAT,
            statistics=scalar(value),
        )  # fmt: skip
    build.edge("saved", a, dcube, shape=(), dtype=FLOAT, label="self", nbytes=4)
    build.edge("saved", b, dsquare, shape=(), dtype=FLOAT, label="self", nbytes=4)
    for one, other in (
        (a, grads["a"]), (b, grads["b"]), (cube, dcube), (square, dsquare), (mul, dmul),
        (sub, dsub), (q, seed),
    ):  # fmt: skip
        build.pair(one, other)
    return build.graph()


class Twin:
    """Builds a forward half and, from it, the backward half that mirrors it."""

    def __init__(self, title: str) -> None:
        self.build = GraphBuilder(title)
        self.nodes: list[tuple[str, str, str, Shape]] = []
        self.edges: list[tuple[int, int]] = []
        self.saved: list[tuple[int, int, str]] = []

    def leaf(self, name: str, shape: Shape = (), kind: str = "parameter", scope: str = "") -> int:
        return self._add(kind, name, shape, scope=scope, variable=name)

    def op(
        self, name: str, *inputs: int, shape: Shape = (), scope: str = "", keep: Sequence[int] = ()
    ) -> int:
        id = self._add("op", name, shape, scope=scope)
        for nr, source in enumerate(inputs):
            self.edges.append((source, id))
            self.build.edge(
                "value", source, id, input_nr=nr, shape=self.nodes[source][3], dtype=FLOAT
            )
        for source in keep:
            self.saved.append((source, id, "result" if source == id else "self"))
        if keep == () and name in ("relu", "exp", "tanh", "log_softmax"):
            self.saved.append((id, id, "result"))
        return id

    def _add(self, kind: str, name: str, shape: Shape, **more: str) -> int:
        self.nodes.append((kind, name, more.get("variable", ""), shape))
        return self.build.node(kind, "forward", name, shape=shape, dtype=FLOAT, **more)

    def finish(self, root: int, name: str = "loss", values: bool = False) -> Graph:
        out = self.build.node("output", "forward", name, variable=name, shape=())
        self.build.edge("value", root, out, shape=(), dtype=FLOAT)
        seed = self.build.node("seed", "backward", f"∂{name}/∂{name}", statistics=scalar(1))
        self.build.pair(out, seed)
        twin: dict[int, int] = {}
        ops = [i for i, (kind, *_) in enumerate(self.nodes) if kind == "op"]
        leaves = [i for i, (kind, *_) in enumerate(self.nodes) if kind in ("leaf", "parameter")]
        for order, id in enumerate([*reversed(ops), *reversed(leaves)]):
            kind, op, variable, shape = self.nodes[id]
            kept = [(s, label) for s, target, label in self.saved if target == id]
            saved = tuple(
                SavedValue(label, self.nodes[s][3], FLOAT, _bytes(self.nodes[s][3]))
                for s, label in kept
            )
            title = f"{op.title().replace('_', '')}Backward0" if kind == "op" else "AccumulateGrad"
            twin[id] = self.build.node(
                kind, "backward", title, variable=variable, shape=shape, dtype=FLOAT,
                order=order, saved=saved, statistics=_some(id, shape) if values else None,
            )  # fmt: skip
            self.build.pair(id, twin[id])
        self.build.edge("gradient", seed, twin[root], shape=(), statistics=scalar(1))
        numbers: dict[int, int] = {}
        for source, target in self.edges:
            nr = numbers[target] = numbers.get(target, -1) + 1
            if source in twin:
                shape = self.nodes[source][3]
                self.build.edge(
                    "gradient", twin[target], twin[source], output_nr=nr, shape=shape,
                    dtype=FLOAT, statistics=_some(source, shape) if values else None,
                )  # fmt: skip
        for source, target, label in self.saved:
            shape = self.nodes[source][3]
            self.build.edge(
                "saved", source, twin[target], shape=shape, dtype=FLOAT, label=label,
                nbytes=_bytes(shape),
            )  # fmt: skip
        return self.build.graph()


def _bytes(shape: Shape) -> int:
    return 4 * int(np.prod(shape))


def _some(seed: int, shape: Shape) -> Statistics:
    return statistics(np.random.default_rng(seed).normal(0, 0.1, shape))


def mlp(values: bool = True) -> Graph:
    """A classifier with one hidden layer, as `nn.Linear` and a log-softmax loss give it."""
    t = Twin("loss")
    x = t.leaf("x", (32, 64), "constant")
    target = t.leaf("target", (32,), "constant")
    for layer, (inputs, outputs) in (("fc1", (64, 32)), ("fc2", (32, 10))):
        weight = t.leaf(f"{layer}.weight", (outputs, inputs), scope=layer)
        bias = t.leaf(f"{layer}.bias", (outputs,), scope=layer)
        wt = t.op("t", weight, shape=(inputs, outputs), scope=layer)
        x = t.op("addmm", bias, x, wt, shape=(32, outputs), scope=layer, keep=(x, wt))
        if layer == "fc1":
            x = t.op("relu", x, shape=(32, outputs))
    x = t.op("log_softmax", x, shape=(32, 10))
    return t.finish(t.op("nll_loss", x, target, keep=(target,)), values=values)


def diamond() -> Graph:
    """Skip connections over one, two and five rows."""
    t = Twin("skips")
    x = t.leaf("x", (4,), "leaf")
    first = h = t.op("exp", x, shape=(4,))
    for _ in range(2):
        skip = h
        h = t.op("sin", h, shape=(4,), keep=(h,))
        h = t.op("tanh", h, shape=(4,))
        h = t.op("add", h, skip, shape=(4,))
    h = t.op("mul", h, first, shape=(4,), keep=(h, first))
    return t.finish(t.op("sum", h))


def shared() -> Graph:
    """One parameter used in three places."""
    t = Twin("shared weight")
    w, x = t.leaf("w", (3, 3)), t.leaf("x", (3,), "leaf")
    h = x
    for _ in range(3):
        h = t.op("tanh", t.op("mv", w, h, shape=(3,), keep=(w, h)), shape=(3,))
    return t.finish(t.op("sum", h))


def residual(blocks: int, wide: int = 1) -> Graph:
    """A residual network: ``blocks`` times six ops, with two weights each."""
    t = Twin(f"residual network of {blocks} blocks")
    h = t.leaf("x", (8, 16), "constant")
    for block in range(blocks):
        scope, skip = f"blocks.{block}", h
        for part in range(wide):
            w = t.leaf(f"{scope}.{part}.weight", (16, 16), scope=scope)
            h = t.op("mm", h, w, shape=(8, 16), scope=scope, keep=(h, w))
            h = t.op("relu", h, shape=(8, 16), scope=scope)
        w = t.leaf(f"{scope}.out.weight", (16, 16), scope=scope)
        h = t.op("mm", h, w, shape=(8, 16), scope=scope, keep=(h, w))
        h = t.op("add", h, skip, shape=(8, 16), scope=scope)
    return t.finish(t.op("sum", h))


def chain(length: int) -> Graph:
    """One op after the other."""
    build = GraphBuilder("chain")
    last = build.node("leaf", "forward", "x", variable="x", shape=(2,), dtype=FLOAT)
    for _ in range(length):
        node = build.node("op", "forward", "sin", shape=(2,), dtype=FLOAT)
        build.edge("value", last, node, shape=(2,), dtype=FLOAT)
        last = node
    return build.graph()


def drawn_in_all_formats() -> bytes:
    """Two of the graphs as every text there is."""
    return b"".join(
        gradstep.render(graph, format=format, view=view).data
        for graph in (mlp(), shared())
        for view in VIEWS
        for format in ("svg", "dot", "html", "txt", "mermaid", "json")
    )
