"""Calls of tensors that are empty, or of shapes that do not fit, as texts and shapes."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

Shapes = tuple[Any, ...]

# A text, and shapes of leaves a, b, c; an array stands for a constant.
GRID: dict[str, list[Shapes]] = {}


def grid(*texts: str, of: list[Shapes]) -> None:
    """Try each text on leaves of these shapes."""
    for text in texts:
        GRID.setdefault(text, []).extend(of)


def single(shapes: list[Any]) -> list[Shapes]:
    """Shapes of one leaf."""
    return [(shape,) for shape in shapes]


def labels(*shape: int, value: int = 0) -> Any:
    return np.full(shape, value)


# a table
# fmt: off

# --- products ----------------------------------------------------------------------------------

SOME: list[Any] = [(), (0,), (2,), (2, 2), (2, 0), (0, 2), (1, 2, 2)]
PAIRS: list[Shapes] = list(product(SOME, SOME))
grid("t.matmul(a, b)", "t.mm(a, b)", "t.mv(a, b)", "t.dot(a, b)", "t.vdot(a, b)", "t.bmm(a, b)",
     of=PAIRS)
grid("t.matmul(a, b)", of=[
    ((3, 0), (0, 2)), ((2, 3, 0), (2, 0, 4)), ((2, 3, 0), (0, 4)), ((5, 0), (2, 0, 3)),
    ((2, 1, 3, 0), (4, 0, 2)), ((0, 3, 2), (0, 2, 3)), ((2, 2, 3), (3, 3, 2)), ((2, 3), (2, 3)),
])
grid("F.linear(a, b)", "F.linear(a, b, b.detach()[:, 0])", of=[
    ((3, 0), (2, 1)), ((0, 3), (2, 3)), ((2, 3, 3), (2, 3)), ((3,), (2, 3)), ((2,), (2, 3)),
    ((2, 3), (2, 2)), ((), (2, 3)), ((2, 2, 0), (2, 1)),
])
grid("F.linear(a, b)", of=[((3, 0), (2, 0)), ((0,), (2, 0)), ((2, 3, 0), (2, 0)), ((2, 3), ())])
grid("F.linear(a, b, c)", of=[
    ((2, 3, 0), (2, 0), (2,)), ((0,), (2, 0), (2,)), ((0,), (2, 0), (2, 3)), ((2, 3), (3,), (3,)),
    ((2, 3), (2, 3), (3,)), ((2, 3, 3), (2, 3), (2, 3)),
])
grid("t.addmm(a, b, c)", "t.addmm(a, b, c, beta=0.5)", of=[
    ((2, 2), (2, 3), (3, 2)), ((2,), (2, 3), (3, 2)), ((3,), (2, 3), (3, 2)),
    ((2, 2), (2,), (3, 2)), ((3, 3), (2, 3), (3, 2)), ((1, 2, 2), (2, 3), (3, 2)),
    ((2, 2), (2, 3), (2, 2)),
    ((2, 2), (2, 0), (0, 2)), ((0, 2), (0, 3), (3, 2)), ((2, 2), (1, 2, 3), (3, 2)),
    ((2, 0), (2, 3), (3, 0)), ((2, 2), (2, 3), (1, 3, 2)),
])
grid("t.addmv(a, b, c)", of=[
    ((2,), (2, 3), (3,)), ((), (2, 3), (3,)), ((3,), (2, 3), (3,)), ((2, 2), (2, 3), (3,)),
    ((2,), (2, 3), (2,)), ((2,), (2,), (2,)), ((2,), (2, 3), (3, 1)), ((2,), (2, 0), (0,)),
    ((0,), (0, 3), (3,)), ((2,), (1, 2, 3), (3,)),
])
grid("t.addr(a, b, c)", of=[
    ((2, 3), (2,), (3,)), ((2, 2), (2,), (3,)), ((2, 3), (2, 3), (3,)), ((0, 3), (0,), (3,)),
    ((2, 3), (), (3,)),
])
BATCHES: list[Shapes] = [
    ((2, 2, 2), (2, 2, 3), (2, 3, 2)), ((2, 2), (2, 2, 3), (2, 3, 2)),
    ((3, 2, 2), (2, 2, 3), (2, 3, 2)), ((2, 2), (2, 2, 3), (3, 3, 2)),
    ((2, 2), (2, 2, 3), (2, 2, 2)), ((2, 2), (2, 3), (2, 3, 2)), ((2, 2), (2, 2, 3), (3, 2)),
    ((2, 2), (0, 2, 3), (0, 3, 2)), ((2, 2), (2, 2, 0), (2, 0, 2)),
    ((1, 2, 2, 2), (2, 2, 3), (2, 3, 2)), ((3, 3), (2, 2, 3), (2, 3, 2)),
]
grid("t.baddbmm(a, b, c)", "t.addbmm(a, b, c)", of=BATCHES)
grid("t.linalg.solve(a, b)", of=[
    ((2,), (2,)), ((2, 3), (2,)), ((2, 2), (3,)), ((2, 2), ()), ((3, 2, 2), (2, 2, 2)),
])

# --- normalization -----------------------------------------------------------------------------

grid("F.layer_norm(a, a.shape[-1:])", "F.rms_norm(a, a.shape[-1:])",
     of=single([(2, 0), (0, 2), (0,), (0, 0), (2, 3, 0)]))
grid(
    "F.layer_norm(a, a.shape[-1:], b, c)",
    of=[((2, 0), (0,), (0,)), ((0, 2), (2,), (2,)), ((2, 2), (3,), (2,)), ((2, 2), (2,), (1,))],
)
grid("F.layer_norm(a, (2, 3))", "F.layer_norm(a, ())", of=single([(2, 3), (3, 2), (0, 2, 3)]))
grid(
    "F.group_norm(a, 2)",
    "F.group_norm(a, -1)",
    of=single([(0, 2, 3), (2, 2, 0), (2, 0, 3), (2, 4), (1, 2), (2, 3, 2), (2,), (0, 4)]),
)
grid("F.group_norm(a, 2, b, c)", of=[((0, 2, 3), (2,), (2,)), ((2, 2, 3), (3,), (2,))])
BATCH: list[Any] = [(0, 2), (0, 2, 3), (2, 2, 0), (2, 0, 3), (2, 0), (1, 2), (1, 2, 1), (2,)]
grid("F.batch_norm(a, None, None, training=True)", of=single(BATCH))
grid("F.batch_norm(a, None, None, b, c, True)",
     "F.batch_norm(a, b.detach(), c.detach() ** 2)",
     "moved(F.batch_norm, a, b.detach().clone(), c.detach().clone(), training=True)",
     of=[((0, 2), (2,), (2,)), ((0, 2, 3), (2,), (2,)), ((2, 2, 0), (2,), (2,))])

# --- convolution and windows -------------------------------------------------------------------

grid("F.conv1d(a, b)", "F.conv1d(a, b, padding=1)", "F.conv1d(a, b, b.detach()[:, 0, 0])", of=[
    ((0, 2, 5), (3, 2, 2)), ((0, 2, 1), (3, 2, 2)), ((2, 2, 5), (0, 2, 2)), ((2, 2, 0), (3, 2, 2)),
    ((2, 5), (3, 2, 2)), ((2, 3, 5), (3, 2, 2)), ((5,), (3, 2, 2)),
])
grid("F.conv1d(a, b)", of=[((2, 2, 5), (3, 2, 0)), ((2, 2, 5), (3, 2)), ((2, 2, 5), (3, 2, 2, 2))])
grid("F.conv2d(a, b)", "F.conv_transpose2d(a, b.transpose(0, 1))", of=[
    ((0, 2, 5, 5), (3, 2, 2, 2)), ((2, 2, 0, 5), (3, 2, 2, 2)), ((2, 5, 5), (3, 2, 2, 2)),
])
grid("F.conv3d(a, b)", "F.conv_transpose3d(a, b.transpose(0, 1))",
     of=[((0, 2, 3, 3, 3), (3, 2, 2, 2, 2))])
IMAGE: list[Shapes] = [((1, 2, 6, 6), (4, 2, 2, 2))]
for option in (
    "stride=0", "padding=-1", "stride=-1", "dilation=-1", "groups=0", "groups=3",
    "stride=(1, 1, 1)", "padding=(1, 1, 1)", "dilation=(1, 2, 1)", "padding=(1,)",
):
    grid(f"F.conv2d(a, b, {option})", f"F.conv_transpose2d(a, b.transpose(0, 1), {option})",
         of=IMAGE)
grid("F.conv2d(a, b, dilation=0)", "F.conv2d(a, b, dilation=6)", of=IMAGE)
for option in (
    "output_padding=1", "output_padding=-1", "output_padding=(1, 0), stride=2",
    "output_padding=(1, 0, 0)", "output_padding=1, dilation=2", "padding=7",
    "output_padding=(2, 1), dilation=3, stride=2",
):
    grid(f"F.conv_transpose2d(a, b.transpose(0, 1), {option})", of=IMAGE)
grid("F.unfold(a, 2)", of=single([
    (0, 2, 4, 4), (2, 0, 4, 4), (2, 2, 0, 4), (2, 4, 4), (4, 4), (1, 2, 2, 4, 4),
]))
grid("F.fold(a, 4, 2)", of=single([
    (0, 8, 9), (2, 8, 0), (8, 9), (2, 0, 9), (2, 7, 9), (2, 8, 8), (9,), (2, 2, 8, 9),
]))
for option in ("0", "2, dilation=0", "2, stride=0", "2, padding=-1", "(2, 2, 2)", "5", "(2,)"):
    grid(f"F.unfold(a, {option})", of=single([(2, 2, 4, 4)]))
    grid(f"F.fold(a, 4, {option})", of=single([(2, 8, 9)]))
SIGNALS: list[Any] = [(0, 2, 4), (2, 2, 0), (2, 0, 4), (2, 4), (4,), ()]
IMAGES: list[Any] = [(0, 2, 4, 4), (2, 0, 4, 4), (2, 2, 0, 4), (2, 4, 4), (0, 4, 4), (4, 4)]
VOLUMES: list[Any] = [(0, 2, 4, 4, 4), (2, 0, 4, 4, 4), (2, 2, 0, 4, 4), (2, 4, 4, 4), (4, 4, 4)]
for dims, shapes in ((1, SIGNALS), (2, IMAGES), (3, VOLUMES)):
    for name in ("max_pool", "avg_pool", "adaptive_max_pool"):
        grid(f"F.{name}{dims}d(a, 2)", of=single(shapes))
    grid(
        f"F.adaptive_avg_pool{dims}d(a, 2)", of=[(shape,) for shape in shapes if shape[1:2] != (0,)]
    )
    for option in ("0", "2, stride=0", "2, padding=-1", "2, padding=2", "-1", "2, stride=()"):
        for name in ("max_pool", "avg_pool"):
            grid(f"F.{name}{dims}d(a, {option})", of=single([(1, 2, *(4,) * dims)]))
grid("F.max_pool2d(a, 2, dilation=0)", "F.max_pool2d(a, 5)", "F.max_pool2d(a, (2, 2, 2))",
     "F.adaptive_max_pool2d(a, (2, 2, 2, 2))", "F.adaptive_avg_pool2d(a, (2,))",
     of=single([(2, 2, 4, 4)]))
grid("F.max_unpool2d(a, b, 2)", of=[
    *((shape, labels(*shape)) for shape in IMAGES),
    *(((1, 1, 2, 2), labels(1, 1, 2, 2, value=value)) for value in (-1, 15, 16)),
    ((2, 2, 2, 2), labels(2, 2, 2, 1)),
])
grid(
    "F.max_unpool2d(a, b.int(), 2)",
    "F.max_unpool2d(a, b, 2, output_size=(9, 5))",
    "F.max_unpool2d(a, b, 2, output_size=(5,))",
    of=[((1, 1, 2, 2), labels(1, 1, 2, 2))],
)
for mode in ("bilinear", "nearest", "bicubic"):
    grid(f"F.grid_sample(a, b, '{mode}', align_corners=False)", of=[
        ((0, 2, 4, 4), (0, 3, 3, 2)), ((2, 0, 4, 4), (2, 3, 3, 2)), ((2, 2, 0, 4), (2, 3, 3, 2)),
        ((2, 2, 4, 4), (2, 0, 3, 2)), ((2, 2, 4, 4), (3, 3, 3, 2)), ((2, 2, 4, 4), (2, 3, 2)),
    ])
for size in ("(0, 1, 2, 2)", "(2, 1, 0, 2)", "(2, 0, 2, 2)", "(3, 1, 2, 2)", "(2, 1, -1, 2)"):
    grid(
        f"F.affine_grid(a, {size}, align_corners=False)", of=[((0 if size[1] == "0" else 2, 2, 3),)]
    )
for mode in ("constant", "reflect", "replicate", "circular"):
    for border, shapes in (
        ((1, 1), [(0, 2, 4), (2, 2, 0), (4,), ()]), ((-2, -2), [(2, 2, 4)]), ((1,), [(2, 2, 4)]),
        ((1,) * 6, [(2, 2, 4)]), ((1,) * 8, [(2, 2, 4)]), ((5, 0), [(2, 2, 4)]),
        ((-3, -2), [(2, 2, 4)]), ((-1, 1), [(2, 2, 4)]), ((1,) * 4, [(0, 2, 4, 4), (2, 2, 0, 4)]),
    ):
        grid(f"F.pad(a, {border}, '{mode}')", of=single(shapes))
grid("F.pad(a, (1, -5))", "F.pad(a, (-5, 1))", of=single([(2, 2, 4)]))
for mode in ("nearest", "linear", "bilinear", "bicubic", "nearest-exact"):
    grid(
        f"F.interpolate(a, scale_factor=2.0, mode='{mode}')",
        of=single([(0, 2, 3), (2, 0, 3), (2, 2, 0), (0, 2, 3, 3), (2, 0, 3, 3), (2, 3), ()]),
    )
    grid(f"F.interpolate(a, size=0, mode='{mode}')", of=single([(2, 2, 3), (2, 2, 3, 3)]))
grid(
    "t.pixel_shuffle(a, 2)",
    "t.pixel_shuffle(a, 0)",
    of=single([(2, 4, 2, 2), (2, 3, 2, 2), (2, 2)]),
)
grid("t.pixel_unshuffle(a, 2)", "t.pixel_unshuffle(a, -1)", of=single([(2, 1, 4, 4), (4, 4)]))
grid("t.channel_shuffle(a, 2)", "t.channel_shuffle(a, 0)", of=single([(2, 4, 2), (2, 4)]))

# --- losses ------------------------------------------------------------------------------------

REDUCTIONS = ("mean", "sum", "none")
for reduction in REDUCTIONS:
    end = f"reduction='{reduction}')"
    for name in (
        "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss", "kl_div",
        "binary_cross_entropy_with_logits",
    ):
        grid(f"F.{name}(a, b.detach(), {end}",
             of=[((0,), (0,)), ((0, 3), (0, 3)), ((2, 0), (2, 0)), ((2, 3), (2, 2))])
    for name in ("nll_loss", "cross_entropy"):
        grid(f"F.{name}(a, b, {end}", of=[
            ((0, 3), labels(0)), ((2, 3), labels(3)), ((3,), labels()), ((2, 3), labels()),
            ((2, 3, 4), labels(2, 4)), ((2, 3, 0), labels(2, 0)), ((2, 3, 4), labels(2, 3)),
            ((2, 3), labels(2, 1)), ((2, 3, 4, 5), labels(2, 4)), ((3,), labels(3)),
            *(((2, 3), labels(2, value=value)) for value in (-1, 3, -100)),
            ((2, 3, 4), labels(2, 4, value=-100)),
        ])
    grid(
        f"F.cross_entropy(a, b.detach().abs(), {end}",
        of=[((0, 3), (0, 3)), ((2, 0), (2, 0)), ((3,), (3,)), ((2, 3, 4), (2, 3, 4))],
    )
    grid(f"F.multi_margin_loss(a, b, {end}", of=[
        *(((2, 3), labels(2, value=value)) for value in (0, -1, 3, -100)), ((2, 0), labels(2)),
        ((2, 3), labels(3)), ((2, 3), labels()), ((2, 3, 4), labels(2, 4)), ((3,), labels(1)),
        ((3,), labels(3)), ((), labels()),
    ])
    grid(f"F.multilabel_margin_loss(a, b, {end}", of=[
        *(((2, 3), labels(2, 3, value=value)) for value in (0, -1, 3, -100)),
        ((2, 3), labels(3)), ((2, 3), labels(2, 2)), ((3,), labels(3)), ((), labels()),
    ])
for option in (
    "label_smoothing=1.5", "label_smoothing=-0.1", "label_smoothing=1.0", "ignore_index=1",
    "ignore_index=-5", "weight=t.ones(2, dtype=a.dtype)", "weight=t.ones(3, 1, dtype=a.dtype)",
):
    grid(f"F.cross_entropy(a, b, {option})", of=[((2, 3), labels(2))])
    grid(f"F.cross_entropy(a, b.detach().abs(), {option})", of=[((2, 3), (2, 3))])
grid("F.multi_margin_loss(a, b, weight=t.ones(2, dtype=a.dtype))", of=[((2, 3), labels(2))])
grid("F.binary_cross_entropy(a * 5, b.detach().abs())",
     "F.binary_cross_entropy(a.abs(), b.detach() * 5)", of=[((2, 3), (2, 3))])
for rest in (
    "t.tensor([4, 4]), t.tensor([2, 3])", "t.tensor([4, 5]), t.tensor([2, 2])",
    "t.tensor([4, -1]), t.tensor([2, 2])", "t.tensor([4, 4]), t.tensor([2, -1])",
    "t.tensor([4]), t.tensor([2, 2])", "t.tensor([4, 4]), t.tensor([2])",
    "t.tensor([4, 4]), t.tensor([2, 2]), blank=3", "t.tensor([4, 4]), t.tensor([2, 2]), blank=-1",
    "t.tensor([4, 0]), t.tensor([2, 2])", "t.tensor([4, 0]), t.tensor([2, 0])",
    "t.tensor([4, 4]), t.tensor([0, 0])", "t.tensor([4, 0]), t.tensor([2, 2]), zero_infinity=True",
    "t.tensor([4.0, 4.0]), t.tensor([2, 2])", "t.tensor([[4, 4]]), t.tensor([2, 2])",
    "t.tensor([1, 4]), t.tensor([2, 2])",
):
    grid(f"F.ctc_loss(F.log_softmax(a, -1), b, {rest}, reduction='none')",
         of=[((4, 2, 3), np.array([[1, 2], [2, 2]]))])
grid(
    "F.ctc_loss(F.log_softmax(a, -1), b, t.full(b.shape[:1], len(a)), t.full(b.shape[:1], 2))",
    of=[((4, 0, 3), labels(0, 2)), ((0, 2, 3), labels(2, 2)), ((4,), labels(1, 2))],
)

# --- distances, attention, search, choice, initial values --------------------------------------

for p in ("1.0", "2.0", "3.0", "0.5"):
    grid(f"t.cdist(a, b, {p})", of=[
        ((2, 3), (4, 3)), ((0, 3), (4, 3)), ((2, 0), (4, 0)), ((0, 2, 3), (0, 4, 3)), ((3,), (3,)),
        ((2, 2, 3), (3, 4, 3)), ((2, 3), (4, 2)),
    ])
    grid(f"t.dist(a, b, {p})", of=[((2,), (2,)), ((0,), (0,)), ((2,), (3,))])
grid("F.scaled_dot_product_attention(a, b, c)",
     "F.scaled_dot_product_attention(a, b, c, is_causal=True)", of=[
         ((2, 0), (2, 0), (2, 0)), ((2, 0), (2, 0), (2, 3)), ((0, 3), (2, 3), (2, 3)),
         ((2, 3), (0, 3), (0, 3)), ((1, 1, 2, 0), (1, 1, 2, 0), (1, 1, 2, 3)), ((3,), (3,), (3,)),
         ((1, 1, 2, 3), (1, 1, 0, 3), (1, 1, 0, 3)), ((0, 1, 2, 3), (0, 1, 2, 3), (0, 1, 2, 3)),
     ])
grid("t.searchsorted(a.detach(), b.detach())", of=[
    ((0,), (3,)), ((3,), (0,)), ((2, 0), (2, 3)), ((0, 3), (0, 3)), ((2, 3), (3,)), ((), (2,)),
    ((2, 3), (3, 3)), ((3,), ()), ((2,), (2, 2)), ((1, 3), ()),
])
grid("t.bucketize(a.detach(), b.detach())", of=[((3,), (0,)), ((2,), (2, 2)), ((), (2,))])
grid("t.cartesian_prod(a, b)", of=[((0,), (2,)), ((2,), (2,)), ((2, 2), (2,)), ((), (2,))])
grid("t.cartesian_prod(a)", "t.combinations(a)", "t.combinations(a, 0)", "t.combinations(a, -1)",
     of=single([(0,), (3,), (2, 2), ()]))
grid("t.bincount(a, minlength=-1)", "t.bincount(a, t.ones(3))", of=[(labels(2),), (labels(0),)])
for rest in ("0", "-1", "3, 1, 0", "3, 0, float('inf')"):
    grid(f"t.histc(a.detach(), {rest})", of=single([(3,), (0,)]))
grid(
    "F.embedding(b, a)", of=[((0, 3), labels(0)), ((0, 3), labels(1)), ((2, 3), labels(2, value=2))]
)
for name in ("xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_",
             "orthogonal_"):
    for size in ("0, 3", "3, 0", "0, 0", "0", "2, 3, 0"):
        grid(f"t.zeros(t.nn.init.{name}(t.empty({size})).shape)", of=[()])
