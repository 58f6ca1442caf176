"""Devices, backends and settings that have only one value here: NumPy computes on the CPU."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from enum import Enum
from types import SimpleNamespace
from typing import Any

from autograd_core.compat.kinds import Names, always, nothing, refused, setting, unchanged
from autograd_core.dtype import dtype, set_default_dtype
from autograd_core.tensor import numeric
from autograd_core.tensor.device import CPU, check_device

_NO_CUDA = AssertionError("Torch not compiled with CUDA enabled")
_NO_ACCELERATOR = RuntimeError("Cannot access accelerator device when none is available.")


class SDPBackend(Enum):
    """The backends of PyTorch's attention; there is only one here."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


def sdpa_kernel(backends: Any, set_priority: bool = False) -> Any:
    """Change nothing inside the block."""
    return nullcontext()


def sdp_kernel(**enabled: bool) -> Any:
    """Change nothing inside the block."""
    return nullcontext()


def _attention_kernels() -> Names:
    kinds = ("flash", "mem_efficient", "math", "cudnn")
    pairs = (setting(f"{kind}_sdp_enabled", f"enable_{kind}_sdp", True) for kind in kinds)
    return {name: call for pair in pairs for name, call in pair.items()}


MODULES: dict[str, Names] = {
    "cuda": {
        **always(False, "is_available is_initialized is_bf16_supported "
                        "is_current_stream_capturing"),
        **always(0, "device_count memory_allocated max_memory_allocated memory_reserved "
                    "max_memory_reserved"),
        **nothing("manual_seed manual_seed_all seed seed_all empty_cache reset_peak_memory_stats "
                  "reset_max_memory_allocated"),
        **refused(_NO_CUDA, "synchronize current_device set_device get_device_name "
                            "get_device_capability get_device_properties current_stream "
                            "get_rng_state set_rng_state init ipc_collect mem_get_info Event "
                            "Stream"),
    },
    "accelerator": {
        **always(False, "is_available"),
        **always(0, "device_count"),
        **always(None, "current_accelerator"),
        **refused(_NO_ACCELERATOR, "synchronize"),
    },
    "mps": {**always(False, "is_available"), **always(0, "device_count"), **nothing("manual_seed")},
    "xpu": {**always(False, "is_available"), **always(0, "device_count"),
            **nothing("manual_seed empty_cache")},
    "cpu": {**always(True, "is_available"), **nothing("synchronize")},
    "backends": {},
    "backends.cudnn": {
        "enabled": True, "benchmark": False, "deterministic": False, "allow_tf32": True,
        **always(False, "is_available"), **always(None, "version"),
    },
    "backends.cuda": {
        "matmul": SimpleNamespace(allow_tf32=False, allow_fp16_reduced_precision_reduction=True,
                                  allow_bf16_reduced_precision_reduction=True),
        **always(False, "is_built"), **_attention_kernels(), "sdp_kernel": sdp_kernel,
    },
    "backends.mps": always(False, "is_available is_built"),
    "backends.mkl": always(False, "is_available"),
    "backends.mkldnn": always(False, "is_available"),
    "backends.openmp": always(False, "is_available"),
    "nn.attention": {"SDPBackend": SDPBackend, "sdpa_kernel": sdpa_kernel},
    "version": {"cuda": None, "hip": None},
}  # fmt: skip


def _positive(count: int) -> bool:
    if count <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    return True


def _known_precision(precision: str) -> bool:
    known = precision in ("highest", "high", "medium")
    if not known:
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current"
            "setFloat32MatmulPrecision call has no effect.",
            stacklevel=3,
        )
    return known


def get_default_device() -> Any:
    """Return the CPU."""
    return CPU


def set_default_device(device: Any) -> None:
    """Do nothing for the CPU; raise AssertionError for any other device."""
    check_device(device)


def set_default_tensor_type(t: Any) -> None:
    """Set the default dtype to that of ``t``, a type such as ``torch.DoubleTensor``, or a name."""
    if isinstance(t, str):
        package, _, name = t.rpartition(".")
        if package != "torch" or name not in numeric.__all__ or not name.endswith("Tensor"):
            raise TypeError(f"invalid type: '{t}'")
        t = getattr(numeric, name)
    kind: dtype = t.kind
    set_default_dtype(kind)


SETTINGS: Names = {
    **setting("get_num_threads", "set_num_threads", 1, _positive),
    **setting("get_num_interop_threads", "set_num_interop_threads", 1, _positive),
    **setting(
        "get_float32_matmul_precision", "set_float32_matmul_precision", "highest", _known_precision
    ),
    **setting("are_deterministic_algorithms_enabled", "use_deterministic_algorithms", False),
    **setting("is_warn_always_enabled", "set_warn_always", False),
    "get_default_device": get_default_device,
    "set_default_device": set_default_device,
    "set_default_tensor_type": set_default_tensor_type,
    **always(False, "set_flush_denormal"),
    **unchanged("compile"),
}
