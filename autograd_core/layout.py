"""How PyTorch says in what order elements lie in memory; here that is NumPy's business."""

from __future__ import annotations

from typing import Final


class _Named:
    """A constant that is there to be named."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str:
        return self._name


class layout(_Named):  # lower case, as PyTorch spells it
    """How elements are stored; ``strided`` is all there is."""

    __slots__ = ()


class memory_format(_Named):
    """In what order dimensions lie in memory."""

    __slots__ = ()


strided: Final = layout("strided")
contiguous_format: Final = memory_format("contiguous_format")
preserve_format: Final = memory_format("preserve_format")
channels_last: Final = memory_format("channels_last")
channels_last_3d: Final = memory_format("channels_last_3d")
