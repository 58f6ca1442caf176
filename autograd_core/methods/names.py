"""Which names :mod:`autograd_core.methods` binds as they are, and which have an in-place form."""

from __future__ import annotations

# Functions that are methods as they are.
NAMED = (
    "abs", "absolute", "acos", "acosh", "add", "addbmm", "addcdiv", "addcmul", "addmm", "addmv",
    "addr", "adjoint", "all", "allclose", "amax", "amin", "aminmax", "angle", "any", "arccos",
    "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "argmax", "argmin",
    "argsort", "argwhere", "as_strided", "as_strided_scatter", "asin", "asinh", "atan", "atan2",
    "atanh", "baddbmm", "bernoulli", "bincount", "bitwise_and", "bitwise_left_shift",
    "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "bmm", "broadcast_to",
    "ceil", "chunk", "clamp", "clamp_max", "clamp_min", "clip", "clone", "conj",
    "conj_physical", "copysign", "corrcoef", "cos", "cosh", "count_nonzero", "cov", "cross",
    "cummax", "cummin", "cumprod", "cumsum", "deg2rad", "diag", "diag_embed", "diagflat",
    "diagonal", "diagonal_scatter", "diff", "digamma", "dist", "div", "divide", "dot", "dsplit",
    "eq", "equal", "erf", "erfc", "erfinv", "exp", "exp2", "expm1", "fix", "flatten", "flip",
    "fliplr", "flipud", "float_power", "floor", "floor_divide", "fmax", "fmin", "fmod", "frac",
    "frexp", "gather", "ge", "ger", "greater", "greater_equal", "gt", "heaviside", "hsplit",
    "hypot", "i0", "index_add", "index_copy", "index_fill", "index_put", "index_reduce",
    "index_select", "inner", "isclose", "isfinite", "isinf", "isnan", "isneginf", "isposinf",
    "kron", "kthvalue", "ldexp", "le", "lerp", "less", "less_equal", "lgamma", "log", "log10",
    "log1p", "log2", "log_softmax", "logaddexp", "logaddexp2", "logcumsumexp", "logical_and",
    "logical_not", "logical_or", "logical_xor", "logit", "logsumexp", "lt", "masked_fill",
    "masked_scatter", "masked_select", "matmul", "max", "maximum", "mean", "median", "min",
    "minimum", "mm", "mode", "moveaxis", "movedim", "msort", "mul", "multinomial", "multiply",
    "mv", "mvlgamma", "nan_to_num", "nanmean", "nanmedian", "nanquantile", "nansum", "narrow",
    "narrow_copy", "ne", "neg", "negative", "nextafter", "nonzero", "norm", "not_equal",
    "outer", "positive", "pow", "prod", "put", "quantile", "rad2deg", "ravel",
    "reciprocal", "relu", "remainder", "renorm", "repeat_interleave", "resolve_conj",
    "resolve_neg", "roll", "rot90", "round", "rsqrt", "scatter", "scatter_add",
    "scatter_reduce", "select", "select_scatter", "sgn", "sigmoid", "sign", "signbit", "sin",
    "sinc", "sinh", "slice_scatter", "softmax", "sort", "split_with_sizes", "sqrt",
    "square", "squeeze", "std", "sub", "subtract", "sum", "swapaxes", "swapdims", "t", "take",
    "take_along_dim", "tan", "tanh", "tensor_split", "tile", "topk", "trace", "transpose",
    "tril", "triu", "true_divide", "trunc", "unbind", "unflatten", "unfold", "unique",
    "unsafe_chunk", "unsafe_split", "unsqueeze", "var", "vdot", "vsplit", "xlogy",
)  # fmt: skip
# Those of linear algebra.
LINALG = (
    "cholesky", "cholesky_inverse", "cholesky_solve", "det", "inverse", "logdet", "lu",
    "lu_solve", "matrix_exp", "matrix_power", "ormqr", "pinverse", "qr", "slogdet", "svd",
    "triangular_solve",
)  # fmt: skip
# Methods that have an in-place form.
IN_PLACE = (
    "abs", "absolute", "acos", "acosh", "add", "addbmm", "addcdiv", "addcmul", "addmm", "addmv",
    "addr", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "asin",
    "asinh", "atan", "atan2", "atanh", "baddbmm", "bitwise_and", "bitwise_left_shift",
    "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "ceil", "clamp",
    "clamp_max", "clamp_min", "clip", "conj_physical", "copysign", "cos", "cosh", "cumprod",
    "cumsum", "deg2rad", "digamma", "div", "divide", "erf", "erfc", "erfinv", "exp", "exp2",
    "expm1", "fix", "float_power", "floor", "floor_divide", "fmod", "frac", "heaviside",
    "hypot", "i0", "index_add", "index_copy", "index_fill", "index_put", "index_reduce",
    "ldexp", "lerp", "lgamma", "log", "log10", "log1p", "log2", "logical_and", "logical_not",
    "logical_or", "logical_xor", "logit", "masked_fill", "masked_scatter", "mul", "multiply",
    "mvlgamma", "nan_to_num", "neg", "negative", "nextafter", "polygamma", "pow", "put",
    "rad2deg", "reciprocal", "relu", "remainder", "renorm", "round", "rsqrt", "scatter",
    "scatter_add", "scatter_reduce", "sgn", "sigmoid", "sign", "sin", "sinc", "sinh", "sqrt",
    "square", "sub", "subtract", "tan", "tanh", "tril", "triu", "true_divide", "trunc", "xlogy",
)  # fmt: skip
# Views that a tensor may become itself.
IN_PLACE_VIEWS = (
    "as_strided", "squeeze", "swapaxes", "swapdims", "t", "transpose", "unsqueeze",
)  # fmt: skip
# Of these too, and their gradient ends there.
DECISIONS = (
    "eq", "ge", "greater", "greater_equal", "gt", "le", "less", "less_equal", "lt", "ne",
    "not_equal",
)  # fmt: skip
