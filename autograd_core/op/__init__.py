"""How an op is declared, and what a declaration becomes.

``entry`` holds the declaration, ``record`` what it says, ``generate`` turns it into the text of
two functions, ``public`` gives those to users under their names and with PyTorch's ``keywords``,
``generic`` and ``variadic`` carry the rare paths that need no speed, ``refusals`` the errors,
``graph`` the derivative of a derivative, ``formula`` the text that people read.
"""

from autograd_core.op.entry import op, pointwise
from autograd_core.op.inplace import inplace
from autograd_core.op.inplace_views import inplace_view
from autograd_core.op.public import public
from autograd_core.op.record import OPS, Op, Sample, Second

__all__ = ["OPS", "Op", "Sample", "Second", "inplace", "inplace_view", "op", "pointwise", "public"]
