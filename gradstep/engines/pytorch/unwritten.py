"""Memory that the program has made and nobody has written: its numbers are whatever was there.

A dry run computes with such, as that by which a pipeline learns the shapes of its stages.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import torch

from gradstep.engines.pytorch.private import (
    StorageWeakRef,
    TensorBase,
    unobserved,
)
from gradstep.engines.pytorch.schema import memory_of
from gradstep.guest.own_files import is_own_file

MAKES: Final = ("empty", "empty_like", "empty_strided")  # the ends of the names of ops
HANDS_OUT: Final = {
    torch.Tensor.numpy, torch.Tensor.__array__, torch.Tensor.data_ptr, torch.Tensor.__dlpack__,
    torch.Tensor.untyped_storage, torch.Tensor.storage,
}  # fmt: skip
"""Methods that hand out the memory of a tensor: who has it may write what no op tells of."""
_OF_PYTORCH: Final = str(Path(torch.__file__).parent)
_MANY: Final = 1000


class Unwritten:
    """Knows such memory while it lives."""

    def __init__(self) -> None:
        self._places: dict[int, Any] = {}

    def __bool__(self) -> bool:
        return bool(self._places)

    def note(self, tensors: Iterable[torch.Tensor]) -> None:
        """Take note of tensors that an op has made, and left as their memory was.

        On other devices than the CPU only of what a library of PyTorch's asks for: kernels of the
        program's own, of which no op tells, write there.
        """
        if StorageWeakRef is None:
            return
        if len(self._places) >= _MANY:
            living = {at: known for at, known in self._places.items() if not known.expired()}
            self._places = living if len(living) < _MANY else {}
        with unobserved():
            for tensor in tensors:
                if (place := memory_of(tensor)) and (tensor.is_cpu or _is_asked_by_pytorch()):
                    self._places[place] = StorageWeakRef(TensorBase.untyped_storage(tensor))

    def write(self, tensor: torch.Tensor) -> None:
        """Take note of a tensor that somebody writes, or may write from now on."""
        if self._places:
            with unobserved():
                self._places.pop(memory_of(tensor), None)

    def holds(self, tensor: torch.Tensor) -> bool:
        """Return whether nobody has written the memory of a tensor."""
        if not self._places:
            return False
        with unobserved():
            known = self._places.get(memory_of(tensor))
        return known is not None and not known.expired()

    def forget(self) -> None:
        """Forget all: ops have run, or will, that nobody sees."""
        self._places.clear()


def _is_asked_by_pytorch() -> bool:
    frame = sys._getframe(2)
    while frame is not None and is_own_file(frame.f_code.co_filename):
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None and frame.f_code.co_filename.startswith(_OF_PYTORCH)
