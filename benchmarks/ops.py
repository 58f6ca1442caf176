"""The 50 most used ops, forward and backward, as ratios to PyTorch: part of ``core.py``.

    python benchmarks/ops.py [NAME...]

Two sizes: 8x16 and 512x768; images are 2x3x8x8 and 32x16x28x28, tokens 8x16 of 100 and 8x128 of
10,000.  Each library computes the op and its gradients in turn, with one thread, in bursts at the
small size; the smallest CPU time of a call counts.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy and PyTorch read them

import numpy as np  # noqa: E402

Call = Callable[..., Any]


class Case(NamedTuple):
    """``call(library, its functional, *inputs)``; an input is named by what it is (see
    :func:`inputs`)."""

    call: Call
    inputs: str = "x"


CASES = {
    "add": Case(lambda t, F, x, y: x + y, "x y"),
    "add a row": Case(lambda t, F, x, b: x + b, "x row"),
    "mul": Case(lambda t, F, x, y: x * y, "x y"),
    "mul by a number": Case(lambda t, F, x: x * 0.5),
    "div": Case(lambda t, F, x, y: x / y, "x positive"),
    "pow 2": Case(lambda t, F, x: x**2),
    "sqrt": Case(lambda t, F, x: x.sqrt(), "positive"),
    "exp": Case(lambda t, F, x: x.exp()),
    "log": Case(lambda t, F, x: x.log(), "positive"),
    "tanh": Case(lambda t, F, x: x.tanh()),
    "sigmoid": Case(lambda t, F, x: x.sigmoid()),
    "relu": Case(lambda t, F, x: F.relu(x)),
    "gelu": Case(lambda t, F, x: F.gelu(x)),
    "gelu, tanh": Case(lambda t, F, x: F.gelu(x, approximate="tanh")),
    "silu": Case(lambda t, F, x: F.silu(x)),
    "softplus": Case(lambda t, F, x: F.softplus(x)),
    "leaky_relu": Case(lambda t, F, x: F.leaky_relu(x)),
    "abs": Case(lambda t, F, x: x.abs()),
    "clamp": Case(lambda t, F, x: x.clamp(-1, 1)),
    "where": Case(lambda t, F, m, x, y: t.where(m, x, y), "mask x y"),
    "masked_fill": Case(lambda t, F, x, m: x.masked_fill(m, 0.0), "x mask"),
    "sum": Case(lambda t, F, x: x.sum()),
    "sum, dim": Case(lambda t, F, x: x.sum(1)),
    "mean, dim": Case(lambda t, F, x: x.mean(1)),
    "max, dim": Case(lambda t, F, x: x.max(1).values),
    "var": Case(lambda t, F, x: x.var(1)),
    "norm": Case(lambda t, F, x: x.norm()),
    "cumsum": Case(lambda t, F, x: x.cumsum(1)),
    "softmax": Case(lambda t, F, x: F.softmax(x, 1)),
    "log_softmax": Case(lambda t, F, x: F.log_softmax(x, 1)),
    "logsumexp": Case(lambda t, F, x: x.logsumexp(1)),
    "cross_entropy": Case(lambda t, F, x, c: F.cross_entropy(x, c), "x classes"),
    "mse_loss": Case(lambda t, F, x, y: F.mse_loss(x, y), "x constant"),
    "bce_with_logits": Case(
        lambda t, F, x, y: F.binary_cross_entropy_with_logits(x, y), "x probabilities"
    ),
    "layer_norm": Case(lambda t, F, x, w, b: F.layer_norm(x, w.shape, w, b), "x row row"),
    "matmul": Case(lambda t, F, x, w: x @ w, "x weight"),
    "linear": Case(lambda t, F, x, w, b: F.linear(x, w, b), "x weight row"),
    "bmm": Case(lambda t, F, x, y: t.bmm(x, y.transpose(1, 2)), "heads heads"),
    "attention": Case(
        lambda t, F, q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        "heads heads heads",
    ),
    "embedding": Case(lambda t, F, i, w: F.embedding(i, w), "tokens table"),
    "index, rows": Case(lambda t, F, x, r: x[r], "x rows"),
    "gather": Case(lambda t, F, x, i: x.gather(1, i), "x places"),
    "slice": Case(lambda t, F, x: x[:, 1:]),
    "cat": Case(lambda t, F, x, y: t.cat([x, y], 1), "x y"),
    "stack": Case(lambda t, F, x, y: t.stack([x, y]), "x y"),
    "transpose, contiguous": Case(lambda t, F, x: x.t().contiguous()),
    "dropout": Case(lambda t, F, x: F.dropout(x, 0.5)),
    "conv2d": Case(lambda t, F, x, k: F.conv2d(x, k, padding=1), "images kernels"),
    "batch_norm": Case(
        lambda t, F, x, w, b: F.batch_norm(x, None, None, w, b, True), "images channels channels"
    ),
    "max_pool2d": Case(lambda t, F, x: F.max_pool2d(x, 2), "images"),
    "avg_pool2d": Case(lambda t, F, x: F.avg_pool2d(x, 2), "images"),
}


def inputs(big: bool) -> dict[str, Any]:
    """The arrays that inputs are made from, and whether each requires a gradient."""
    rng = np.random.default_rng(0)
    n, m = (512, 768) if big else (8, 16)
    count, channels, size = (32, 16, 28) if big else (2, 3, 8)
    words, length = (10_000, 128) if big else (100, 16)

    def normal(*shape: int) -> Any:
        return rng.standard_normal(shape).astype(np.float32)

    return {
        "x": normal(n, m), "y": normal(n, m), "row": normal(m), "weight": normal(m, m),
        "positive": np.abs(normal(n, m)) + 0.1,
        "constant": (normal(n, m),), "probabilities": (np.float32(rng.random((n, m))),),
        "mask": (normal(n, m) > 0,), "classes": (rng.integers(0, m, n),),
        "rows": (rng.integers(0, n, n),), "places": (rng.integers(0, m, (n, m)),),
        "heads": normal(8, length, m // 8),
        "tokens": (rng.integers(0, words, (8, length)),), "table": normal(words, m),
        "images": normal(count, channels, size, size),
        "kernels": normal(channels, channels, 3, 3), "channels": normal(channels),
    }  # fmt: skip


def step(torch: Any, case: Case, arrays: dict[str, Any]) -> Callable[[], None]:
    """One computation of ``case`` and its gradients; what is in a tuple requires none."""
    F = importlib.import_module(f"{torch.__name__}.nn.functional")
    given = []
    for name in case.inputs.split():
        array = arrays[name]
        if isinstance(array, tuple):
            given.append(torch.tensor(array[0]))
        else:
            given.append(torch.tensor(array).requires_grad_())
    leaves = [each for each in given if each.requires_grad]
    seed = torch.ones(case.call(torch, F, *given).shape)
    call = case.call

    def run() -> None:
        call(torch, F, *given).backward(seed)
        for leaf in leaves:
            leaf.grad = None

    return run


def ratio(ours: Callable[[], None], theirs: Callable[[], None], seconds: float) -> float:
    """Our time over theirs, of as many rounds as take ``seconds``, at least five."""
    clock = time.thread_time
    start = clock()
    ours()
    theirs()
    burst = max(1, min(8, int(0.001 / (clock() - start))))
    best = [float("inf")] * 2
    rounds, end = 0, clock() + seconds
    while rounds < 5 or clock() < end:
        rounds += 1
        for number, run in enumerate((ours, theirs)):
            start = clock()
            for _ in range(burst):
                run()
            best[number] = min(best[number], clock() - start)
    return best[0] / best[1]


def table(names: list[str], seconds: float = 0.15) -> Iterator[tuple[str, float, float]]:
    """Of each op our time over PyTorch's at both sizes."""
    ours, torch = (importlib.import_module(name) for name in ("autograd_core", "torch"))
    torch.set_num_threads(1)
    small, big = inputs(False), inputs(True)
    for name, case in CASES.items():
        if not names or name in names:
            ratios = [
                ratio(step(ours, case, arrays), step(torch, case, arrays), seconds)
                for arrays in (small, big)
            ]
            yield name, ratios[0], ratios[1]


def main(names: list[str]) -> None:
    """Print the table, or the lines of it that are named."""
    print(f"{'op, forward + backward, to PyTorch':<36}{'8x16':>8}{'512x768':>9}")
    for name, small, big in table(names):
        print(f"{name:<36}{small:>8.2f}{big:>9.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
