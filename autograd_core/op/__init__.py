"""How an op is declared, and what a declaration becomes.

``entry`` holds the declaration, ``record`` what it says, ``generate`` turns it into the text of
two functions, ``public`` gives those to users under their names and with PyTorch's ``keywords``,
``generic`` and ``variadic`` carry the rare paths that need no speed, ``refusals`` the errors,
``formula`` the text that people read.  Views and changes in place stand in
``tensor``; saved values, forward mode and the derivative of a derivative in ``autograd``.
"""

from autograd_core.op.entry import COMPARISON, EVERY_FORM, FLOATING, op, pointwise
from autograd_core.op.public import public
from autograd_core.op.record import OPS, Op, Second, computed_by
from autograd_core.tensor.inplace import inplace
from autograd_core.tensor.inplace_views import inplace_view

__all__ = [
    "COMPARISON", "EVERY_FORM", "FLOATING", "OPS", "Op", "Second", "computed_by", "inplace",
    "inplace_view", "op", "pointwise", "public",
]  # fmt: skip
