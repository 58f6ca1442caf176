"""Devices: the CPU, and the errors for all others."""

from __future__ import annotations

from typing import Any, Final

_TYPES: Final = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, "
    "mps, meta, hpu, mtia, privateuseone"
)


class device:  # lower case, as PyTorch spells it
    """The device of a tensor, which is always the CPU.

    >>> from autograd_core import device
    >>> device("cpu"), str(device("cuda:1"))
    (device(type='cpu'), 'cuda:1')
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, type: Any, index: int | None = None) -> None:
        if isinstance(type, device):
            type, index = str(type), type.index
        name, colon, number = type.partition(":")
        if name not in _TYPES.split(", "):
            raise RuntimeError(
                f"Expected one of {_TYPES} device type at start of device string: {name}"
            )
        if colon and not number.isdigit():
            raise RuntimeError(f"Invalid device string: '{type}'")
        self.type = name
        self.index = int(number) if colon else index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __enter__(self) -> device:
        """New tensors are made here, as everywhere."""
        check_device(self)
        return self

    def __exit__(self, *error: object) -> None:
        """New tensors are made on the CPU again."""

    def __reduce__(self) -> Any:
        return device, (self.type, self.index)


CPU: Final = device("cpu")


def check_device(requested: Any) -> None:
    """Refuse every device but the CPU, in PyTorch's words.

    Raises:
        AssertionError: PyTorch, too, would have to be compiled for this device.
        RuntimeError: there is no such device.
    """
    if requested is None:
        return
    if isinstance(requested, int):
        raise RuntimeError("Cannot access accelerator device when none is available.")
    kind = device(requested).type
    if kind in ("cuda", "xpu"):
        raise AssertionError(f"Torch not compiled with {kind.upper()} enabled")
    if kind != "cpu":
        raise RuntimeError(f"PyTorch is not linked with support for {kind} devices")
