"""What surrounds the core, under the names of ``torch.utils``."""

from autograd_core.fallback import answer_missing_names
from autograd_core.utils import _pytree as _pytree
from autograd_core.utils import checkpoint, data

__all__ = ["checkpoint", "data"]

answer_missing_names(__name__)
