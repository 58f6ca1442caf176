"""Steps that are far too small, or far too large, for the weights that they change."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Final

from gradstep.findings.fixes import Line, with_argument
from gradstep.findings.linting.finding import Finding, Meaning, Rule
from gradstep.findings.source_lines import assigned, calls_of, scaled_grads
from gradstep.findings.whole_run.history import History, histories
from gradstep.findings.whole_run.watch import Evidence
from gradstep.graph.model import Source
from gradstep.graph.statistics import format_number
from gradstep.text import listed

_STEPS: Final = 5
_SMALL: Final = 1e-6
"""Of the size of a weight: with this, it takes a million steps to change it."""
_CLIPPED: Final = 1e-4
"""Of the size of a weight, where gradients are clipped that a scaler has multiplied."""
_LARGE: Final = 0.5


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
    weights: dict[str, list[tuple[History, float]]] = {}
    for history in histories(evidence.run):
        moved = [ratio for seen in history.seen if (ratio := seen.moved)]
        optimizer = history.seen[-1].facts.optimizer
        if optimizer and len(moved) >= _STEPS and len(history.leaf.shape or ()) > 1:
            weights.setdefault(optimizer, []).append((history, median(moved)))
    return weights


def _are_small(evidence: Evidence, weights: list[tuple[History, float]]) -> bool:
    bound = _CLIPPED if _clip_of_scaled(evidence, weights) else _SMALL
    return max(ratio for _, ratio in weights) < bound


def _clip_of_scaled(evidence: Evidence, weights: list[tuple[History, float]]) -> Source | None:
    """Return the line that clips gradients while they are scaled: nothing calls unscale_(), or
    the program divides them by the scale itself, and later."""
    line = weights[0][0].seen[0].call.line
    file = "" if line is None else line.file
    clips = [*calls_of("clip_grad_norm_", file), *calls_of("clip_grad_value_", file)]
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
    rate = next(
        (group.get("lr") for name, group, _ in evidence.names.trained() if name == optimizer), None
    )
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
    code = "small-steps" if is_small else "large-steps"
    optimizer_type = type(evidence.names.optimizers.get(optimizer)).__name__
    return Finding(
        "warning", code,
        f"each step of {optimizer}{of_rate} changes {listed(names)} by {ratio} "
        f"times {'its size' if len(names) == 1 else 'their size'}",
        "use a larger learning rate: 1e-3 is usual" if is_small else
        "divide the learning rate by 10 until the loss falls: steps of about 1e-3 of the size of a "
        "weight are usual",
        source=lines[0] if lines else line, leaves=tuple(names),
        fix=with_argument(lines[0], optimizer_type, "lr", "1e-3") if is_small and lines else (),
    )  # fmt: skip


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
)  # fmt: skip
