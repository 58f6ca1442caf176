"""The Tensor: its class, views and changes in place, how it prints, and the types around it."""

from autograd_core.tensor.tensor import Tensor, ViewOrigin, blank

__all__ = ["Tensor", "ViewOrigin", "blank"]
