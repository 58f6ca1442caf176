"""Which of PyTorch's names there are here: all those of this list, and which are not yet."""

from __future__ import annotations

from operator import attrgetter
from types import ModuleType

import pytest

import autograd_core
from autograd_core.tensor import Tensor

NAMES = [
    "H", "T", "__getitem__", "__radd__", "__rdiv__", "__rmatmul__", "__rmod__", "__rmul__",
    "__rpow__", "__rsub__", "abs", "acos", "acosh", "add", "addbmm", "addcdiv", "addcmul",
    "addmm", "addmv", "addr", "alias_copy", "all", "allclose", "amax", "amin", "aminmax",
    "angle", "any", "arange", "argmax", "argmin", "argsort", "as_strided", "as_strided_copy",
    "as_strided_scatter", "as_tensor", "asin", "asinh", "atan", "atan2", "atanh", "atleast_1d",
    "atleast_2d", "atleast_3d", "baddbmm", "bernoulli", "bincount", "block_diag", "bmm",
    "broadcast_tensors", "broadcast_to", "bucketize", "cartesian_prod", "cat", "cdist", "ceil",
    "cholesky", "cholesky_inverse", "cholesky_solve", "chunk", "clamp", "clamp_max",
    "clamp_min", "clone", "column_stack", "combinations", "conj", "conj_physical",
    "constant_pad_nd", "contiguous", "copysign", "corrcoef", "cos", "cosh", "cov", "cross",
    "cummax", "cummin", "cumprod", "cumsum", "cumulative_trapezoid", "deg2rad", "diag",
    "diag_embed", "diagflat", "diagonal", "diagonal_copy", "diagonal_scatter", "diff",
    "digamma", "dist", "div", "dot", "double", "dsplit", "dstack", "einsum", "empty",
    "empty_like", "eq", "equal", "erf", "erfc", "erfinv", "exp", "exp2", "expand", "expand_as",
    "expand_copy", "expm1", "eye", "fill", "flatten", "flip", "fliplr", "flipud", "float",
    "float_power", "floor", "fmax", "fmin", "fmod", "frac", "frexp", "from_numpy", "full",
    "full_like", "gather", "ge", "gradient", "grid_sampler_2d", "grid_sampler_3d", "gt", "half",
    "hsplit", "hstack", "hypot", "i0", "index_add", "index_copy", "index_fill", "index_put",
    "index_reduce", "index_select", "inner", "isclose", "isfinite", "isinf", "isnan", "kron",
    "kthvalue", "ldexp", "le", "lerp", "lgamma", "linspace", "log", "log10", "log1p", "log2",
    "log_softmax", "logaddexp", "logaddexp2", "logcumsumexp", "logdet", "logical_and",
    "logical_not", "logical_or", "logical_xor", "logit", "logsumexp", "lt", "lu", "lu_solve",
    "lu_unpack", "mH", "mT", "manual_seed", "masked_fill", "masked_scatter", "masked_select",
    "matmul", "matrix_exp", "max", "maximum", "mean", "median", "meshgrid", "min", "minimum",
    "mm", "mode", "movedim", "msort", "mul", "multinomial", "mv", "mvlgamma", "nan_to_num",
    "nanmean", "nanmedian", "nanquantile", "nansum", "narrow", "narrow_copy",
    "native_batch_norm", "native_group_norm", "native_layer_norm", "ne", "neg", "nextafter",
    "nonzero", "norm", "normal", "ones", "ones_like", "ormqr", "outer", "permute",
    "permute_copy", "pinverse", "polygamma", "positive", "pow", "prod", "put", "qr", "quantile",
    "rad2deg", "rand", "rand_like", "randint", "randn", "randn_like", "ravel", "real",
    "reciprocal", "remainder", "renorm", "repeat", "repeat_interleave", "reshape", "reshape_as",
    "resolve_conj", "resolve_neg", "roll", "rot90", "round", "rsqrt", "rsub", "scatter",
    "scatter_add", "scatter_reduce", "searchsorted", "select", "select_scatter", "sgn",
    "sigmoid", "sign", "sin", "sinc", "sinh", "slice_scatter", "softmax", "sort", "split",
    "split_with_sizes", "split_with_sizes_copy", "sqrt", "square", "squeeze", "squeeze_copy",
    "stack", "std", "std_mean", "sub", "sum", "sum_to_size", "svd", "t", "t_copy", "take",
    "take_along_dim", "tan", "tanh", "tensor_split", "tensordot", "tile", "to", "topk", "trace",
    "transpose", "transpose_copy", "trapezoid", "trapz", "triangular_solve", "tril", "triu",
    "true_divide", "trunc", "unbind", "unbind_copy", "unflatten", "unfold", "unfold_copy",
    "unique", "unsafe_chunk", "unsafe_split", "unsqueeze", "unsqueeze_copy", "var", "var_mean",
    "vdot", "view", "view_as", "view_copy", "vsplit", "vstack", "where", "xlogy", "zero_",
    "zeros", "zeros_like",
]  # fmt: skip
# Of torch.nn and torch.nn.functional: what is not here, and why.
LEFT_OUT = {
    "deprecated or unused": (
        "Container NLLLoss2d CrossMapLRN2d UpsamplingBilinear2d UpsamplingNearest2d upsample "
        "upsample_bilinear upsample_nearest"
    ),
    "seldom used": (
        "AdaptiveLogSoftmaxWithLoss CircularPad3d ConstantPad3d EmbeddingBag FractionalMaxPool2d "
        "FractionalMaxPool3d InstanceNorm1d InstanceNorm2d InstanceNorm3d LPPool1d LPPool2d "
        "LPPool3d LocalResponseNorm ParameterDict ParameterList ReflectionPad3d ReplicationPad3d "
        "Transformer TransformerDecoder TransformerDecoderLayer ZeroPad3d embedding_bag "
        "fractional_max_pool2d fractional_max_pool3d lp_pool1d lp_pool2d lp_pool3d "
        "instance_norm local_response_norm RReLU rrelu rrelu_"
    ),
    "used by no example, a face of another function, or composed of others": (
        "AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d AlphaDropout Bilinear CELU "
        "ChannelShuffle CircularPad1d CircularPad2d ConstantPad1d ConstantPad2d "
        "CosineEmbeddingLoss CosineSimilarity FeatureAlphaDropout Fold GLU GaussianNLLLoss "
        "Hardshrink Hardsigmoid Hardswish HingeEmbeddingLoss LogSigmoid MarginRankingLoss "
        "MaxUnpool1d MaxUnpool2d MaxUnpool3d Mish MultiLabelMarginLoss MultiLabelSoftMarginLoss "
        "MultiMarginLoss PairwiseDistance PixelShuffle PixelUnshuffle PoissonNLLLoss ReLU6 "
        "ReflectionPad1d ReflectionPad2d ReplicationPad1d ReplicationPad2d SoftMarginLoss "
        "Softmax2d Softmin Softshrink Softsign Tanhshrink Threshold TripletMarginLoss "
        "TripletMarginWithDistanceLoss Unfold Upsample ZeroPad1d ZeroPad2d alpha_dropout "
        "bilinear cosine_embedding_loss feature_alpha_dropout gaussian_nll_loss "
        "hinge_embedding_loss margin_ranking_loss multilabel_soft_margin_loss poisson_nll_loss "
        "softmin softsign tanhshrink triplet_margin_loss triplet_margin_with_distance_loss"
    ),
    "layers that learn the size of their input": (
        "LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyConv1d LazyConv2d LazyConv3d "
        "LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d LazyInstanceNorm1d "
        "LazyInstanceNorm2d LazyInstanceNorm3d LazyLinear UninitializedBuffer "
        "UninitializedParameter"
    ),
    "for several devices or processes": "DataParallel SyncBatchNorm",
    "a choice between kernels": (
        "LinearCrossEntropyLoss LinearCrossEntropyOptions linear_cross_entropy"
    ),
    "specific to certain hardware": (
        "grouped_mm scaled_grouped_mm scaled_mm conv_tbc native_channel_shuffle"
    ),
    "covered by the keyword return_indices of pooling": (
        "adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices "
        "adaptive_max_pool3d_with_indices fractional_max_pool2d_with_indices "
        "fractional_max_pool3d_with_indices max_pool1d_with_indices max_pool2d_with_indices "
        "max_pool3d_with_indices"
    ),
    "imported or defined by PyTorch's own modules": (
        "BroadcastingList1 BroadcastingList2 BroadcastingList3 Callable DType Optional "
        "GRID_SAMPLE_INTERPOLATION_MODES GRID_SAMPLE_PADDING_MODES ScalingType SwizzleType "
        "TYPE_CHECKING Tensor assert_int_or_pair boolean_dispatch handle_torch_function "
        "has_torch_function has_torch_function_unary has_torch_function_variadic "
        "reproducibility_notes sparse_support_notes tf32_notes factory_kwargs"
    ),
}


def is_there(name: str) -> bool:
    return hasattr(autograd_core, name) or hasattr(Tensor, name)


@pytest.mark.parametrize("name", NAMES)
def test_the_name_is_there(name: str) -> None:
    assert is_there(name)


def test_every_public_name_is_in_all() -> None:
    assert set(NAMES) <= {*autograd_core.__all__, *dir(Tensor)}
    assert len(set(autograd_core.__all__)) == len(autograd_core.__all__)


@pytest.mark.torch
@pytest.mark.parametrize("part", ["nn", "nn.functional"])
def test_neural_networks_have_all_names_but_those_left_out(part: str) -> None:
    torch = pytest.importorskip("torch")
    mine, theirs = (attrgetter(part)(each) for each in (autograd_core, torch))
    left_out = {name for names in LEFT_OUT.values() for name in names.split()}
    public = {
        name
        for name in dir(theirs)
        if not name.startswith("_") and not isinstance(getattr(theirs, name), ModuleType)
    }
    assert not {name for name in public if not hasattr(mine, name)} - left_out
    assert not {name for name in left_out & public if hasattr(mine, name)}
