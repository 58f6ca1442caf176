"""A NumPy autograd core with PyTorch's names and semantics.

``import autograd_core as torch`` runs code written for PyTorch, within what is covered.

>>> a = tensor(2.0, requires_grad=True)
>>> (3 * a**3).backward()
>>> a.grad
tensor(36.)
"""

from __future__ import annotations

import importlib as _importlib
import warnings as _warnings
from typing import TYPE_CHECKING as _TYPE_CHECKING

from autograd_core import autograd, functions, linalg, return_types
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
from autograd_core.functions import *  # noqa: F403
from autograd_core.linalg.older import (
    cholesky,
    cholesky_inverse,
    cholesky_solve,
    det,
    inverse,
    logdet,
    lu,
    lu_solve,
    lu_unpack,
    matrix_exp,
    matrix_power,
    ormqr,
    pinverse,
    qr,
    slogdet,
    svd,
    triangular_solve,
)
from autograd_core.methods import bind as _bind
from autograd_core.tensor import Size, Tensor

if _TYPE_CHECKING:
    from types import ModuleType

    from autograd_core import fft, masked, nn, optim, special, utils

# Half of the modules of this package; who draws or steps a small graph need not wait for them.
_WHEN_ASKED_FOR = ("fft", "masked", "nn", "optim", "special", "utils")


def __getattr__(name: str) -> ModuleType:
    if name in _WHEN_ASKED_FOR:
        return _importlib.import_module(f"autograd_core.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Size",
    "Tensor",
    "autograd",
    "bool",
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "det",
    "double",
    "dtype",
    "enable_grad",
    "fft",
    "float",
    "float16",
    "float32",
    "float64",
    "get_default_dtype",
    "half",
    "inference_mode",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "inverse",
    "is_grad_enabled",
    "is_inference",
    "is_inference_mode_enabled",
    "linalg",
    "logdet",
    "long",
    "lu",
    "lu_solve",
    "lu_unpack",
    "masked",
    "matrix_exp",
    "matrix_power",
    "nn",
    "no_grad",
    "optim",
    "ormqr",
    "pinverse",
    "qr",
    "return_types",
    "set_default_dtype",
    "set_grad_enabled",
    "short",
    "slogdet",
    "special",
    "svd",
    "triangular_solve",
    "uint8",
    "utils",
]
__all__ += functions.__all__

_bind()
# PyTorch divides by zero in silence. NumPy would warn, and telling it not to costs an op 0.5 us
# each time; this filter is for warnings raised in this package's own modules, no others.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"autograd_core\.")
