"""What tells a module from others of its class, in few words: ``3×3, stride 2``, ``4 heads``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gradstep.guest.fence import read, variables_in

_COUNTS: Final = {
    "num_heads": "heads", "n_heads": "heads", "n_head": "heads", "nhead": "heads",
    "num_attention_heads": "heads", "heads": "heads", "num_experts": "experts",
    "n_experts": "experts", "num_layers": "layers",
}  # fmt: skip
"""Attributes that count something; of several that count the same, the first one tells."""


def module_details(module: Any) -> str:
    """Describe a module by those of its attributes that matter to its reader.

    >>> from autograd_core import nn
    >>> module_details(nn.Conv2d(3, 8, 3, stride=2)), module_details(nn.Linear(3, 4))
    ('3×3, 8, stride 2', '')
    """
    return ", ".join(read(lambda: _parts(variables_in(module))))


def _parts(known: Mapping[str, Any]) -> Iterator[str]:
    kernel = _sizes(known.get("kernel_size"))
    if kernel:
        yield kernel
    channels = known.get("out_channels")
    if kernel and type(channels) is int:
        yield str(channels)
    usual = {"stride": "1" if "out_channels" in known else kernel, "dilation": "1", "groups": "1"}
    for name, expected in usual.items() if kernel else ():
        sizes = _sizes(known.get(name))
        if sizes and set(sizes.split("×")) != set(expected.split("×")):
            yield f"{name} {sizes if len(set(sizes.split('×'))) > 1 else sizes.split('×')[0]}"
    told = set()
    for name, what in _COUNTS.items():
        number = known.get(name)
        if type(number) is int and number > 1 and what not in told:
            told.add(what)
            yield f"{number} {what}"
    if known.get("bidirectional") is True:
        yield "both directions"


def _sizes(value: Any) -> str:
    """
    >>> _sizes((3, 3)), _sizes(2), _sizes(None)
    ('3×3', '2', '')
    """
    if type(value) is tuple and all(type(size) is int for size in value):
        return "×".join(map(str, value))
    return str(value) if type(value) is int else ""
