"""``torch.utils._pytree`` in both libraries."""

from __future__ import annotations

import importlib
from collections import OrderedDict
from typing import Any, NamedTuple

import pytest


class Pair(NamedTuple):
    left: Any
    right: Any


@pytest.fixture
def pytree(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.utils._pytree")


TREE: Any = {"b": [1, (2, None)], "a": Pair(OrderedDict(x=3), []), "c": "text"}


def test_leaves_come_in_order_and_go_back(pytree: Any) -> None:
    leaves, spec = pytree.tree_flatten(TREE)
    assert leaves == pytree.tree_leaves(TREE) == [1, 2, None, 3, "text"]
    assert spec.num_leaves == 5
    again = pytree.tree_unflatten(leaves, spec)
    assert again == TREE
    assert [type(again["a"]), type(again["a"].left)] == [Pair, OrderedDict]
    with pytest.raises(ValueError, match="has length 1 but the spec refers to a pytree that holds"):
        pytree.tree_unflatten([1], spec)


def test_a_function_is_mapped_over_trees(torch: Any, pytree: Any) -> None:
    tree = {"w": torch.ones(2), "n": [3]}
    doubled = pytree.tree_map(lambda x: x * 2, tree)
    assert (doubled["w"].tolist(), doubled["n"]) == ([2, 2], [6])
    assert pytree.tree_map(lambda x, y: x - y, [1, (2,)], [10, (20,)]) == [-9, (-18,)]
    only = pytree.tree_map_only(torch.Tensor, lambda x: x + 1, tree)
    assert (only["w"].tolist(), only["n"]) == ([2, 2], [3])
