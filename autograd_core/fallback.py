"""Answer for names that a module lacks: a stub, or one clear error.

The package says in its ``__init__`` where the stubs are (:mod:`autograd_core.compat`, which stands
above all that asks for one). They are imported when a program first asks, and not before.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib.machinery import ModuleSpec
from opcode import opmap
from types import FrameType, ModuleType
from typing import Any, Final, Protocol

_ROOT: Final = "autograd_core"
NOT_HERE: Final = (
    "it is not part of gradstep's core; import torch instead, which gradstep draws and debugs, too "
    "(docs/reference/differences lists what is left out)"
)


class Stubs(Protocol):
    """What stands in for what is not here; a path leads from the package to a module."""

    def has_module(self, path: str) -> bool:
        """Return whether the module at this path is a stub."""
        ...

    def names_in(self, path: str) -> Mapping[str, Any]:
        """Return the stub names of the module at this path."""
        ...


_load: Callable[[], Stubs]


def load_stubs_with(load: Callable[[], Stubs]) -> None:
    """Have ``load`` called for the stubs where a name is missing."""
    global _load
    _load = load


def find(module: str, name: str) -> Any:
    """Return the stub for ``module.name``, which is not there.

    Raises:
        AttributeError: there is none.
        ImportError: there is none, and ``from module import name`` asks.
    """
    if not name.startswith("__"):  # Python itself asks for __path__ and others
        stubs = _load()
        if stubs.has_module(_below_root(f"{module}.{name}")):
            return importlib.import_module(f"{module}.{name}")
        known = stubs.names_in(_below_root(module))
        if name in known:
            setattr(sys.modules[module], name, known[name])
            return known[name]
    message = f"module {module!r} has no attribute {name!r}: {NOT_HERE}"
    if _is_from_import(sys._getframe(1)):
        raise ImportError(message, name=module)  # of an AttributeError, Python drops the message
    raise AttributeError(message, name=name, obj=sys.modules[module])


def answer_missing_names(module: str) -> None:
    """Make :func:`find` the ``__getattr__`` of a module.

    Type checkers do not see it, so that they still report mistyped names.
    """
    vars(sys.modules[module])["__getattr__"] = partial(find, module)


def _is_from_import(frame: FrameType | None) -> bool:
    """Return whether ``from module import name`` made the frame's module look for a name."""
    while frame is not None and frame.f_code.co_name == "__getattr__":
        frame = frame.f_back
    return frame is not None and frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_FROM"]


def _below_root(module: str) -> str:
    return module.removeprefix(_ROOT).removeprefix(".")


class StubModules:
    """Find and load modules that are stubs, such as ``autograd_core.jit``, where one is imported.

    Python asks this finder last, when there is no file of that name.
    """

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Describe the module, if it is a stub."""
        if name.startswith(f"{_ROOT}.") and _load().has_module(_below_root(name)):
            loader: Any = StubModules
            return ModuleSpec(name, loader, is_package=True)
        return None

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        """Let Python create the module as usual."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Fill the module with the stubs."""
        module.__dict__.update(_load().names_in(_below_root(module.__name__)))
        answer_missing_names(module.__name__)


sys.meta_path.append(StubModules)
