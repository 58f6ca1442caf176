"""Where functions answer odd calls otherwise than PyTorch, and why.

The documentation shows this list (``docs/reference/differences.rst``), and
:mod:`tests.autograd_core.test_op_grid` allows these differences and no others.  By reason: the
functions, which variants of their calls (see :func:`op_grid.variants`), and what differs there.
"""

from __future__ import annotations

KNOWN: dict[str, list[tuple[str, str, str]]] = {
    (
        "Vectors of singular values and eigenvalues, and the columns of ``qr``, are "
        "found up to their sign, and their gradients with it."
    ): [
        (
            "linalg.eigh linalg.pinv linalg.qr linalg.svd pinverse qr svd",
            r".",
            r"values",
        ),
    ],
    (
        "The second derivative, or of half precision the first, is not implemented in "
        "PyTorch; here it is computed."
    ): [
        (
            (
                "cdist i0 nn.functional.ctc_loss nn.functional.embedding_bag "
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
        "A gradient that no input changes, like that of a bias, requires no gradient "
        "itself; in PyTorch all gradients that come from one node do, and some others do "
        "not."
    ): [
        (
            (
                "batch_norm conv1d layer_norm linalg.vander linalg.vector_norm "
                "native_batch_norm native_group_norm native_layer_norm "
                "nn.functional.batch_norm nn.functional.conv1d nn.functional.conv2d "
                "nn.functional.conv3d nn.functional.conv_transpose1d "
                "nn.functional.conv_transpose2d nn.functional.conv_transpose3d "
                "nn.functional.group_norm nn.functional.instance_norm "
                "nn.functional.layer_norm"
            ),
            r".",
            r"requires_grad|undefined|^second: (numbers|none) \| (numbers|none)",
        ),
    ],
    (
        "A gradient that is zero everywhere may be undefined in one library, and zeros "
        "in the other."
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
        "The first gradient of a tensor that is empty, or has one element, may be a "
        "constant in one library and not in the other."
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
    ("``True`` and ``False`` are taken as the dimensions 1 and 0, as by Python."): [
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
        "A dimension is also taken as a tuple, as ``None``, or as a float with a whole "
        "value, where PyTorch wants an integer; or the exception is another."
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
        "What a function does not read has no gradient: the other triangle of a Cholesky "
        "factor, and what ``as_strided_scatter`` overwrites. In PyTorch it has one."
    ): [
        (
            "as_strided_scatter cholesky_inverse cholesky_solve",
            r".",
            r"^(first|second)",
        ),
    ],
    (
        "PyTorch's gradient is wrong or refused: of ``std`` and ``var`` with ``dim=()``, "
        "next to numbers of uint8 or bool, next to an empty block, of an expanded "
        "tensor, of one without dimensions between bounds of several, at the poles of "
        "``digamma``, and of ``copysign`` at 0, infinity and NaN."
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
        "``linalg.cond`` with a ``p`` that needs the inverse has no gradient in PyTorch, "
        "which changes the inverse in place."
    ): [
        (
            "linalg.cond",
            r".",
            r"^first: numbers",
        ),
    ],
    (
        "``out=`` is taken by no function of ``nn.functional``, by an alias as by the "
        "function that it stands for, and keeps its own flag where it requires a "
        "gradient. Of ``lerp``, ``linalg.cholesky`` and ``matrix_power`` it may, or may "
        "not, have another dtype."
    ): [
        (
            (
                "adjoint arange clamp_ det eye full hardshrink lerp linalg.cholesky "
                "linalg.matrix_power linspace logspace nanmean nansum narrow_copy "
                "native_batch_norm nn.functional.avg_pool2d nn.functional.avg_pool3d "
                "nn.functional.gelu nn.functional.hardshrink nn.functional.linear "
                "nn.functional.logsigmoid nn.functional.normalize nn.functional.softplus "
                "nn.functional.softshrink ones special.log_softmax special.softmax "
                "split_with_sizes_copy square_ swapdims threshold unbind_copy var zeros"
            ),
            r"^out ",
            r".",
        ),
    ],
    (
        "Half precision is rounded at other steps, and so is what is asked for as "
        "``dtype=``. ``matrix_exp`` does not overflow."
    ): [
        (
            (
                "bilinear cosine_similarity ldexp linalg.matrix_exp log_softmax matrix_exp "
                "native_group_norm nn.functional.bilinear "
                "nn.functional.binary_cross_entropy_with_logits "
                "nn.functional.cosine_similarity nn.functional.cross_entropy "
                "nn.functional.grid_sample nn.functional.kl_div nn.functional.log_softmax "
                "nn.functional.mse_loss nn.functional.multilabel_soft_margin_loss "
                "nn.functional.smooth_l1_loss pow prod sinc special.log_softmax special.sinc "
                "special.xlog1py special.xlogy xlogy"
            ),
            r"float16|dtype float",
            r"values",
        ),
    ],
    (
        "More dtypes are taken: PyTorch's kernel lacks them, or wants all arguments to "
        "have the same."
    ): [
        (
            (
                "arange bucketize clamp conv1d heaviside isin ldexp "
                "linalg.householder_product linalg.vander linalg.vecdot linspace logspace "
                "nn.functional.conv1d nn.functional.conv2d nn.functional.conv3d "
                "nn.functional.conv_transpose1d nn.functional.conv_transpose2d "
                "nn.functional.conv_transpose3d nn.functional.ctc_loss "
                "nn.functional.embedding_bag nn.functional.interpolate "
                "nn.functional.nll_loss ormqr repeat_interleave rsub searchsorted "
                "special.erfcx special.log_ndtr special.ndtri special.round"
            ),
            r"^(all|tensor \d) (int|uint|bool|float)|^dtype",
            r"^error: none",
        ),
    ],
    (
        "Fewer dtypes are taken: a matrix and its right side, and an index, have the "
        "dtype that PyTorch documents."
    ): [
        (
            "linalg.solve_triangular nn.functional.embedding_bag take_along_dim",
            r"^(all|tensor \d) (int|uint|bool|float)|^dtype",
            r"\| none",
        ),
    ],
    (
        "Of several reasons to refuse dtypes another one is told, in an exception of "
        "another class; a mean of squares does not subtract truth values."
    ): [
        (
            (
                "bincount bitwise_not bmm cdist cholesky_solve conv1d cross cumprod cumsum "
                "einsum linalg.cross linalg.householder_product linalg.lu_solve "
                "linalg.matrix_norm linalg.matrix_rank linalg.multi_dot linalg.norm "
                "linalg.slogdet logdet lu_solve matmul mm native_group_norm "
                "nn.functional.conv1d nn.functional.conv2d nn.functional.conv3d "
                "nn.functional.conv_transpose1d nn.functional.conv_transpose2d "
                "nn.functional.conv_transpose3d nn.functional.embedding_bag "
                "nn.functional.linear nn.functional.mse_loss nn.functional.smooth_l1_loss "
                "nn.functional.threshold ormqr repeat_interleave slogdet triangular_solve"
            ),
            r"^(all|tensor \d) (int|uint|bool|float)|^dtype",
            r"^(error|first)",
        ),
    ],
    ("``bilinear`` of whole numbers adds them up in int64."): [
        (
            "bilinear nn.functional.bilinear",
            r"^(all|tensor \d) (int|uint|bool|float)|^dtype",
            r"dtype",
        ),
    ],
    (
        "Infinite and missing numbers: sums run in another order, LAPACK and MKL find "
        "other parts of a matrix or give up, an element with weight 0 adds nothing, and "
        "NaN is one of several maxima or is passed over."
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
                "nn.functional.embedding_bag nn.functional.glu nn.functional.interpolate "
                "nn.functional.pdist ormqr polygamma prod searchsorted slogdet "
                "special.multigammaln special.polygamma std_mean topk var_mean"
            ),
            r"^-?infs?$|nan",
            r".",
        ),
    ],
    (
        "Singular matrices, and those with equal rows, give what rounding makes of them; "
        "PyTorch refuses the derivative of some."
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
        "Among equal elements another one may be found, and gets the gradient; the "
        "second derivative where a function has a kink is another."
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
    ("``native_group_norm`` adds ``eps`` in double precision."): [
        (
            "native_group_norm",
            r".",
            r"values",
        ),
    ],
    (
        "Tensors that lie in memory otherwise: ``as_strided`` of them has no gradient, "
        "``view_copy`` wants a size that a view could have, and what several elements "
        "share is not written to. PyTorch refuses the gradients of ``nll_loss`` and "
        "``max_unpool2d``, and ``take_along_dim``."
    ): [
        (
            (
                "as_strided as_strided_copy as_strided_scatter index_put_ native_group_norm "
                "nn.functional.batch_norm nn.functional.max_unpool2d "
                "nn.functional.max_unpool3d nn.functional.nll_loss take_along_dim view_copy"
            ),
            r"^(strided|transposed|expanded)",
            r"^(error|first)",
        ),
    ],
    (
        "A tensor without dimensions or elements is refused with an exception of another "
        "class, or for another of several reasons."
    ): [
        (
            (
                "addmv adjoint aminmax as_strided_scatter batch_norm broadcast_tensors "
                "cumulative_trapezoid embedding fft.hfftn fft.irfftn group_norm index_add "
                "index_copy index_fill index_reduce index_select nanquantile narrow_copy "
                "native_batch_norm native_group_norm nn.functional.batch_norm "
                "nn.functional.cross_entropy nn.functional.ctc_loss nn.functional.embedding "
                "nn.functional.embedding_bag nn.functional.interpolate "
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
        "A tensor without dimensions or elements is taken where PyTorch refuses it, or "
        "its backward pass does."
    ): [
        (
            (
                "bilinear diff einsum fft.hfft fft.irfft native_batch_norm native_group_norm "
                "nn.functional.adaptive_avg_pool1d nn.functional.adaptive_avg_pool2d "
                "nn.functional.batch_norm nn.functional.bilinear "
                "nn.functional.conv_transpose1d nn.functional.conv_transpose2d "
                "nn.functional.conv_transpose3d nn.functional.dropout1d "
                "nn.functional.embedding_bag nn.functional.grid_sample "
                "nn.functional.interpolate nn.functional.pixel_shuffle "
                "nn.functional.pixel_unshuffle nn.functional.scaled_dot_product_attention "
                "nn.functional.soft_margin_loss scatter scatter_add scatter_reduce"
            ),
            r"0-d|empty|is 0|has",
            r"^error: none|^(first|second): numbers \| \w+",
        ),
    ],
    ("A tensor without dimensions or elements is refused where PyTorch has an answer."): [
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
        "Of no elements: ``pixel_unshuffle`` has the shape that it has of others, losses "
        "of no classes are NaN, attention to no values is empty, and gradients are 0."
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
