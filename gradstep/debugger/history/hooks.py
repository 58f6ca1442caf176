"""The ids of hooks, by which they are muted."""

from __future__ import annotations

from gradstep.records import Node


def hook_ids(node: Node) -> tuple[int, ...]:
    """Return the id of each hook, in the order of ``node.hooks.names()``; -1 for one that cannot be
    muted."""
    hooks = node.hooks
    if hooks is None:
        return ()
    retained = (-1 for _ in hooks.retain)
    return (*hooks.tensor, *retained, *hooks.pre, *hooks.post, *hooks.accumulated)
