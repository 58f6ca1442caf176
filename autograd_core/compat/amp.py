"""Mixed precision, which is off: every op computes in the dtypes of its tensors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self, TypeVar

from autograd_core.compat.kinds import Names, always, nothing, unchanged
from autograd_core.dtype import dtype as dtype_type
from autograd_core.dtype import float16
from autograd_core.tensor.constants import CONSTANTS
from autograd_core.tensor.device import device

C = TypeVar("C", bound=Callable[..., Any])
_REDUCED = (None, float16, CONSTANTS["bfloat16"])


class autocast:  # lower case, as PyTorch spells it
    """A context manager and decorator that changes nothing.

    As in PyTorch without a GPU, ``device_type="cuda"`` is disabled with a warning.

    Raises:
        RuntimeError: it is enabled on the CPU for a lower precision.
    """

    def __init__(
        self,
        device_type: str,
        dtype: dtype_type | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = device(device_type).type
        if enabled and self.device == "cuda":
            warnings.warn(
                "CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=2
            )
        elif enabled and self.device == "cpu":
            if dtype in _REDUCED:
                raise RuntimeError(
                    "autocast to a reduced precision is not part of gradstep's core: pass "
                    "enabled=False, or import torch instead"
                )
            warnings.warn(
                "In CPU autocast, but the target dtype is not supported. Disabling autocast.",
                stacklevel=2,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None: ...

    def __call__(self, function: C) -> C:
        return function


class GradScaler:
    """A gradient scaler that leaves losses and gradients unchanged.

    As in PyTorch without a GPU, ``device="cuda"`` is disabled with a warning.

    Raises:
        RuntimeError: it is enabled for the CPU.
    """

    def __init__(
        self, device: str = "cuda", *factors: Any, enabled: bool = True, **others: Any
    ) -> None:
        if enabled and device == "cuda":
            warnings.warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.",
                stacklevel=2,
            )
        elif enabled:
            raise RuntimeError(
                "GradScaler is for losses in reduced precision, which is not part of gradstep: "
                "pass enabled=False"
            )

    def scale(self, outputs: Any) -> Any:
        """Return ``outputs``."""
        return outputs

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Return what ``optimizer.step`` returns."""
        return optimizer.step(*args, **kwargs)

    def unscale_(self, optimizer: Any) -> None:
        """Do nothing."""

    def update(self, new_scale: Any = None) -> None:
        """Do nothing."""

    def is_enabled(self) -> bool:
        """Return False."""
        return False

    def get_scale(self) -> float:
        """Return 1."""
        return 1.0

    def state_dict(self) -> dict[str, Any]:
        """Return nothing to save."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Do nothing."""


class _CudaAutocast(autocast):
    """``autocast("cuda", ...)``."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)


class _CudaGradScaler(GradScaler):
    """``GradScaler("cuda", ...)``."""

    def __init__(self, *factors: Any, enabled: bool = True, **others: Any) -> None:
        super().__init__("cuda", enabled=enabled)


_FUNCTIONS = unchanged("custom_fwd custom_bwd")

MODULES: dict[str, Names] = {
    "amp": {
        "autocast": autocast,
        "GradScaler": GradScaler,
        **always(True, "is_autocast_available"),
        **_FUNCTIONS,
    },
    "cuda.amp": {"autocast": _CudaAutocast, "GradScaler": _CudaGradScaler, **_FUNCTIONS},
}
NAMES: Names = {
    "autocast": autocast,
    **always(False, "is_autocast_enabled is_autocast_cpu_enabled"),
    **always(float16, "get_autocast_dtype get_autocast_gpu_dtype"),
    **always(CONSTANTS["bfloat16"], "get_autocast_cpu_dtype"),
    **nothing("clear_autocast_cache"),
}
