"""Samples of the ops of :mod:`autograd_core.ops.shaping.copies`: those of the views."""

from __future__ import annotations

from autograd_core.op import OPS
from tests.autograd_core.op_samples import diagonals, index, rearrange, shape, strided

_FAMILIES = (diagonals, index, rearrange, shape, strided)
_VIEWS = {name: samples for family in _FAMILIES for name, samples in family.SAMPLES.items()}
SAMPLES = {name: _VIEWS[name.removesuffix("_copy")] for name in OPS if name.endswith("_copy")}
