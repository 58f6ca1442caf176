"""Names of nodes that PyTorch numbers anew for some in-place forms."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

_NODES: Final = {
    "FillBackward0": "FillBackward2",
    "FillBackward1": "FillBackward3",
    "SqueezeBackward0": "SqueezeBackward3",
    "SqueezeBackward1": "SqueezeBackward4",
    "SqueezeBackward2": "SqueezeBackward5",
}
# Most in-place forms bear the name of the form that leaves its input as it is; not these.
RENAMED_IN_PLACE: Final = frozenset(
    [
        "FillBackward1",
        *(f"{name}Backward0" for name in ("Celu", "Elu", "Fill", "LeakyRelu", "Threshold")),
    ]
)


@cache
def renamed(node_class: type[Any]) -> type[Any]:
    """Return the same class under the name that PyTorch gives to the nodes of the in-place form."""
    name = _NODES.get(node_class.__name__, f"{node_class.__name__[:-1]}1")
    body = {
        "__slots__": (),
        "__module__": node_class.__module__,
        "name": lambda self: name,
    }
    return type(name, (node_class,), body)
