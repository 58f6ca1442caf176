"""Names of PyTorch's nodes in addresses: the op as users write it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

_USUAL_NAMES: Final[Mapping[str, str]] = {
    "CudnnBatchNorm": "batch_norm",
    "Deg2Rad": "deg2rad",
    "Log1P": "log1p",
    "MaxPool2DWithIndices": "max_pool2d",
    "MaxPool3DWithIndices": "max_pool3d",
    "MiopenBatchNorm": "batch_norm",
    "MkldnnRnnLayer": "rnn_layer",
    "NativeBatchNorm": "batch_norm",
    "NativeDropout": "dropout",
    "NativeGroupNorm": "group_norm",
    "NativeLayerNorm": "layer_norm",
    "NllLoss2D": "nll_loss",
    "PreluKernel": "prelu",
    "Rad2Deg": "rad2deg",
    "ReshapeAlias": "reshape",
    "ToCopy": "to",
    "UnsafeView": "view",
    "WeightNormInterface": "weight_norm",
}
"""What users call ops whose nodes have other names."""


@lru_cache(maxsize=4096)
def stem(name: str) -> str:
    """Return the op behind a node as users write it; "" for one that is no op.

    >>> stem("MulBackward0"), stem("NativeLayerNormBackward0"), stem("AvgPool2DBackward0")
    ('mul', 'layer_norm', 'avg_pool2d')
    >>> stem("ScaledDotProductFlashAttentionForCpuBackward0"), stem("torch::autograd::CopySlices")
    ('scaled_dot_product_attention', '')
    >>> stem("TanhBackwardBackward0")
    'tanh_backward'
    """
    short, marker, rest = name.removeprefix("torch::autograd::").partition("Backward")
    if not marker or not short:
        return ""
    if rest.startswith("Backward"):  # the derivative of a derivative
        return f"{stem(f'{short}Backward0')}_backward"
    if short in _USUAL_NAMES:
        return _USUAL_NAMES[short]
    if short.startswith("ScaledDotProduct"):
        return "scaled_dot_product_attention"
    short = re.sub(r"(?<=\d)D", "d", short.removeprefix("Linalg"))
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", short).lower()
