"""``save`` and ``load``: state dictionaries of modules and optimizers, kept in a file of NumPy.

The file is an ``.npz`` archive: an array for each tensor, and a text that says in JSON where each
belongs.  There is no pickle in it, and so loading runs nothing; whole modules, which PyTorch
pickles, are refused.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from os import PathLike
from typing import IO, Any, TypeAlias
from zipfile import BadZipFile

import numpy as np

from autograd_core.tensor import Tensor

__all__ = ["load", "save"]

File: TypeAlias = str | PathLike[str] | IO[bytes]
_PLAIN = (type(None), bool, int, float, str)
_STRUCTURE = "structure"


def save(obj: Any, f: File, *_: Any, **__: Any) -> None:
    """Write ``obj`` to the file ``f``, a path or an open binary file.

    Args:
        obj: a tensor, a number, a string, or lists, tuples and dictionaries of them, as
            ``state_dict()`` of modules and optimizers returns.

    Raises:
        TypeError: something else is in it.
    """
    tensors: dict[Tensor, int] = {}
    described = _described(obj, tensors)
    named: dict[str, Any] = {str(number): t.array for t, number in tensors.items()}
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
    return _made(structure, archive, {})


def _described(value: Any, tensors: dict[Tensor, int]) -> Any:
    """Return ``value`` in JSON, with a number for each of its ``tensors``."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Tensor):
        number = tensors.setdefault(value, len(tensors))
        kind = "parameter" if value.is_parameter else "tensor"
        return {kind: number, "requires_grad": value.requires_grad}
    if isinstance(value, dict):
        pairs = [[_described(part, tensors) for part in pair] for pair in value.items()]
        return {"ordered" if isinstance(value, OrderedDict) else "dict": pairs}
    if isinstance(value, (list, tuple)):
        parts = [_described(part, tensors) for part in value]
        return {"list" if isinstance(value, list) else "tuple": parts}
    raise TypeError(
        f"save() writes tensors, numbers, strings, lists, tuples and dictionaries, no "
        f"{type(value).__name__}: of a module or an optimizer, save its state_dict()"
    )


def _made(value: Any, archive: Any, tensors: dict[int, Tensor]) -> Any:
    """Return what ``value`` describes; what was one tensor becomes one."""
    if not isinstance(value, dict):
        return value
    kind, content = next(iter(value.items()))
    if kind in ("tensor", "parameter"):
        if content not in tensors:
            tensor = Tensor.from_array(archive[str(content)], value["requires_grad"])
            tensor.is_parameter = kind == "parameter"
            tensors[content] = tensor
        return tensors[content]
    if kind in ("list", "tuple"):
        parts = [_made(part, archive, tensors) for part in content]
        return parts if kind == "list" else tuple(parts)
    pairs = [[_made(part, archive, tensors) for part in pair] for pair in content]
    return dict(pairs) if kind == "dict" else OrderedDict(pairs)
