"""A column and a row that were broadcast to a matrix on the way to the loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final

from gradstep.contract.lookup import is_tensor
from gradstep.contract.op_records import OpRecord, Record
from gradstep.findings.facts import Graphs
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import with_operand
from gradstep.findings.rules.graph.subject import Subject
from gradstep.graph.statistics import format_shape
from gradstep.records import LEAF, Node, resolve

_DIFFERENCES: Final = ("sub", "rsub", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
_VIEWS: Final = ("squeeze", "unsqueeze", "view", "reshape", "flatten", "getitem", "expand")
_ADDING_UP: Final = (
    "sum", "mean", "add", "sub", "neg", "mul", "div", "cast", "to", "clone", *_VIEWS, *_DIFFERENCES,
)  # fmt: skip
"""Ops that only go on with a sum over the elements."""
_OF_ROWS: Final = (
    "mm", "matmul", "bmm", "mv", "addmm", "linear", "softmax", "log_softmax", "logsumexp", "max",
    "min", "amax", "amin", "sort", "topk", "cumsum", "diagonal", "select", "index", "gather",
    "triu", "tril", "layer_norm", "native_layer_norm", "norm", "linalg_vector_norm",
)  # fmt: skip
"""Ops to which the rows of a matrix matter, or the columns."""
Shape = tuple[int, ...]


def find_broadcasts(subject: Subject) -> Iterator[Reason]:
    """Differences of ``[N, 1]`` and ``[N]``, which have a number for each pair, in what becomes a
    single number."""
    if not all(_is_number(subject, root) for root in map(subject.user_tensor, subject.roots)):
        return
    for index, node in subject.ops():
        name = subject.graph.stem(index)
        shapes = _shapes(subject, node) if name in _DIFFERENCES else []
        for place, column in enumerate(shapes):
            size = column[0] if len(column) == 2 and column[1] == 1 else 0
            rows = [shape for shape in shapes if shape == (size,)]
            result = subject.graph.shapes[index]
            is_square = rows or (len(shapes) == 1 and result == (size, size))
            if size > 1 and is_square and not _is_meant(subject, index, node):
                yield Broadcast(size, name, place, not rows).at_node(subject.graph, index)
                break


def _is_meant(subject: Subject, index: int, node: Node) -> bool:
    """Return whether the program means each pair: it takes the difference of a tensor with itself,
    or an op takes the rows of the result apart, where a loss would only add everything up."""
    inputs = getattr(getattr(node, "record", None), "inputs", ())
    origins: list[object] = [_viewed(given) for given in inputs if isinstance(given, tuple)]
    if not origins:  # of what was not traced, what gets a gradient
        origins = [_viewed_node(subject, at) for at in subject.behind[index]]
    if len(origins) > len(set(origins)):
        return True
    shapes, stack, seen = subject.graph.shapes, [index], {index}
    while stack:
        at = stack.pop()
        for user in subject.senders.get(at, ()):
            stem = subject.graph.stem(user)
            if prod(shapes[user] or ()) == 1:
                continue  # what becomes of a number does not matter
            if stem in _OF_ROWS if shapes[at] == shapes[index] else stem not in _ADDING_UP:
                return True
            if user not in seen:
                seen.add(user)
                stack.append(user)
    return False


def _viewed(given: tuple[Record, int]) -> tuple[Record, int]:
    """Return what a value is a view of, as far as that has another shape only."""
    record = given[0]
    if not isinstance(record, OpRecord) or record.name not in _VIEWS:
        return given
    return _viewed(record.inputs[0])


def _viewed_node(subject: Subject, at: int) -> int:
    """Return a node, or the one of which it makes a view."""
    while subject.graph.stem(at) in _VIEWS and len(subject.behind[at]) == 1:
        (at,) = subject.behind[at]
    return at


def _is_number(subject: Subject, root: Any) -> bool:
    extent = subject.engine.reading.extent(root) if is_tensor(root) else None
    return extent is not None and extent.shape is not None and prod(extent.shape) == 1


def _shapes(subject: Subject, node: Node) -> list[Shape]:
    """Return the shapes of the inputs as far as they are known: all, where the op was traced, else
    those that have a gradient."""
    inputs = getattr(getattr(node, "record", None), "inputs", None)
    if inputs is not None:
        pairs = [pair for pair in inputs if isinstance(pair, tuple)]
        return [r.shapes[nr] if hasattr(r, "shapes") else r.shape for r, nr in pairs]
    shapes = []
    for edge in node.edges:
        target = resolve(edge)[0]
        if target is not None:
            leaf = subject.engine.leaf(target) if target.kind == LEAF else None
            shape = target.output_shape if leaf is None else tuple(leaf.shape)
            if shape is not None:
                shapes.append(tuple(shape))
    return shapes


@dataclass(frozen=True)
class Broadcast(Reason):
    """A column and a row became a matrix; ``is_likely`` where only the column is known."""

    keeps_loss = False
    code = "broadcast"
    blames_line = True
    helps = "give both the same shape: squeeze(1) one, or unsqueeze(1) the other"
    size: int = field(compare=False)
    name: str
    place: int
    is_likely: bool

    def text(self) -> str:
        probably = "probably " if self.is_likely else ""
        return (
            f"{self.address} broadcasts {format_shape((self.size, 1))} with {probably}"
            f"{format_shape((self.size,))}: its result has {self.size**2:,} elements, one for "
            f"every pair, instead of {self.size:,}"
        )

    def fix(self) -> tuple[Fix, ...]:
        return with_operand(self.source, self.name, self.place, "{}.squeeze(1)")


RULES: Final = (
    Rule(find_broadcasts, Meaning(
        "broadcast", "warning", "[N, 1] and [N] were broadcast to [N, N]",
        "The loss compares every output with every target.",
        "F.mse_loss(net(x), y)", "F.mse_loss(net(x).squeeze(1), y)",
        "When you compare each row with all others on purpose.",
    ), needs=(Graphs,)),
)  # fmt: skip
