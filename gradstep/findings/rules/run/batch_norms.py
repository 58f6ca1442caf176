"""Batch norms whose running statistics are not what evaluation needs."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from gradstep.contract.parameters import own_parameters
from gradstep.findings.facts import Facts, Objects
from gradstep.findings.facts.learning import Learning
from gradstep.findings.facts.parts import Part, Parts
from gradstep.findings.facts.program import Files
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.findings.source_lines import calls_of, calls_with
from gradstep.graph.model import Source
from gradstep.graph.statistics import format_number
from gradstep.guest.fence import attribute_of
from gradstep.text import listed

_LOOKS: Final = 2
_LARGE: Final = 0.5
_RUNNING: Final = ("running_mean", "running_var")
_MOST: Final = 3


@dataclass(frozen=True)
class FrozenNormMoves(Reason):
    """The parameters of ``norms`` are frozen, and their running statistics change."""

    code = "norm-moves"
    keeps_loss = False
    marks = "requires_grad_", "train", "eval"
    norms: tuple[str, ...]

    def text(self) -> str:
        are, they = ("is", "it is") if len(self.norms) == 1 else ("are", "they are")
        return (
            f"{_some(self.norms)} {are} frozen, and the running mean and variance change in each "
            f"call, as {they} in training mode: "
            "requires_grad=False does not stop them, and the frozen part gives different results "
            "after each step"
        )

    def remedy(self) -> str:
        return f"{_around(self.norms)}.eval() after each train() of the whole model"


@dataclass(frozen=True)
class LargeMomentum(Reason):
    """Batch norms take nearly all of their running statistics from the last batch."""

    code = "norm-momentum"
    keeps_loss = True
    marks = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d")
    norms: tuple[str, ...]
    momentum: float

    def text(self) -> str:
        momentum, share = format_number(self.momentum), format_number(1 - self.momentum)
        return (
            f"{_some(self.norms)} {'has' if len(self.norms) == 1 else 'have'} momentum={momentum}: "
            f"here, that is the share of the newest batch, so that only {share} is left of all "
            "earlier ones, and evaluation uses the statistics of the last batch"
        )

    def remedy(self) -> str:
        usual = format_number(1 - self.momentum) if self.momentum < 1 else "0.1"
        return f"momentum={usual}, which other libraries call {format_number(self.momentum)}"


@dataclass(frozen=True)
class FedInValidation(Reason):
    """A ``norm`` has had ``more`` batches than the training gave it, and nothing calls eval()."""

    code = "no-eval"
    keeps_loss = True
    norm: str
    more: int = field(compare=False)
    passes: int = field(compare=False)

    def text(self) -> str:
        return (
            f"{self.norm} took the statistics of {self.more:,} batches more than the "
            f"{self.passes:,} calls of backward() had, and no line calls eval(): batches under "
            "no_grad() are normalized by themselves, and change the running statistics"
        )

    def remedy(self) -> str:
        return "call eval() before validation, and train() after it"


def fed_in_validation(facts: Facts) -> Iterator[Reason]:
    """Yield the first batch norm that gets as many batches in each call, and between some calls
    more. Wrong where it is to learn the statistics of data without a gradient."""
    files = [*facts[Files].trees()]
    if any(calls_of(name, file) for file, _ in files for name in ("eval", "update_bn")):
        return
    for part in facts[Parts]:
        pairs = list(pairwise(part.batches))
        rates = [(now - old) / (call - before) for (before, old), (call, now) in pairs]
        if len(rates) < _LOOKS or part.training < part.looks or min(rates) < 1:
            continue
        usual = min(rates)
        first, last = part.batches[0], part.batches[-1]
        calls = last[0] - first[0]
        more = round(last[1] - first[1] - usual * calls)
        if usual == int(usual) and more > 0 and rates.count(usual) >= _LOOKS:
            yield FedInValidation(part.path, more, calls, source=facts.line)
            return


def batch_norms(facts: Facts) -> Iterator[Reason]:
    """Yield batch norms that are frozen and still move, and those whose momentum is over a half.
    Wrong where the statistics are to follow new data, as when a model is adapted to it."""
    norms = [part for part in facts[Parts] if {*_RUNNING} <= part.buffers.keys()]
    trained = facts[Learning].trained
    moving = [part for part in norms if _moves(part) and not _has_learned(part, trained.keys())]
    if moving:
        lines = calls_of("requires_grad_", facts.file)
        yield FrozenNormMoves(
            tuple(part.path for part in moving), source=lines[0] if lines else facts.line
        )
    large: dict[float, list[Part]] = {}
    for part in norms:
        momentum = attribute_of(part.module(), "momentum")
        if isinstance(momentum, float) and momentum > _LARGE and part.training:
            large.setdefault(momentum, []).append(part)
    for momentum, parts in large.items():
        yield LargeMomentum(
            tuple(part.path for part in parts),
            momentum,
            source=_made(facts, parts[0].kind) or facts.line,
        )


def _moves(norm: Part) -> bool:
    """Return whether a norm was frozen in each look, in training mode, and the same but for its
    statistics, which moved each time."""
    return (
        norm.has_parameters
        and norm.looks == norm.frozen == norm.training > _LOOKS
        and not norm.changed
        and all(norm.buffers[name][1] >= norm.looks - 1 for name in _RUNNING)
    )


def _has_learned(norm: Part, trained: Container[int]) -> bool:
    module = norm.module()
    return module is None or any(id(tensor) in trained for _, tensor in own_parameters(module))


def _made(facts: Facts, kind: str) -> Source | None:
    """Return the line that gives the first norm of a kind a momentum."""
    lines = {*calls_with("momentum", facts.file)} & {*calls_of(kind, facts.file)}
    return min(lines, default=None)


def _around(norms: tuple[str, ...]) -> str:
    """Return the outermost module that all norms are in, as the program calls it."""
    first = norms[0].split(".")
    alike = 0
    while alike < len(first) - 1 and all(
        norm.split(".")[: alike + 1] == first[: alike + 1] for norm in norms
    ):
        alike += 1
    return ".".join(first[: max(alike, 1)])


def _some(norms: tuple[str, ...]) -> str:
    more = len(norms) - _MOST
    return f"{', '.join(norms[:_MOST])} and {more} more norms" if more > 1 else listed(norms)


RULES: Final = (
    Rule(batch_norms, Meaning(
        "norm-moves", "warning", "a frozen batch norm moves",
        "Its parameters do not require a gradient, and its running statistics follow each batch, "
        "because it is in training mode.",
        "body.requires_grad_(False)\nmodel.train()",
        "body.requires_grad_(False)\nmodel.train()\nbody.eval()",
        "When you adapt a model to new data only through its statistics.",
    ), Meaning(
        "norm-momentum", "warning", "running statistics are those of the last batch",
        "The momentum of a batch norm is the weight of the newest batch. "
        "Elsewhere, the word means the weight of all earlier ones.",
        "nn.BatchNorm1d(16, momentum=0.9)", "nn.BatchNorm1d(16, momentum=0.1)",
        "When a batch contains the whole data set.",
    ), needs=(Objects, Parts, Learning)),
    Rule(fed_in_validation, Meaning(
        "no-eval", "warning", "a batch norm learns from validation data",
        "It gets the same number of batches in most calls and more between some, and no file calls "
        "eval().",
        "with torch.no_grad():\n    net(x_val)",
        "net.eval()\nwith torch.no_grad():\n    net(x_val)\nnet.train()",
        "When running statistics should follow data without labels, too.",
    ), needs=(Objects, Parts, Files)),
)  # fmt: skip
