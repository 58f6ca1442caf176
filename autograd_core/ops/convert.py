"""Conversions between dtypes."""

from __future__ import annotations

from autograd_core.op import op


@op(
    self=lambda g, source, target: cast(g, source, target),
    linear=True,
    node="ToCopyBackward0",
)
def cast(self, /, target, source):
    """A copy of another dtype; the gradient is cast back to ``source``, the dtype of ``self``."""
    return self.astype(target)


@op(of="cast")
def cast_discrete(self, /, target):
    """A copy of an integer or bool dtype, where the graph ends: such numbers have no gradient."""
    return self.astype(target)
