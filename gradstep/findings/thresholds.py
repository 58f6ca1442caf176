"""The numbers of rules that a project may set: what is usual differs between models."""

from __future__ import annotations

from typing import NamedTuple


class Thresholds(NamedTuple):
    """From where on something is a finding.

    Attributes:
        largest_step, smallest_step: of a weight's size, by which a step of the optimizer changes
            it: more are ``large-steps``, and less ``small-steps``.
        gradient_ratio: by which the gradients of two weights of one call may differ, before one is
            ``vanishing`` or ``exploding``.
    """

    largest_step: float = 0.5
    smallest_step: float = 1e-6
    gradient_ratio: float = 1e5
