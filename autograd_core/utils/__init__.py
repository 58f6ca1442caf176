"""What surrounds the core, under the names of ``torch.utils``."""

from autograd_core.utils import checkpoint

__all__ = ["checkpoint"]
