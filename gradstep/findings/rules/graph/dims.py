"""A softmax over the samples of a batch instead of the classes of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from gradstep.contract.op_records import OpRecord, Record
from gradstep.findings.facts import Forward
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import with_argument
from gradstep.findings.rules.graph.subject import Subject
from gradstep.findings.source_lines import calls_of
from gradstep.graph.model import Source

_LINEAR: Final = ("addmm", "linear")
_SOFTMAX: Final = ("softmax", "log_softmax")


@dataclass(frozen=True)
class SoftmaxOverSamples(Reason):
    """A softmax sums to 1 over the samples of a batch, not over the outputs of each."""

    keeps_loss = False
    code = "softmax-dim"
    blames_line = True
    name: str
    samples: int = field(compare=False)
    outputs: int = field(compare=False)

    def text(self) -> str:
        return (
            f"{self.address} has dim=0: it sums to 1 over the {self.samples:,} samples, not over "
            f"the {self.outputs:,} outputs of each"
        )

    def remedy(self) -> str:
        return f"use {self.name}(..., dim=1)"

    def fix(self) -> tuple[Fix, ...]:
        return _with_dim(self.source, self.name, 1)


@dataclass(frozen=True)
class SoftmaxOverOtherKeys(Reason):
    """A softmax runs along ``dim``, and the product after it sums over ``summed``."""

    keeps_loss = False
    code = "softmax-dim"
    blames_line = True
    dim: int
    summed: int

    def text(self) -> str:
        return (
            f"softmax has dim={self.dim}, and the product after it sums over dim {self.summed}: "
            "the weights of a row do not sum to 1"
        )

    def remedy(self) -> str:
        return f"use softmax(..., dim={self.summed})"

    def fix(self) -> tuple[Fix, ...]:
        return _with_dim(self.source, "softmax", self.summed)


def find_softmax_over_samples(subject: Subject) -> Iterator[Reason]:
    """Yield a softmax along dimension 0 of what a linear layer with a bias gives for a batch: its
    rows are samples, and the probabilities of one class over all of them sum to 1."""
    graph = subject.graph
    for index, node in subject.ops():
        name = graph.stem(index)
        if name not in _SOFTMAX or node.output_shape is None or len(node.output_shape) != 2:
            continue
        dim = getattr(node.record, "attributes", {}).get("dim")
        if dim is None:
            dim = next((kept for word, kept, _ in node.saved() if word == "dim"), None)
        before = subject.behind[index]
        if dim not in (0, -2) or min(node.output_shape) < 2:
            continue
        if len(before) == 1 and graph.stem(before[0]) in _LINEAR:
            yield SoftmaxOverSamples(name, *node.output_shape).at_node(graph, index)


def _with_dim(at: Source | None, name: str, dim: int) -> tuple[Fix, ...]:
    """Return the line that calls a softmax, or makes the only module that does, with that dim."""
    module = "".join(map(str.capitalize, name.split("_"))).replace("softmax", "Softmax")
    calls = calls_of(module, at.file) if at is not None else []
    return with_argument(at, name, "dim", str(dim)) or (
        with_argument(calls[0], module, "dim", str(dim)) if len(calls) == 1 else ()
    )


_PRODUCTS: Final = ("mm", "matmul", "bmm")


def find_softmax_over_other_keys(subject: Subject) -> Iterator[Reason]:
    """Yield a softmax whose result is multiplied as a matrix along another dimension than that over
    which it sums to 1: weights of an attention that do not sum to 1."""
    for record in subject.records:
        if not isinstance(record, OpRecord) or record.name not in _PRODUCTS:
            continue
        for place, given in enumerate(record.inputs[:2]):
            softmax = _past_views(given[0]) if isinstance(given, tuple) else None
            if not isinstance(softmax, OpRecord) or softmax.name != "softmax":
                continue
            dim, shape = softmax.attributes.get("dim"), softmax.shapes[0]
            if not isinstance(dim, int) or len(shape) < 2:
                continue
            summed = len(shape) - 1 - place
            if dim % len(shape) != summed and shape[dim] > 1:
                yield SoftmaxOverOtherKeys(
                    dim, summed - len(shape), source=softmax.source, other=record.source
                )


def _past_views(record: Record) -> Record:
    """Return what a matrix is that only its batch dimensions were changed of."""
    while isinstance(record, OpRecord) and record.name in _VIEWS and record.inputs:
        before = record.inputs[0]
        if not isinstance(before, tuple) or not isinstance(before[0], OpRecord):
            break
        if before[0].shapes[0][-2:] != record.shapes[0][-2:]:
            break
        record = before[0]
    return record


_VIEWS: Final = ("expand", "view", "reshape", "unsafe_view", "_unsafe_view")


RULES: Final = (
    Rule(find_softmax_over_samples, Meaning(
        "softmax-dim", "warning", "a softmax runs over the samples of a batch",
        "The rows from a linear layer are samples; dim=0 mixes them.",
        "nn.Softmax(dim=0)", "nn.Softmax(dim=1)",
        "When you want attention over the samples.",
    ), needs=(Forward,)),
    Rule(find_softmax_over_other_keys, needs=(Forward,), code="softmax-dim"),
)  # fmt: skip
