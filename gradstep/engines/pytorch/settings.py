"""The settings of PyTorch on which numbers depend."""

from __future__ import annotations

from collections.abc import Mapping

from torch import (
    are_deterministic_algorithms_enabled,
    default_generator,
    get_default_dtype,
    get_float32_matmul_precision,
    get_num_threads,
)
from torch.cuda import get_device_name
from torch.cuda import is_initialized as cuda_is_initialized


def settings() -> Mapping[str, str]:
    """Return the settings as they are now."""
    known = {
        "seed": str(default_generator.initial_seed()),
        "default dtype": str(get_default_dtype()),
        "threads": str(get_num_threads()),
        "deterministic algorithms": str(are_deterministic_algorithms_enabled()),
        "float32 matmul precision": get_float32_matmul_precision(),
    }
    if cuda_is_initialized():
        known["device"] = get_device_name()
    return known
