"""Findings between the calls of a program, and in the gradients that a call made."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Final

import numpy as np

from gradstep.capturing.names import Names
from gradstep.debugger.snapshot.value import array_of
from gradstep.engines.lookup import is_tensor
from gradstep.findings.linting.finding import Code, Finding, listed
from gradstep.findings.linting.unused import Hindrance, hindrance
from gradstep.graph.model import Source
from gradstep.graph.statistics import format_number, statistics

_JUMP: Final = 1e3  # by which a gradient may grow or shrink from the first call on
_SHRINKS: Final = 1e5  # by which it may differ between two leaves of one call
_NAMED: Final = 3  # modules
_SAME: Final = 5  # calls with the same loss


class Between:
    """Remembers the leaves of each call, and compares them with those of the last call that the
    same line made: a GAN trains its two models by two lines in turn.
    """

    def __init__(self) -> None:
        self._seen: dict[Any, dict[int, tuple[Any, bytes]]] = {}
        self._norms: dict[tuple[Any, int], float] = {}
        self._losses: dict[Any, tuple[float, int]] = {}
        self._sizes: dict[int, float] = {}  # of the gradients in their last call
        self._reached: dict[Any, set[int]] = {}  # the leaves of the last call, by line
        self._zero: set[int] = set()  # leaves whose gradient was 0 in their last call
        self._idle: set[tuple[Any, int]] = set()  # leaves that were told of, by line
        self._told: set[tuple[Code, Any]] = set()

    def findings(self, line: Any, leaves: list[Any], names: Names) -> Iterator[Finding]:
        """Find the ``leaves`` of a call at ``line`` that had a gradient, and whose gradient was
        cleared since the last call there although nothing has changed them."""
        now = {id(leaf): (leaf, _digest(leaf)) for leaf in leaves if not _is_freed(leaf)}
        before, self._seen[line] = self._seen.get(line, {}), now
        idle = [
            leaf
            for key, (leaf, digest) in now.items()
            if key in before
            and key in self._sizes
            and key not in self._zero
            and before[key][1] == digest
            and _is_cleared(leaf)
            and (line, key) not in self._idle
            and not math.isnan(self._sizes[key])  # a step with it may have been skipped
            and not _is_nan(leaf)  # which no step changes any more
        ]
        self._idle.update((line, id(leaf)) for leaf in idle)
        causes: dict[Hindrance, list[Any]] = {}
        for leaf in idle:
            cause = hindrance(names, leaf, self._sizes[id(leaf)])
            causes.setdefault(cause, []).append(leaf)
        for cause, alike in causes.items():
            has, its = ("has", "its") if len(alike) == 1 else ("have", "their")
            yield Finding(
                "warning", "unchanged",
                f"{listed(_said(alike, names))} {has} not changed since the last call here, and "
                f"{its} .grad was cleared: {cause.of(len(alike))}",
                cause.remedy, source=_source(line),
            )  # fmt: skip

    def left_over(
        self, line: Any, leaves: Sequence[tuple[Any, Collection[Any]]], names: Names
    ) -> Iterator[Finding]:
        """Find those of the ``leaves`` that a call at ``line`` comes to, each with the lines that
        its ``.grad`` is from, whose gradient of a call on another line no step has used, although
        one has changed other leaves of that call: a discriminator's loss, without detach()."""
        for other in dict.fromkeys(each for _, known in leaves for each in known if each != line):
            if other not in self._seen or other not in self._reached:
                continue
            before, reached = self._seen[other], self._reached[other]
            stepped = any(
                key in before and _digest(before[key][0]) != before[key][1] for key in reached
            )
            kept = [
                leaf
                for leaf, known in leaves
                if stepped
                and other in known
                and id(leaf) in before
                and not _is_cleared(leaf)
                and _digest(leaf) == before[id(leaf)][1]
            ]
            if kept and ("stale-grad", (line, other)) not in self._told:
                self._told.add(("stale-grad", (line, other)))
                has = "has" if len(kept) == 1 else "have"
                yield Finding(
                    "warning", "stale-grad",
                    f"{listed(_said(kept, names))} {has} a .grad from a backward() on another "
                    "line, after which step() changed other leaves only: the next step() will "
                    "use both gradients",
                    "call detach() on what that loss is not to train, or zero_grad() before this "
                    "backward()",
                    source=_source(line), other=_source(other),
                )  # fmt: skip

    def afterwards(
        self, line: Any, losses: Sequence[Any], leaves: Sequence[tuple[Any, Any]], names: Names
    ) -> Iterator[Finding]:
        """Find what is wrong with the gradients of a call at ``line`` that is over, which came to
        ``leaves`` in this order, each with its ``.grad`` from before, and with its ``losses``; of
        each line, the first of its kind."""
        for finding in self._afterwards(line, losses, leaves, names):
            if (finding.code, line) not in self._told:
                self._told.add((finding.code, line))
                yield finding

    def _afterwards(
        self, line: Any, losses: Sequence[Any], leaves: Sequence[tuple[Any, Any]], names: Names
    ) -> Iterator[Finding]:
        with_grad = [leaf for leaf, _ in leaves if leaf.grad is not None]
        sizes = {id(leaf): _added(leaf, before) for leaf, before in leaves if leaf.grad is not None}
        zero = [leaf for leaf in with_grad if sizes[id(leaf)] == 0]
        self._zero = {id(leaf) for leaf in zero}
        self._sizes.update(sizes)
        self._reached[line] = set(sizes)
        if zero:
            yield _finding(
                line, "zero-grad",
                f"the gradient of {listed(_said(zero, names))} is exactly 0",
                "gradstep why TARGET LEAF names the node that caused it",
            )  # fmt: skip
        some = [leaf for leaf in with_grad if sizes[id(leaf)] > 0]
        yield from self._along(line, some, sizes, names)
        yield from self._jumped(line, some, sizes, names)
        yield from self._constant(line, losses, bool(some))

    def _along(
        self, line: Any, leaves: list[Any], sizes: dict[int, float], names: Names
    ) -> Iterator[Finding]:
        """Yield the gradient on its way from the loss, which comes to ``leaves`` in this order."""
        weights = [leaf for leaf in leaves if leaf.ndim > 1] or leaves
        if len(weights) < 2:
            return
        first, last = weights[0], weights[-1]
        factor = sizes[id(last)] / sizes[id(first)]
        if 1 / _SHRINKS < factor < _SHRINKS:
            return
        code: Code = "vanishing" if factor < 1 else "exploding"
        ends = [
            f"{name} ({format_number(sizes[id(leaf)])})"
            for name, leaf in zip(_said([first, last], names), (first, last), strict=True)
        ]
        by = format_number(factor if factor > 1 else 1 / factor)
        yield _finding(
            line, code,
            f"the gradient {'shrinks' if factor < 1 else 'grows'} by a factor of {by} from "
            f"{ends[0]} to {ends[1]}{_through(weights, sizes, names, factor)}",
            "normalization, skip connections or another initialization keep its size stable; "
            "gradstep why TARGET LEAF names the nodes with the largest factors",
        )  # fmt: skip

    def _jumped(
        self, line: Any, leaves: list[Any], sizes: dict[int, float], names: Names
    ) -> Iterator[Finding]:
        """Yield the leaves whose gradient has another size than in the first call; nothing where a
        scaler changes the size of all."""
        if names.scalers:
            return
        found = []
        for leaf in leaves:
            first = self._norms.setdefault((line, id(leaf)), sizes[id(leaf)])
            factor = sizes[id(leaf)] / first
            if not 1 / _JUMP < factor < _JUMP:
                found.append((abs(math.log(factor)), factor, leaf))
        if found:
            _, factor, worst = max(found, key=lambda each: each[0])
            how = "grown" if factor > 1 else "shrunk"
            by = format_number(factor if factor > 1 else 1 / factor)
            yield _finding(
                line, "grad-jump",
                f"the gradient of {listed(_said([worst], names))} has {how} by a factor of {by} "
                "since the first call on this line",
                "use a smaller learning rate, or call clip_grad_norm_() before step()"
                if factor > 1
                else "check the loss: it may be flat here",
            )  # fmt: skip

    def _constant(self, line: Any, losses: Sequence[Any], learns: bool) -> Iterator[Finding]:
        """Yield a loss that has not changed by a bit although there were gradients."""
        if len(losses) != 1 or not is_tensor(losses[0]) or losses[0].numel() != 1:
            return
        loss = float(array_of(losses[0]).reshape(()))
        before, count = self._losses.get(line, (math.nan, 0))
        count = count + 1 if loss == before else 1
        self._losses[line] = loss, count
        if count == _SAME and learns:
            yield _finding(
                line, "constant-loss",
                f"the loss has been exactly {format_number(loss)} in {_SAME} consecutive calls, "
                f"although leaves had gradients",
                "make sure that step() changes the leaves that the loss depends on, and that "
                "every call computes a new loss",
            )  # fmt: skip


def _through(
    weights: Sequence[Any], sizes: Mapping[int, float], names: Names, factor: float
) -> str:
    """Name the modules that make most of ``factor``: on its way to the next of the ``weights``, the
    gradient passes the module of the one before."""
    passed = [
        (sizes[id(after)] / sizes[id(leaf)], names.of(leaf).rpartition(".")[0])
        for leaf, after in pairwise(weights)
    ]
    most = [each for each in passed if each[1] and (each[0] < 1) == (factor < 1)]
    most.sort(key=lambda each: abs(math.log(each[0])), reverse=True)
    said = [f"{name} (x {format_number(by)})" for by, name in most[:_NAMED]]
    return f", most of it in {listed(said)}" if said else ""


def _added(leaf: Any, before: Any) -> float:
    """Measure what a call added to the ``.grad`` of a leaf; NaN where it is not finite."""
    now = array_of(leaf.grad)
    with np.errstate(invalid="ignore"):
        added = statistics(now if before is None else now - before)
    return math.nan if added.trouble else added.rms


def _finding(line: Any, code: Code, what: str, remedy: str) -> Finding:
    return Finding("warning", code, what, remedy, source=_source(line))


def _source(line: Any) -> Source | None:
    return None if line is None else Source(*line[:2])


def _said(leaves: Sequence[Any], names: Names) -> list[str]:
    return [names.of(leaf) or f"a leaf of shape {list(leaf.shape)}" for leaf in leaves]


def _is_freed(leaf: Any) -> bool:
    return bool(leaf.numel()) and not array_of(leaf).size


def _is_nan(leaf: Any) -> bool:
    array = array_of(leaf)
    return bool(array.size) and bool(np.isnan(array).all())


def _digest(leaf: Any) -> bytes:
    return blake2b(array_of(leaf).tobytes(), digest_size=16).digest()


def _is_cleared(leaf: Any) -> bool:
    return leaf.grad is None or not array_of(leaf.grad).any()
