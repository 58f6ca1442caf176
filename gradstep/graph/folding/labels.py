"""Names of folds, and the search for one by what a person types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from gradstep.graph.addresses import unknown
from gradstep.graph.folding.tree import LEAST_GROUP, Fold

MOST_WORDS = 5_000
SHOWN_WORDS = 4


def scope_depth(fold: Fold) -> int:
    """Count the names in the path of a fold; a repeat has that of what is repeated, less one.

    >>> scope_depth(Fold("scope", "encoder.layers.3", "encoder.layers.3", -1, (), 0, 1, 1, 1))
    3
    """
    if fold.kind == "repeat" and fold.children[0].kind == "scope":
        return fold.children[0].label.count(".")
    path = fold.label if fold.kind == "scope" else fold.scope
    return path.count(".") + 1 if path else 0


def above(root: Fold, names: Sequence[str]) -> set[int]:
    """Return the identities of the folds with these names, and of all around them.

    A scope goes by its path, a round of a loop by ``i=3``, or ``encoder/i=3`` with its scope, one
    of several siblings by the address of its first op.

    Raises:
        UnknownAddress: nothing goes by that name.
    """
    if not names:
        return set()
    parents = {id(child): fold for fold in _every(root) for child in fold.children}
    wanted: set[int] = set()
    for name in names:
        folds = _named(root, name.replace(" ", ""))
        if not folds:
            words = list(islice(_words(root), MOST_WORDS))
            raise unknown("that is folded", name, words, _remedy(words))
        for fold in folds:
            place: Fold | None = fold
            while place is not None and id(place) not in wanted:
                wanted.add(id(place))
                place = parents.get(id(place))
    return wanted


def shut(root: Fold, names: Sequence[str], modules: Mapping[str, str]) -> frozenset[int]:
    """Return the identities of the scopes with these names, or of these classes; ``modules`` has
    the class of each path.

    Raises:
        UnknownAddress: nothing goes by that name.
    """
    found: set[int] = set()
    for name in names:
        scopes = [
            id(fold)
            for fold in _every(root)
            if fold.kind == "scope" and name in (fold.label, modules.get(fold.label))
        ]
        if not scopes:
            words = [fold.label for fold in islice(_every(root), MOST_WORDS)]
            words = [word for word in words if word] + sorted(set(modules.values()))
            raise unknown("that can be folded", name, words, "write the path or class of a module")
        found.update(scopes)
    return frozenset(found)


def norms(root: Fold, modules: Mapping[str, str], expand: Sequence[str]) -> frozenset[int]:
    """Return the identities of the modules that normalize: everyone knows what is inside."""
    return frozenset(
        id(fold)
        for fold in _every(root)
        if fold.kind == "scope" and fold.heads >= LEAST_GROUP and fold.label not in expand
        and re.search(r"norm\d*d?$", modules.get(fold.label) or fold.label, re.IGNORECASE)
    )  # fmt: skip


def _every(root: Fold) -> Iterator[Fold]:
    stack = [root]
    while stack:
        fold = stack.pop()
        yield fold
        stack.extend(reversed(fold.children))


def _names(fold: Fold) -> tuple[str, ...]:
    label = fold.label.replace(" ", "")
    is_round = fold.scope and fold.kind == "iteration"
    return (label, f"{fold.scope}/{label}") if is_round else (label,)


def _named(root: Fold, name: str) -> list[Fold]:
    exact = [fold for fold in _every(root) if fold.label and name in _names(fold)]
    if exact:
        return exact
    # a scope that holds nothing but another one has given its place to that
    inside = (fold for fold in _every(root) if fold.label.startswith(f"{name}."))
    first = next(inside, None)
    return [] if first is None else [first]


def _words(root: Fold) -> Iterable[str]:
    return (_names(fold)[0] for fold in _every(root) if fold.label)


def _remedy(words: Sequence[str]) -> str:
    if not words:
        return "no scope, repeat or loop of this graph can be opened"
    more = ", …" if len(words) > SHOWN_WORDS else ""
    return f"what can be opened is {', '.join(words[:SHOWN_WORDS])}{more}"
