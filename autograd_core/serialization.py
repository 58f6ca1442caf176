"""``save`` and ``load``: tensors in lists and dictionaries, kept in a file of NumPy.

The file is an ``.npz`` archive: an array for each tensor, and a text that says in JSON where each
belongs.  There is no pickle in it, and so loading runs nothing; whole modules, which PyTorch
pickles, are refused.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable
from os import PathLike
from typing import IO, Any, TypeAlias
from zipfile import BadZipFile

import numpy as np

from autograd_core.dtype import ALL, dtype
from autograd_core.nn.parameter import Parameter
from autograd_core.tensor import Tensor
from autograd_core.tensor.device import device
from autograd_core.tensor.size import Size

__all__ = ["load", "save"]

File: TypeAlias = str | PathLike[str] | IO[bytes]
_PLAIN = (type(None), bool, int, float, str)
_STRUCTURE = "structure"
_SEQUENCES: dict[str, Any] = {"size": Size, "tuple": tuple, "list": list, "set": set}
_DTYPES = {each.name: each for each in ALL}


def save(obj: Any, f: File, *_: Any, **__: Any) -> None:
    """Write ``obj`` to the file ``f``, a path or an open binary file.

    Args:
        obj: a tensor, an array, a number, a string, a dtype, or lists, tuples and dictionaries of
            them, as ``state_dict()`` of modules and optimizers returns.

    Raises:
        TypeError: something else is in it.
    """
    arrays: list[Any] = []
    structure = json.dumps(_Writer(arrays).described(obj))
    named = {str(number): array for number, array in enumerate(arrays)}
    named[_STRUCTURE] = np.array(structure)
    if isinstance(f, (str, PathLike)):
        with open(f, "wb") as file:  # given the path, NumPy would add a suffix
            np.savez(file, **named)
    else:
        np.savez(f, **named)


def load(f: File, map_location: Any = None, *, weights_only: bool = True, **_: Any) -> Any:
    """Load what :func:`save` wrote to ``f``.

    >>> import io
    >>> from autograd_core import ones
    >>> file = io.BytesIO()
    >>> save({"weight": ones(2), "epoch": 3}, file)
    >>> _ = file.seek(0)
    >>> load(file)
    {'weight': tensor([1., 1.]), 'epoch': 3}

    Args:
        map_location: accepted for compatibility with PyTorch; there is one device.
        weights_only: accepted for compatibility with PyTorch; only data is ever read.

    Raises:
        RuntimeError: the file is another's; PyTorch's own are pickles, which are not read here.
    """
    try:
        archive: Any = np.load(f, allow_pickle=False)
        structure = json.loads(str(archive[_STRUCTURE]))
    except (BadZipFile, EOFError, KeyError, TypeError, ValueError) as error:
        raise RuntimeError(
            f"{getattr(f, 'name', f)} was not written by autograd_core.save(). Files of PyTorch's "
            "are pickles, which are not read here: save the arrays from there with numpy.savez."
        ) from error
    return _Reader(archive).made(structure)


class _Writer:
    """Describes values in JSON; tensors go to ``arrays``, each once."""

    def __init__(self, arrays: list[Any]) -> None:
        self.arrays = arrays
        self._numbers: dict[int, int] = {}

    def described(self, value: Any) -> Any:
        if type(value) in _PLAIN:
            return value
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, Tensor):
            kind = "parameter" if value.is_parameter else "tensor"
            return {kind: self._number(value, value.array), "requires_grad": value.requires_grad}
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            return {"array": self._number(value, value)}
        if isinstance(value, dtype):
            return {"dtype": value.name}
        if isinstance(value, device):
            return {"device": str(value)}
        if isinstance(value, dict):
            pairs = [[self.described(key), self.described(each)] for key, each in value.items()]
            if isinstance(value, OrderedDict):
                return {"ordered": pairs, "metadata": self.described(_metadata(value))}
            return {"dict": pairs}
        for name, kind in _SEQUENCES.items():
            if isinstance(value, kind):
                return {name: [self.described(each) for each in value]}
        raise TypeError(
            f"save() writes tensors, numbers, strings, lists, tuples and dictionaries, no "
            f"{type(value).__name__}: of a module or an optimizer, save its state_dict()"
        )

    def _number(self, owner: Any, array: Any) -> int:
        if id(owner) not in self._numbers:
            self._numbers[id(owner)] = len(self.arrays)
            self.arrays.append(array)
        return self._numbers[id(owner)]


class _Reader:
    """Makes values from what stands in JSON; what was one tensor becomes one."""

    def __init__(self, archive: Any) -> None:
        self._archive = archive
        self._tensors: dict[int, Any] = {}

    def made(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        kind, content = next(iter(value.items()))
        if kind in ("tensor", "parameter", "array"):
            if content not in self._tensors:
                self._tensors[content] = self._tensor(kind, content, value.get("requires_grad"))
            return self._tensors[content]
        if kind in ("dict", "ordered"):
            return self._dictionary(kind, content, value.get("metadata"))
        if kind == "dtype":
            return _DTYPES[content]
        if kind == "device":
            return device(content)
        return self._sequence(kind, map(self.made, content))

    def _tensor(self, kind: str, number: int, requires_grad: bool | None) -> Any:
        array = self._archive[str(number)]
        if kind == "array":
            return array
        made = Tensor.from_array(array)
        if kind == "parameter":
            return Parameter(made, requires_grad=bool(requires_grad))
        return made.requires_grad_() if requires_grad else made

    def _dictionary(self, kind: str, pairs: Any, metadata: Any) -> dict[Any, Any]:
        made = ((self.made(key), self.made(each)) for key, each in pairs)
        if kind == "dict":
            return dict(made)
        ordered: Any = OrderedDict(made)
        if metadata is not None:
            ordered._metadata = self.made(metadata)
        return ordered  # type: ignore[no-any-return]

    def _sequence(self, kind: str, items: Iterable[Any]) -> Any:
        return _SEQUENCES[kind](items)


def _metadata(state: Any) -> Any:
    return getattr(state, "_metadata", None)
