"""Lines and modules of calls in which they were not noted: those of a call whose graph is alike.

Two graphs are alike if their nodes, in the order in which one comes upon them from the roots, are
of the same kinds, have the same edges, and lead to the same parameters.
"""

from __future__ import annotations

from typing import Any, Final

import torch

from gradstep.engines.pytorch.calls import TorchCall
from gradstep.engines.pytorch.origins import current
from gradstep.engines.pytorch.private import sequence_nr_of
from gradstep.engines.pytorch.walking import walked

_MOST_NODES: Final = 100_000
"""Of graphs that are kept; in larger ones, to note lines is a small part of the work."""
_MOST: Final = 64  # graphs


def keep_places(call: TorchCall, title: str) -> bool | None:
    """See :meth:`gradstep.contract.protocol.Engine.keep_places`."""
    origins = current.get()
    if origins is None or not origins.noting:
        return None
    numbers, shape = _read(call)
    if len(numbers) > _MOST_NODES or not all(map(origins.is_noted, numbers)):
        return False
    is_known = origins.kept.pop(shape, None) is not None
    origins.kept[shape] = title, list(map(origins.place, numbers))
    if len(origins.kept) > _MOST:
        del origins.kept[next(iter(origins.kept))]
    return is_known


def take_places(call: TorchCall) -> str | None:
    """See :meth:`gradstep.contract.protocol.Engine.take_places`."""
    origins = current.get()
    if origins is None or not origins.has_rested:
        return None
    numbers, shape = _read(call)
    if all(map(origins.is_noted, numbers)):
        return None
    title, places = origins.kept.get(shape, ("", [None] * len(numbers)))
    origins.take(title, dict(zip(numbers, places, strict=True)))
    return title


def _read(call: TorchCall) -> tuple[list[int], int]:
    """Return the numbers of the nodes of a call but for those of leaves, and a number that only
    graphs which are alike have in common."""
    behind = walked(call)
    at = {node: index for index, node in enumerate([*behind.nodes, *behind.ends])}
    at[None] = -1
    shape: list[Any] = [
        (type(node), tuple([(at[to], nr) for to, nr in following]))
        for node, following in zip(behind.nodes, behind.edges, strict=True)
    ]
    shape += [id(leaf) if isinstance(leaf, torch.nn.Parameter) else 0 for leaf in behind.leaves]
    return list(map(sequence_nr_of, behind.nodes)), hash(tuple(shape))
