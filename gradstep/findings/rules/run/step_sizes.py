"""Steps that are far too small, or far too large, for the weights that they change."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from linecache import getline
from statistics import median
from typing import Any, Final

from gradstep.capturing.statement import nodes_on
from gradstep.contract.lookup import is_tensor
from gradstep.debugger.snapshot.value import array_of
from gradstep.findings.finding import Finding, Fix, Meaning, Rule
from gradstep.findings.fixes import Line, called, with_argument
from gradstep.findings.rules.graph.away_from_zero import Advice
from gradstep.findings.source_lines import assigned, calls_of, scaled_grads, schedulers
from gradstep.findings.whole_run.history import History, histories
from gradstep.findings.whole_run.watch import Evidence
from gradstep.graph.model import Source
from gradstep.graph.statistics import format_number
from gradstep.guest.fence import attribute_of
from gradstep.text import listed

_STEPS: Final = 5
_SMALL: Final = 1e-6
"""Of the size of a weight: with this, it takes a million steps to change it."""
_CLIPPED: Final = 1e-4
"""Of the size of a weight, where gradients are clipped that a scaler has multiplied."""
_LARGE: Final = 0.5
_BOUND: Final = 1e-2
"""A bound for gradients below which it is clipping that makes steps small."""
_LOWERED: Final = 0.01
"""Of the learning rate that a schedule began with."""
_LOW: Final = 1e-4
"""A learning rate that may be too small; larger ones are not the reason for small steps."""


def step_sizes(evidence: Evidence) -> Iterator[Finding]:
    """Yield optimizers whose every weight moves by less than a millionth of its size in the middle
    of at least five steps, or by more than half of it."""
    for optimizer, weights in _weights(evidence).items():
        is_small = _are_small(evidence, weights)
        if is_small or min(ratio for _, ratio in weights) > _LARGE:
            yield _finding(optimizer, weights, is_small=is_small, evidence=evidence)


def slow_optimizers(evidence: Evidence) -> set[str]:
    """Return the optimizers whose steps are far too small for all their weights."""
    every = _weights(evidence).items()
    return {optimizer for optimizer, weights in every if _are_small(evidence, weights)}


def _weights(evidence: Evidence) -> dict[str, list[tuple[History, float]]]:
    """Return the weights of each optimizer, and by how much of its size each moves in a step."""
    moving: dict[str, list[tuple[History, float]]] = {}
    for optimizer, weights in by_optimizer(evidence).items():
        for history in weights:
            moved = [ratio for seen in history.seen if (ratio := seen.moved)]
            if len(moved) >= _STEPS:
                moving.setdefault(optimizer, []).append((history, median(moved)))
    return moving


def by_optimizer(evidence: Evidence) -> dict[str, list[History]]:
    """Return the weights, not the biases, that each optimizer has."""
    weights: dict[str, list[History]] = {}
    for history in histories(evidence.run):
        if (name := history.seen[-1].facts.optimizer) and len(history.leaf.shape or ()) > 1:
            weights.setdefault(name, []).append(history)
    return weights


def _are_small(evidence: Evidence, weights: list[tuple[History, float]]) -> bool:
    bound = _CLIPPED if _clip_of_scaled(evidence, weights) else _SMALL
    return max(ratio for _, ratio in weights) < bound


def _clip_of_scaled(evidence: Evidence, weights: list[tuple[History, float]]) -> Source | None:
    """Return the line that clips gradients while they are scaled: nothing calls unscale_(), or
    the program divides them by the scale itself, and later."""
    line = weights[0][0].seen[0].call.line
    file = "" if line is None else line.file
    clips = [at for name in _CLIPS for at in calls_of(name, file)]
    if not clips or calls_of("unscale_", file):
        return None
    is_late = any(at.line >= clips[0].line for at in scaled_grads(file))
    return clips[0] if is_late or evidence.names.scalers else None


def _finding(
    optimizer: str, weights: list[tuple[History, float]], *, is_small: bool, evidence: Evidence
) -> Finding:
    names = [history.leaf.name for history, _ in weights]
    line = weights[0][0].seen[0].call.line
    file = "" if line is None else line.file
    groups = [group for name, group, _ in evidence.names.trained() if name == optimizer]
    rate, first = map(groups[0].get, ("lr", "initial_lr")) if groups else (None, None)
    of_rate = "" if rate is None else f" (its learning rate is {format_number(float(rate))})"
    ratio = format_number(median([moved for _, moved in weights]))
    lines = assigned(optimizer, file)
    clip = _clip_of_scaled(evidence, weights) if is_small else None
    if clip is not None:
        return Finding(
            "warning", "small-steps",
            f"each step of {optimizer} changes {listed(names)} by {ratio} times their size: "
            "clip_grad_norm_() clips gradients that are still multiplied by the scale of the loss",
            f"call scaler.unscale_({optimizer}) before clip_grad_norm_()"
            if evidence.names.scalers else "divide the gradients by the scale before you clip them",
            source=clip, other=line, leaves=tuple(names),
            fix=Line(clip).replaced(f"scaler.unscale_({optimizer})\n{{line}}")
            if evidence.names.scalers else (),
        )  # fmt: skip
    what = (
        f"each step of {optimizer}{of_rate} changes {listed(names)} by {ratio} "
        f"times {'its size' if len(names) == 1 else 'their size'}"
    )
    at = lines[0] if lines else line
    if not is_small:
        return Finding(
            "warning", "large-steps", what,
            "divide the learning rate by 10 until the loss falls: steps of about 1e-3 of the size "
            "of a weight are usual",
            source=at, leaves=tuple(names),
        )  # fmt: skip
    scheduled = schedulers(file)
    if (tight := _tight_clip(file)) is not None:
        at, bound, advice = tight
        what = f"{what}: gradients are clipped to {bound}"
    elif scheduled and rate is not None and first and float(rate) < _LOWERED * float(first):
        at, advice = scheduled[0], of_schedule(scheduled[0])
        what = f"{what}: a schedule has lowered it from {format_number(float(first))}"
    elif rate is None or float(rate) < _LOW:
        optimizer_type = type(evidence.names.optimizers.get(optimizer)).__name__
        advice = Advice(
            "use a larger learning rate: 1e-3 is usual",
            with_argument(lines[0], optimizer_type, "lr", "1e-3") if lines else (),
        )
    else:
        advice = Advice(
            "its gradients are tiny: look at what the loss is divided by, and whether something "
            f"makes .grad smaller before {optimizer}.step()"
        )
    return Finding(
        "warning", "small-steps", what, advice.text,
        source=at, other=None if lines[:1] in ([], [at]) else lines[0], leaves=tuple(names),
        fix=advice.fix,
    )  # fmt: skip


def unscaled(evidence: Evidence) -> Iterator[Finding]:
    """Yield scalers that multiply a loss whose optimizer steps without them."""
    file = "" if evidence.line is None else evidence.line.file
    for name, scaler in evidence.names.scalers.items():
        scales, steps = calls_of("scale", file, name), calls_of("step", file)
        if not scales or not steps or attribute_of(scaler, "_enabled") is False:
            continue
        if _has_stepped(scaler) or any(
            calls_of(method, file, name) for method in ("step", "unscale_")
        ):
            continue
        yield Finding(
            "warning", "unscaled",
            f"{name} multiplies the loss, and nothing divides the gradients by its factor: steps "
            "and clipping use them as they are",
            f"let {name} step: it divides the gradients first",
            source=steps[0], other=scales[0], fix=_by_scaler(steps[0], name),
        )  # fmt: skip


def _has_stepped(scaler: Any) -> bool:
    """Return whether a scaler was updated, as after each step of its own; another function, or
    another file, may do so by another name."""
    count, scale = attribute_of(scaler, "_growth_tracker"), attribute_of(scaler, "_scale")
    counted = array_of(count) if is_tensor(count) else None
    scaled = array_of(scale) if is_tensor(scale) else None
    return (counted is not None and bool(counted.any())) or (
        scaled is not None and bool((scaled != attribute_of(scaler, "_init_scale")).any())
    )


def _by_scaler(at: Source, scaler: str) -> tuple[Fix, ...]:
    line = Line(at)
    for node in nodes_on(at):
        match node:
            case ast.Call(func=ast.Attribute(attr="step", value=optimizer), args=[]):
                return line.replaced(f"{scaler}.step({line.text(optimizer)})\n{scaler}.update()")
    return ()


def _tight_clip(file: str) -> tuple[Source, str, Advice] | None:
    """Return the line that clips gradients to a tiny number, and that number."""
    for at in (at for name in _CLIPS for at in calls_of(name, file)):
        for node in nodes_on(at):
            if not isinstance(node, ast.Call) or called(node) not in _CLIPS:
                continue
            given = [*node.args[1:2], *(kw.value for kw in node.keywords if kw.arg in _BOUNDS)]
            match given:
                case [ast.Constant(value=int() | float() as number)] if 0 <= number < _BOUND:
                    text = Line(at).text(given[0])
                    fix = Line(at).rewritten(lambda node: "1.0" if node is given[0] else None)  # noqa: B023
                    return at, text, Advice("use a larger bound: 1.0 is usual", fix)
    return None


def of_schedule(at: Source) -> Advice:
    """Return what helps where the scheduler that a line makes lowers the learning rate too far."""
    for number in range(at.line, at.line + 4):
        line = Line(Source(at.file, number))
        if fix := line.rewritten(
            lambda node, line=line: f"{line.text(node.left)} / {line.text(node.right)}"  # type: ignore[misc]
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv) else None
        ):  # fmt: skip
            return Advice("// gives whole numbers, 0 until the end: divide with /", fix)
        if "Plateau" in getline(*at) and (
            fix := line.rewritten(
                lambda node, line=line: (
                    line.text(node).replace("max", "min")  # type: ignore[misc]
                    if isinstance(node, ast.Constant) and node.value == "max"
                    else None
                )
            )
        ):
            return Advice("mode='max' waits for a loss to grow: use mode='min'", fix)
    return Advice(
        "return a factor from the function of LambdaLR, 1.0 where the rate is to be as it is: it "
        "multiplies the first learning rate"
        if "LambdaLR" in getline(*at) else
        "make this scheduler lower it less, or call its step() less often, as once an epoch"
    )  # fmt: skip


_CLIPS: Final = ("clip_grad_norm_", "clip_grad_value_")
_BOUNDS: Final = ("max_norm", "clip_value")


RULES: Final = (
    Rule(step_sizes, Meaning(
        "small-steps", "warning", "each step changes weights by less than a millionth",
        "So it is of every weight of an optimizer, in the middle of five steps or more.",
        "scaler.scale(loss).backward()\nclip_grad_norm_(net.parameters(), 1.0)",
        "scaler.scale(loss).backward()\nscaler.unscale_(opt)\n"
        "clip_grad_norm_(net.parameters(), 1.0)",
        "In the last steps of a schedule.",
    ), Meaning(
        "large-steps", "warning", "each step changes weights by more than half of their size",
        "So it is of every weight of an optimizer, in the middle of five steps or more.",
        "torch.optim.SGD(net.parameters(), lr=20.0)", "torch.optim.SGD(net.parameters(), lr=0.01)",
        "With weights that begin at 0.",
    )),
    Rule(unscaled, Meaning(
        "unscaled", "warning", "an optimizer steps with gradients of a scaled loss",
        "The program multiplies its loss by the factor of a scaler, and calls neither step() nor "
        "unscale_() of it.",
        "scaler.scale(loss).backward()\nopt.step()",
        "scaler.scale(loss).backward()\nscaler.step(opt)\nscaler.update()",
    )),
)  # fmt: skip
