"""Handles of hooks under the name of ``torch.utils.hooks``."""

from autograd_core.autograd.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
