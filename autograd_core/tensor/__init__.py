"""The Tensor: its class, how it prints, its size, and the types and constants around it."""

from autograd_core.tensor.tensor import Tensor, View, blank

__all__ = ["Tensor", "View", "blank"]
