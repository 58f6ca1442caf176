"""Views that are copies: each is the entry of a view, and shares no memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from autograd_core.op import Op, op
from autograd_core.ops.indices import index
from autograd_core.ops.shaping import rearrange, shape, strided
from autograd_core.ops.shaping.diagonals import diagonal


def _copying(view: Callable[..., Any], node: str = "", variants: str = "") -> Callable[..., Any]:
    """Return the op that copies what the op ``view`` looks at."""
    entry: Op = view.op  # type: ignore[attr-defined]

    @wraps(entry.function)
    def kernel(self: Any, **attributes: Any) -> Any:
        return np.array(entry.kernel(self, **attributes), order="C")

    kernel.__module__ = __name__
    kernel.__name__ = kernel.__qualname__ = f"{entry.name}_copy"
    kernel.__doc__ = f"Return a copy of what ``{entry.name}`` returns."
    rules: dict[str, Any] = {edge: rule.function for edge, rule in entry.rules.items()}
    node = node or f"{entry.node_name}_copy"
    return op(**rules, linear=True, node=node, variants=variants, out="expect")(kernel)


alias_copy = _copying(index.alias, variants="function")
as_strided_copy = _copying(strided.as_strided)
diagonal_copy = _copying(diagonal, variants="function")
expand_copy = _copying(shape.expand)
permute_copy = _copying(shape.permute)
squeeze_all_copy = _copying(shape.squeeze_all)
squeeze_dim_copy = _copying(shape.squeeze_dim)
squeeze_dims_copy = _copying(rearrange.squeeze_dims)
t_copy = _copying(shape.t, variants="function")
transpose_copy = _copying(shape.transpose, variants="function")
unfold_copy = _copying(rearrange.unfold, variants="function")
unsqueeze_copy = _copying(shape.unsqueeze, variants="function")
view_copy = _copying(shape.view)
slice_copy = _copying(index.slice_, node="NarrowCopyBackward0")
