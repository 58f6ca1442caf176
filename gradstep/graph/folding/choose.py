"""The choice of folds to open: the finest level that fits the budget.

Opening goes level by level, and all alike or none: folds of one level that are built alike open
together, the cheapest first.  Of a repeat the first instance opens, and stands for the others.
What was asked for by name opens whatever it costs, and what is to stay shut stays shut.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gradstep.graph.folding.labels import above, scope_depth
from gradstep.graph.folding.tree import LEAST_GROUP, Fold, heads_of

SHOWN_ROUNDS = 5
"""A loop of at least so many rounds shows its first two and its last."""


MOST_INSTANCES = 30
"""So many instances of a repeat are drawn side by side."""

Key = tuple[int, int, int]


class Item(NamedTuple):
    """The content of one box: a fold, or of a repeat the instances ``first`` to ``last``.

    ``like`` is the instance of the same repeat that shows what is inside.
    """

    fold: Fold
    first: int = 0
    last: int = 0
    like: Fold | None = None

    @property
    def instances(self) -> int:
        """The number of instances of a repeat, or rounds of a loop."""
        return self.last - self.first + 1

    @property
    def parts(self) -> tuple[Fold, ...]:
        """The folds it consists of."""
        if _rolls(self.fold):
            return self.fold.children[self.first : self.last + 1]
        return (self.fold,)

    @property
    def is_small(self) -> bool:
        """Whether it is too small for a group."""
        if self.instances > 1 or self.fold.kind in ("head", "data"):
            return False
        return self.parts[0].heads < LEAST_GROUP

    @property
    def key(self) -> Key:
        """What tells it from others: two folds that are equal may stand in different places."""
        return id(self.fold), self.first, self.last

    @property
    def cost(self) -> int:
        """The number of boxes that it takes besides when all of it is drawn."""
        return sum(part.boxes for part in self.parts) - self.fold.width


class Options(NamedTuple):
    """``budget`` in boxes; scopes open down to ``depth``, None: as far as fits; ``expand`` names
    what opens in any case; ``shut`` are the identities of what does not open."""

    budget: int
    depth: int | None = None
    expand: tuple[str, ...] = ()
    shut: frozenset[int] = frozenset()


def choose_inside(item: Item, budget: int) -> list[Item]:
    """Return the boxes of a picture of what is inside ``item``: of several instances each one, or
    runs of them where they are too many, else as :func:`choose` does."""
    if item.instances == 1 and item.fold.kind != "data":
        return choose(item.parts[0], Options(budget))
    if item.fold.kind == "data":
        return [_item(child) for child in item.fold.children]
    size = math.ceil(item.instances / MOST_INSTANCES)
    starts = range(item.first, item.last + 1, size)
    ends = [min(start + size - 1, item.last) for start in starts]
    if size == 1:
        return _flatten([_item(part) for part in item.parts], {})
    return [Item(item.fold, start, end) for start, end in zip(starts, ends, strict=True)]


def choose(root: Fold, options: Options) -> list[Item]:
    """Return the boxes of the picture, in the order in which their ops ran.

    Raises:
        UnknownAddress: nothing goes by a name in ``options.expand``.
    """
    wanted = above(root, options.expand)
    if root.boxes <= options.budget and options.depth is None and not (wanted or options.shut):
        return [Item(head) for head in heads_of(root)]
    opened, shown = _open_levels(root, options, wanted)
    items = _flatten(_opened(Item(root), wanted), opened, options.shut)
    if options.depth is not None:
        return items
    return _unroll(items, options.budget - shown, options.shut)


def _rolls(fold: Fold) -> bool:
    return fold.kind in ("repeat", "loop")


def _item(fold: Fold) -> Item:
    return Item(fold, 0, len(fold.children) - 1) if _rolls(fold) else Item(fold)


def _open_levels(
    root: Fold, options: Options, wanted: set[int]
) -> tuple[dict[Key, list[Item]], int]:
    """List what is opened into what, and how many boxes are shown then."""
    opened: dict[Key, list[Item]] = {}
    level = _opened(Item(root), wanted)
    shown = sum(item.fold.width for item in level)
    late = set[Key]()  # rounds unlike all others, which open after a typical one
    while level:
        alike: dict[tuple[bool, bool, int], list[Item]] = {}
        loops = {one.fold.scope for one in level if one.fold.kind == "loop" and one.like is None}
        waiting = []
        for item in level:
            forced = _must_open(item, options, wanted)
            if item.fold.kind == "iteration" and item.fold.scope in loops and not forced:
                late.add(item.key)
                waiting.append(item)
            elif forced or _may_open(item, options):
                key = not forced, item.key in late, item.fold.signature
                alike.setdefault(key, []).append(item)
        level = waiting
        costs = {key: sum(_price(one, wanted) for one in items) for key, items in alike.items()}
        for key in sorted(alike, key=lambda key: (*key[:2], costs[key])):
            if not key[0] or shown + costs[key] <= options.budget:
                shown += costs[key]
                for item in alike[key]:
                    opened[item.key] = _opened(item, wanted)
                    level += opened[item.key]
    return opened, shown


def _price(item: Item, wanted: set[int]) -> int:
    return sum(one.fold.width for one in _opened(item, wanted)) - item.fold.width


def _must_open(item: Item, options: Options, wanted: set[int]) -> bool:
    if any(id(part) in wanted for part in item.parts):
        return True
    if item.like is None and id(item.fold) in wanted:
        return True
    depth = options.depth
    return depth is not None and item.fold.kind == "scope" and scope_depth(item.fold) < depth


def _may_open(item: Item, options: Options) -> bool:
    if item.fold.kind in ("head", "data") or item.like is not None:
        return False
    if options.shut and any(id(part) in options.shut for part in (item.fold, *item.parts)):
        return False
    return options.depth is None or scope_depth(item.fold) < options.depth


def _opened(item: Item, wanted: set[int]) -> list[Item]:
    """Return the items that take the place of ``item`` when it opens."""
    fold = item.fold
    if not _rolls(fold):
        return [_item(child) for child in fold.children]
    named = [n for n in range(item.first, item.last + 1) if id(fold.children[n]) in wanted]
    if named:
        return _around(item, named)
    first, last = item.first, item.last
    typical = _typical(item)
    if typical != first:
        return _around(item, [typical])
    like = fold.children[first]
    rest = [Item(fold, first + 1, last, like)]
    if item.instances == 2:
        rest = [Item(fold.children[last], like=like)]
    elif _shows_rounds(item):
        rest = [
            Item(fold.children[first + 1], like=like),
            Item(fold, first + 2, last - 1, like),
            Item(fold.children[last], like=like),
        ]
    return [_item(like), *rest]


def _typical(item: Item) -> int:
    """Return the first of the commonest rounds of a loop."""
    signatures = [fold.signature for fold in item.parts]
    return item.first + signatures.index(Counter(signatures).most_common(1)[0][0])


def _around(item: Item, named: Sequence[int]) -> list[Item]:
    """Return the instances asked for by name, and what lies between them; of a loop also the rounds
    that it shows in any case, so that the others go by one name whatever is open."""
    items, start, like = [], item.first, item.fold.children[named[0]]
    alone = {*named, item.last + 1}
    if _shows_rounds(item):
        alone |= {item.first, item.first + 1, item.last}
    for number in sorted(alone):
        if number - start == 1:
            items.append(Item(item.fold.children[start], like=like))
        elif number > start:
            items.append(Item(item.fold, start, number - 1, like))
        if number in named:
            items.append(_item(item.fold.children[number]))
        elif number <= item.last:
            items.append(Item(item.fold.children[number], like=like))
        start = number + 1
    return items


def _shows_rounds(item: Item) -> bool:
    """Return whether a loop has so many rounds that its first two and its last are shown alone."""
    return item.fold.kind == "loop" and item.instances >= SHOWN_ROUNDS


def _flatten(
    items: Sequence[Item], opened: dict[Key, list[Item]], shut: frozenset[int] = frozenset()
) -> list[Item]:
    flat, stack = [], list(reversed(items))
    while stack:
        item = stack.pop()
        inner = opened.get(item.key)
        if inner is None and item.is_small and id(item.fold) not in shut:
            flat += [Item(head) for head in heads_of(item.parts[0])]
        elif inner is None:
            flat.append(item)
        else:
            stack.extend(reversed(inner))
    return flat


def _heads(fold: Fold, shut: frozenset[int]) -> Iterator[Item]:
    """Yield what is drawn of ``fold`` where there is room for all but for what stays shut."""
    stack = [fold]
    while stack:
        one = stack.pop()
        if one.kind in ("head", "data") or id(one) in shut:
            yield Item(one)
        else:
            stack.extend(reversed(one.children))


def _unroll(items: list[Item], left: int, shut: frozenset[int]) -> list[Item]:
    """Draw all instances of a repeat where they all fit into what is left of the budget."""
    rests: dict[int, list[Item]] = {}
    for item in items:
        if item.like is not None:
            rests.setdefault(id(item.like), []).append(item)
    whole = set()
    for key, rest in sorted(rests.items(), key=lambda pair: sum(one.cost for one in pair[1])):
        cost = sum(one.cost for one in rest)
        if cost <= left:
            left -= cost
            whole.add(key)
    unrolled = []
    for item in items:
        if item.like is not None and id(item.like) in whole:
            unrolled += [one for part in item.parts for one in _heads(part, shut)]
        else:
            unrolled.append(item)
    return unrolled
