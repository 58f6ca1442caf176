"""Utilities for the parameters of a model, under the names of ``torch.nn.utils``."""

from autograd_core.fallback import answer_missing_names
from autograd_core.nn.utils.clip_grad import (
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)

__all__ = ["clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]

answer_missing_names(__name__)
