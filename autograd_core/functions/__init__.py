"""Functions in front of the op table, by family: PyTorch's overloads, and compositions of ops.

Each picks an entry by its arguments, or combines several; none has a derivative rule.  Entries
that need nothing in front are here as they are: this is all that ``torch.NAME`` may name.
"""

from autograd_core.functions import (
    along,
    arithmetic,
    counting,
    creation,
    entries,
    generators,
    indexing,
    joining,
    products,
    random,
    rearranging,
    reduction,
    shapes,
    view_copies,
    windows,
)
from autograd_core.functions.along import *  # noqa: F403
from autograd_core.functions.arithmetic import *  # noqa: F403
from autograd_core.functions.convert import contiguous as contiguous
from autograd_core.functions.convert import to as to
from autograd_core.functions.convert import to_dtype as to_dtype
from autograd_core.functions.convert import type_ as type_
from autograd_core.functions.counting import *  # noqa: F403
from autograd_core.functions.creation import *  # noqa: F403
from autograd_core.functions.entries import *  # noqa: F403
from autograd_core.functions.generators import *  # noqa: F403
from autograd_core.functions.generators import generator as generator
from autograd_core.functions.indexing import *  # noqa: F403
from autograd_core.functions.joining import *  # noqa: F403
from autograd_core.functions.keywords import take_form
from autograd_core.functions.products import *  # noqa: F403
from autograd_core.functions.random import *  # noqa: F403
from autograd_core.functions.rearranging import *  # noqa: F403
from autograd_core.functions.reduction import *  # noqa: F403
from autograd_core.functions.shapes import *  # noqa: F403
from autograd_core.functions.view_copies import *  # noqa: F403
from autograd_core.functions.windows import *  # noqa: F403

__all__: list[str] = []
__all__ += along.__all__
__all__ += arithmetic.__all__
__all__ += counting.__all__
__all__ += creation.__all__
__all__ += entries.__all__
__all__ += generators.__all__
__all__ += indexing.__all__
__all__ += joining.__all__
__all__ += products.__all__
__all__ += random.__all__
__all__ += rearranging.__all__
__all__ += reduction.__all__
__all__ += shapes.__all__
__all__ += view_copies.__all__
__all__ += windows.__all__

take_form(globals(), __all__)
