"""``save`` and ``load``: tensors in lists and dictionaries, kept in a file of NumPy.

The file is an ``.npz`` archive: an array for each tensor, or for the memory that several share, and
a text that says in JSON where each belongs.  There is no pickle in it, and so loading runs nothing;
whole modules, which PyTorch pickles, are refused.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable
from os import PathLike
from typing import IO, Any, TypeAlias
from zipfile import BadZipFile

import numpy as np

from autograd_core.autograd.memory import Layout, address, layout_of, memory_of
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
_DTYPES = {kind.name: kind for kind in ALL}


def save(obj: Any, f: File, *_: Any, **__: Any) -> None:
    """Write ``obj`` to the file ``f``, a path or an open binary file.

    Args:
        obj: a tensor, an array, a number, a string, a dtype, or lists, tuples and dictionaries of
            them, as ``state_dict()`` of modules and optimizers returns.

    Raises:
        TypeError: something else is in it.
    """
    writer = _Writer()
    described = writer.described(obj)
    named = writer.arrays()
    named[_STRUCTURE] = np.array(json.dumps(described))
    if isinstance(f, (str, PathLike)):
        with open(f, "wb") as file:  # given the path, NumPy would add a suffix
            np.savez(file, **named)
    else:
        np.savez(f, **named)


def load(f: File, map_location: Any = None, *, weights_only: bool = True, **_: Any) -> Any:
    """Load what :func:`save` wrote to ``f``.

    >>> import io
    >>> from autograd_core import load, ones, save
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
    """Describes values in JSON; each tensor is kept once, and so is each memory."""

    def __init__(self) -> None:
        self._records: dict[int, dict[str, Any]] = {}  # by the tensor, or array
        self._alone: dict[str, Any] = {}
        self._sharing: dict[Any, list[tuple[dict[str, Any], Any]]] = {}  # by what owns the memory

    def described(self, value: Any) -> Any:
        if type(value) in _PLAIN:
            return value
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, Tensor):
            kind = "parameter" if value.is_parameter else "tensor"
            return self._record(kind, value, value.array, requires_grad=value.requires_grad)
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            return self._record("array", value, value)
        if isinstance(value, dtype):
            return {"dtype": value.name}
        if isinstance(value, device):
            return {"device": str(value)}
        if isinstance(value, dict):
            pairs = [[self.described(key), self.described(entry)] for key, entry in value.items()]
            if isinstance(value, OrderedDict):
                return {"ordered": pairs, "metadata": self.described(_metadata(value))}
            return {"dict": pairs}
        for name, kind in _SEQUENCES.items():
            if isinstance(value, kind):
                return {name: [self.described(element) for element in value]}
        raise TypeError(
            f"save() writes tensors, numbers, strings, lists, tuples and dictionaries, no "
            f"{type(value).__name__}: of a module or an optimizer, save its state_dict()"
        )

    def _record(self, kind: str, owner: Any, array: Any, **more: bool) -> dict[str, Any]:
        record = self._records.get(id(owner))
        if record is None:
            number = len(self._records)
            record = self._records[id(owner)] = {kind: number, **more}
            if kind == "array":
                self._alone[str(number)] = array
            else:
                memory = (id(memory_of(array)), array.dtype)
                self._sharing.setdefault(memory, []).append((record, array))
        return record

    def arrays(self) -> dict[str, Any]:
        """Return what goes to the file, by name: what stands alone by its number; the memory of
        others by that of the first, and then their records tell where in it they lie."""
        named = dict(self._alone)
        for sharing in self._sharing.values():
            record, array = first = min(sharing, key=lambda pair: address(pair[1]))
            name = str(next(iter(record.values())))
            if sharing == [first] and array.flags.c_contiguous:
                named[name] = array
                continue
            layouts = [layout_of(other, address(array)) for _, other in sharing]
            for (holder, _), layout in zip(sharing, layouts, strict=True):
                holder |= {"memory": name, "layout": layout}
            length = max(layout.end for layout in layouts)
            named[name] = np.lib.stride_tricks.as_strided(array, (length,), (array.itemsize,))
        return named


class _Reader:
    """Makes values from what stands in JSON; what was one tensor, or memory, becomes one."""

    def __init__(self, archive: Any) -> None:
        self._archive = archive
        self._tensors: dict[int, Any] = {}
        self._memories: dict[str, Any] = {}

    def made(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        kind, content = next(iter(value.items()))
        if kind in ("tensor", "parameter", "array"):
            if content not in self._tensors:
                self._tensors[content] = self._tensor(kind, content, value)
            return self._tensors[content]
        if kind in ("dict", "ordered"):
            return self._dictionary(kind, content, value.get("metadata"))
        if kind == "dtype":
            return _DTYPES[content]
        if kind == "device":
            return device(content)
        return self._sequence(kind, map(self.made, content))

    def _tensor(self, kind: str, number: int, record: Any) -> Any:
        if kind == "array":
            return self._archive[str(number)]
        tensor = Tensor.from_array(self._array(number, record))
        requires_grad = bool(record.get("requires_grad"))
        if kind == "parameter":
            return Parameter(tensor, requires_grad=requires_grad)
        return tensor.requires_grad_() if requires_grad else tensor

    def _array(self, number: int, record: Any) -> Any:
        if "layout" not in record:
            return self._archive[str(number)]
        name = record["memory"]
        if name not in self._memories:
            self._memories[name] = self._archive[name]
        try:
            size, stride, offset = record["layout"]
            array = Layout(tuple(size), tuple(stride), offset).of(self._memories[name])
        except (TypeError, ValueError) as error:
            raise RuntimeError(f"the file is damaged: there is no tensor {number} in it") from error
        array.flags.writeable = not Layout(tuple(size), tuple(stride)).overlaps
        return array

    def _dictionary(self, kind: str, pairs: Any, metadata: Any) -> dict[Any, Any]:
        entries = ((self.made(key), self.made(entry)) for key, entry in pairs)
        if kind == "dict":
            return dict(entries)
        ordered: Any = OrderedDict(entries)
        if metadata is not None:
            ordered._metadata = self.made(metadata)
        return ordered  # type: ignore[no-any-return]

    def _sequence(self, kind: str, items: Iterable[Any]) -> Any:
        return _SEQUENCES[kind](items)


def _metadata(state: Any) -> Any:
    return getattr(state, "_metadata", None)
