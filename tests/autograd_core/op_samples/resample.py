"""Samples of the ops of :mod:`autograd_core.ops.networks.resample`."""

from __future__ import annotations

from collections.abc import Callable

from autograd_core.op import OPS, Op
from autograd_core.ops.networks.resample import (
    Taps,
    _taps,
    antialiased,
    border,
    cubic,
    linear,
    mean_of_windows,
    nearest,
)
from tests.autograd_core.op_samples.sample import Sample

_MAPS: dict[str, Callable[[int, int], Taps]] = {
    "adaptive_avg": mean_of_windows,
    "reflection": lambda size, count: border(size, 1, 1, "reflect"),
    "replication": lambda size, count: border(size, 2, -1, "replicate"),
    "_aa": antialiased,
    "nearest": nearest,
    "linear": linear,
    "cubic": cubic,
}


def _resampled(op: Op) -> tuple[Sample, ...]:
    dims = int(op.node_name.partition("D")[0][-1])
    make = next(make for part, make in _MAPS.items() if part in op.name)
    maps = tuple(make(*sizes) for sizes in ((4, 5), (3, 2), (3, 3))[:dims])
    return (Sample(((1, *(4, 3, 3)[:dims]),), {"maps": maps}),)


SAMPLES = {
    "resampled": (
        Sample(((2, 3),), {"maps": (_taps([0, 0, 2], [1, 2, 0], [1.0, 0.5, 2.0], 4, 3),)}),
    ),
    "circular_pad": (Sample(((1, 3),), {"maps": (border(3, 1, 2, "circular"),)}),),
    **{
        name: _resampled(op)
        for name, op in OPS.items()
        if name.startswith(("adaptive_avg_pool", "upsample", "reflection_pad", "replication_pad"))
    },
}
