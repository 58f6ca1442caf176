"""A small DebugSession for the tests of the screen: a real backward pass over a fixed plan.

The plan is a list of :class:`ScriptedNode`; the session runs their rules, keeps what every
node sent, and answers everything from that record at the present position.  It refuses what
a real session refuses, so that the screen cannot get away with a wrong command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from autograd_core.dag.builder import GraphBuilder
from autograd_core.dag.model import Graph, SavedValue, Source, short_name
from autograd_core.dag.turns import index_of, turn
from autograd_core.debug.records.snapshot import (
    Breakpoint,
    Contribution,
    Entry,
    Incoming,
    LeafGradient,
    NodeDetail,
    Outgoing,
    Pending,
    Phase,
    Reply,
    Saved,
    Snapshot,
    Value,
)

Array = np.ndarray
Rule = Callable[[list[Array | None]], Sequence[Array | None]]


@dataclass(frozen=True)
class ScriptedNode:
    """One node of the plan; ``targets`` names (index, input number) per output."""

    name: str
    rule: Rule = lambda g: [g[0]]
    targets: tuple[tuple[int, int] | None, ...] = ()
    shape: tuple[int, ...] = ()
    variable: str = ""
    scope: str = ""
    formulas: tuple[tuple[str, str], ...] = ()
    saved: tuple[tuple[str, Array | None], ...] = ()
    source: Source | None = None
    source_line: str = ""
    inputs: int = 1


@dataclass
class ScriptedSession:
    """See the module; ``before`` holds the ``.grad`` of leaves from an earlier pass."""

    nodes: Sequence[ScriptedNode]
    seed: Array = field(default_factory=lambda: np.ones(()))
    title: str = ""
    before: dict[str, Array] = field(default_factory=dict)
    fail_at: int | None = None
    commands: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.graph = _graph(self.nodes, self.title)
        self.position = 0
        self._sent: list[Sequence[Array | None]] = []
        self._stops: list[Breakpoint] = []
        self._stop_number = 0
        self._reason = "start of the backward pass"
        self._error = ""
        self._last = ""
        self._selected: int | None = None
        self._arrivals: list[list[tuple[int, int, int]]] = [[] for _ in self.nodes]
        for index, node in enumerate(self.nodes):
            for output_nr, target in enumerate(node.targets):
                if target is not None:
                    self._arrivals[target[0]].append((target[1], index, output_nr))

    # -- commands ------------------------------------------------------------

    @property
    def selected(self) -> int | None:
        """The node that looking commands speak of, None at the end."""
        if self._selected is not None:
            return self._selected
        return self.position if self.position < len(self.nodes) else None

    def select(self, index: int) -> None:
        self._selected = index

    def interrupt(self) -> None:
        self.commands.append("(interrupt)")

    def complete(self, line: str, column: int) -> list[str]:
        words = ("back", "break", "continue", "next")
        return [word for word in words if word.startswith(line[:column])]

    def phases(self, index: int) -> tuple[Phase, ...]:
        """The formula alone: this session has no inside."""
        detail = self.detail(index)
        given = tuple(each.total for each in detail.incoming)
        return (Phase("formula", "formula", given, tuple(each.value for each in detail.outgoing)),)

    def ledger(self, index: int, input_nr: int = 0) -> Iterator[Entry]:
        parts: list[Array] = []
        for number, one in enumerate(self._incoming(index, input_nr, self.position).contributions):
            parts += [] if one.value is None else [one.value.array]
            total = sum(parts) if parts else None
            sizes = float(sum(np.abs(part).sum() for part in parts))
            left = 1.0 if total is None or not sizes else float(np.abs(total).sum()) / sizes
            shown = None if total is None else Value(np.asarray(total))
            yield Entry(number, one.producer, one.output_nr, one.value, shown, left)

    def do(self, line: str) -> Reply:
        self.commands.append(line)
        words = line.split() or self._last.split()
        if not words:
            return Reply("no command to repeat", error=True)
        self._last = line or self._last
        known = {
            "next": self._next,
            "back": self._back,
            "reverse-next": self._back,
            "continue": lambda _: self._run(len(self.nodes), "end of the backward pass"),
            "reverse-continue": self._reverse_continue,
            "until": self._until,
            "restart": lambda _: self._move(0, "start of the backward pass"),
            "jump": self._jump,
            "break": self._break,
            "delete": self._delete,
            "info": lambda rest: Reply("\n".join(f"{s.number} {s.text}" for s in self._stops)),
            "help": lambda rest: Reply("next [N]\nback [N]\nuntil LOCATION"),
        }
        short = {"n": "next", "c": "continue", "rc": "reverse-continue", "u": "until", "b": "break"}
        action = known.get(short.get(words[0], words[0]))
        if action is None:
            return Reply(f'unknown command "{words[0]}"; help lists them', error=True)
        try:
            return action(words[1:])
        except (ValueError, IndexError) as error:
            return Reply(f"{line}: {error}", error=True)

    def _next(self, rest: list[str]) -> Reply:
        if self.position == len(self.nodes):
            return Reply("the backward pass has ended", error=True)
        count = int(rest[0]) if rest else 1
        return self._run(min(len(self.nodes), self.position + count), "")

    def _back(self, rest: list[str]) -> Reply:
        if self.position == 0:
            return Reply("this is the start of the backward pass", error=True)
        return self._move(max(0, self.position - (int(rest[0]) if rest else 1)), "")

    def _until(self, rest: list[str]) -> Reply:
        ahead = [index for index in self._find(rest[0]) if index > self.position]
        if not ahead:
            return Reply(f"{rest[0]} has run already; back or jump goes there", error=True)
        return self._run(ahead[0], f"reached {rest[0]}")

    def _reverse_continue(self, rest: list[str]) -> Reply:
        stops = {i for stop in self._stops for i in stop.indices if i < self.position}
        if stops:
            return self._move(max(stops), "breakpoint")
        return self._move(0, "start of the backward pass")

    def _move(self, position: int, reason: str) -> Reply:
        if not 0 <= position <= len(self._sent):
            return Reply(f"position {position} has not been recorded yet", error=True)
        self.position, self._reason, self._selected = position, reason, None
        return Reply(self._here())

    def _jump(self, rest: list[str]) -> Reply:
        end = rest[0] == "end"
        return self._move(len(self.nodes) if end else self._find(rest[0])[0], "jumped here")

    def _break(self, rest: list[str]) -> Reply:
        indices = tuple(self._find(rest[0]))
        self._stop_number += 1
        self._stops.append(Breakpoint(self._stop_number, rest[0], indices))
        return Reply(f"breakpoint {self._stop_number}: {rest[0]} ({len(indices)} nodes)")

    def _delete(self, rest: list[str]) -> Reply:
        kept = [stop for stop in self._stops if stop.number != int(rest[0])]
        if len(kept) == len(self._stops):
            return Reply(f"no breakpoint {rest[0]}", error=True)
        self._stops = kept
        return Reply(f"deleted breakpoint {rest[0]}")

    def _find(self, location: str) -> list[int]:
        """Plan indices of ``#3``, ``mul:2``, ``mul`` or a leaf's name."""
        everything = range(len(self.nodes))
        if location.startswith("#"):
            index = index_of(location)
            found = [index] if index in everything else []
        else:
            found = [i for i in everything if self.graph.address(i) == location]
            found = found or [i for i in everything if short_name(self.nodes[i].name) == location]
        if not found:
            raise ValueError(f'no node "{location}" in this plan')
        return found

    # -- running -------------------------------------------------------------

    def _run(self, goal: int, reason: str) -> Reply:
        stops = {index: stop for stop in self._stops for index in stop.indices}
        self._reason, self._selected = reason, None
        while self.position < goal:
            if self.position == len(self._sent) and not self._execute(self.position):
                return Reply(self._error, error=True)
            self.position += 1
            if self.position in stops and self.position < goal:
                stop = stops[self.position]
                self._reason = f"breakpoint {stop.number}: {stop.text}"
                break
        if self.position == len(self.nodes):
            self._reason = "end of the backward pass"
        return Reply(self._here())

    def _execute(self, index: int) -> bool:
        node = self.nodes[index]
        if self.fail_at == index:
            self._error = f"{node.name} raised ValueError: boom [red]here[/]"
            return False
        totals = [self._incoming(index, nr, index).total for nr in range(node.inputs)]
        self._sent.append(node.rule([None if t is None else t.array for t in totals]))
        return True

    def _here(self) -> str:
        if self.position == len(self.nodes):
            return "end of the backward pass"
        return f"at {turn(self.position)} {self.graph.address(self.position)}"

    # -- records -------------------------------------------------------------

    def _incoming(self, index: int, input_nr: int, position: int) -> Incoming:
        edges = [(p, o) for nr, p, o in self._arrivals[index] if nr == input_nr]
        arrived: list[Contribution] = []
        if index == 0:
            arrived.append(Contribution(None, 0, Value(self.seed)))
        for producer, output_nr in edges:
            if producer < position:
                sent = self._sent[producer][output_nr]
                arrived.append(
                    Contribution(producer, output_nr, None if sent is None else Value(sent))
                )
        values = [one.value.array for one in arrived if one.value is not None]
        total: Array | None = None
        for value in values:
            total = value if total is None else total + value
        return Incoming(
            input_nr,
            self.nodes[index].shape,
            len(edges) + (index == 0),
            tuple(arrived),
            None if total is None else Value(np.asarray(total)),
        )

    def detail(self, index: int) -> NodeDetail:
        node, run = self.nodes[index], index < self.position
        outgoing = []
        for output_nr, target in enumerate(node.targets):
            sent = self._sent[index][output_nr] if run else None
            where, input_nr = target or (None, 0)
            value = None if sent is None else Value(np.asarray(sent))
            outgoing.append(Outgoing(output_nr, where, input_nr, run, value))
        return NodeDetail(
            index=index,
            status="done" if run else "current" if index == self.position else "waiting",
            incoming=tuple(self._incoming(index, n, self.position) for n in range(node.inputs)),
            outgoing=tuple(outgoing),
            saved=tuple(_saved(name, array) for name, array in node.saved),
            formulas=node.formulas,
            hooks=(),
            source_line=node.source_line,
        )

    @property
    def snapshot(self) -> Snapshot:
        done = self.position == len(self.nodes)
        return Snapshot(
            call=1,
            position=self.position,
            recorded=len(self._sent),
            length=len(self.nodes),
            status="failed" if self._error else "finished" if done else "paused",
            reason=self._reason,
            graph=self.graph,
            current=None if done else self.detail(self.position),
            leaves=tuple(self._leaf(i) for i, n in enumerate(self.nodes) if n.variable),
            pending=self._pending() if len(self.nodes) < 1000 else (),
            breakpoints=tuple(self._stops),
            error=self._error,
        )

    def _leaf(self, index: int) -> LeafGradient:
        node, incoming = self.nodes[index], self._incoming(index, 0, self.position)
        before = self.before.get(node.variable)
        now, pending = before, incoming.total
        if index < self.position:
            pending = None
            if incoming.total is not None:
                total = incoming.total.array
                now = total if before is None else before + total
        return LeafGradient(
            index=index,
            name=node.variable,
            shape=node.shape,
            before=None if before is None else Value(before),
            now=None if now is None else Value(now),
            pending=pending,
            arrived=len(incoming.contributions),
            expected=incoming.expected,
        )

    def _pending(self) -> tuple[Pending, ...]:
        waiting = (
            (index, self._incoming(index, nr, self.position))
            for index in range(self.position, len(self.nodes))
            for nr in range(self.nodes[index].inputs)
        )
        return tuple(
            Pending(index, one.input_nr, len(one.contributions), one.expected, one.total)
            for index, one in waiting
            if one.total is not None
        )


def _saved(name: str, array: Array | None) -> Saved:
    if array is None:
        return Saved(name, (3,), "float64", 24, "freed", None)
    return Saved(name, array.shape, array.dtype.name, array.nbytes, "kept", Value(array))


def _graph(nodes: Sequence[ScriptedNode], title: str) -> Graph:
    build = GraphBuilder(title)
    for index, node in enumerate(nodes):
        build.node(
            "parameter" if node.variable else "op",
            "backward",
            node.name,
            variable=node.variable,
            scope=node.scope,
            shape=node.shape,
            dtype="float64",
            formula="; ".join(text for _, text in node.formulas),
            source=node.source,
            order=index,
            saved=tuple(
                SavedValue(n, (3,), "float64", 24, "kept" if a is not None else "freed")
                for n, a in node.saved
            ),
        )
    for index, node in enumerate(nodes):
        for output_nr, target in enumerate(node.targets):
            if target is not None:
                shape = nodes[target[0]].shape
                build.edge(
                    "gradient",
                    index,
                    target[0],
                    output_nr=output_nr,
                    input_nr=target[1],
                    shape=shape,
                    dtype="float64",
                )
    return build.graph()


# -- programs ----------------------------------------------------------------------------


def shared_weight() -> ScriptedSession:
    """``(w * (w * h + b) + h).sum()`` with ``h = tanh(w * x)``: one weight, three uses."""
    file = "samples/shared_weight.py"
    x, w, b = np.array([1.0, 2.0, 3.0]), np.array([0.5, -0.25, 2.0]), np.array([0.1, 0.2, 0.3])
    h = np.tanh(w * x)
    inner = w * h + b
    product = (("self", "g * other"), ("other", "g * self"))
    vector = (3,)
    nodes = [
        ScriptedNode(
            "SumBackward0",
            lambda g: [np.broadcast_to(g[0], vector)],
            ((1, 0),),
            formulas=(("self", "g.expand(self_shape)"),),
            source=Source(file, 14),
            source_line="loss = (y + h).sum()",
        ),
        ScriptedNode(
            "AddBackward0",
            lambda g: [g[0], g[0]],
            ((2, 0), (6, 0)),
            vector,
            formulas=(("self", "g"), ("other", "g")),
            source=Source(file, 14),
            source_line="loss = (y + h).sum()",
        ),
        ScriptedNode(
            "MulBackward0",
            lambda g: [g[0] * inner, g[0] * w],
            ((8, 0), (3, 0)),
            vector,
            scope="decoder",
            formulas=product,
            saved=(("self", w), ("other", inner)),
            source=Source(file, 13),
            source_line="y = w * inner",
        ),
        ScriptedNode(
            "AddBackward0",
            lambda g: [g[0], g[0]],
            ((5, 0), (4, 0)),
            vector,
            scope="decoder",
            formulas=(("self", "g"), ("other", "g")),
            source=Source(file, 12),
            source_line="inner = w * h + b",
        ),
        ScriptedNode("AccumulateGrad", lambda g: [], (), vector, "b"),
        ScriptedNode(
            "MulBackward0",
            lambda g: [g[0] * h, g[0] * w],
            ((8, 0), (6, 0)),
            vector,
            scope="decoder",
            formulas=product,
            saved=(("self", w), ("other", h)),
            source=Source(file, 12),
            source_line="inner = w * h + b",
        ),
        ScriptedNode(
            "TanhBackward0",
            lambda g: [g[0] * (1 - h * h)],
            ((7, 0),),
            vector,
            scope="encoder",
            formulas=(("self", "g * (1 - ans * ans)"),),
            saved=(("ans", h),),
            source=Source(file, 11),
            source_line="h = torch.tanh(w * x)",
        ),
        ScriptedNode(
            "MulBackward0",
            lambda g: [g[0] * x, None],
            ((8, 0), None),
            vector,
            scope="encoder",
            formulas=(product[0],),
            saved=(("other", x),),
            source=Source(file, 11),
            source_line="h = torch.tanh(w * x)",
        ),
        ScriptedNode("AccumulateGrad", lambda g: [], (), vector, "w"),
    ]
    return ScriptedSession(nodes, title="shared_weight.py", before={"b": np.zeros(3)})


def troubled() -> ScriptedSession:
    """A hostile little graph: nan, inf, zero, undefined, and names with markup and escapes."""
    two = (2,)
    nodes = [
        ScriptedNode(
            "StackBackward0",
            lambda g: [np.array([np.nan, 1.0]), np.array([np.inf, 1.0]), np.zeros(2), None],
            ((1, 0), (2, 0), (3, 0), (4, 0)),
            two,
            saved=(("gone", None),),
        ),
        ScriptedNode("AccumulateGrad", lambda g: [], (), two, "[bold]nan[/bold]"),
        ScriptedNode("AccumulateGrad", lambda g: [], (), two, "inf\x1b[31m"),
        ScriptedNode("AccumulateGrad", lambda g: [], (), two, "zero\n行列"),
        ScriptedNode("AccumulateGrad", lambda g: [], (), two, "undefined"),
    ]
    return ScriptedSession(nodes, seed=np.ones(2), title="[/] trouble")


def chain(length: int) -> ScriptedSession:
    """``length`` multiplications, each by two, then one leaf."""
    nodes = [
        ScriptedNode(
            "MulBackward0",
            lambda g: [g[0] * 2],
            ((index + 1, 0),),
            scope=f"blocks.{index // 10}",
        )
        for index in range(length - 1)
    ]
    nodes.append(ScriptedNode("AccumulateGrad", lambda g: [], (), (), "weight"))
    return ScriptedSession(nodes, title="chain")


def residual_net(blocks: int) -> ScriptedSession:
    """A stack of residual blocks with their parameters, as a network has them."""
    nodes: list[ScriptedNode] = []
    shape = (4, 8)
    halve: Rule = lambda g: [None if g[0] is None else g[0] * 0.5] * 4  # noqa: E731

    def add(name: str, scope: str, *targets: int, variable: str = "") -> None:
        base = len(nodes)
        nodes.append(
            ScriptedNode(
                name,
                halve,
                tuple((base + step, 0) for step in targets),
                shape,
                variable,
                scope,
                source=Source("net.py", 40 + len(scope)),
            )
        )

    for block in reversed(range(blocks)):
        scope = f"encoder.{block}"
        add("AddBackward0", scope, 1, 8 if block else 9)
        add("AddmmBackward0", f"{scope}.up", 1, 2, 3)
        add("AccumulateGrad", "", variable=f"{scope}.up.bias")
        add("ReluBackward0", scope, 3)
        add("TBackward0", f"{scope}.up", 1)
        add("AccumulateGrad", "", variable=f"{scope}.up.weight")
        add("NativeLayerNormBackward0", f"{scope}.norm", 2 if block else 3, 1, 1)
        add("AccumulateGrad", "", variable=f"{scope}.norm.weight")
        nodes[-1] = ScriptedNode("AccumulateGrad", halve, (), shape, f"{scope}.norm.weight")
    add("AccumulateGrad", "", variable="position")
    add("EmbeddingBackward0", "tokens", 1)
    add("AccumulateGrad", "", variable="tokens.weight")
    return ScriptedSession(nodes, seed=np.ones(shape), title="net.py")


def dense(width: int) -> ScriptedSession:
    """Every node sends to every later one: more lanes than a screen has."""
    nodes = [
        ScriptedNode(
            "CatBackward0",
            lambda g, count=width - 1 - index: [g[0]] * count,
            tuple((later, 0) for later in range(index + 1, width)),
            scope="dense",
            source=Source("dense.py", index),
        )
        for index in range(width)
    ]
    return ScriptedSession(nodes, title="dense.py")
