"""What distributions of trials share: a probability, or its log-odds."""

from __future__ import annotations

from typing import Any, ClassVar

from autograd_core.distributions import constraints
from autograd_core.distributions.distribution import Distribution, broadcast_all, derived
from autograd_core.numeric import finfo
from autograd_core.tensor import Tensor


def one_of(probs: Any, logits: Any) -> None:
    """Raise ValueError unless exactly one of the two is given."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


def clamped(probs: Tensor) -> Tensor:
    """``probs`` a little away from 0 and 1, where logarithms are finite."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


class OfTrials(Distribution):
    """What trials lead to, each of which succeeds with probability ``probs``, or with the
    log-odds ``logits``."""

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}

    def _hold(self, probs: Any, logits: Any, *others: Any) -> list[Tensor]:
        """Keep the one that is given, broadcast with ``others``, which come back in its dtype."""
        one_of(probs, logits)
        name, given = ("logits", logits) if probs is None else ("probs", probs)
        *rest, held = broadcast_all(*others, given)
        self.__dict__[name] = held
        return [each.to(held.dtype) for each in rest]

    @derived
    def logits(self) -> Tensor:
        probs = clamped(self.probs)
        return probs.log() - (-probs).log1p()

    @derived
    def probs(self) -> Tensor:
        return self.logits.sigmoid()

    @property
    def param_shape(self) -> Any:
        return self.__dict__["probs" if "probs" in self.__dict__ else "logits"].size()
