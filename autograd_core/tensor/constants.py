"""Constants that programs name and compare: layouts, memory formats, and dtypes that no tensor here
has."""

from __future__ import annotations

from typing import Any, Final

from autograd_core.dtype import dtype


class _Constant:
    """A constant that has a name, and nothing else."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str:
        return self._name


class layout(_Constant):  # lower case, as PyTorch spells it
    """The layout of a tensor; all tensors here are ``strided``."""

    __slots__ = ()


class memory_format(_Constant):  # lower case, as PyTorch spells it
    """The order of dimensions in memory, which NumPy chooses here."""

    __slots__ = ()


class AbsentDtype(dtype):
    """A dtype that can be named and compared; no tensor has it."""

    __slots__ = ()

    def __init__(self, name: str, itemsize: int) -> None:
        self.name = self.scalar_name = name
        self.itemsize = itemsize
        self.is_complex, self.is_signed = name.startswith("complex"), not name.startswith("uint")
        self.is_floating_point = name.startswith(("bfloat", "float"))
        self.category = 2 if self.is_signed else 1

    @property
    def dtype(self) -> Any:  # type: ignore[override]
        raise RuntimeError(
            f"torch.{self.name} is not part of gradstep: use float32, float64 or float16"
        )


strided: Final = layout("strided")
_LAYOUTS = "sparse_coo sparse_csr sparse_csc sparse_bsr sparse_bsc jagged"
_FORMATS = "contiguous_format preserve_format channels_last channels_last_3d"
_BYTES = {
    "bfloat16": 2, "complex32": 4, "complex64": 8, "complex128": 16, "float8_e4m3fn": 1,
    "float8_e5m2": 1, "uint16": 2, "uint32": 4, "uint64": 8,
}  # fmt: skip
_SHORT = {"chalf": "complex32", "cfloat": "complex64", "cdouble": "complex128"}

CONSTANTS: dict[str, Any] = {
    "layout": layout,
    "memory_format": memory_format,
    "strided": strided,
    **{name: layout(name) for name in _LAYOUTS.split()},
    **{name: memory_format(name) for name in _FORMATS.split()},
    **{name: AbsentDtype(name, size) for name, size in _BYTES.items()},
}
CONSTANTS |= {short: CONSTANTS[name] for short, name in _SHORT.items()}
