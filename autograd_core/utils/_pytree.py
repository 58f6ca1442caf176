"""Values in lists, tuples and dictionaries, one in another, under the names of
``torch.utils._pytree``, as far as programs use them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple


def leaves_of(value: Any) -> list[Any]:
    """Return what lies in ``value`` and is no list, tuple or dictionary itself."""
    if isinstance(value, dict):
        return [leaf for key in value for leaf in leaves_of(value[key])]
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves_of(part)]
    return [value]


def rebuilt(like: Any, leaves: Sequence[Any]) -> Any:
    """Return ``like`` with ``leaves`` in the places of its own."""
    return _take(like, iter(leaves))


def structure_of(value: Any) -> str:
    """Return ``value`` with a star for each leaf: what two of one structure have in common."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {structure_of(value[key])}' for key in value)}}}"
    if isinstance(value, (list, tuple)):
        inside = ", ".join(map(structure_of, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    return "*"


def _take(like: Any, leaves: Iterator[Any]) -> Any:
    if isinstance(like, dict):
        return type(like)((key, _take(value, leaves)) for key, value in like.items())
    if isinstance(like, tuple) and hasattr(like, "_fields"):
        return type(like)(*(_take(part, leaves) for part in like))
    if isinstance(like, (list, tuple)):
        return type(like)(_take(part, leaves) for part in like)
    return next(leaves)


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
    return rebuilt(tree, [func(*parts) for parts in zip(leaves_of(tree), *others, strict=True)])


def tree_map_only(kind: Any, func: Callable[[Any], Any], tree: Any) -> Any:
    """Return ``tree`` with ``func`` of each leaf of type ``kind`` in its place."""
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, kind) else leaf, tree)
