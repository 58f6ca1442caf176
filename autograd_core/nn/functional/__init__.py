"""The functions behind the modules; compositions of ops, taken apart as PyTorch does it."""

from autograd_core.nn.functional.activation import (
    celu,
    elu,
    gelu,
    glu,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    log_softmax,
    logsigmoid,
    mish,
    prelu,
    relu,
    relu6,
    rrelu,
    selu,
    sigmoid,
    silu,
    softmax,
    softmin,
    softplus,
    softshrink,
    softsign,
    tanh,
    tanhshrink,
    threshold,
)
from autograd_core.nn.functional.attention import (
    multi_head_attention_forward,
    scaled_dot_product_attention,
)
from autograd_core.nn.functional.distance import cosine_similarity, normalize, pairwise_distance
from autograd_core.nn.functional.linear import bilinear, embedding, embedding_bag, linear
from autograd_core.nn.functional.loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    gaussian_nll_loss,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    multilabel_soft_margin_loss,
    nll_loss,
    poisson_nll_loss,
    smooth_l1_loss,
    soft_margin_loss,
)
from autograd_core.nn.functional.margin import (
    cosine_embedding_loss,
    hinge_embedding_loss,
    margin_ranking_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    triplet_margin_loss,
)
from autograd_core.nn.functional.normalization import (
    alpha_dropout,
    batch_norm,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
    group_norm,
    instance_norm,
    layer_norm,
    rms_norm,
)
from autograd_core.nn.functional.vision import (
    Pair,
    channel_shuffle,
    conv2d,
    max_pool2d,
    pair,
    pixel_shuffle,
    pixel_unshuffle,
)

__all__ = [
    "Pair", "alpha_dropout", "batch_norm", "bilinear", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "celu", "channel_shuffle", "conv2d",
    "cosine_embedding_loss", "cosine_similarity", "cross_entropy", "dropout", "dropout1d",
    "dropout2d", "dropout3d", "elu", "embedding", "embedding_bag", "feature_alpha_dropout",
    "gaussian_nll_loss", "gelu", "glu", "group_norm", "hardshrink", "hardsigmoid", "hardswish",
    "hardtanh", "hinge_embedding_loss", "huber_loss", "instance_norm", "kl_div", "l1_loss",
    "layer_norm", "leaky_relu", "linear", "log_softmax", "logsigmoid", "margin_ranking_loss",
    "max_pool2d", "mish", "mse_loss", "multi_head_attention_forward", "multi_margin_loss",
    "multilabel_margin_loss", "multilabel_soft_margin_loss", "nll_loss", "normalize", "pair",
    "pairwise_distance", "pixel_shuffle", "pixel_unshuffle", "poisson_nll_loss", "prelu", "relu",
    "relu6", "rms_norm", "rrelu", "scaled_dot_product_attention", "selu", "sigmoid", "silu",
    "smooth_l1_loss", "soft_margin_loss", "softmax", "softmin", "softplus", "softshrink",
    "softsign", "tanh", "tanhshrink", "threshold", "triplet_margin_loss",
]  # fmt: skip
