"""Modules and what they are made of, under the names of ``torch.nn``."""

from autograd_core.fallback import answer_missing_names
from autograd_core.nn import functional, init, utils
from autograd_core.nn.modules import *  # noqa: F403  # its __all__ is this namespace's list
from autograd_core.nn.modules import __all__ as _modules
from autograd_core.nn.parameter import Buffer, Parameter

__all__ = [*_modules, "Buffer", "Parameter", "functional", "init", "utils"]

answer_missing_names(__name__)
