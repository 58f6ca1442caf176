"""Switches of libraries that PyTorch computes with; here they may be set and do nothing."""

from autograd_core.backends import cudnn, mps

__all__ = ["cudnn", "mps"]
