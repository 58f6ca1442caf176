"""What PyTorch calls the arguments of its functions, where they are not ``input, other``."""

from __future__ import annotations

from typing import Final

_NAMES: Final = {
    name: tuple(arguments.split())
    for names, arguments in {
        "addmm": "input mat1 mat2",
        "addmv": "input mat vec",
        "addr": "input vec1 vec2",
        "addbmm baddbmm": "input batch1 batch2",
        "addcmul addcdiv": "input tensor1 tensor2",
        "bmm mm": "input mat2",
        "mv": "input vec",
        "dot vdot": "input tensor",
        "ger outer": "input vec2",
        "heaviside": "input values",
        "lerp": "input end weight",
        "cdist": "x1 x2",
        "where": "condition input other",
        "polygamma": "n input",
        "pow float_power": "input exponent",
        "split split_with_sizes unsafe_split": "tensor",
        "split_with_sizes": "tensor split_sizes",
        "searchsorted": "sorted_sequence input",
        "tensordot": "a b",
        "cat concat concatenate stack hstack vstack dstack column_stack row_stack": "tensors",
        "fill": "input value",
    }.items()
    for name in names.split()
}


def argument_names(name: str, count: int) -> tuple[str, ...]:
    """PyTorch's names of the first ``count`` arguments of the function ``name``, as far as they
    may be tensors."""
    return _NAMES.get(name, ("input", "other"))[:count]
