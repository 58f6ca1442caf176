"""One clear error for a name of PyTorch's that a module lacks."""

from __future__ import annotations

import sys
from functools import partial
from opcode import opmap
from types import FrameType
from typing import Any, Final

_ROOT: Final = "autograd_core"
NOT_HERE: Final = (
    "it is not part of gradstep's core; import torch instead, which gradstep draws and debugs, too "
    "(docs/reference/differences lists what is left out)"
)


def refuse(module: str, name: str) -> Any:
    """Say that there is no ``module.name``.

    Raises:
        AttributeError: always, but for the next case.
        ImportError: ``from module import name`` asks.
    """
    message = f"module {module!r} has no attribute {name!r}: {NOT_HERE}"
    if _is_from_import(sys._getframe(1)):
        raise ImportError(message, name=module)  # of an AttributeError, Python drops the message
    raise AttributeError(message, name=name, obj=sys.modules[module])


def answer_missing_names(module: str) -> None:
    """Make :func:`refuse` the ``__getattr__`` of a module.

    Type checkers do not see it, so that they still report mistyped names.
    """
    vars(sys.modules[module])["__getattr__"] = partial(refuse, module)


def _is_from_import(frame: FrameType | None) -> bool:
    """Return whether ``from module import name`` made the frame's module look for a name."""
    while frame is not None and frame.f_code.co_name == "__getattr__":
        frame = frame.f_back
    return frame is not None and frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_FROM"]


class MissingModules:
    """Refuse to import a module such as ``autograd_core.jit``; Python asks this finder last."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Leave all modules of other packages to other finders, and those that are looked for in
        another way than by ``import``, as pytest does.

        Raises:
            ModuleNotFoundError: this package has no such module.
        """
        package = sys.modules.get(name.rpartition(".")[0])
        if name.startswith(f"{_ROOT}.") and path is getattr(package, "__path__", None):
            raise ModuleNotFoundError(f"No module named {name!r}: {NOT_HERE}", name=name)


sys.meta_path.append(MissingModules)
