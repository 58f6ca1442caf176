"""Where functions handle unusual arguments differently from PyTorch, and why.

The documentation shows this list (``docs/reference/differences.rst``), and
:mod:`tests.autograd_core.test_op_grid` allows these differences and no others. Each reason lists
functions, the variants of their calls (see :func:`op_grid.variants`), and what differs there.
"""

from __future__ import annotations

KNOWN: dict[str, list[tuple[str, str, str]]] = {
    (
        "Singular vectors, eigenvectors and the columns of ``qr`` are determined only up "
        "to their sign, and so are their gradients."
    ): [
        (
            "linalg.eigh linalg.pinv linalg.qr linalg.svd pinverse qr svd",
            r".",
            r"values",
        ),
    ],
    (
        "PyTorch does not implement the second derivative, or the first one in half "
        "precision. gradstep computes it."
    ): [
        (
            (
                "cdist i0 nn.functional.ctc_loss "
                "nn.functional.grid_sample nn.functional.hardsigmoid "
                "nn.functional.multi_margin_loss nn.functional.multilabel_margin_loss "
                "nn.functional.pdist nn.functional.scaled_dot_product_attention special.i0e "
                "special.i1 special.i1e"
            ),
            r".",
            r"^(second|first): numbers \| \w+Error: .*(not implemented|derivative for|self.dtype)",
        ),
    ],
    (
        "A gradient that depends on no input, such as a bias gradient, does not require a "
        "gradient itself. In PyTorch, all gradients from one node do, and some others do "
        "not."
    ): [
        (
            (
                "batch_norm conv1d layer_norm linalg.vander linalg.vector_norm "
                "native_batch_norm native_group_norm native_layer_norm "
                "nn.functional.batch_norm nn.functional.conv1d nn.functional.conv2d "
                "nn.functional.conv3d nn.functional.conv_transpose1d "
                "nn.functional.conv_transpose2d nn.functional.conv_transpose3d "
                "nn.functional.group_norm "
                "nn.functional.layer_norm"
            ),
            r".",
            r"requires_grad|undefined|^second: (numbers|none) \| (numbers|none)",
        ),
    ],
    (
        "A gradient that is zero everywhere may be undefined in one library and zeros in the other."
    ): [
        (
            (
                "linalg.householder_product nn.functional.grid_sample "
                "nn.functional.scaled_dot_product_attention ormqr"
            ),
            r".",
            r"undefined zero",
        ),
    ],
    (
        "The first gradient of an empty or one-element tensor may be a constant in one "
        "library and not in the other."
    ): [
        (
            (
                "cummax cummin cumprod det index_reduce linalg.det logcumsumexp "
                "nn.functional.cross_entropy nn.functional.nll_loss "
                "nn.functional.scaled_dot_product_attention ormqr prod scatter_reduce"
            ),
            r"0-d|empty|is 0",
            r"requires_grad|^second: (numbers|none) \| (numbers|none)",
        ),
    ],
    "``True`` and ``False`` are accepted as the dimensions 1 and 0, as in Python.": [
        (
            (
                "chunk cross diagonal diff fft.hfft fft.irfft flatten flip gather index_add "
                "index_copy index_fill index_reduce index_select linalg.cross "
                "linalg.diagonal moveaxis movedim nanquantile narrow narrow_copy "
                "nn.functional.glu quantile renorm roll scatter scatter_add scatter_reduce "
                "select select_scatter slice_scatter squeeze stack std std_mean swapaxes "
                "swapdims take_along_dim tensor_split tile transpose transpose_copy unbind "
                "unflatten unfold unfold_copy unsqueeze unsqueeze_copy var var_mean"
            ),
            r"^(dim\w*|source|destination|start_dim|axis\w*) bool",
            r"^error",
        ),
    ],
    (
        "A dimension may also be a tuple, ``None``, or a float with an integer value, "
        "where PyTorch requires an integer; or the exception is a different one."
    ): [
        (
            (
                "aminmax argsort cat cummax cummin flip linalg.vecdot median moveaxis "
                "movedim nanmedian nanquantile narrow_copy permute permute_copy quantile "
                "renorm sort special.logsumexp squeeze squeeze_copy tensordot tile unfold "
                "unsqueeze unsqueeze_copy"
            ),
            r"^(dim|source|destination|0-d, (dims|source|dest))",
            r"^error",
        ),
    ],
    (
        "Elements that a function does not read get no gradient: the other triangle of a "
        "Cholesky factor, and the elements that ``as_strided_scatter`` overwrites. In "
        "PyTorch they get one."
    ): [
        (
            "as_strided_scatter cholesky_inverse cholesky_solve",
            r".",
            r"^(first|second)",
        ),
    ],
    (
        "PyTorch gives a wrong gradient or none: for ``std`` and ``var`` with ``dim=()``, "
        "beside uint8 or bool operands, beside an empty block, for expanded tensors, for "
        "a tensor without dimensions between bounds that have some, at the poles of "
        "``digamma``, and for ``copysign`` at 0, infinity and NaN."
    ): [
        (
            (
                "addcdiv arctan2 atan2 block_diag clamp copysign digamma index_fill ldexp "
                "nn.functional.soft_margin_loss polygamma special.digamma special.i1 "
                "special.i1e special.polygamma special.psi std std_mean var var_mean"
            ),
            r".",
            r"^(first|second)",
        ),
    ],
    (
        "``linalg.cond`` has no gradient in PyTorch for a ``p`` that needs the inverse, "
        "because PyTorch changes the inverse in place."
    ): [
        (
            "linalg.cond",
            r".",
            r"^first: numbers",
        ),
    ],
    (
        "Functions in ``nn.functional`` accept no ``out=``; aliases accept it if the "
        "original function does. ``out`` keeps its own ``requires_grad``. For ``lerp``, "
        "``linalg.cholesky`` and ``matrix_power``, the rules for its dtype differ."
    ): [
        (
            (
                "arange clamp_ det eye full hardshrink lerp linalg.cholesky "
                "linalg.matrix_power linspace logspace nanmean nansum narrow_copy "
                "native_batch_norm nn.functional.avg_pool2d nn.functional.avg_pool3d "
                "nn.functional.gelu nn.functional.hardshrink nn.functional.linear "
                "nn.functional.logsigmoid nn.functional.normalize nn.functional.softplus "
                "nn.functional.softshrink ones special.log_softmax special.softmax "
                "split_with_sizes_copy square_ threshold unbind_copy var zeros"
            ),
            r"^out ",
            r".",
        ),
    ],
    (
        "Half precision, and a dtype given as ``dtype=``, is rounded at other steps. "
        "``matrix_exp`` does not overflow."
    ): [
        (
            (
                "cosine_similarity ldexp linalg.matrix_exp log_softmax matrix_exp "
                "native_group_norm "
                "nn.functional.binary_cross_entropy_with_logits "
                "nn.functional.cosine_similarity nn.functional.cross_entropy "
                "nn.functional.grid_sample nn.functional.kl_div nn.functional.log_softmax "
                "nn.functional.mse_loss "
                "nn.functional.smooth_l1_loss pow prod sinc special.log_softmax special.sinc "
                "special.xlog1py special.xlogy xlogy"
            ),
            r"float16|dtype float",
            r"values",
        ),
    ],
    (
        "More dtypes are accepted. PyTorch has no kernel for them, or requires all "
        "arguments to have the same dtype."
    ): [
        (
            (
                "arange bucketize clamp conv1d heaviside isin ldexp "
                "linalg.householder_product linalg.vander linalg.vecdot linspace logspace "
                "nn.functional.conv1d nn.functional.conv2d nn.functional.conv3d "
                "nn.functional.conv_transpose1d nn.functional.conv_transpose2d "
                "nn.functional.conv_transpose3d nn.functional.ctc_loss "
                "nn.functional.interpolate "
                "nn.functional.nll_loss ormqr repeat_interleave rsub searchsorted "
                "special.erfcx special.log_ndtr special.ndtri special.round"
            ),
            r"^(all|tensor \d) (int|uint|bool|float)|^dtype",
            r"^error: none",
        ),
    ],
    (
        "Fewer dtypes are accepted: the matrix and right-hand side of an equation, and "
        "indices, must have the dtypes that PyTorch documents."
    ): [
        (
            "linalg.solve_triangular take_along_dim",
            r"^(all|tensor \d) (int|uint|bool|float)|^dtype",
            r"\| none",
        ),
    ],
    (
        "Where several reasons rule out a dtype, the exception gives a different one and "
        "may be of another class. ``mse_loss`` and ``smooth_l1_loss`` do not subtract "
        "bools."
    ): [
        (
            (
                "bincount bitwise_not bmm cdist cholesky_solve conv1d cross cumprod cumsum "
                "einsum linalg.cross linalg.householder_product linalg.lu_solve "
                "linalg.matrix_norm linalg.matrix_rank linalg.multi_dot linalg.norm "
                "linalg.slogdet logdet lu_solve matmul mm native_group_norm "
                "nn.functional.conv1d nn.functional.conv2d nn.functional.conv3d "
                "nn.functional.conv_transpose1d nn.functional.conv_transpose2d "
                "nn.functional.conv_transpose3d "
                "nn.functional.linear nn.functional.mse_loss nn.functional.smooth_l1_loss "
                "nn.functional.threshold ormqr repeat_interleave slogdet triangular_solve"
            ),
            r"^(all|tensor \d) (int|uint|bool|float)|^dtype",
            r"^(error|first)",
        ),
    ],
    (
        "Infinity and NaN: sums are added in another order, LAPACK and MKL find different "
        "parts of a matrix or give up, an element of weight 0 adds nothing, and NaN "
        "counts as one of several maxima or is skipped."
    ): [
        (
            (
                "bucketize cdist cholesky cholesky_inverse det fft.irfft kthvalue "
                "linalg.cholesky linalg.cholesky_ex linalg.det linalg.householder_product "
                "linalg.lstsq linalg.lu linalg.lu_factor linalg.lu_factor_ex linalg.lu_solve "
                "linalg.matrix_rank linalg.slogdet linalg.solve linalg.solve_ex "
                "linalg.svdvals logcumsumexp logdet lu_solve mode mvlgamma native_layer_norm "
                "nn.functional.batch_norm nn.functional.binary_cross_entropy "
                "nn.functional.binary_cross_entropy_with_logits nn.functional.ctc_loss "
                "nn.functional.glu nn.functional.interpolate "
                "nn.functional.pdist ormqr polygamma prod searchsorted slogdet "
                "special.multigammaln special.polygamma std_mean topk var_mean"
            ),
            r"^-?infs?$|nan",
            r".",
        ),
    ],
    (
        "For singular matrices and matrices with equal rows, the result depends on "
        "rounding. PyTorch refuses some of their derivatives."
    ): [
        (
            (
                "cholesky cholesky_inverse det linalg.cond linalg.det linalg.eigvalsh "
                "linalg.householder_product linalg.inv_ex linalg.lstsq linalg.lu_factor "
                "linalg.lu_solve linalg.matrix_norm linalg.matrix_rank linalg.norm "
                "linalg.slogdet linalg.solve_ex linalg.solve_triangular linalg.svdvals "
                "linalg.tensorinv logdet lu_solve lu_unpack ormqr slogdet triangular_solve"
            ),
            r"zeros|ones|ties|expanded|strided|transposed|0-d|empty|is 0",
            r"values|^(first|second)|^error",
        ),
    ],
    (
        "Among equal elements, a different one may be selected and receive the gradient. "
        "At a kink, the second derivative differs."
    ): [
        (
            (
                "cdist kthvalue median nn.functional.binary_cross_entropy "
                "nn.functional.prelu pow prelu topk"
            ),
            r".",
            r"values",
        ),
    ],
    (
        "Memory layout: pieces, and results with a part replaced, have no gaps; where the operands "
        "of an elementwise function have different layouts, or are expanded, the result is more "
        "often contiguous than in PyTorch. The results of some solvers are laid out otherwise, and "
        "``channels_last`` images become contiguous."
    ): [
        (
            (
                "diagonal_scatter fft.hfftn fft.irfft fft.irfftn fill float_power index_put kron "
                "linalg.cross linalg.eigvalsh linalg.lstsq linalg.lu_factor linalg.lu_factor_ex "
                "linalg.matrix_power linalg.solve linalg.solve_ex linalg.svd linalg.svdvals "
                "nan_to_num nn.functional.gelu "
                "nn.functional.leaky_relu "
                "nn.functional.rms_norm nn.functional.scaled_dot_product_attention "
                "nn.functional.silu nn.functional.soft_margin_loss pow rms_norm rot90 "
                "select_scatter slice_scatter triu unsafe_chunk unsafe_split"
            ),
            r".",
            r"strides",
        ),
    ],
    (
        "``scaled_dot_product_attention`` takes a mask with ``is_causal`` whatever kernel PyTorch "
        "would choose; some of its kernels refuse the two together."
    ): [
        (
            "nn.functional.scaled_dot_product_attention",
            r".",
            r"error: none .* Explicit attn_mask should not be set",
        ),
    ],
    "``native_group_norm`` adds ``eps`` in double precision.": [
        (
            "native_group_norm",
            r".",
            r"values",
        ),
    ],
    (
        "Tensors with other strides: ``view_copy`` requires a size that a view could have, and "
        "writing to elements that share memory is refused. PyTorch refuses the gradients of "
        "``nll_loss``, ``max_unpool2d`` and ``as_strided_scatter``, and refuses "
        "``take_along_dim``."
    ): [
        (
            (
                "as_strided_scatter index_put_ native_group_norm "
                "nn.functional.batch_norm nn.functional.max_unpool2d "
                "nn.functional.max_unpool3d nn.functional.nll_loss take_along_dim view_copy"
            ),
            r"^(strided|transposed|expanded)",
            r"^(error|first)",
        ),
    ],
    (
        "A tensor without dimensions or elements raises an exception of another class, or "
        "for another of several reasons."
    ): [
        (
            (
                "addmv adjoint aminmax as_strided_scatter batch_norm broadcast_tensors "
                "cumulative_trapezoid embedding fft.hfftn fft.irfftn group_norm index_add "
                "index_copy index_fill index_reduce index_select nanquantile narrow_copy "
                "native_batch_norm native_group_norm nn.functional.batch_norm "
                "nn.functional.cross_entropy nn.functional.ctc_loss nn.functional.embedding "
                "nn.functional.interpolate "
                "nn.functional.max_unpool1d nn.functional.max_unpool2d "
                "nn.functional.max_unpool3d nn.functional.nll_loss nn.functional.rms_norm "
                "nn.functional.scaled_dot_product_attention nn.functional.unfold quantile "
                "repeat_interleave rms_norm scatter scatter_add scatter_reduce stack "
                "take_along_dim trapezoid trapz"
            ),
            r"0-d|empty|is 0|has",
            r"^error: \w+Error \| \w+Error|^error: _LinAlg",
        ),
    ],
    (
        "A tensor without dimensions or elements is accepted where PyTorch, or PyTorch's "
        "backward pass, refuses it."
    ): [
        (
            (
                "diff einsum fft.hfft fft.irfft native_batch_norm native_group_norm "
                "nn.functional.adaptive_avg_pool1d nn.functional.adaptive_avg_pool2d "
                "nn.functional.batch_norm "
                "nn.functional.conv_transpose1d nn.functional.conv_transpose2d "
                "nn.functional.conv_transpose3d nn.functional.dropout1d "
                "nn.functional.grid_sample "
                "nn.functional.interpolate nn.functional.pixel_shuffle "
                "nn.functional.pixel_unshuffle nn.functional.scaled_dot_product_attention "
                "nn.functional.soft_margin_loss scatter scatter_add scatter_reduce"
            ),
            r"0-d|empty|is 0|has",
            r"^error: none|^(first|second): numbers \| \w+",
        ),
    ],
    ("A tensor without dimensions or elements is refused where PyTorch returns a result."): [
        (
            (
                "adjoint batch_norm conv1d cummax cummin index_add native_batch_norm "
                "nn.functional.batch_norm nn.functional.conv1d nn.functional.conv2d "
                "nn.functional.conv3d nn.functional.scaled_dot_product_attention roll "
                "take_along_dim"
            ),
            r"0-d|empty|is 0|has",
            r"^error: \w+ \| none",
        ),
    ],
    (
        "Without elements, ``pixel_unshuffle`` gives the shape that it gives otherwise, "
        "losses without classes are NaN, attention without values is empty, and gradients "
        "are 0."
    ): [
        (
            (
                "nn.functional.group_norm nn.functional.multi_margin_loss "
                "nn.functional.multilabel_margin_loss nn.functional.pixel_unshuffle "
                "nn.functional.scaled_dot_product_attention xlogy"
            ),
            r"0-d|empty|is 0",
            r"values|shape",
        ),
    ],
}

# Reasons that say of PyTorch that it is wrong, or has nothing: finite differences decide.
DECIDED = [
    reason
    for reason in KNOWN
    if reason.startswith(
        (
            "PyTorch does not implement the second derivative",
            "Elements that a function does not read get no gradient",
            "PyTorch gives a wrong gradient or none",
            "``linalg.cond`` has no gradient in PyTorch",
        )
    )
]
