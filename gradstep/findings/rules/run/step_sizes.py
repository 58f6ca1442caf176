"""Steps that are far too small, or far too large, for the weights that they change."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from linecache import getline
from statistics import median
from typing import Final

from gradstep.capturing.statement import nodes_on
from gradstep.contract.insides import Scaler, insides_of
from gradstep.contract.lookup import is_tensor
from gradstep.debugger.snapshot.value import array_of
from gradstep.findings.facts import Facts, Objects
from gradstep.findings.facts.history import History, histories
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import Line, called, example, with_argument
from gradstep.findings.source_lines import as_written, assigned, calls_of, scaled_grads, schedulers
from gradstep.graph.model import Source
from gradstep.graph.statistics import format_number

_STEPS: Final = 5
_CLIPPED: Final = 1e-4
"""Of the size of a weight, where gradients are clipped that a scaler has multiplied."""
_BOUND: Final = 1e-2
"""A bound for gradients below which it is clipping that makes steps small."""
_RAISED: Final = 10.0
_LOWERED: Final = 0.01
"""Of the learning rate that a schedule began with."""
_LOW: Final = 1e-4
"""A learning rate that may be too small; larger ones are not the reason for small steps."""


@dataclass(frozen=True)
class _Steps(Reason):
    """Each step of an ``optimizer`` changes leaves by a ``ratio`` of their size."""

    keeps_loss = True
    after = ("vanishing", "exploding", "saturated")
    optimizer: str
    rate: float | None
    ratio: float

    def text(self) -> str:
        rate = "" if self.rate is None else f" (its learning rate is {format_number(self.rate)})"
        return (
            f"each step of {self.optimizer}{rate} changes {self.named} by "
            f"{format_number(self.ratio)} times {self.of('its size', 'their size')}"
        )


@dataclass(frozen=True)
class LargeSteps(_Steps):
    """Steps are far too large; ``raised_from`` is the learning rate before a schedule raised it,
    None where none did."""

    code = "large-steps"
    raised_from: float | None = None

    def text(self) -> str:
        if self.raised_from is None:
            return super().text()
        return f"{super().text()}: a schedule has raised it from {format_number(self.raised_from)}"

    def remedy(self) -> str:
        if self.raised_from is not None:
            return "let this scheduler raise it less, or lower it"
        return (
            "divide the learning rate by 10 until the loss falls: steps of about 1e-3 of the size "
            "of a weight are usual"
        )


@dataclass(frozen=True)
class SmallSteps(_Steps):
    """Steps are far too small."""

    code = "small-steps"
    is_effect = True
    because: Reason

    def text(self) -> str:
        why = self.because.text()
        return f"{super().text()}: {why}" if why else super().text()

    def remedy(self) -> str:
        return self.because.remedy()

    def fix(self) -> tuple[Fix, ...]:
        return self.because.fix()

    def parts(self) -> tuple[Reason, ...]:
        return (self.because,)


@dataclass(frozen=True)
class ClippedScaled(Reason):
    """Gradients are clipped while they are scaled."""

    code = "small-steps"
    is_effect = True
    keeps_loss = True
    after = ("vanishing", "exploding", "saturated")
    marks = ("clip_grad_norm_",)
    optimizer: str
    ratio: float
    has_scaler: bool

    def text(self) -> str:
        return (
            f"each step of {self.optimizer} changes {self.named} by {format_number(self.ratio)} "
            f"times {self.of('its', 'their')} size: clip_grad_norm_() clips gradients that are "
            "still multiplied by the scale of the loss"
        )

    def remedy(self) -> str:
        if self.has_scaler:
            return f"call scaler.unscale_({self.optimizer}) before clip_grad_norm_()"
        return "divide the gradients by the scale before you clip them"

    def fix(self) -> tuple[Fix, ...]:
        if not self.has_scaler or self.source is None:
            return ()
        name = as_written(self.optimizer, self.source.file)
        return Line(self.source).replaced(f"scaler.unscale_({name})\n{{line}}")


@dataclass(frozen=True)
class TightClip(Reason):
    """Gradients are clipped to a tiny ``bound``."""

    keeps_loss = True
    helps = "use a larger bound: 1.0 is usual"
    bound: str

    def text(self) -> str:
        return f"gradients are clipped to {self.bound}"

    def fix(self) -> tuple[Fix, ...]:
        bound = _bound_at(self.source)
        return example(Line(self.source).rewritten(lambda node: "1.0" if node is bound else None))


@dataclass(frozen=True)
class Schedule(Reason):
    """The scheduler that a line makes has lowered the learning rate from the ``first`` one."""

    keeps_loss = True
    first: float

    def text(self) -> str:
        return f"a schedule has lowered it from {format_number(self.first)}"

    def remedy(self) -> str:
        if self._divided:
            return "// gives whole numbers, 0 until the end: divide with /"
        if self._turned:
            return "mode='max' waits for a loss to grow: use mode='min'"
        if self.source is not None and "LambdaLR" in getline(*self.source):
            return (
                "return a factor from the function of LambdaLR, 1.0 to leave the rate "
                "unchanged: it multiplies the first learning rate"
            )
        return "make this scheduler lower it less, or call its step() less often, as once an epoch"

    def fix(self) -> tuple[Fix, ...]:
        return self._divided or self._turned

    @property
    def _lines(self) -> list[Line]:
        at = self.source
        return [] if at is None else [Line(Source(at.file, at.line + nr)) for nr in range(4)]

    @property
    def _divided(self) -> tuple[Fix, ...]:
        fixes = [
            line.rewritten(
                lambda node, line=line: f"{line.text(node.left)} / {line.text(node.right)}"  # type: ignore[misc]
                if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv) else None
            )
            for line in self._lines
        ]  # fmt: skip
        return next(filter(None, fixes), ())

    @property
    def _turned(self) -> tuple[Fix, ...]:
        if self.source is None or "Plateau" not in getline(*self.source):
            return ()
        fixes = [
            line.rewritten(
                lambda node, line=line: line.text(node).replace("max", "min")  # type: ignore[misc]
                if isinstance(node, ast.Constant) and node.value == "max" else None
            )
            for line in self._lines
        ]  # fmt: skip
        return next(filter(None, fixes), ())


@dataclass(frozen=True)
class LowRate(Reason):
    """The learning rate of an optimizer, made as a ``kind`` at ``made``, is low."""

    keeps_loss = True
    helps = "use a larger learning rate: 1e-3 is usual"
    kind: str
    made: Source | None

    def fix(self) -> tuple[Fix, ...]:
        return example(with_argument(self.made, self.kind, "lr", "1e-3"))


@dataclass(frozen=True)
class TinyGradients(Reason):
    """The learning rate of an ``optimizer`` is no reason."""

    keeps_loss = True
    explained_by = ("vanishing",)
    optimizer: str

    def remedy(self) -> str:
        return (
            "its gradients are tiny: look at what the loss is divided by, and whether something "
            f"makes .grad smaller before {self.optimizer}.step()"
        )


@dataclass(frozen=True)
class Unscaled(Reason):
    """A scaler multiplies the loss, and does not step."""

    code = "unscaled"
    keeps_loss = True
    after = ("untrained",)
    name: str

    def text(self) -> str:
        return (
            f"{self.name} multiplies the loss, and nothing divides the gradients by its factor: "
            "steps and clipping use them as they are"
        )

    def remedy(self) -> str:
        return f"let {self.name} step: it divides the gradients first"

    def fix(self) -> tuple[Fix, ...]:
        return () if self.source is None else _by_scaler(self.source, self.name)


def step_sizes(facts: Facts) -> Iterator[Reason]:
    """Yield optimizers whose every weight moves by less than a millionth of its size in the middle
    of at least five steps, or by more than half of it."""
    largest = facts.thresholds.largest_step
    for optimizer, weights in _weights(facts).items():
        is_small = _are_small(facts, weights)
        if is_small or min(ratio for _, ratio in weights) > largest:
            yield _reason(facts, optimizer, weights, is_small=is_small)


def slow_optimizers(facts: Facts) -> set[str]:
    """Return the optimizers whose steps are far too small for all their weights."""
    every = _weights(facts).items()
    return {optimizer for optimizer, weights in every if _are_small(facts, weights)}


def _weights(facts: Facts) -> dict[str, list[tuple[History, float]]]:
    """Return the weights of each optimizer, and by how much of its size each moves in a step."""
    moving: dict[str, list[tuple[History, float]]] = {}
    for optimizer, weights in by_optimizer(facts).items():
        for history in weights:
            moved = [ratio for seen in history.seen if (ratio := seen.moved)]
            if len(moved) >= _STEPS:
                moving.setdefault(optimizer, []).append((history, median(moved)))
    return moving


def by_optimizer(facts: Facts) -> dict[str, list[History]]:
    """Return the weights, not the biases, that each optimizer has."""
    weights: dict[str, list[History]] = {}
    for history in histories(facts.run):
        if (name := history.seen[-1].facts.optimizer) and len(history.leaf.shape or ()) > 1:
            weights.setdefault(name, []).append(history)
    return weights


def _are_small(facts: Facts, weights: list[tuple[History, float]]) -> bool:
    smallest = facts.thresholds.smallest_step
    bound = max(_CLIPPED, smallest) if _clip_of_scaled(facts, weights) else smallest
    return max(ratio for _, ratio in weights) < bound


def _clip_of_scaled(facts: Facts, weights: list[tuple[History, float]]) -> Source | None:
    """Return the line that clips gradients while they are scaled: nothing calls unscale_(), or
    the program divides them by the scale itself, and later."""
    line = weights[0][0].seen[0].call.line
    file = "" if line is None else line.file
    clips = [at for name in _CLIPS for at in calls_of(name, file)]
    if not clips or calls_of("unscale_", file):
        return None
    is_late = any(at.line >= clips[0].line for at in scaled_grads(file))
    return clips[0] if is_late or facts.run.training.scalers else None


def _reason(
    facts: Facts, optimizer: str, weights: list[tuple[History, float]], *, is_small: bool
) -> Reason:
    leaves = tuple(history.leaf.name for history, _ in weights)
    line = weights[0][0].seen[0].call.line
    file = "" if line is None else line.file
    ratio = median([moved for _, moved in weights])
    group = next((each for each in facts.run.training.groups if each.optimizer == optimizer), None)
    rate, first = map(group.options.get, ("lr", "initial_lr")) if group else (None, None)
    made = next(iter(assigned(optimizer, file)), None)
    scheduled = next(iter(schedulers(file)), None)
    change = None if scheduled is None or rate is None or not first else rate / first
    if not is_small:
        raised = first if change is not None and change > _RAISED else None
        at, other = (made or line, None) if raised is None else (scheduled, made)
        return LargeSteps(optimizer, rate, ratio, raised, leaves=leaves, source=at, other=other)
    if (clip := _clip_of_scaled(facts, weights)) is not None:
        has_scaler = bool(facts.run.training.scalers)
        return ClippedScaled(optimizer, ratio, has_scaler, leaves=leaves, source=clip, other=line)
    because: Reason
    if (tight := _tight_clip(file)) is not None:
        because = tight
    elif change is not None and first and change < _LOWERED:
        because = Schedule(first, source=scheduled)
    elif rate is None or rate < _LOW:
        because = LowRate(group.kind if group else "", made, source=made or line)
    else:
        because = TinyGradients(optimizer, source=made or line)
    at = because.source
    other = None if made == at else made
    return SmallSteps(optimizer, rate, ratio, because, leaves=leaves, source=at, other=other)


def unscaled(facts: Facts) -> Iterator[Reason]:
    """Yield scalers that multiply a loss whose optimizer steps without them."""
    file = "" if facts.line is None else facts.line.file
    for name, scaler in facts.names.scalers.items():
        scales, steps = calls_of("scale", file, name), calls_of("step", file)
        state = insides_of(scaler).scaler(scaler)
        if not scales or not steps or state.enabled is False:
            continue
        if _has_stepped(state) or any(
            calls_of(method, file, name) for method in ("step", "unscale_")
        ):
            continue
        yield Unscaled(name, source=steps[0], other=scales[0])


def _has_stepped(scaler: Scaler) -> bool:
    """Return whether a scaler was updated, as after each step of its own; another function, or
    another file, may do so by another name."""
    counted = array_of(scaler.steps) if is_tensor(scaler.steps) else None
    scaled = array_of(scaler.scale) if is_tensor(scaler.scale) else None
    return (counted is not None and bool(counted.any())) or (
        scaled is not None and bool((scaled != scaler.first_scale).any())
    )


def _by_scaler(at: Source, scaler: str) -> tuple[Fix, ...]:
    line = Line(at)
    for node in nodes_on(at):
        match node:
            case ast.Call(func=ast.Attribute(attr="step", value=optimizer), args=[]) if (
                line.is_only(node)
            ):
                return line.replaced(f"{scaler}.step({line.text(optimizer)})\n{scaler}.update()")
    return ()


def _tight_clip(file: str) -> TightClip | None:
    """Return the line that clips gradients to a tiny number."""
    for at in (at for name in _CLIPS for at in calls_of(name, file)):
        if (bound := _bound_at(at)) is not None:
            return TightClip(Line(at).text(bound), source=at)
    return None


def _bound_at(at: Source | None) -> ast.expr | None:
    """Return the tiny number to which a line clips gradients."""
    for node in nodes_on(at) if at is not None else ():
        if not isinstance(node, ast.Call) or called(node) not in _CLIPS:
            continue
        given = [*node.args[1:2], *(kw.value for kw in node.keywords if kw.arg in _BOUNDS)]
        match given:
            case [ast.Constant(value=int() | float() as number)] if 0 <= number < _BOUND:
                return given[0]
    return None


_CLIPS: Final = ("clip_grad_norm_", "clip_grad_value_")
_BOUNDS: Final = ("max_norm", "clip_value")


RULES: Final = (
    Rule(step_sizes, Meaning(
        "small-steps", "warning", "each step changes weights by less than a millionth",
        "This holds for every weight of an optimizer, in the median of at least five steps.",
        "scaler.scale(loss).backward()\nclip_grad_norm_(net.parameters(), 1.0)",
        "scaler.scale(loss).backward()\nscaler.unscale_(opt)\n"
        "clip_grad_norm_(net.parameters(), 1.0)",
        "In the last steps of a schedule.",
    ), Meaning(
        "large-steps", "warning", "each step changes weights by more than half of their size",
        "This holds for every weight of an optimizer, in the median of at least five steps.",
        "torch.optim.SGD(net.parameters(), lr=20.0)", "torch.optim.SGD(net.parameters(), lr=0.01)",
        "When the weights begin at 0.",
    )),
    Rule(unscaled, Meaning(
        "unscaled", "warning", "an optimizer steps with gradients of a scaled loss",
        "The program multiplies its loss by the factor of a scaler, and calls neither its step() "
        "nor its unscale_().",
        "scaler.scale(loss).backward()\nopt.step()",
        "scaler.scale(loss).backward()\nscaler.step(opt)\nscaler.update()",
        "When the scale is 1.",
    ), needs=(Objects,)),
)  # fmt: skip
