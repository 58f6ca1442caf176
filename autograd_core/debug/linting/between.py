"""Findings between the calls of a program: a gradient that no step has used."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from autograd_core.dag.model import Source
from autograd_core.dag.names import Names
from autograd_core.debug.linting.finding import Finding, listed
from autograd_core.debug.snapshot.value import array_of


class Between:
    """Remembers the leaves of each call, and compares them with those of the last call that the
    same line made: a GAN trains its two models by two lines in turn.
    """

    def __init__(self) -> None:
        self._seen: dict[Any, dict[int, tuple[Any, bytes]]] = {}

    def findings(self, line: Any, leaves: list[Any], names: Names) -> Iterator[Finding]:
        """Find the ``leaves`` of a call at ``line`` whose gradient was cleared since the last one
        there although nothing has changed them."""
        now = {id(leaf): (leaf, _digest(leaf)) for leaf in leaves}
        before, self._seen[line] = self._seen.get(line, {}), now
        idle = [
            leaf
            for key, (leaf, digest) in now.items()
            if key in before and before[key][1] == digest and _is_cleared(leaf)
        ]
        if not idle:
            return
        said = [names.of(leaf) or f"a leaf of shape {list(leaf.shape)}" for leaf in idle]
        has, its = ("has", "its") if len(idle) == 1 else ("have", "their")
        yield Finding(
            "warning", "unchanged",
            f"{listed(said)} {has} not changed since the last call here, and {its} .grad was "
            "cleared: no step used it",
            "call zero_grad() before backward(), and step() after it; see that an optimizer has "
            "these leaves, and a learning rate that is not 0",
            source=None if line is None else Source(*line[:2]),
        )  # fmt: skip


def _digest(leaf: Any) -> bytes:
    return blake2b(array_of(leaf).tobytes(), digest_size=16).digest()


def _is_cleared(leaf: Any) -> bool:
    return leaf.grad is None or not array_of(leaf.grad).any()
