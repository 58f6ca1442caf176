"""A NumPy autograd core with PyTorch's names and semantics.

``import autograd_core as torch`` runs code written for PyTorch, within what is covered.

>>> import autograd_core as torch
>>> a = torch.tensor(2.0, requires_grad=True)
>>> (3 * a**3).backward()
>>> a.grad
tensor(36.)
"""

from __future__ import annotations

import importlib as _importlib
import warnings as _warnings
from typing import TYPE_CHECKING as _TYPE_CHECKING

from autograd_core import autograd, linalg, return_types
from autograd_core.autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled
from autograd_core.autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from autograd_core.autograd.version import is_inference
from autograd_core.dtype import bool_ as bool
from autograd_core.dtype import (
    double,
    dtype,
    float16,
    float32,
    float64,
    get_default_dtype,
    half,
    int8,
    int16,
    int32,
    int64,
    long,
    set_default_dtype,
    short,
    uint8,
)
from autograd_core.dtype import float_ as float
from autograd_core.dtype import int_ as int
from autograd_core.fallback import refuse as _refuse
from autograd_core.functions import *  # noqa: F403
from autograd_core.op.public import NAMESPACES as _NAMESPACES
from autograd_core.op.public import has_inplace_function as _has_inplace_function
from autograd_core.random import (
    Generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from autograd_core.tensor import Tensor
from autograd_core.tensor import numeric as _numeric
from autograd_core.tensor.device import device
from autograd_core.tensor.methods import bind as _bind
from autograd_core.tensor.numeric import *  # noqa: F403
from autograd_core.tensor.printing import get_printoptions, set_printoptions
from autograd_core.tensor.size import Size

if _TYPE_CHECKING:
    from typing import Any as _Any

    from autograd_core import fft, func, nn, optim, random, special, utils

__version__ = "2.13.0+gradstep"  # the PyTorch that this behaves as

# Half of the modules of this package; who draws or steps a small graph need not wait for them.
_WHEN_ASKED_FOR = ("fft", "func", "nn", "optim", "random", "special", "utils")
# Functions of neural networks that PyTorch has under its first name, too.
_OF_NN = (
    "adaptive_avg_pool1d", "adaptive_max_pool1d", "affine_grid_generator", "avg_pool1d",
    "batch_norm", "celu", "channel_shuffle", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
    "conv_transpose2d", "conv_transpose3d", "cosine_similarity", "dropout", "embedding",
    "grid_sampler", "grid_sampler_2d", "grid_sampler_3d", "group_norm", "hardshrink",
    "layer_norm", "max_pool1d", "max_pool2d", "max_pool3d", "native_batch_norm",
    "native_group_norm", "native_layer_norm", "pairwise_distance", "pdist", "pixel_shuffle",
    "pixel_unshuffle", "prelu", "rms_norm", "selu", "threshold",
)  # fmt: skip


# They know modules' parameters, and so come after these.
_OF_SERIALIZATION = ("load", "save")


def __getattr__(name: str) -> _Any:
    if name in _WHEN_ASKED_FOR:
        return _importlib.import_module(f"autograd_core.{name}")
    if name in _OF_NN:
        native = _importlib.import_module("autograd_core.nn.functional.native")
        own = getattr(native, name, None)
        return own if own in native.OWN else getattr(__getattr__("nn").functional, name)
    if name in _OF_SERIALIZATION:
        return getattr(_importlib.import_module("autograd_core.serialization"), name)
    if name == "vmap":
        return __getattr__("func").vmap
    if _has_inplace_function(name):
        return getattr(Tensor, name)
    if name in _NAMESPACES[""]:  # declared since
        return _NAMESPACES[""][name]
    constants = _importlib.import_module("autograd_core.tensor.constants").CONSTANTS
    return constants[name] if name in constants else _refuse(__name__, name)


__all__ = [
    "Generator", "Size", "Tensor", "autograd", "bool", "device", "double", "dtype",
    "enable_grad", "fft", "float", "float16", "float32", "float64", "func", "get_default_dtype",
    "get_printoptions", "get_rng_state", "half", "inference_mode", "initial_seed", "int", "int8",
    "int16", "int32", "int64", "is_anomaly_check_nan_enabled", "is_anomaly_enabled",
    "is_grad_enabled", "is_inference", "is_inference_mode_enabled", "linalg", "long", "manual_seed",
    "nn", "no_grad", "optim", "random", "return_types", "seed", "set_default_dtype",
    "set_grad_enabled", "set_printoptions", "set_rng_state", "short", "special", "uint8", "utils",
]  # fmt: skip
__all__ += sorted(_NAMESPACES[""])
__all__ += _numeric.__all__
__all__ += _OF_NN
__all__ += _OF_SERIALIZATION

_bind()
globals().update(_NAMESPACES[""])
# PyTorch divides by zero in silence. NumPy would warn, and telling it not to costs an op 0.5 us
# each time; this filter is for warnings raised in this package's own modules, no others.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"autograd_core\.")
