"""What surrounds the core, under the names of ``torch.utils``."""

from autograd_core.fallback import answer_missing_names
from autograd_core.utils import checkpoint

__all__ = ["checkpoint"]

answer_missing_names(__name__)
