"""The functions behind the modules: compositions of ops, split as in PyTorch."""

# ruff: noqa: I001  an index reads well where lines are full
# fmt: off

from autograd_core.fallback import answer_missing_names
from autograd_core.nn.functional.activation import (
    celu, celu_, elu, elu_, gelu, glu, hardshrink, hardsigmoid, hardswish, hardtanh, hardtanh_,
    leaky_relu, leaky_relu_, log_softmax, logsigmoid, mish, prelu, relu, relu6, relu_, selu,
    selu_, sigmoid, silu, softmax, softplus, softshrink, tanh, threshold, threshold_,
)
from autograd_core.nn.functional.attention import (
    multi_head_attention_forward, scaled_dot_product_attention,
)
from autograd_core.nn.functional.convolution import (
    conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d,
)
from autograd_core.nn.functional.distance import (
    cosine_similarity, normalize, pairwise_distance, pdist,
)
from autograd_core.nn.functional.labels import ctc_loss, gumbel_softmax, one_hot
from autograd_core.nn.functional.likelihood import (
    binary_cross_entropy, binary_cross_entropy_with_logits, cross_entropy, kl_div, nll_loss,
)
from autograd_core.nn.functional.linear import embedding, linear
from autograd_core.nn.functional.loss import huber_loss, l1_loss, mse_loss, smooth_l1_loss
from autograd_core.nn.functional.margin import (
    multi_margin_loss, multilabel_margin_loss, soft_margin_loss,
)
from autograd_core.nn.functional.pooling import (
    adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d, max_pool1d, max_pool2d,
    max_pool3d,
)
from autograd_core.nn.functional.pooling import (
    adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, avg_pool1d, avg_pool2d,
    avg_pool3d,
)
from autograd_core.nn.functional.normalization import (
    batch_norm, dropout, dropout1d, dropout2d, dropout3d, group_norm, layer_norm, rms_norm,
)
from autograd_core.nn.functional.resize import (
    channel_shuffle, fold, interpolate, pad, pixel_shuffle, pixel_unshuffle, unfold,
)
from autograd_core.nn.functional.pooling import max_unpool1d, max_unpool2d, max_unpool3d
from autograd_core.nn.functional.vision import affine_grid, grid_sample

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool2d", "adaptive_max_pool3d", "affine_grid", "avg_pool1d", "avg_pool2d",
    "avg_pool3d", "batch_norm", "binary_cross_entropy", "binary_cross_entropy_with_logits",
    "celu", "celu_", "channel_shuffle", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
    "conv_transpose2d", "conv_transpose3d", "cosine_similarity", "cross_entropy", "ctc_loss",
    "dropout", "dropout1d", "dropout2d", "dropout3d", "elu", "elu_", "embedding", "fold",
    "gelu", "glu", "grid_sample", "group_norm", "gumbel_softmax", "hardshrink", "hardsigmoid",
    "hardswish", "hardtanh", "hardtanh_", "huber_loss", "interpolate", "kl_div", "l1_loss",
    "layer_norm", "leaky_relu", "leaky_relu_", "linear", "log_softmax", "logsigmoid",
    "max_pool1d", "max_pool2d", "max_pool3d", "max_unpool1d", "max_unpool2d", "max_unpool3d",
    "mish", "mse_loss", "multi_head_attention_forward", "multi_margin_loss",
    "multilabel_margin_loss", "nll_loss", "normalize", "one_hot", "pad", "pairwise_distance",
    "pdist", "pixel_shuffle", "pixel_unshuffle", "prelu", "relu", "relu6", "relu_", "rms_norm",
    "scaled_dot_product_attention", "selu", "selu_", "sigmoid", "silu", "smooth_l1_loss",
    "soft_margin_loss", "softmax", "softplus", "softshrink", "tanh", "threshold", "threshold_",
    "unfold",
]

answer_missing_names(__name__)
