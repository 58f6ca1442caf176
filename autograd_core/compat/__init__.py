"""Stubs: names that programs use, and that do nothing here or raise a clear error.

Real programs ask for GPUs, compile, use mixed precision, run in several processes and write logs,
although their computation needs none of it. Each name here behaves as in PyTorch on one CPU, in one
process, uncompiled. Nothing is imported before a program asks for it
(:mod:`autograd_core.fallback`).

``MODULES`` are whole modules, such as ``torch.jit``. ``NAMES`` are names in modules that exist; the
empty path stands for ``torch`` itself. ``ALIASES`` are PyTorch modules whose names are in another
module here.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Final

from autograd_core.compat import amp, compilers, devices, processes
from autograd_core.compat.kinds import Names, refused
from autograd_core.fallback import NOT_HERE
from autograd_core.functions import mm
from autograd_core.tensor import Tensor
from autograd_core.tensor.constants import CONSTANTS

_NO_DOWNLOAD = RuntimeError(
    "gradstep downloads nothing: fetch the file with other means, and read it with torch.load"
)
_NOT_HERE = RuntimeError(NOT_HERE)


class _AnyTensor(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_AnyTensor):
    """The wrapper of PyTorch before version 0.4: today every tensor is one, and calling it gives a
    leaf that shares the data.

    >>> import autograd_core as torch
    >>> x = torch.autograd.Variable(torch.tensor([1.0]), requires_grad=True)
    >>> x, isinstance(x, torch.autograd.Variable)
    (tensor([1.], requires_grad=True), True)
    """

    def __new__(cls, data: Tensor, requires_grad: bool = False, volatile: bool = False) -> Any:
        return data.detach().requires_grad_(requires_grad)


def is_complex(input: Tensor) -> bool:
    """Return False: there are no complex tensors."""
    if not isinstance(input, Tensor):
        raise TypeError(
            "is_complex(): argument 'input' (position 1) must be Tensor, not "
            f"{type(input).__name__}"
        )
    return False


def _assert(condition: Any, message: str = "") -> None:
    """Raise AssertionError unless the condition is true."""
    if not condition:
        raise AssertionError(message)


def _check(cond: bool, message: Callable[[], str] | None = None) -> None:
    """Raise RuntimeError unless the condition is true."""
    if not cond:
        raise RuntimeError(
            "Expected cond to be True, but got False." if message is None else message()
        )


def _ntuple(count: int) -> Callable[[Any], tuple[Any, ...]]:
    """Make the function that turns a number into a tuple of ``count``."""

    def parse(x: Any) -> tuple[Any, ...]:
        """Return a tuple that repeats the number ``x``, or has the elements of ``x``."""
        return tuple(x) if hasattr(x, "__iter__") else (x,) * count

    return parse


MODULES: Final[dict[str, Names]] = {
    **devices.MODULES,
    **compilers.MODULES,
    **amp.MODULES,
    **processes.MODULES,
    "autograd.variable": {"Variable": Variable},
    "utils.tensorboard": refused(_NOT_HERE, "SummaryWriter"),
    "utils.data.distributed": refused(_NOT_HERE, "DistributedSampler"),
    "utils.model_zoo": refused(_NO_DOWNLOAD, "load_url"),
    "hub": refused(_NO_DOWNLOAD, "load load_state_dict_from_url download_url_to_file get_dir "
                                "_get_torch_home"),
    "nn.modules.utils": {
        "_ntuple": _ntuple, "_single": _ntuple(1), "_pair": _ntuple(2), "_triple": _ntuple(3),
        "_quadruple": _ntuple(4),
    },
}  # fmt: skip
NAMES: Final[dict[str, Names]] = {
    "": {
        "_assert": _assert, "_check": _check, "is_complex": is_complex, "spmm": mm,
        **amp.NAMES, **CONSTANTS, **devices.SETTINGS,
    },
    "autograd": {"Variable": Variable},
    "nn": {"DataParallel": processes.DataParallel},
    "utils.data": processes.IN_DATA,
}  # fmt: skip
_DISTRIBUTIONS = "bernoulli categorical independent kl normal uniform"
_SHAPES = "fold pixelshuffle upsampling"
_DESCENTS = "adagrad rmsprop sgd"
ALIASES: Final[dict[str, str]] = {
    **{f"distributions.{name}": "distributions" for name in _DISTRIBUTIONS.split()},
    "nn.modules.instancenorm": "nn.modules.batchnorm",
    **{f"nn.modules.{name}": "nn.modules.flatten" for name in _SHAPES.split()},
    "nn.utils.convert_parameters": "nn.utils.clip_grad",
    "optim.adamw": "optim.adam",
    **{f"optim.{name}": "optim.descent" for name in _DESCENTS.split()},
}


def has_module(path: str) -> bool:
    """Return whether the module at this path below ``torch`` is a stub."""
    return path in MODULES or path in ALIASES


def names_in(path: str) -> Names:
    """Return the stub names of the module at this path."""
    if path in ALIASES:
        names = vars(importlib.import_module(f"autograd_core.{ALIASES[path]}"))
        return {name: value for name, value in names.items() if not name.startswith("__")}
    return MODULES.get(path) or NAMES.get(path, {})
