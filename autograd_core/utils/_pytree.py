"""Values in lists, tuples and dictionaries, one in another, under the names of
``torch.utils._pytree``, as far as programs use them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from autograd_core.func.structure import leaves_of, rebuilt

__all__ = ["TreeSpec", "tree_flatten", "tree_leaves", "tree_map", "tree_map_only", "tree_unflatten"]


class TreeSpec(NamedTuple):
    """What a tree is without its leaves: one with numbers in their places."""

    numbered: Any
    num_leaves: int


def tree_flatten(tree: Any) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of ``tree``, and what puts them back.

    >>> leaves, spec = tree_flatten({"a": 1, "b": [2, (3,)]})
    >>> leaves
    [1, 2, 3]
    >>> tree_unflatten([10, 20, 30], spec)
    {'a': 10, 'b': [20, (30,)]}
    """
    leaves = leaves_of(tree)
    return leaves, TreeSpec(rebuilt(tree, range(len(leaves))), len(leaves))


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """Return the tree of this form that has these leaves.

    Raises:
        ValueError: there are more, or fewer, than its places.
    """
    given = list(leaves)
    if len(given) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(given)} but the spec "
            f"refers to a pytree that holds {treespec.num_leaves} items ({treespec})."
        )
    return rebuilt(treespec.numbered, given)


def tree_leaves(tree: Any) -> list[Any]:
    """Return the leaves of ``tree``, from left to right."""
    return leaves_of(tree)


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any) -> Any:
    """Return ``tree`` with ``func`` of each leaf in its place, and of those of ``rests`` beside
    it."""
    others = (leaves_of(rest) for rest in rests)
    return rebuilt(tree, [func(*each) for each in zip(leaves_of(tree), *others, strict=True)])


def tree_map_only(kind: Any, func: Callable[[Any], Any], tree: Any) -> Any:
    """Return ``tree`` with ``func`` of each leaf of type ``kind`` in its place."""
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, kind) else leaf, tree)
