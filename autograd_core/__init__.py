"""A NumPy autograd core with PyTorch's names and semantics.

``import autograd_core as torch`` runs code written for PyTorch, within what is covered.

>>> a = tensor(2.0, requires_grad=True)
>>> (3 * a**3).backward()
>>> a.grad
tensor(36.)
"""

import warnings as _warnings

from autograd_core import autograd, nn, optim
from autograd_core.autograd.grad_mode import (
    enable_grad,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
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
from autograd_core.functions import (
    add,
    allclose,
    arange,
    chunk,
    clamp,
    equal,
    flatten,
    from_numpy,
    full,
    linspace,
    manual_seed,
    max,
    mean,
    min,
    ones,
    ones_like,
    pow,
    rand,
    randint,
    randn,
    randperm,
    reshape,
    split,
    squeeze,
    sub,
    sum,
    tensor,
    unsqueeze,
    zeros,
    zeros_like,
)
from autograd_core.methods import bind as _bind
from autograd_core.ops.elementwise import (
    abs,
    cos,
    div,
    eq,
    exp,
    ge,
    gt,
    le,
    log,
    lt,
    mul,
    ne,
    neg,
    relu,
    sigmoid,
    sign,
    sin,
    sqrt,
    tanh,
    where,
)
from autograd_core.ops.linalg import addmm, bmm, dot, matmul, mm, mv
from autograd_core.ops.loss import log_softmax, softmax
from autograd_core.ops.reduce import argmax, argmin
from autograd_core.ops.shape import (
    cat,
    clone,
    permute,
    split_with_sizes,
    stack,
    t,
    transpose,
    unbind,
)
from autograd_core.tensor import Size, Tensor

_bind()
# PyTorch divides by zero in silence. NumPy would warn, and telling it not to costs an op 0.5 us
# each time; this filter is for warnings raised in this package's own modules, no others.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"autograd_core\.")
