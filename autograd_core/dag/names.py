"""What the user calls their tensors, found in the variables of their program."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType
from typing import Any

from autograd_core.tensor import Tensor

_PACKAGES = tuple(
    str(Path(__file__).resolve().parent.parent.parent / name)
    for name in ("autograd_core", "viz", "tui")
)


class Names:
    """Names of tensors, by identity; the first name found for a tensor stays.

    >>> a = Tensor.from_array([1.0])
    >>> Names({"a": a, "b": a}).of(a)
    'a'
    """

    def __init__(self, *namespaces: Mapping[str, Any]) -> None:
        self._names: dict[int, str] = {}
        self._alive: list[Tensor] = []  # an id is only good while its tensor lives
        for namespace in namespaces:
            for name, value in list(namespace.items()):
                if not name.startswith("__"):
                    self._add(name, value)

    def _add(self, name: str, value: Any) -> None:
        if isinstance(value, Tensor):
            if id(value) not in self._names:
                self._names[id(value)] = name
                self._alive.append(value)
        elif hasattr(value, "named_parameters") and hasattr(value, "named_modules"):
            if isinstance(value, type):
                return
            for path, parameter in value.named_parameters():
                self._add(path, parameter)
        elif isinstance(value, (list, tuple)) and len(value) <= 1000:
            for number, element in enumerate(value):
                if isinstance(element, Tensor):
                    self._add(f"{name}[{number}]", element)
        elif isinstance(value, dict) and len(value) <= 1000:
            for key, element in value.items():
                if isinstance(element, Tensor) and isinstance(key, str):
                    self._add(f"{name}[{key!r}]", element)

    def of(self, tensor: Tensor | None) -> str:
        """The name of ``tensor``, "" when it has none."""
        return "" if tensor is None else self._names.get(id(tensor), "")


def caller_names() -> Names:
    """The names in the program that called this library: local ones first, then global."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGES):
        frame = frame.f_back
    if frame is None:
        return Names()
    local = frame.f_locals
    names = Names(local, frame.f_globals)
    if sys.version_info < (3, 13) and frame.f_code.co_flags & CO_OPTIMIZED:
        # Before 3.13 this is a copy that the frame keeps, and with it every tensor that the
        # caller had a name for, for as long as the function runs.
        local.clear()
    return names
